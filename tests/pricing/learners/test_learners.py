"""Greedy weak learners: what they are fitted to, what they offer, and that they claim nothing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column, evaluate
from cgboost.losses import Exponential, SquaredError, hinge
from cgboost.masters import OneNormMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import DescentEntry, StagewiseMaster
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.learners.class_learners import (
    CODES,
    ClassLearners,
    ClassStumps,
    CodePlace,
    VotePricer,
    class_codes,
)
from cgboost.pricing.learners.learners import IndependentPricer, LearnerPricer
from cgboost.pricing.univariate.stumps import StumpPool
from tests.estimators.data import three_classes, two_classes
from tests.pricing import cases
from tests.pricing.scripted import Scripted

LEARNERS = [
    DecisionTreeClassifier(max_depth=2),
    DecisionTreeRegressor(max_depth=2),
    DecisionTreeClassifier(max_depth=1, max_features=1),
    LogisticRegression(),
    GaussianNB(),
    LinearRegression(),
    make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2, max_features=1)),
]


def state_of(response, *, two_sided=True):
    """A state of a master with a 1-norm."""
    return cases.state_of(response, OneNormEntry(two_sided))


def problem():
    """Rows and a pseudo-response with both signs and zeros."""
    X, _ = two_classes(60)
    response = np.random.default_rng(0).normal(size=60) + X[:, 0]
    response[::7] = 0.0
    return X, response


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_column_is_its_hypothesis_and_claims_nothing(learner):
    """Values equal the predictions on the training rows, at most 1, ±1 for a classifier.

    In the loop the objective falls, the gap stays infinite, and it ends where nothing is found.
    """
    X, response = problem()
    priced = LearnerPricer(learner, X, random_state=0).price(state_of(response), 3)
    assert not priced.exact
    assert np.isnan([priced.max_excess, priced.total_excess]).all()
    assert 1 <= len(priced.columns) <= priced.n_evaluated <= 3
    scores = [abs(response @ column.values) for column in priced.columns]
    assert scores == sorted(scores, reverse=True)
    for column in priced.columns:
        np.testing.assert_array_equal(evaluate([column.hypothesis], X)[:, 0], column.values)
        assert np.abs(column.values).max() == pytest.approx(1.0)
        if is_classifier(learner):
            assert set(np.unique(column.values)) <= {-1.0, 1.0}
    X, y = two_classes(40)
    master = OneNormMaster(hinge(2.0 * y - 1.0, np.ones(40)))
    run = ColumnGeneration(master, LearnerPricer(learner, X, random_state=0), max_columns=60)
    result = run.run()
    assert result.stop_reason in ("no_column", "max_columns")
    assert result.bound is None
    assert np.isinf(result.gap)
    assert result.history["objective"][-1] < result.history["objective"][0]


def test_a_classifier_stump_scores_no_more_than_the_exact_stumps():
    """r·h of a stump fitted by impurity comes close to the best exact score, never above it."""
    X, response = problem()
    best = np.abs(StumpPool(X).scores(0, None, response)).max()
    learner = DecisionTreeClassifier(max_depth=1)
    column = LearnerPricer(learner, X, random_state=0).price(state_of(response), 1).columns[0]
    assert 0.8 * best <= abs(response @ column.values) <= best + 1e-9


def test_seeds_make_several_columns_only_where_there_are_seeds():
    """A learner without a random state is fitted once a round, one with it up to the limit."""
    X, response = problem()
    state = state_of(response)
    assert LearnerPricer(LinearRegression(), X).price(state, 5).n_evaluated == 1
    learner = DecisionTreeClassifier(max_depth=1, max_features=1, splitter="random")
    pricer = LearnerPricer(learner, X, random_state=0)
    priced = pricer.price(state, 8)
    assert priced.n_evaluated == 8
    keys = {column.key for column in priced.columns}
    assert len(keys) == len(priced.columns) > 1
    again = LearnerPricer(learner, X, random_state=0).price(state, 8)
    assert [column.key for column in again.columns] == [column.key for column in priced.columns]
    other = LearnerPricer(learner, X, random_state=1).price(state, 8)
    assert {column.key for column in other.columns} != keys


@pytest.mark.parametrize("two_sided", [True, False])
def test_the_key_is_the_values_up_to_an_allowed_sign(two_sided):
    """Fitted to −r a classifier makes the negated column: the same key where signs are free."""
    X, response = problem()
    pricer = LearnerPricer(DecisionTreeClassifier(max_depth=1, random_state=0), X, random_state=0)
    keys, values = [], []
    for sign in (1.0, -1.0):
        priced = pricer.price(state_of(sign * response, two_sided=two_sided), 1)
        keys.append(priced.columns[0].key)
        values.append(priced.columns[0].values)
    np.testing.assert_array_equal(values[0], -values[1])
    assert (keys[0] == keys[1]) is two_sided


def test_what_is_not_offered():
    """What adds less than tol to the gap; where no classifier could be fitted it is the constant.

    A response of 0 makes nothing, nor a prediction of zero; with no room nothing is fitted.
    """
    X, response = problem()
    state = state_of(response)
    score = abs(response @ LearnerPricer(GaussianNB(), X).price(state, 1).columns[0].values)
    assert LearnerPricer(GaussianNB(), X, tol=score).price(state, 1).columns == []
    pricer = LearnerPricer(LogisticRegression(), X)
    column = pricer.price(state_of(np.abs(response)), 1).columns[0]
    np.testing.assert_array_equal(column.values, np.ones(60))
    assert pricer.price(state_of(np.zeros(60)), 1).columns == []
    priced = LearnerPricer(LinearRegression(), X).price(state, 0)
    assert (list(priced.columns), priced.n_evaluated, priced.exact) == ([], 0, False)
    nothing = LearnerPricer(Broken(np.zeros(2)), np.ones((2, 1)))
    assert nothing.price(state_of(np.ones(2)), 1).columns == []


class Broken(RegressorMixin, BaseEstimator):
    """Predicts a given array."""

    def __init__(self, prediction=None):
        self.prediction = prediction

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.prediction


@pytest.mark.parametrize("prediction", [np.array([1.0, np.nan]), np.ones(3)], ids=str)
def test_predictions_are_finite_and_one_a_row(prediction):
    """The error names the learner."""
    pricer = LearnerPricer(Broken(prediction), np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"Broken predicts values of shape .* for 2 rows, or"):
        pricer.price(state_of(np.ones(2)), 1)


# ---------------------------------------------------------------------------- only what is new

RNG = np.random.default_rng(0)
N_ROWS = 80
HELD = RNG.normal(size=(6, N_ROWS)) + 1.0
WEIGHTS = 10.0 ** RNG.uniform(-4, 2, size=N_ROWS)


def columns(rows: np.ndarray, name: str) -> list[Column]:
    """The rows of an array as columns."""
    return [Column(values, (name, k)) for k, values in enumerate(rows)]


@pytest.mark.parametrize("leftover", [1.0, 1e-4, 1e-9])
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_combinations_are_left_out_and_new_columns_stay(size: float, leftover: float) -> None:
    """However small the residual is, whatever the units of the columns, with uneven weights."""
    target = RNG.normal(size=6) @ HELD + leftover * RNG.normal(size=N_ROWS)
    loss = SquaredError().on(target, WEIGHTS)
    master = OrthogonalMaster(loss)
    master.add(columns(HELD, "held"))
    dependent = columns(size * RNG.normal(size=(5, 6)) @ HELD, "dependent")
    residual = target - master.solve().output
    new = columns(size * np.array([residual, *RNG.normal(size=(2, N_ROWS))]), "new")
    offered = [*dependent[:3], *new, *dependent[3:]]
    pricer = IndependentPricer(Scripted(offered, exact=False), loss)
    priced = pricer.price(master.solve(), 8)
    assert list(priced.columns) == new
    assert priced.n_evaluated == 10
    master.add(priced.columns)  # which raises where a column is a combination of the others


def test_rounding_errors_of_an_exact_model_are_no_residual() -> None:
    """A fit to what is left of an exact model has a large cosine with it, and is left out."""
    loss = SquaredError().on(RNG.normal(size=6) @ HELD, np.ones(N_ROWS))
    master = OrthogonalMaster(loss)
    master.add(columns(HELD, "held"))
    state = master.solve()
    assert state.pseudo_response.any()
    fit = columns(state.pseudo_response[None], "fit")
    assert IndependentPricer(Scripted(fit, exact=False), loss).price(state, 1).columns == []


# ---------------------------------------------------------------------------- votes for classes


def voting(response):
    """A state of a stagewise master."""
    return cases.state_of(response, DescentEntry(1.0, two_sided=True), np.abs(response))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_codes(n_classes):
    """A code sums to 0; its product with itself and others gives the two margins."""
    codes = class_codes(n_classes)
    np.testing.assert_allclose(codes.sum(axis=1), 0.0, atol=1e-15)
    margins = codes @ codes.T / n_classes
    np.testing.assert_allclose(np.diag(margins), 1 / (n_classes - 1))
    others = margins[~np.eye(n_classes, dtype=bool)]
    np.testing.assert_allclose(others, -1 / (n_classes - 1) ** 2)


def test_a_column_is_the_margins_of_its_parts():
    """The values on the master's rows are e_y·f/K for the outputs f that the parts add."""
    X, y = three_classes()
    pricer = VotePricer(ClassStumps(X, y, 3), X, y, 3)
    [column] = pricer.price(voting(np.ones(len(y))), 1).columns
    assert [output for output, _ in column.parts] == [0, 1, 2]
    outputs = evaluate([hypothesis for _, hypothesis in column.parts], X)
    np.testing.assert_allclose(column.values, (class_codes(3)[y] * outputs).sum(axis=1) / 3)
    np.testing.assert_allclose(outputs.sum(axis=1), 0.0, atol=1e-15)


