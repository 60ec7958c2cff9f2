"""The quantile or pinball loss."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.dual.support_vector import SupportVectorLoss, check_costs
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class Quantile(Loss):
    """Quantile loss max(q e, (q − 1) e) of the residual e = y − f; minimal at the q-quantile.

    Parameters
    ----------
    quantile : float, default=0.5
        q, between 0 and 1: the cost of an output that is too low by 1; too high by 1 costs 1 − q.
    """

    quantile: float = 0.5

    name: ClassVar[str] = "quantile"
    of_residuals: ClassVar[bool] = True
    is_score: ClassVar[bool] = True
    weighted_class: ClassVar[type[PiecewiseLinearLoss]] = PiecewiseLinearLoss

    def __post_init__(self) -> None:
        if not (isinstance(self.quantile, Real) and 0 < self.quantile < 1):
            raise ValueError(f"quantile must be between 0 and 1, got {self.quantile!r}")

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return self, unit

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(q e, (q − 1) e)."""
        residual = y - f
        return np.maximum(self.quantile * residual, (self.quantile - 1.0) * residual)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−q if f is too low, 1 − q if it is too high."""
        return np.where(f < y, -self.quantile, np.where(f > y, 1.0 - self.quantile, 0.0))

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """(q − 1) cost ≤ r ≤ q cost."""
        check_costs(y, cost)
        return SupportVectorLoss(y, (self.quantile - 1.0) * cost, self.quantile * cost)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """max(q e, (q − 1) e)."""
        cp = import_cvxpy()
        return cp.maximum(self.quantile * (y - f), (self.quantile - 1.0) * (y - f))
