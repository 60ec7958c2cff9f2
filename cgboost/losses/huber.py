"""Huber's loss."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import (
    SupportVectorLoss,
    check_costs,
    quadratic_term,
    weighted_median,
)
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class Huber(Loss):
    """Huber's loss of the residual e = y − f: ½e² for |e| ≤ δ, δ|e| − ½δ² beyond.

    Parameters
    ----------
    delta : float, default=1.0
        δ, positive, in the units of y.
    """

    delta: float = 1.0

    name: ClassVar[str] = "huber"
    of_residuals: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.delta, Real) and 0 < self.delta < np.inf):
            raise ValueError(f"delta must be positive, got {self.delta!r}")

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return Huber(self.delta / unit), unit**2

    def value(self, y: Vector, f: Vector) -> Vector:
        """½e² or δ|e| − ½δ²."""
        size = np.abs(y - f)
        inner = np.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−e, clipped to ±δ."""
        return np.clip(f - y, -self.delta, self.delta)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """1 for |e| < δ, 0 beyond."""
        return np.where(np.abs(y - f) < self.delta, 1.0, 0.0)

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """By a line search from the weighted median."""
        middle = weighted_median(y, weights)
        start = np.full(len(y), middle)
        return middle + self.on(y, weights).line_search(start, np.ones(len(y)))

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """|r| ≤ δ cost, with the quadratic term ½r²/cost."""
        check_costs(y, cost)
        end = self.delta * cost
        return SupportVectorLoss(y, lower=-end, upper=end, curvature=quadratic_term(cost))

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """CVXPY's huber is twice this one."""
        cp = import_cvxpy()
        return 0.5 * cp.huber(y - f, self.delta)
