"""Random small problems, and the full problem, all columns at once, solved through CVXPY."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from cgboost.generation.history import Result
from cgboost.losses import SupportVectorLoss, epsilon_insensitive, hinge
from cgboost.masters import OneNormMaster, TwoNormMaster
from cgboost.masters.support_vector.master import SupportVectorMaster


@dataclass(frozen=True)
class Formulation:
    """One of the 24 formulations of the main job."""

    loss: str
    penalty: str
    coef: str
    offset: str

    def __str__(self) -> str:
        return f"{self.loss}-{self.penalty}-{self.coef}-{self.offset}"

    def master(self, loss: SupportVectorLoss, solver: str = "auto") -> SupportVectorMaster:
        """An empty restricted master of this formulation."""
        kind = OneNormMaster if self.penalty == "l1" else TwoNormMaster
        return kind(loss, coef=self.coef, offset=self.offset, solver=solver)


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

    def loss(self, formulation: Formulation) -> SupportVectorLoss:
        """The loss of a formulation on this problem's rows."""
        if formulation.loss == "hinge":
            return hinge(np.where(self.target > 0, 1.0, -1.0), self.price)
        return epsilon_insensitive(self.target, self.price, self.epsilon)

    def optimum(self, formulation: Formulation) -> float:
        """Optimal value of the full problem, by an independent solver."""
        problem = self.model(formulation)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
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
        penalty = cp.norm1(alpha) if formulation.penalty == "l1" else cp.sum_squares(alpha) / 2
        if formulation.offset == "penalized":
            penalty += cp.abs(b) if formulation.penalty == "l1" else cp.square(b) / 2
        if formulation.loss == "hinge":
            labels = np.where(self.target > 0, 1.0, -1.0)
            limits = [errors >= 1 - cp.multiply(labels, output)]
        else:
            apart = self.target - output
            limits = [errors >= apart - self.epsilon, errors >= -apart - self.epsilon]
        return cp.Problem(cp.Minimize(penalty + self.price @ errors), limits)


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
