"""The squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import (
    SupportVectorLoss,
    check_costs,
    check_labels,
    quadratic_term,
)
from cgboost.losses.loss import Expression, Loss, WeightedLoss, import_cvxpy


@dataclass(frozen=True)
class SquaredError(Loss):
    """Squared error ½(y − f)²; the pseudo-response is the weighted residual."""

    name: ClassVar[str] = "squared_error"
    of_residuals: ClassVar[bool] = True
    squares_outliers: ClassVar[bool] = True

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return self, unit**2

    def value(self, y: Vector, f: Vector) -> Vector:
        """½(y − f)²."""
        return 0.5 * (y - f) ** 2

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """The gradient f − y."""
        return f - y

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """1."""
        return np.ones(len(y))

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """The weighted mean of y."""
        return float(np.average(y, weights=weights))

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """Any r, with the quadratic term ½r²/cost."""
        check_costs(y, cost)
        end = np.where(cost > 0, np.inf, 0.0)
        return SupportVectorLoss(y, lower=-end, upper=end, curvature=quadratic_term(cost))

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value y s + ½s²."""
        return s * (y + 0.5 * s)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """Every slope."""
        return np.full(len(y), -np.inf), np.full(len(y), np.inf)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """½(y − f)²."""
        cp = import_cvxpy()
        return 0.5 * cp.square(y - f)

    def on(self, y: Vector, weights: Vector) -> WeightedSquaredError:
        """The loss on training rows."""
        return WeightedSquaredError(self, y, weights)


class WeightedSquaredError(WeightedLoss):
    """½ Σ w_i (y_i − f_i)²."""

    def curvature(self, output: Vector) -> Vector:
        """w_i."""
        return self.weights

    def line_search(self, output: Vector, direction: Vector) -> float:
        """r·h / Σ w h², in closed form."""
        return self.newton_step(output, direction)


def margin_distribution(labels: Vector, price: Vector) -> SupportVectorLoss:
    """Mean and variance of the margins: Σ price_i·½(1 − m_i)² = Σ price_i·(½m_i² − m_i + ½).

    MD-Boost with the identity as covariance (Shen, Li, IEEE Trans. Neural Networks 21, 2010). This
    is the squared error of the labels: ½(1 − y f)² = ½(y − f)² for y = ±1.
    """
    check_labels(labels)
    return SquaredError().dual_box(labels, price)