def test_a_learner_is_evaluated_once_for_all_outputs():
    """The places of one learner's code share its predictions."""

    class Counting:
        calls = 0

        def predict(self, X):
            self.calls += 1
            return np.zeros(len(X), dtype=int)

    learner = Counting()
    CODES.outputs(np.ones((2, 1)), [CodePlace(learner, k, 3) for k in range(3)])
    assert learner.calls == 1


def test_with_two_classes_it_is_the_pricer_of_labels():
    """Steps and margins are those of boosting with the labels −1 and 1."""
    X, y = two_classes(80)
    learner, signs = DecisionTreeClassifier(max_depth=2, random_state=0), 2.0 * y - 1.0

    def run(target, pricer):
        master = StagewiseMaster(Exponential().on(target, np.ones(80)))
        return ColumnGeneration(master, pricer, tol=0.0, max_rounds=11).run()

    votes = run(np.ones(80), VotePricer(ClassLearners(learner, X, y, random_state=0), X, y, 2))
    plain = run(signs, LearnerPricer(learner, X, repeats=True, tol=0.0, random_state=0))
    np.testing.assert_allclose(votes.coef, plain.coef, rtol=1e-10)
    np.testing.assert_allclose(votes.output, signs * plain.output, rtol=1e-10)


def test_guessing_is_not_offered():
    """A learner whose share of the weights is that of chance ends the search."""
    X, y = np.ones((3, 1)), np.arange(3)
    pricer = VotePricer(ClassStumps(X, y, 3), X, y, 3)
    assert not pricer.price(voting(np.ones(3)), 1).columns
    assert not pricer.price(voting(np.zeros(3)), 1).columns
    assert not pricer.price(voting(np.array([1.0, 1.0, 2.0])), 0).columns
    assert len(pricer.price(voting(np.array([1.0, 1.0, 2.0])), 1).columns) == 1


def test_importances_are_those_of_the_learner():
    """A learner without any raises an AttributeError, as scikit-learn does."""
    X, y = three_classes()
    tree = ClassLearners(DecisionTreeClassifier(max_depth=2), X, y)(np.ones(len(y)))
    np.testing.assert_array_equal(
        CodePlace(tree, 0, 3).importances(2), tree.estimator.feature_importances_
    )
    bayes = ClassLearners(GaussianNB(), X, y)(np.ones(len(y)))
    with pytest.raises(AttributeError, match="feature_importances_"):
        CodePlace(bayes, 0, 3).importances(2)
