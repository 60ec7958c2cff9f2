"""Rows and peers that the tests of kernel models share."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

EXACT = {"kernel": "precomputed", "tol": 1e-10, "cache_size": 1000}
Rows = tuple[np.ndarray, np.ndarray]


def digits(n_rows: int = 300) -> Rows:
    """8×8 digits with pixels in [0, 1]."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows] / 16.0, y[:n_rows]


def odd(n_rows: int = 300) -> Rows:
    """Odd digits are 1, even ones −1."""
    X, y = digits(n_rows)
    return X, np.where(y % 2, 1, -1)


def cancer() -> Rows:
    """Features of scale 1, labels 0 and 1."""
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def diabetes() -> Rows:
    """Features and y of scale 1."""
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


def svc(gram: np.ndarray, y: np.ndarray, C: float = 1.0, weights: Any = None) -> tuple[float, SVC]:
    """Dual objective and model of scikit-learn."""
    peer = SVC(C=C, **EXACT).fit(gram, y, weights)
    a = np.zeros(len(y))
    a[peer.support_] = peer.dual_coef_[0]
    return float(np.abs(a).sum() - 0.5 * a @ gram @ a), peer


def svr(gram: np.ndarray, y: np.ndarray, epsilon: float = 0.1) -> tuple[float, SVR]:
    """The same of regression with C = 1."""
    peer = SVR(C=1.0, epsilon=epsilon, **EXACT).fit(gram, y)
    a = np.zeros(len(y))
    a[peer.support_] = peer.dual_coef_[0]
    return float(y @ a - epsilon * np.abs(a).sum() - 0.5 * a @ gram @ a), peer


def assert_certified(model: Any, optimum: float) -> None:
    """The optimum is reached to 1e-6, and bound ≤ optimum ≤ objective in every round to 1e-8."""
    assert_enclosed(model, optimum)
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.converged_


def assert_enclosed(model: Any, optimum: float) -> None:
    """Bound ≤ optimum ≤ objective in every round to 1e-8."""
    slack = 1e-8 * max(1.0, abs(optimum))
    assert np.nanmax(model.history_["bound"]) <= optimum + slack
    assert model.history_["objective"].min() >= optimum - slack
