"""OrthoAnyBoost and ConfidenceBoost against transcriptions of the published algorithms."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cgboost
from cgboost import AdaBoostClassifier, AnyBoostClassifier, AnyBoostRegressor
from tests.estimators.boosting.boosting_data import overlapping
from tests.estimators.data import two_classes

TREE = DecisionTreeRegressor(max_depth=2, min_samples_leaf=9, random_state=0)
VOTING = DecisionTreeClassifier(max_depth=1, random_state=0)
RIDGE = KernelRidge(alpha=3.0, kernel="rbf", gamma=0.5)


class Projection(RegressorMixin, BaseEstimator):
    """The linear function of largest product with the targets: X̃X̃ᵀu."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Projection":
        self.mean_ = X.mean(axis=0)
        self.weights_ = (X - self.mean_).T @ y
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean_) @ self.weights_


SLOPES: dict[str, Any] = {
    "squared_error": lambda y, f: (y - f, np.ones(len(y))),
    "log_loss": lambda y, f: (y - np.tanh(y * f) * y, 1 / np.cosh(f) ** 2),
    "exponential": lambda y, f: (y * np.exp(-y * f), np.exp(-y * f)),
}
"""−∇l and the diagonal of ∇²l of (12), (23) and (36), (39) of the paper."""


