"""Greedy weak learners: what they are fitted to, what they offer, and that they claim nothing."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.losses import epsilon_insensitive, hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing.features.stumps import StumpPool
from cgboost.pricing.learners.learners import LearnerPricer
from tests.estimators.data import curve, two_classes
from tests.pricing.scans.test_scan import state_of

LEARNERS = [
    DecisionTreeClassifier(max_depth=2),
    DecisionTreeRegressor(max_depth=2),
    DecisionTreeClassifier(max_depth=1, max_features=1),
    LogisticRegression(),
    GaussianNB(),
    LinearRegression(),
    make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2, max_features=1)),
]


def problem():
    """Rows and a pseudo-response with both signs and zeros."""
    X, _ = two_classes(60)
    response = np.random.default_rng(0).normal(size=60) + X[:, 0]
    response[::7] = 0.0
    return X, response


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_column_is_its_hypothesis_and_claims_nothing(learner):
    """Values equal the predictions on the training rows, at most 1, ±1 for a classifier."""
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


def test_limit_zero_fits_nothing():
    """There is no certificate to ask for."""
    X, response = problem()
    priced = LearnerPricer(LinearRegression(), X).price(state_of(response), 0)
    assert (list(priced.columns), priced.n_evaluated, priced.exact) == ([], 0, False)


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


def test_a_response_of_one_sign_makes_the_constant():
    """Where no classifier could be fitted, the constant has the best score; 0 makes nothing."""
    X, response = problem()
    pricer = LearnerPricer(LogisticRegression(), X)
    column = pricer.price(state_of(np.abs(response)), 1).columns[0]
    np.testing.assert_array_equal(column.values, np.ones(60))
    assert pricer.price(state_of(np.zeros(60)), 1).columns == []


def test_a_column_must_add_more_than_tol():
    """What adds less than tol to the gap is not offered."""
    X, response = problem()
    state = state_of(response)
    score = abs(response @ LearnerPricer(GaussianNB(), X).price(state, 1).columns[0].values)
    assert LearnerPricer(GaussianNB(), X, tol=score).price(state, 1).columns == []


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_loop_ends_without_a_certificate(learner):
    """The objective falls, the gap stays infinite, and the reason is that nothing was found."""
    X, y = two_classes(40)
    master = OneNormMaster(hinge(2.0 * y - 1.0, np.ones(40)))
    run = ColumnGeneration(master, LearnerPricer(learner, X, random_state=0), max_columns=60)
    result = run.run()
    assert result.stop_reason in ("no_column", "max_columns")
    assert result.bound is None
    assert np.isinf(result.gap)
    assert result.history["objective"][-1] < result.history["objective"][0]


def test_learners_fit_a_curve():
    """Regression trees under the ε-insensitive loss follow a sine."""
    X, y = curve(80)
    master = OneNormMaster(epsilon_insensitive(y, np.full(80, 10.0), 0.1))
    pricer = LearnerPricer(DecisionTreeRegressor(max_depth=3), X, random_state=0)
    result = ColumnGeneration(master, pricer, max_columns=60).run()
    values = np.stack([column.values for column in result.columns], axis=1)
    assert np.abs(values @ result.coef + result.intercept - y).mean() < 0.2


@pytest.mark.parametrize("learner", [None, 3, KMeans(), StandardScaler(), GaussianNB])
def test_not_a_learner(learner):
    """The error names the argument and what it is."""
    with pytest.raises(ValueError, match=r"estimator must be a scikit-learn classifier or regr.*"):
        LearnerPricer(learner, np.ones((3, 1)))


def test_a_classifier_without_weights():
    """A classifier that cannot weigh rows cannot be boosted."""
    with pytest.raises(ValueError, match="sample_weight in its fit, KNeighborsClassifier does not"):
        LearnerPricer(KNeighborsClassifier(), np.ones((3, 1)))


class Broken(RegressorMixin, BaseEstimator):
    """Predicts a given array."""

    def __init__(self, prediction=None):
        self.prediction = prediction

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.prediction


@pytest.mark.parametrize("prediction", [np.array([1.0, np.nan]), np.ones(3)])
def test_bad_predictions(prediction):
    """Predictions of a wrong shape or that are not finite are an error, not a column."""
    pricer = LearnerPricer(Broken(prediction), np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"Broken predicts values of shape .* for 2 rows, or"):
        pricer.price(state_of(np.ones(2)), 1)


def test_a_prediction_of_zero_is_no_column():
    """The zero column could never have a score."""
    pricer = LearnerPricer(Broken(np.zeros(2)), np.ones((2, 1)))
    assert pricer.price(state_of(np.ones(2)), 1).columns == []
