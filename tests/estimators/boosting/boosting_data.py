"""Data of boosters, and the published algorithms for lines written out line by line."""

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from tests.estimators.data import two_classes

Vector = np.ndarray

iris, wine = (partial(load, return_X_y=True) for load in (load_iris, load_wine))


def breast_cancer() -> tuple[Vector, Vector]:
    """569 rows, 30 features, labels ±1."""
    X, y = load_breast_cancer(return_X_y=True)
    return X, 2 * y - 1


def overlapping() -> tuple[Vector, Vector]:
    """Three features that do not tell the classes ±1 apart."""
    X, y = two_classes(120)
    return X, 2 * y - 1


def sparse_linear(
    n_rows: int, n_features: int, n_true: int, *, seed: int = 0, noise: float = 1.0
) -> tuple[Vector, Vector]:
    """Normal features of different sizes and means, of which the first few matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, :n_true] @ np.where(np.arange(n_true) % 2, -2.0, 3.0)
    y = y + noise * rng.normal(size=n_rows) + 5.0
    return X * rng.uniform(0.1, 10.0, n_features) + rng.normal(size=n_features), y


def correlated() -> tuple[Vector, Vector]:
    """Features with correlations of 0.5, more of them than rows."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 60)) + rng.normal(size=(40, 1))
    return X, X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.1 * rng.normal(size=40)


DATA = {
    "tall": sparse_linear(120, 8, 3),
    "wide": sparse_linear(60, 200, 3, seed=1),
    "correlated": correlated(),
}


def l2_boosting(X: Vector, y: Vector, steps: int, rate: float) -> tuple[list[int], list[Vector]]:
    """L2-Boosting as in the lecture notes: the features chosen, and the coefficients after each."""
    beta, U = np.zeros(X.shape[1]), y.copy()
    chosen, path = [], []
    for _ in range(steps):
        j = int(np.argmax(np.abs(X.T @ U) / np.linalg.norm(X, axis=0)))
        alpha = rate * (X[:, j] @ U) / (X[:, j] @ X[:, j])
        U = U - alpha * X[:, j]
        beta[j] += alpha
        chosen.append(j)
        path.append(beta.copy())
    return chosen, path


def orthogonal_greedy(X: Vector, y: Vector, steps: int) -> tuple[list[int], list[Vector], Vector]:
    """OGA as in the lecture notes: J, the coefficients and ‖U‖² after every step."""
    U, chosen, alphas, path, squares = y.copy(), [], [], [], []
    Q, R = np.zeros((len(y), 0)), np.zeros((0, 0))
    for _ in range(steps):
        j = int(np.argmax(np.abs(X.T @ U) / np.linalg.norm(X, axis=0)))
        r, q = Q.T @ X[:, j], X[:, j] - Q @ (Q.T @ X[:, j])
        r, q = r + Q.T @ q, q - Q @ (Q.T @ q)
        R = np.block([[R, r[:, None]], [np.zeros((1, len(chosen))), np.linalg.norm(q)]])
        Q = np.column_stack([Q, q / np.linalg.norm(q)])
        chosen.append(j)
        alphas.append(Q[:, -1] @ U)
        U = U - alphas[-1] * Q[:, -1]
        beta = np.zeros(X.shape[1])
        beta[chosen] = np.linalg.solve(R, alphas)
        path.append(beta)
        squares.append(U @ U)
    return chosen, path, np.array(squares)


def trimmed_support(X: Vector, y: Vector, chosen: list[int], price: float) -> list[int]:
    """The j with HDIC(J∖j) > HDIC(J), every HDIC from a least-squares fit of its own."""

    def hdic(J: list[int]) -> float:
        rest = y - X[:, J] @ np.linalg.lstsq(X[:, J], y, rcond=None)[0]
        return len(y) * np.log(rest @ rest) + len(J) * price

    return [j for j in chosen if hdic([k for k in chosen if k != j]) > hdic(chosen)]


class OneInput(RegressorMixin, BaseEstimator):
    """A multiple of the single input with the smallest squared error."""

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        products, squares = (weights * y) @ X, weights @ X**2
        self.best_ = int(np.argmax(products**2 / squares))
        self.coef_ = products[self.best_] / squares[self.best_]
        return self

    def predict(self, X):
        return self.coef_ * X[:, self.best_]
