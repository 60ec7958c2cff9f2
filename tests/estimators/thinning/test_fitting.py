"""Bad input of ThinnedEnsemble: each is a clear error, or a warning that says what is wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    AdaBoostClassifier,
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
from sklearn.tree import DecisionTreeClassifier

from cgboost import ThinnedEnsemble
from cgboost.exceptions import DataWarning
from tests.estimators.thinning.thinning_data import classes, numbers

X, Y = classes(3)
FOREST = RandomForestClassifier(10, random_state=0).fit(X, Y)
TWO = classes(2)[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 0}, "size must be a whole number from 1 to 10"),
        ({"size": 11}, "size must be a whole number from 1 to 10.*got 11"),
        ({"size": 1.5}, "or a share of them in"),
        ({"size": True}, "size must be"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
        ({"solver": "highs", "solver_options": {"x": 1}}, "HiGHS rejects the option x = 1"),
        ({"C": -1.0}, "C must be a finite number > 0"),
        ({"C": 1e-12}, "no member is worth its price at C=1e-12.*take C above"),
        ({"metric": "rmse"}, "metric must be one of"),
        ({"metric": "beauty"}, "metric must be one of"),
        ({"weights": "none"}, "weights must be one of"),
        ({"target": "x"}, "target must be one of"),
        ({"members": "roots"}, "members must be one of"),
        ({"quantile": 1.0}, "quantile must be"),
        ({"validation_fraction": 0.0}, "validation_fraction must be"),
        ({"solver": "abacus"}, "abacus"),
    ],
    ids=str,
)
def test_parameters(parameters, message):
    """Each error names the parameter, its value and what to do."""
    with pytest.raises(ValueError, match=message):
        ThinnedEnsemble(FOREST, **parameters).fit(X, Y)


def mixed():
    """A classifier and a regressor."""
    return [LogisticRegression().fit(X, Y), LinearRegression().fit(X, X[:, 0])]


def disagreeing():
    """Two classifiers, of words and of numbers."""
    return [LogisticRegression().fit(X, Y), LogisticRegression().fit(X, X[:, 0] > 0)]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ([], "empty list"),
        ([LogisticRegression()], "member 0 of the list is not fitted"),
        (mixed(), "classifiers and of models without classes_"),
        (disagreeing(), "the members disagree on the classes: the first knows"),
        ([1, 2], "a member that cannot predict"),
        (42, "estimator must be an ensemble or a list"),
        (SVC().fit(X, Y), "estimator must be an ensemble with estimators_"),
        ([lambda X: np.zeros(3)], "gives 3 values for 240 rows"),
    ],
    ids=["empty", "unfitted", "mixed", "disagreeing", "numbers", "number", "alone", "short"],
)
def test_ensembles(estimator, message):
    """What cannot be thinned is named."""
    with pytest.raises(ValueError, match=message):
        ThinnedEnsemble(estimator, size=1).fit(X, X[:, 0] if "values" in message else Y)


@pytest.mark.parametrize(
    ("X_given", "y_given", "message"),
    [
        (X[:, :3], Y, "X has 3 features, the ensemble was fitted to 4"),
        (X, np.where(Y == "a", "z", Y), "labels that the ensemble does not know.*z"),
        (X, np.full(len(Y), np.nan), "NaN"),
        (X, None, "target y is None"),
        (X[:5], Y[:4], "inconsistent"),
        (np.full_like(X, np.inf), Y, "infinity"),
    ],
    ids=["features", "labels", "nan", "none", "lengths", "infinite"],
)
def test_rows(X_given, y_given, message):
    """Rows that do not fit the ensemble, and targets that are none."""
    with pytest.raises(ValueError, match=message):
        ThinnedEnsemble(FOREST).fit(X_given, y_given)


def test_numbers_are_needed_for_regressors():
    """Words, missing and infinite values are no targets of a regression."""
    A, y = numbers()
    forest = RandomForestRegressor(5, random_state=0).fit(A, y)
    with pytest.raises(ValueError, match="y must hold numbers"):
        ThinnedEnsemble(forest).fit(A, np.where(y > 10, "high", "low"))
    with pytest.raises(ValueError, match="NaN"):
        ThinnedEnsemble(forest).fit(A, np.where(y > 10, np.nan, y))
    with pytest.raises(ValueError, match="needs a classifier|metric must be one of"):
        ThinnedEnsemble(forest, metric="accuracy").fit(A, y)


def test_one_class():
    """An ensemble to be fitted, or that was fitted, to one class."""
    same = np.full(len(Y), "a")
    with pytest.raises(ValueError, match="at least two classes, got only one class"):
        ThinnedEnsemble(RandomForestClassifier(5)).fit(X, same)
    with pytest.raises(ValueError, match="at least two classes, got only one class"):
        ThinnedEnsemble(RandomForestClassifier(5).fit(X, same)).fit(X, same)


def test_weights_of_rows():
    """Negative weights, or weights that are all 0, or of an ensemble that takes none."""
    for weights in (-np.ones(len(Y)), np.zeros(len(Y))):
        with pytest.raises(ValueError, match=r"[Ss]ample.weight"):
            ThinnedEnsemble(FOREST).fit(X, Y, weights)

    class Unweighted(RandomForestClassifier):
        def fit(self, X, y):
            return super().fit(X, y)

    with pytest.raises(ValueError, match="Unweighted takes no sample_weight"):
        ThinnedEnsemble(Unweighted(5)).fit(X, Y, np.ones(len(Y)))


def test_not_fitted():
    """Predicting comes after fitting."""
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(ThinnedEnsemble(FOREST), method)(X)
    for method in ("to_sklearn", "export"):
        with pytest.raises(NotFittedError):
            getattr(ThinnedEnsemble(FOREST), method)()


def test_members_that_know_the_rows_by_heart():
    """Deep trees on their own rows look perfect: a warning says so, and new rows are the remedy."""
    trees = [DecisionTreeClassifier(random_state=k).fit(X[:150], Y[:150]) for k in range(4)]
    with pytest.warns(DataWarning, match="have memorised them"):
        ThinnedEnsemble(trees, size=2).fit(X[:150], Y[:150])
    assert ThinnedEnsemble(trees, size=2).fit(X[150:], Y[150:]).own_score_ < 1.0


def test_how_rows_are_recognised():
    """A forest knows its own rows by its roots; what is said otherwise counts."""
    assert ThinnedEnsemble(FOREST).fit(X, Y).rows_ == "out_of_bag"
    assert ThinnedEnsemble(FOREST).fit(X[::-1], Y[::-1]).rows_ == "given"
    assert ThinnedEnsemble(FOREST).fit(X[:100], Y[:100]).rows_ == "given"
    assert ThinnedEnsemble(FOREST, training_rows=False).fit(X, Y).rows_ == "held_out"
    extra = ExtraTreesClassifier(10, random_state=0).fit(X, Y)
    assert ThinnedEnsemble(extra).fit(X, Y).rows_ == "leave_one_out"
    assert ThinnedEnsemble(extra, training_rows=False).fit(X[:50], Y[:50]).rows_ == "held_out"


def test_an_init_that_differs_from_row_to_row():
    """Boosting on top of another model cannot be thinned without it."""
    A, y = numbers()
    model = GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(A, y)
    with pytest.raises(ValueError, match="a part besides its trees"):
        ThinnedEnsemble(model).fit(A, y)


def test_an_ensemble_of_several_outputs():
    """Several targets at once are refused."""
    forest = RandomForestClassifier(5).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="several outputs"):
        ThinnedEnsemble(forest).fit(X, Y)


def test_leaves_need_trees():
    """Leaves of members that have none, or of too many."""
    bagging = BaggingClassifier(LogisticRegression(), 3).fit(X, Y)
    with pytest.raises(ValueError, match="needs an ensemble of scikit-learn's trees"):
        ThinnedEnsemble(bagging, members="leaves").fit(X, Y)
    model = ThinnedEnsemble(FOREST, members="leaves", size=5).fit(X, Y)
    with pytest.raises(ValueError, match="not trees of scikit-learn"):
        model.to_sklearn()


def test_rows_are_drawn_where_there_are_too_many(monkeypatch):
    """Of many rows a sample is used, the same for the same seed."""
    monkeypatch.setattr("cgboost.estimators.thinning.fitting.MOST_ENTRIES", 2000)
    first, second = (ThinnedEnsemble(FOREST, random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.indices_, second.indices_)


def test_a_frame_in_another_order_is_an_error():
    """A fitted forest knows its columns by name; others, or another order, are not taken."""
    X, y = classes(2)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    forest = RandomForestClassifier(20, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="same columns in the same order"):
        ThinnedEnsemble(forest).fit(frame[frame.columns[::-1]], y)
    ThinnedEnsemble(forest).fit(frame, y)


@pytest.mark.parametrize(
    ("forest", "order"),
    [
        (RandomForestClassifier(10, random_state=0), "shuffled"),
        (RandomForestClassifier(10, class_weight="balanced_subsample", random_state=0), "same"),
        (ExtraTreesClassifier(10, class_weight={"a": 5.0}, random_state=0), "same"),
    ],
    ids=str,
)
def test_a_forest_that_does_not_recognise_its_rows_says_so(forest, order):
    """As many rows as it was fitted to, with other means at the roots: named, with the cure."""
    forest.fit(X, Y)
    rows = (
        np.random.default_rng(0).permutation(len(Y)) if order == "shuffled" else np.arange(len(Y))
    )
    with pytest.warns(DataWarning, match=f"fitted to {len(Y)} rows, but.*training_rows=True"):
        model = ThinnedEnsemble(forest).fit(X[rows], Y[rows])
    assert model.rows_ == "given"
    assert np.isnan(model.own_score_)
    if order == "same":
        told = ThinnedEnsemble(forest, training_rows=True).fit(X, Y)
        assert told.rows_ in ("out_of_bag", "leave_one_out")


def test_ensembles_whose_members_are_not_weighed_one_by_one_are_refused():
    """A stack, with what may be given in its place."""
    stack = StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())])
    with pytest.raises(ValueError, match=r"(?s)is a stack.*estimator\.estimators_ .*and new rows"):
        ThinnedEnsemble(stack.fit(X, Y), size=1).fit(X, Y)
    places = np.unique(Y, return_inverse=True)[1]
    model = ThinnedEnsemble(stack.estimators_, size=1).fit(X, places)
    assert model.n_members_ == 1


def test_sizes_and_flags_have_their_types():
    """One size is no sequence of them, and a word is no flag."""
    with pytest.raises(ValueError, match="sizes must be a sequence of sizes, got 3"):
        ThinnedEnsemble(FOREST).path(X, Y, sizes=3)
    with pytest.raises(ValueError, match="training_rows must be True or False, got 'yes'"):
        ThinnedEnsemble(FOREST, training_rows="yes").fit(X, Y)


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
    """A warning says so and what to give; new rows, and all rows of the fit, are taken silently."""
    if regression:
        X, y = load_diabetes(return_X_y=True)
        forest = RandomForestRegressor(40, random_state=0).fit(X[:200], y[:200])
    else:
        X, y = load_breast_cancer(return_X_y=True)
        forest = RandomForestClassifier(60, random_state=0).fit(X[:300], y[:300])
    count = forest._n_samples
    with pytest.warns(DataWarning, match=f"among the {count} that the ensemble was fitted to"):
        part = ThinnedEnsemble(forest).fit(X[: count // 2], y[: count // 2])
    assert np.isnan(part.own_score_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        ThinnedEnsemble(forest).fit(X[count + 1 :], y[count + 1 :])
        ThinnedEnsemble(forest, training_rows=False).fit(X[: count // 2], y[: count // 2])
        ThinnedEnsemble(forest).fit(X[:count], y[:count])


def test_training_rows_are_all_of_them():
    """A part of them, called training rows, is an error that says how many there are."""
    with pytest.raises(ValueError, match=r"needs all rows of the fit in their order, \d+ of them"):
        ThinnedEnsemble(FOREST, training_rows=True).fit(X[:100], Y[:100])


def test_boosting_has_no_order_of_rows():
    """AdaBoost on its own rows is no forest whose rows were shuffled: there is no warning."""
    X, y = load_breast_cancer(return_X_y=True)
    boosting = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert ThinnedEnsemble(boosting, size=10).fit(X, y).rows_ == "given"