def refitted(slopes: Any, y: np.ndarray, T: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The optimal c of T c, by Newton's method (30), (41), with halved steps."""
    for _ in range(60):
        u, d = slopes(y, T @ c)
        step = np.linalg.solve(T.T @ (d[:, None] * T), T.T @ u)
        if np.abs(step).max() < 1e-13:
            break
        while slopes(y, T @ (c + step))[0] @ (T @ step) < -1e-15:  # beyond the least loss
            step /= 2
        c = c + step
    return c


def transcribed(loss: str, learner: Any, X: np.ndarray, y: np.ndarray, n_rounds: int) -> Any:
    """[M] Alg. 2: f after every round, from the constant on, and T."""
    slopes, T = SLOPES[loss], np.full((len(X), 1), 1 / np.sqrt(len(X)))
    c, stages = refitted(slopes, y, T, np.zeros(1)), []
    for _ in range(n_rounds):
        u, _ = slopes(y, T @ c)
        t = clone(learner).fit(X, u).predict(X)
        t = t - T @ np.linalg.lstsq(T, t, rcond=None)[0]
        T = np.column_stack([T, t / np.linalg.norm(t)])
        c = refitted(slopes, y, T, np.append(c, 0.0))
        stages.append(T @ c)
    return np.array(stages), T[:, 1:]


@pytest.mark.parametrize("learner", [RIDGE, TREE], ids=str)
@pytest.mark.parametrize("loss", SLOPES)
def test_equal_to_the_published_algorithm(loss: str, learner: Any) -> None:
    """The output of every round, and every column, to 1e-9; columns are orthonormal."""
    X, y = overlapping()
    X, y = X[:, :5], y.astype(float)
    model: Any = AnyBoostRegressor() if loss == "squared_error" else AnyBoostClassifier(loss=loss)
    model.set_params(estimator=learner, orthogonalize=True, n_estimators=6).fit(X, y)
    wanted, T = transcribed(loss, learner, X, y, 6)
    staged = model.staged_predict if loss == "squared_error" else model.staged_decision_function
    np.testing.assert_allclose(list(staged(X)), wanted, rtol=0, atol=1e-9)
    own = np.column_stack([column.predict(X) for column in model.estimators_])
    np.testing.assert_allclose(own, T, rtol=0, atol=1e-9)
    np.testing.assert_allclose(own.T @ own, np.eye(6), rtol=0, atol=1e-12)


def test_linear_functions_and_squares_are_partial_least_squares() -> None:
    """With the best linear function as learner, Alg. 2 is Alg. 4 (and with any loss Alg. 3)."""
    X, y = load_diabetes(return_X_y=True)
    model = AnyBoostRegressor(Projection(), orthogonalize=True, n_estimators=4).fit(X[::2], y[::2])
    pls = PLSRegression(4, scale=False).fit(X[::2], y[::2])
    np.testing.assert_allclose(model.predict(X), pls.predict(X).ravel(), rtol=1e-9)
    log = AnyBoostClassifier(Projection(), orthogonalize=True, n_estimators=3)
    labels = y > np.median(y)
    blf = cgboost.BLFClassifier(
        n_components=3, loss="log_loss", newton_steps=None, newton_damping=0
    )
    outputs = [own.fit(X[::2], labels[::2]).decision_function(X) for own in (log, blf)]
    np.testing.assert_allclose(*outputs, rtol=1e-7)


REGRESSION = ["squared_error", "absolute_error", "quantile", "huber", "epsilon_insensitive"]
CLASSES = ["log_loss", "exponential", "hinge", "squared_hinge"]
COMBINATIONS = [*product([*REGRESSION, *CLASSES], [TREE, VOTING, RIDGE], [None, False])]


@pytest.mark.parametrize(("loss", "learner", "corrective"), COMBINATIONS, ids=str)
def test_columns_are_orthogonal_whatever_the_loss(
    loss: str, learner: Any, corrective: bool | None
) -> None:
    """With and without refits; the model is intercept + Σ c t, and the loss falls."""
    X, y = two_classes()
    y = y if loss in CLASSES else X[:, 0] + 0.1 * X[:, 1] ** 2
    kind: Any = AnyBoostClassifier if loss in CLASSES else AnyBoostRegressor
    model = kind(learner, loss=loss, orthogonalize=True, corrective=corrective, n_estimators=5)
    model.fit(X, y)
    T = np.column_stack([column.predict(X) for column in model.estimators_])
    assert 1 <= T.shape[1] <= 5
    centred = np.column_stack([np.full(len(X), len(X) ** -0.5), T])
    np.testing.assert_allclose(centred.T @ centred, np.eye(T.shape[1] + 1), rtol=0, atol=1e-9)
    output = model.decision_function if loss in CLASSES else model.predict
    here = model.intercept_ + T @ model.column_weights_
    np.testing.assert_allclose(output(X), here, rtol=0, atol=1e-9 * np.abs(here).max())
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()


def test_a_learner_that_has_nothing_new_ends_the_run() -> None:
    """A line has one column that is orthogonal to a constant, and no second one."""
    x = np.linspace(-1, 1, 30)[:, None]
    model = AnyBoostRegressor(Projection(), orthogonalize=True, n_estimators=9)
    assert model.fit(x, np.exp(x[:, 0])).n_columns_ == 1


@pytest.mark.parametrize("learner", [RIDGE, VOTING], ids=str)
def test_confidence_boost_is_the_published_algorithm(learner: Any) -> None:
    """Steps ½ log((1 + ρ)/(1 − ρ)) for h in [−1, 1]; those of AdaBoost if h is −1 or 1."""
    X, y = overlapping()
    X, f, stages = X[:, :5], np.zeros(len(X)), []
    for _ in range(5):
        D = np.exp(-y * f) / np.exp(-y * f).sum()
        if learner is VOTING:
            h = clone(learner).fit(X, y, sample_weight=D).predict(X).astype(float)
        else:
            h = clone(learner).fit(X, y * np.exp(-y * f)).predict(X)
        h /= np.abs(h).max()
        rho = D @ (y * h)
        f = f + 0.5 * np.log((1 + rho) / (1 - rho)) * h
        stages.append(f)
    model = AnyBoostClassifier(
        learner, loss="exponential", step="confidence", learning_rate=1.0, start="zero"
    )
    model.set_params(n_estimators=5).fit(X, y)
    np.testing.assert_allclose(list(model.staged_decision_function(X)), stages, rtol=0, atol=1e-9)
    if learner is VOTING:
        ada = AdaBoostClassifier(learner, n_estimators=5).fit(X, y)
        np.testing.assert_allclose(ada.decision_function(X), stages[-1], rtol=0, atol=1e-9)
