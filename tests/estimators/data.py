"""Small data sets and shorthands that the estimator tests share."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear
from cgboost.generation.history import Round

LIBRARY = KernelLibrary({"linear": Linear(), "rbf": RBF()})

PENALTIES = ["l1", "l2"]

Data = Callable[[int], tuple[np.ndarray, np.ndarray]]
"""Rows and targets, given their number."""


def two_classes(n_rows: int = 40, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes 0 and 1 in three dimensions."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    return rng.normal(size=(n_rows, 3)) + 0.8 * y[:, None], y


def three_classes(n_rows: int = 45) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes 0, 1, 2 in two dimensions."""
    rng = np.random.default_rng(1)
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, 2)) + 1.5 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def curve(n_rows: int = 40, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A noisy sine in the first of two features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n_rows, 2))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n_rows)


def lines(n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Three of forty features, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 40))
    return X, X[:, :3].sum(axis=1) + 2.0 * rng.normal(size=n_rows)


def without_ties(X: np.ndarray) -> np.ndarray:
    """X with a little noise, so that hardly two splits are equally good."""
    return X + 1e-2 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)


def classifier(**parameters: Any) -> CGBoostClassifier:
    """A 1-norm classifier over a linear and an RBF kernel."""
    return CGBoostClassifier(**{"library": LIBRARY, "penalty": "l1"} | parameters)


def regressor(**parameters: Any) -> CGBoostRegressor:
    """A 1-norm regressor over a linear and an RBF kernel."""
    return CGBoostRegressor(**{"library": LIBRARY, "penalty": "l1"} | parameters)


def interrupt() -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def at_round(number: int, action: Callable[[], Any]) -> Callable[[Round], Any]:
    """A callback that does something in one round."""
    return lambda turn: action() if turn.number == number else None
