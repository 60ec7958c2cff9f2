"""Bad input of ThinnedEnsemble: each is a clear error, or a warning that says what is wrong."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import ThinnedEnsemble
from cgboost.estimators.thinning.problem import ThinningProblem, equal
from cgboost.exceptions import DataWarning
from cgboost.losses import AbsoluteError, Hinge, LogLoss, SquaredError
from tests.estimators.thinning.thinning_data import classes, numbers

X, Y = classes(3)
FOREST = RandomForestClassifier(10, random_state=0).fit(X, Y)
TWO = classes(2)[1]


class Unweighted(RandomForestClassifier):
    """Takes no weights."""

    def fit(self, X, y):
        return super().fit(X, y)


A, NUMBERS = numbers()
LINE = LogisticRegression().fit(X, Y)
TREES = RandomForestRegressor(5, random_state=0).fit(A, NUMBERS)
SAME = np.full(len(Y), "a")
FRAME = pd.DataFrame(X, columns=list("pqrs"))
NAMED = RandomForestClassifier(10, random_state=0).fit(FRAME, Y)
ONES = np.ones(len(Y))
STACK = StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())])
ON_TOP = GradientBoostingRegressor(n_estimators=5, init=LinearRegression())
REFUSED: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "no member": ([], (X, Y), "empty list"),
    "unfitted": ([LogisticRegression()], (X, Y), "member 0 of the list is not fitted"),
    "mixed": ([LINE, LinearRegression().fit(X, X[:, 0])], (X, Y), "and of models without classes_"),
    "disagreeing": (
        [LINE, LogisticRegression().fit(X, X[:, 0] > 0)],
        (X, Y),
        "the members disagree on the classes: the first knows",
    ),
    "numbers": ([1, 2], (X, Y), "a member that cannot predict"),
    "number": (42, (X, Y), "estimator must be an ensemble or a list"),
    "alone": (SVC().fit(X, Y), (X, Y), "estimator must be an ensemble with estimators_"),
    "short": ([lambda X: np.zeros(3)], (X, X[:, 0]), "gives 3 values for 240 rows"),
    "stack": (STACK.fit(X, Y), (X, Y), r"(?s)is a stack.*estimator\.estimators_ .*and new rows"),
    "init": (ON_TOP.fit(A, NUMBERS), (A, NUMBERS), "a part besides its trees"),
    "outputs": (
        RandomForestClassifier(5).fit(X, np.column_stack([Y, Y])),
        (X, Y),
        "several outputs",
    ),
    "outputs of numbers": (
        RandomForestRegressor(5).fit(A, np.column_stack([NUMBERS, NUMBERS])),
        (A, NUMBERS),
        "several outputs",
    ),
    "outputs of a list": (
        [DecisionTreeRegressor(max_depth=2).fit(A, np.column_stack([NUMBERS, NUMBERS]))],
        (A, NUMBERS),
        "several outputs",
    ),
    "features": (FOREST, (X[:, :3], Y), "X has 3 features, the ensemble was fitted to 4"),
    "order": (NAMED, (FRAME[list("srqp")], Y), "same columns in the same order"),
    "infinite": (FOREST, (np.full_like(X, np.inf), Y), "infinity"),
    "lengths": (FOREST, (X[:5], Y[:4]), "inconsistent"),
    "labels": (
        FOREST,
        (X, np.where(Y == "a", "z", Y)),
        "labels that the ensemble does not know.*z",
    ),
    "nan": (FOREST, (X, np.full(len(Y), np.nan)), "NaN"),
    "no y": (FOREST, (X, None), "target y is None"),
    "words": (TREES, (A, Y), "y must hold numbers"),
    "nan of numbers": (TREES, (A, np.where(NUMBERS > 10, np.nan, NUMBERS)), "NaN"),
    "one class": (RandomForestClassifier(5), (X, SAME), "at least two classes, got only one class"),
    "fitted to one class": (
        RandomForestClassifier(5).fit(X, SAME),
        (X, SAME),
        "at least two classes, got only one class",
    ),
    "negative": (FOREST, (X, Y, -ONES), "[Ss]ample.weight"),
    "weights of 0": (FOREST, (X, Y, 0 * ONES), "[Ss]ample.weight"),
    "unweighted": (Unweighted(5), (X, Y, ONES), "Unweighted takes no sample_weight"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_ensembles_and_rows_that_are_refused(name: str) -> None:
    """What cannot be thinned, rows that do not fit the ensemble, and targets that are none."""
    estimator, rows, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        ThinnedEnsemble(estimator).fit(*rows)


def test_choices_that_an_ensemble_does_not_have() -> None:
    """A metric of classes for numbers, leaves without trees, a part of the rows of its fit."""
    bagging = BaggingClassifier(LogisticRegression(), 3).fit(X, Y)
    few = X[:100], Y[:100]
    for estimator, parameters, rows, words in (
        (TREES, {"metric": "accuracy"}, (A, NUMBERS), "needs a classifier|metric must be one of"),
        (bagging, {"members": "leaves"}, (X, Y), "needs an ensemble of scikit-learn's trees"),
        (
            FOREST,
            {"training_rows": True},
            few,
            r"their order, \d+ of them, got 100",
        ),
        (TREES, {"leaf_values": "refit"}, (A, NUMBERS), "'refit' needs a classifier of trees"),
    ):
        with pytest.raises(ValueError, match=words):
            ThinnedEnsemble(estimator, **parameters).fit(*rows)
    model = ThinnedEnsemble(FOREST, members="leaves", size=5)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    with pytest.raises(NotFittedError):
        model.to_sklearn()
    with pytest.raises(ValueError, match="not trees of scikit-learn"):
        model.fit(X, Y).to_sklearn()
    with pytest.raises(ValueError, match="sizes must be a sequence of sizes, got 3"):
        ThinnedEnsemble(FOREST).path(X, Y, sizes=3)
    places = np.unique(Y, return_inverse=True)[1]
    assert ThinnedEnsemble(STACK.estimators_, size=1).fit(X, places).n_members_ == 1


def test_members_that_know_the_rows_by_heart():
    """Deep trees on their own rows look perfect: a warning says so, and new rows are the remedy."""
    trees = [DecisionTreeClassifier(random_state=k).fit(X[:150], Y[:150]) for k in range(4)]
    with pytest.warns(DataWarning, match="have memorised them"):
        ThinnedEnsemble(trees, size=2).fit(X[:150], Y[:150])
    new = ThinnedEnsemble(trees, size=2, training_rows=False).fit(X[150:], Y[150:])
    assert new.own_score_ < 1.0


EXTRA = ExtraTreesClassifier(10, random_state=0)
BALANCED = RandomForestClassifier(10, class_weight="balanced_subsample", random_state=0)
MEDIANS = RandomForestRegressor(5, criterion="absolute_error", max_depth=3, random_state=0)
BAGS = BaggingClassifier(n_estimators=8, max_samples=0.5, max_features=0.5, random_state=0)
STUMPS = AdaBoostClassifier(n_estimators=30, random_state=0)


@pytest.mark.parametrize(
    ("ensemble", "seen"),
    [
        (FOREST, "out_of_bag"),
        (BALANCED, "out_of_bag"),
        (MEDIANS, "out_of_bag"),
        (BAGS, "out_of_bag"),
        (EXTRA, "leave_one_out"),
        (STUMPS, "training"),
    ],
    ids=str,
)
def test_what_is_said_of_rows_is_checked(ensemble, seen):
    """Rows of the fit are taken whatever the weights and the criterion; others are refused.

    Others are a part of them, new ones, and, where members have samples, another order.
    """
    y = Y if ensemble is not MEDIANS else X[:, 0] + np.arange(len(X)) % 7
    half = len(Y) // 2
    whole, again = clone(ensemble).fit(X, y), np.random.default_rng(0).permutation(len(Y))
    assert ThinnedEnsemble(whole, size=3).fit(X, y).rows_ == seen
    first = clone(ensemble).fit(X[:half], y[:half])
    wrong = [(whole, X[:half], y[:half]), (first, X[half:], y[half:]), (first, X, y)]
    if seen == "out_of_bag":
        wrong.append((whole, X[again], y[again]))
    for given, *rows in wrong:
        with pytest.raises(ValueError, match="training_rows=True says .*training_rows=False"):
            ThinnedEnsemble(given, size=3).fit(*rows)
    new = ThinnedEnsemble(first, size=3, training_rows=False).fit(X[half:], y[half:])
    assert new.rows_ == "held_out"
    assert np.isfinite(new.own_score_)
    with pytest.warns(DataWarning, match="exactly as those of their fit"):
        known = ThinnedEnsemble(whole, size=3, training_rows=False).fit(X, y)
    assert np.isnan(known.own_score_)


def test_rows_are_drawn_where_there_are_too_many(monkeypatch):
    """Of many rows a sample is used, the same for the same seed."""
    monkeypatch.setattr("cgboost.estimators.thinning.fitting.MOST_ENTRIES", 2000)
    first, second = (ThinnedEnsemble(FOREST, random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.indices_, second.indices_)


def test_a_program_that_is_not_solved_says_so():
    """With a C of the user's; the gap and the tolerance are in the message."""
    with pytest.warns(ConvergenceWarning, match=r"has a gap of .* above tol=0"):
        model = ThinnedEnsemble(FOREST, C=1.0, metric="log_loss", tol=0.0).fit(X, Y)
    assert not model.converged_


