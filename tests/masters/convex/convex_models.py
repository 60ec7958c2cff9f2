"""Convex models, and the full problem of each, solved at once by CVXPY."""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.history import Result
from tests.problems import least

N_ROWS, N_COLUMNS = 30, 40


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns H, a response and its signs."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = H[:, :4].sum(axis=1) + 0.5 * rng.normal(size=N_ROWS) + 1.0
    return H, y, np.where(y > 1.0, 1.0, -1.0)


def losses(y: np.ndarray, labels: np.ndarray) -> dict[str, Callable[[Any], Any]]:
    """Linear, quadratic, exponential-cone and second-order-cone losses."""
    return {
        "pinball": lambda f: 2 * cp.sum(cp.maximum(0.8 * (y - f), -0.2 * (y - f))),
        "huber": lambda f: cp.sum(cp.huber(y - f, 1.0)) / 2,
        "squared": lambda f: cp.sum_squares(y - f) / 2,
        "hinge": lambda f: 2 * cp.sum(cp.pos(1 - cp.multiply(labels, f))),
        "logistic": lambda f: 3 * cp.sum(cp.logistic(-cp.multiply(labels, f))),
        "root": lambda f: 5 * cp.norm2(y - f),
    }


def fairness(a: Any, b: Any, f: Any) -> list[Any]:
    """The mean outputs of two groups of rows differ by at most 0.1."""
    return [cp.abs(cp.sum(f[:10]) / 10 - cp.sum(f[10:]) / 20) <= 0.1]


MODELS: dict[str, dict[str, Any]] = {
    "1-norm": {},
    "fairness": {"constraints": fairness},
    "non-negative": {"coef": "nonneg"},
    "elastic net": {
        "penalty": lambda a, b: 0.5 * cp.norm1(a) + cp.sum_squares(a),
        "threshold": 0.5,
        "curvature": 2.0,
    },
    "2-norm": {"penalty": lambda a, b: cp.sum_squares(a) / 2 + cp.square(b) / 2, "curvature": 1.0},
    "budget": {
        "penalty": lambda a, b: 0.0,
        "constraints": lambda a, b, f: [cp.norm1(a) <= 2],
        "reach": 2.0,
    },
    "no offset": {"offset": "none"},
}


def full(H: np.ndarray, loss: Any, model: dict[str, Any]) -> float:
    """The optimum over all columns."""
    a = cp.Variable(H.shape[1], nonneg=model.get("coef") == "nonneg")
    b = cp.Variable() if model.get("offset") != "none" else cp.Constant(0.0)
    f = cp.Variable(len(H))
    penalty = model.get("penalty", lambda a, b: cp.norm1(a))
    constraints = model.get("constraints", lambda a, b, f: [])
    return least(loss(f) + penalty(a, b), [f == H @ a + b, *constraints(a, b, f)])


def check(result: Result, optimum: float, gap: float = 1e-6) -> None:
    """Bound ≤ optimum ≤ objective at every round, and both close at the end."""
    slack = 1e-7 * max(1.0, abs(optimum))
    bounds = result.history["bound"]
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert np.all(result.history["objective"] >= optimum - slack)
    assert np.all(bounds[np.isfinite(bounds)] <= optimum + slack)
    assert result.gap <= gap
