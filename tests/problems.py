"""Random small problems, and the full problem, all columns at once, solved through CVXPY."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.losses import epsilon_insensitive, hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.master import SupportVectorMaster
from cgboost.penalties import L1, L2, ElasticNet, L1Ball, Penalty
from tests import smooth_losses as smooth

PENALTIES: dict[str, tuple[Penalty, Callable[[cp.Expression], cp.Expression]]] = {
    "l1": (L1(), cp.norm1),
    "l2": (L2(), lambda a: cp.sum_squares(a) / 2),
    "elasticnet": (ElasticNet(0.4), lambda a: 0.4 * cp.norm1(a) + 0.3 * cp.sum_squares(a)),
    "ball": (L1Ball(1.5), lambda a: cp.transforms.indicator([cp.norm1(a) <= 1.5])),
}
"""Every penalty, and what CVXPY is told of it (of all coefficients, and a penalized offset)."""


NAMED = {"l1": OneNormMaster, "l2": TwoNormMaster}
"""Penalties whose masters have names."""


@dataclass(frozen=True)
class Formulation:
    """A loss, a penalty and the rules for signs and offset; 24 of them are the main job."""

    loss: str
    penalty: str
    coef: str
    offset: str

    def __str__(self) -> str:
        return f"{self.loss}-{self.penalty}-{self.coef}-{self.offset}"

    def master(self, loss: Any, solver: str = "auto") -> SupportVectorMaster:
        """An empty restricted master of this formulation."""
        options = {"coef": self.coef, "offset": self.offset, "solver": solver}
        if self.penalty in NAMED:
            return NAMED[self.penalty](loss, **options)
        return SupportVectorMaster(loss, PENALTIES[self.penalty][0], **options)


def assert_certified(result: Result, optimum: float) -> None:
    """The optimum is reached, and bound ≤ optimum ≤ objective at every round."""
    slack = 1e-7 * max(1.0, abs(optimum))
    assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert result.gap <= 1e-6
    assert np.all(result.history["objective"] >= optimum - slack)
    bounds = result.history["bound"]
    assert np.all(bounds[np.isfinite(bounds)] <= optimum + slack)


FORMULATIONS = [
    Formulation(*parts)
    for parts in product(
        ["hinge", "epsilon"], ["l1", "l2"], ["free", "nonneg"], ["none", "penalized", "free"]
    )
]


@dataclass(frozen=True)
class Problem:
    """A column matrix H (rows × columns), targets, prices and the loss they make."""

    H: np.ndarray
    target: np.ndarray
    price: np.ndarray
    epsilon: float

    def loss(self, formulation: Formulation) -> Any:
        """The loss of a formulation on this problem's rows."""
        if formulation.loss in SMOOTH:
            return SMOOTH[formulation.loss][0](self)
        if formulation.loss == "hinge":
            return hinge(np.where(self.target > 0, 1.0, -1.0), self.price)
        return epsilon_insensitive(self.target, self.price, self.epsilon)

    def optimum(self, formulation: Formulation) -> float:
        """Optimal value of the full problem, by an independent solver."""
        problem = self.model(formulation)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            if problem.status != cp.OPTIMAL and formulation.loss in SMOOTH:
                problem.solve(solver=cp.CLARABEL)
        if formulation.loss in SMOOTH:
            return float(problem.value)
        if problem.status != cp.OPTIMAL and formulation.penalty == "l1":
            problem.solve(solver=cp.HIGHS)  # a vertex, where an interior point method stops short
        return float(problem.value)

    def model(self, formulation: Formulation) -> cp.Problem:
        """The full problem, with an error per row as a variable of its own.

        Not ``cp.pos(1 - cp.multiply(labels, H @ alpha))``: CVXPY 1.9 takes the product to be 0 and
        hands that to every solver that takes bounds, see ``docs/user_guide/solvers.md``.
        """
        alpha = cp.Variable(self.H.shape[1], nonneg=formulation.coef == "nonneg")
        b, errors = cp.Variable(), cp.Variable(self.H.shape[0], nonneg=True)
        output = self.H @ alpha + (b if formulation.offset != "none" else 0.0)
        charged = cp.hstack([alpha, b]) if formulation.offset == "penalized" else alpha
        penalty = PENALTIES[formulation.penalty][1](charged)
        if formulation.loss in SMOOTH:
            cost = SMOOTH[formulation.loss][1](self, output)
            return cp.Problem(cp.Minimize(penalty + cost))
        if formulation.loss == "hinge":
            labels = np.where(self.target > 0, 1.0, -1.0)
            limits = [errors >= 1 - cp.multiply(labels, output)]
        else:
            apart = self.target - output
            limits = [errors >= apart - self.epsilon, errors >= -apart - self.epsilon]
        return cp.Problem(cp.Minimize(penalty + self.price @ errors), limits)

    @property
    def labels(self) -> np.ndarray:
        """±1, of both classes, so that a free offset has an optimum."""
        labels = np.where(self.target > 0, 1.0, -1.0)
        labels[0] = -labels[1]
        return labels

    @property
    def counts(self) -> np.ndarray:
        """Whole numbers, not all 0, so that a free offset has an optimum."""
        counts = np.round(np.abs(self.target))
        counts[0] = max(counts[0], 1.0)
        return counts


SMOOTH: dict[str, tuple[Callable[[Problem], Any], Callable[[Problem, Any], cp.Expression]]] = {
    "log": (
        lambda p: smooth.LogLoss(p.labels, p.price),
        lambda p, f: p.price @ cp.logistic(-cp.multiply(p.labels, f)),
    ),
    "exponential": (
        lambda p: smooth.Exponential(p.labels, p.price),
        lambda p, f: p.price @ cp.exp(-cp.multiply(p.labels, f)),
    ),
    "poisson": (
        lambda p: smooth.Poisson(p.counts, p.price),
        lambda p, f: p.price @ (cp.exp(f) - cp.multiply(p.counts, f)),
    ),
    "squared": (
        lambda p: smooth.Squared(p.target, p.price),
        lambda p, f: p.price @ cp.square(f - p.target) / 2,
    ),
}
"""Smooth losses, bound to a problem's rows, and what CVXPY is told of them."""


def random_problem(seed: int) -> Problem:
    """Rows between 2 and 25, columns between 1 and 30, with correlated and duplicate columns."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 26)), int(rng.integers(1, 31))
    rank = int(rng.integers(1, 8))
    H = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns))
    H += 0.3 * rng.normal(size=H.shape)
    if n_columns > 3:
        H[:, -1] = H[:, 0]
        H[:, -2] = 0.0
    target = H[:, : min(3, n_columns)].sum(axis=1) + 0.5 * rng.normal(size=n_rows)
    price = 10.0 ** rng.uniform(-1, 1) * rng.uniform(0.2, 2.0, size=n_rows)
    return Problem(H, target, price, float(rng.choice([0.0, 0.1, 0.5])))


def columns_of(H: np.ndarray) -> list[Column]:
    """All columns of a matrix."""
    return [Column(values=column, key=("feature", j)) for j, column in enumerate(H.T)]
