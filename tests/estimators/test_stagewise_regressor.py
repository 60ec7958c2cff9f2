"""Forward stagewise additive modelling of squared error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from cgboost import AnyBoostRegressor, StagewiseRegressor
from tests.estimators.data import curve

LEARNERS = [DecisionTreeRegressor(max_depth=2, random_state=0), KNeighborsRegressor(20)]


@parametrize_with_checks([StagewiseRegressor(n_estimators=10)])
def test_scikit_learn_check(estimator, check):
    """Every check of scikit-learn passes."""
    check(estimator)


@pytest.mark.parametrize("learning_rate", [1.0, 0.1])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_equal_to_the_published_algorithm(learner, learning_rate):
    """The model of every round: residuals, a fit to them, a share of it added.

    Ours ends where the next fit would no longer lower the squared error.
    """
    for X, y in (load_diabetes(return_X_y=True), curve(100), curve(80, seed=1)):
        f, wanted = np.zeros(len(y)), []
        for _ in range(8):
            f = f + learning_rate * clone(learner).fit(X, y - f).predict(X)
            wanted.append(f)
        model = StagewiseRegressor(learner, learning_rate=learning_rate, n_estimators=8).fit(X, y)
        stages = np.array(list(model.staged_predict(X)))
        np.testing.assert_allclose(stages, wanted[: len(stages)], rtol=1e-10, atol=1e-10)
        errors = np.sum((y - wanted) ** 2, axis=1)
        assert np.all(errors[len(stages) :] >= errors[len(stages) - 1])


def test_it_is_anyboost_with_constant_steps():
    """The same model as AnyBoostRegressor from 0 with step=learning_rate, weights included."""
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).uniform(size=len(y))
    parameters = {"n_estimators": 5, "random_state": 0}
    model = StagewiseRegressor(LEARNERS[0], learning_rate=0.3, **parameters).fit(X, y, weights)
    other = AnyBoostRegressor(LEARNERS[0], step=0.3, start="zero", **parameters)
    np.testing.assert_array_equal(model.predict(X), other.fit(X, y, weights).predict(X))


def test_equal_to_gradient_boosting_of_squared_error():
    """From a centred response on, scikit-learn's trees of the same depth give the same model."""
    X, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    reference = GradientBoostingRegressor(
        n_estimators=20, learning_rate=0.1, max_depth=3, random_state=0
    )
    model = StagewiseRegressor(learning_rate=0.1, n_estimators=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), reference.fit(X, y).predict(X), atol=1e-6)


def test_least_squares_leaves_nothing_to_add():
    """After one exact fit the residuals are orthogonal to every fit, so that the loss stays."""
    X, y = load_diabetes(return_X_y=True)
    model = StagewiseRegressor(LinearRegression(), n_estimators=3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))
    objective = model.history_["objective"]
    np.testing.assert_allclose(objective[1:], objective[1])


def test_bad_parameters():
    """A classifier, no learner at all, and a rate that is not positive."""
    X, y = curve()
    for parameters, message in (
        ({"estimator": DecisionTreeClassifier()}, "estimator must be a regressor, got Decision"),
        ({"estimator": LinearRegression}, "estimator must be a scikit-learn classifier or"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number > 0 and < 2, got 0.0"),
    ):
        with pytest.raises(ValueError, match=message):
            StagewiseRegressor(**parameters).fit(X, y)
