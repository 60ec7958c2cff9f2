"""Small fits with a 1-norm, and their problems written out: every column there is, in CVXPY."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    Linear,
    LPBoostClassifier,
    LPBoostRegressor,
    RuleSetClassifier,
    RuleSetRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.losses import EpsilonInsensitive, Loss, Quantile, get_loss

RNG = np.random.default_rng(11)
N, P = 40, 4
X = np.round(RNG.normal(size=(N, P)) * [1.0, 2.0, 1.0, 0.5], 1)
LINE = X @ [1.0, 0.0, -0.6, 1.0] + 0.4
Y = LINE + 0.5 * RNG.standard_t(3, N)
LABELS = np.where(LINE + RNG.normal(size=N) > 0, "yes", "no")
COUNTS = RNG.poisson(np.exp(0.4 * LINE))
WEIGHTS = RNG.integers(0, 3, N).astype(float)
NEW = np.round(RNG.normal(size=(3, P)) * [1.0, 2.0, 1.0, 0.5], 1) + 0.05

Functions = Callable[[np.ndarray], np.ndarray]
"""All columns of a family on rows, shape (n_rows, n_columns)."""


def features(rows: np.ndarray) -> np.ndarray:
    """Those of linear models."""
    return rows


def stumps(rows: np.ndarray) -> np.ndarray:
    """Every threshold of every feature, midway between values of the training rows, and 1."""
    columns = [np.ones(len(rows))]
    for j in range(P):
        values = np.unique(X[:, j])
        cuts = 0.5 * (values[1:] + values[:-1])
        columns += [np.where(rows[:, j] > cut, 1.0, -1.0) for cut in cuts]
    return np.column_stack(columns)


def kernels(rows: np.ndarray) -> np.ndarray:
    """x·z and exp(−½‖x − z‖²) for every training row z."""
    apart = ((rows[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    return np.hstack([rows @ X.T, np.exp(-0.5 * apart)])


def rules(rows: np.ndarray) -> np.ndarray:
    """All conjunctions of one or two conditions, over their numbers: thresholds of four bins."""
    known = RuleSetRegressor(None, max_bins=4, max_conditions=2).fit(X, Y)
    pool = known._pool(known._prepare(X, Y, None, None)[0])
    holds = [condition.holds(rows) for condition in pool.conditions]
    there = [condition.holds(X) for condition in pool.conditions]
    pairs = [(i, j) for i, j in combinations(range(len(holds)), 2) if (there[i] & there[j]).any()]
    columns = [*holds, *((holds[i] & holds[j]) / 2.0 for i, j in pairs)]
    return np.column_stack(columns).astype(float)


@dataclass(frozen=True)
class Near:
    """A fit, and its problem as its documentation says.

    Attributes
    ----------
    make : callable
        The estimator.
    functions : callable
        All columns.
    loss : str or Loss
    y : ndarray
        The targets.
    mean : bool
        Whether the loss is a mean, and alpha prices the coefficients.
    intercept : {"free", "none", "penalized"}
    weights : ndarray or None
    halved : bool
        Whether the loss is of half the output.
    """

    make: Callable[[], Any]
    functions: Functions
    loss: str | Loss
    y: Any = field(default_factory=lambda: Y)
    mean: bool = False
    intercept: str = "free"
    weights: np.ndarray | None = None
    halved: bool = False

    def fit(self) -> Any:
        """The fitted model."""
        return self.make().fit(X, self.y, sample_weight=self.weights)

    def written_out(self, model: Any, epsilon: float) -> WrittenOut:
        """The set of all models within (1 + ε) times the objective of a fitted one."""
        columns = self.functions(X)
        a = cp.Variable(columns.shape[1], nonneg=getattr(model, "positive", False))
        b = cp.Variable() if self.intercept != "none" else cp.Constant(0.0)
        weights = np.ones(N) if self.weights is None else self.weights
        target = np.where(self.y == "yes", 1.0, -1.0) if self.y is LABELS else self.y.astype(float)
        loss = get_loss(self.loss) if isinstance(self.loss, str) else self.loss
        output = (columns @ a + b) * (0.5 if self.halved else 1.0)
        lost = weights @ loss.to_cvxpy(target, output)
        size = cp.norm1(a) + (cp.abs(b) if self.intercept == "penalized" else 0.0)
        if self.mean:
            objective = lost / weights.sum() + model.alpha_ * size
        else:
            objective = getattr(model, "C_", getattr(model, "C", None)) * lost + size
        return WrittenOut(self, a, b, objective, (1.0 + epsilon) * model.objective_)


@dataclass(frozen=True)
class WrittenOut:
    """The set."""

    near: Near
    a: Any
    b: Any
    objective: Any
    level: float

    def range(self, value: Any) -> tuple[float, float]:
        """The ends of a value."""
        found = []
        for sense in (cp.Minimize, cp.Maximize):
            problem = cp.Problem(sense(value), [self.objective <= self.level])
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            found.append(float(problem.value))
        return found[0], found[1]

    def output(self, rows: np.ndarray) -> Any:
        """The outputs on rows."""
        return self.near.functions(rows) @ self.a + self.b


def _kernel(**own: Any) -> dict[str, Any]:
    return {"library": {"linear": Linear(), "rbf": RBF(0.5)}, "penalty": "l1", "tol": 1e-9} | own


def _rules(kind: Any, **own: Any) -> Callable[[], Any]:
    given = {"max_bins": 4, "max_conditions": 2, "tol": 1e-9} | own
    return lambda: kind(None, **given)


CASES: dict[str, Near] = {
    "absolute": Near(
        lambda: SparseLinearRegressor(loss="absolute_error", alpha=0.1), features,
        "absolute_error", mean=True,
    ),
    "quantile": Near(
        lambda: SparseLinearRegressor(quantile=0.8, alpha=0.05), features, Quantile(0.8), mean=True,
        weights=WEIGHTS,
    ),
    "squared, positive": Near(
        lambda: SparseLinearRegressor(loss="squared_error", alpha=0.1, positive=True, tol=1e-9),
        features, "squared_error", mean=True,
    ),
    "huber, no intercept": Near(
        lambda: SparseLinearRegressor(loss="huber", alpha=0.1, fit_intercept=False, tol=1e-9),
        features, "huber", mean=True, intercept="none",
    ),
    "tube": Near(
        lambda: SparseLinearRegressor(loss="epsilon_insensitive", epsilon=0.2, alpha=0.1), features,
        EpsilonInsensitive(0.2), mean=True,
    ),
    "poisson": Near(
        lambda: SparseLinearRegressor(loss="poisson", alpha=0.1, tol=1e-9), features, "poisson",
        y=COUNTS, mean=True,
    ),
    "hinge": Near(lambda: SparseLinearClassifier(C=0.5), features, "hinge", y=LABELS),
    "log loss": Near(
        lambda: SparseLinearClassifier(loss="log_loss", C=0.5, tol=1e-9), features, "log_loss",
        y=LABELS, halved=True,
    ),
    "squared hinge": Near(
        lambda: SparseLinearClassifier(loss="squared_hinge", C=0.5, tol=1e-9), features,
        "squared_hinge", y=LABELS, weights=WEIGHTS,
    ),
    "stumps, hinge": Near(
        lambda: LPBoostClassifier(C=0.3, tol=1e-9), stumps, "hinge", y=LABELS, intercept="none"
    ),
    "stumps, log loss": Near(
        lambda: LPBoostClassifier(loss="log_loss", C=0.5, tol=1e-9), stumps, "log_loss", y=LABELS,
        intercept="none",
    ),
    "stumps, tube": Near(
        lambda: LPBoostRegressor(C=0.5, epsilon=0.2, tol=1e-9), stumps, EpsilonInsensitive(0.2),
    ),
    "stumps, absolute": Near(
        lambda: LPBoostRegressor(loss="absolute_error", C=0.4, offset="penalized", tol=1e-9),
        stumps, "absolute_error", intercept="penalized", weights=WEIGHTS + 1.0,
    ),
    "kernels, hinge": Near(lambda: CGBoostClassifier(**_kernel()), kernels, "hinge", y=LABELS),
    "kernels, tube": Near(
        lambda: CGBoostRegressor(**_kernel(epsilon=0.2, C=0.5)), kernels, EpsilonInsensitive(0.2)
    ),
    "kernels, squared": Near(
        lambda: CGBoostRegressor(**_kernel(loss="squared_error", C=0.5, offset="penalized")),
        kernels, "squared_error", intercept="penalized",
    ),
    "rules, log loss": Near(
        _rules(RuleSetClassifier, C=0.7), rules, "log_loss", y=LABELS
    ),
    "rules, hinge": Near(
        _rules(RuleSetClassifier, C=0.5, loss="hinge"), rules, "hinge", y=LABELS
    ),
    "rules, absolute": Near(
        _rules(RuleSetRegressor, C=0.5, loss="absolute_error"), rules, "absolute_error"
    ),
    "rules, squared": Near(_rules(RuleSetRegressor, C=0.5), rules, "squared_error"),
}  # fmt: skip
"""Twenty problems: all families, with piecewise linear and curved losses."""
