"""The absolute error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.dual.support_vector import SupportVectorLoss, check_costs
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class AbsoluteError(Loss):
    """Absolute error |y − f|, with its minimum at the median."""

    name: ClassVar[str] = "absolute_error"
    of_residuals: ClassVar[bool] = True
    weighted_class: ClassVar[type[PiecewiseLinearLoss]] = PiecewiseLinearLoss

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return self, unit

    def value(self, y: Vector, f: Vector) -> Vector:
        """|y − f|."""
        return np.abs(y - f)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """The sign of f − y."""
        return np.sign(f - y)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """|r| ≤ cost."""
        check_costs(y, cost)
        return SupportVectorLoss(y, lower=-cost, upper=cost.copy())

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """|y − f|."""
        cp = import_cvxpy()
        return cp.abs(y - f)