def test_the_score_counts_rows_by_their_weights():
    """Rows of weight 0 do not count: it is that of the others."""
    weights = np.where(np.arange(len(Y)) % 3 == 0, 0.0, 1.0)
    model = ThinnedEnsemble(FOREST, size=3, weights="equal").fit(X, Y, sample_weight=weights)
    unseen = np.ones((len(Y), 10), dtype=bool)
    for tree, rows in enumerate(FOREST.estimators_samples_):
        unseen[rows, tree] = False
    chosen = unseen[:, model.indices_]
    shares = np.stack([FOREST.estimators_[j].predict_proba(X) for j in model.indices_], axis=1)
    known = chosen.any(axis=1) & (weights > 0)
    votes = np.einsum("nmk,nm->nk", shares, chosen)[known]
    expected = np.mean(FOREST.classes_[votes.argmax(axis=1)] == Y[known])
    assert model.own_score_ == pytest.approx(expected)


@pytest.mark.parametrize("regression", [False, True])
def test_a_part_of_the_rows_of_the_fit_is_noticed(regression):
    """Of rows that are said to be new: a warning says so, and what to give. New ones are silent."""
    if regression:
        X, y = load_diabetes(return_X_y=True)
        forest = RandomForestRegressor(40, random_state=0).fit(X[:200], y[:200])
    else:
        X, y = load_breast_cancer(return_X_y=True)
        forest = RandomForestClassifier(60, random_state=0).fit(X[:300], y[:300])
    count, thin = forest._n_samples, ThinnedEnsemble(forest, training_rows=False)
    with pytest.warns(DataWarning, match=f"among the {count} that the ensemble was fitted to"):
        thin.fit(X[: count // 2], y[: count // 2])
    assert np.isnan(thin.own_score_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        thin.fit(X[count + 1 :], y[count + 1 :])
    assert np.isfinite(thin.own_score_)


@pytest.mark.parametrize("given", [True, False])
def test_rows_of_weight_zero_are_rows_of_the_fit_of_boosting(given):
    """Its trees do not count them: they may be given with their weights, or left out."""
    weights = (np.arange(len(Y)) % 4 > 0).astype(float)
    trees = DecisionTreeClassifier(max_depth=2, random_state=0)
    with np.errstate(divide="ignore"):  # scikit-learn takes the logarithm of 0
        boosted = AdaBoostClassifier(trees, n_estimators=8, random_state=0).fit(X, Y, weights)
    kept = np.ones(len(Y), dtype=bool) if given else weights > 0
    rows = X[kept], Y[kept], weights[kept]
    assert ThinnedEnsemble(boosted, size=3).fit(*rows).rows_ == "training"
    with pytest.raises(ValueError, match=r"training_rows=True says .* sample_weight"):
        ThinnedEnsemble(boosted, size=3).fit(X, Y)


def test_bagging_that_grew_knows_its_samples_again():
    """After ``warm_start`` they follow from a seed that is a number; else an error says so."""
    whole = BaggingClassifier(n_estimators=8, random_state=3).fit(X, Y)
    grown = BaggingClassifier(n_estimators=3, random_state=3, warm_start=True).fit(X, Y)
    grown.set_params(n_estimators=8).fit(X, Y)
    found, expected = (ThinnedEnsemble(one, size=3).fit(X, Y) for one in (grown, whole))
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    assert found.own_score_ == expected.own_score_
    grown.random_state = None
    with pytest.raises(ValueError, match="seeds of the last fit alone"):
        ThinnedEnsemble(grown, size=3).fit(X, Y)
    new = ThinnedEnsemble(grown, size=3, training_rows=False).fit(X[:50] + 0.1, Y[:50])
    assert new.rows_ == "held_out"
    grown.estimators_ = grown.estimators_[:4]
    with pytest.raises(ValueError, match="4 estimators_ and 8 estimators_features_"):
        ThinnedEnsemble(grown, size=3).fit(X, Y)


def test_other_rows_of_a_regressor_of_adaboost_are_refused():
    """It forgets its samples, but knows how many rows there were, and some come to each leaf."""
    y = X[:, 0] + np.sin(X[:, 1])
    boosted = AdaBoostRegressor(n_estimators=8, random_state=0).fit(X, y)
    assert ThinnedEnsemble(boosted, size=3).fit(X, y).rows_ == "training"
    for rows in (X[1:], X + 2.0):
        with pytest.raises(ValueError, match="training_rows=True says"):
            ThinnedEnsemble(boosted, size=3).fit(rows, y[: len(rows)])
    again = ThinnedEnsemble(boosted, size=3, training_rows=False).fit(X + 0.1, y)
    assert again.rows_ == "held_out"


@pytest.mark.parametrize("loss", [SquaredError(), Hinge(), AbsoluteError(), LogLoss()], ids=repr)
@pytest.mark.parametrize("useful", [False, True])
def test_the_first_cost_is_that_of_the_rows_in_any_order(loss, useful):
    """Members that are constants where rows count are of no use, however sums are rounded.

    They were of use at a C of 1e6 to 1e8, by the order of the rows, or at none.
    """
    rng = np.random.default_rng(0)
    y, spread = rng.normal(size=40), rng.normal(size=40)
    y = np.where(y > 0, 1.0, -1.0) if loss.classification else y
    weights = rng.integers(0, 4, 40).astype(float)
    own = np.where((weights == 0) | useful, spread + 3 * y, 0.2)
    H = np.column_stack([np.full(40, 0.3), np.full(40, 0.7), own]).astype(np.float32)
    orders = [rng.permutation(40) for _ in range(4)]
    weighted = [(order, weights[order] / weights.mean()) for order in orders]
    copies = np.repeat(np.arange(40), weights.astype(int))
    costs = [
        ThinningProblem(H[rows], y[rows], s, loss, "free").least_cost * s.sum()
        for rows, s in [*weighted, (copies, np.ones(len(copies)))]
    ]
    assert np.isfinite(costs).all() == useful
    np.testing.assert_allclose(costs, costs[0], rtol=1e-10)


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
def test_a_path_without_a_useful_member_is_the_same_in_any_order():
    """Its objective is that of the rows, not one at a C that rounding chose."""
    rng = np.random.default_rng(1)
    X, y = np.repeat([[0.3, 0.7]], 40, axis=0), rng.normal(size=40)
    weights = rng.integers(0, 4, 40).astype(float)
    found = []
    for order in (np.arange(40), *(rng.permutation(40) for _ in range(3))):
        members = [lambda rows: rows[:, 0], lambda rows: rows[:, 1]]
        thin = ThinnedEnsemble(members, size=1, training_rows=False)
        found.append(thin.fit(X[order], y[order], sample_weight=weights[order]).objective_)
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


def test_equal_weights_count_rows_by_their_weights():
    """The slight cost of their sum is in units of the rows that count."""
    rng = np.random.default_rng(2)
    H, y, weights = rng.normal(size=(40, 3)), rng.normal(size=40), np.tile([0.0, 1.0, 3.0, 2.0], 10)
    H[weights == 0] *= 1e3
    copies = np.repeat(np.arange(40), weights.astype(int))
    first, second = (
        equal(
            ThinningProblem(H[rows].astype(np.float32), y[rows], s, SquaredError(), "free"),
            np.arange(3),
            scaled=True,
            tol=1e-10,
        )
        for rows, s in ((np.arange(40), weights), (copies, np.ones(len(copies))))
    )
    np.testing.assert_allclose(first.weights, second.weights, rtol=1e-9)
