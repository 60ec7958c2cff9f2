"""The squared ε-insensitive loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.base import Expression, Loss, import_cvxpy
from cgboost.losses.dual.support_vector import (
    SupportVectorLoss,
    check_epsilon,
    check_price,
    quadratic_term,
)

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """Squared ε-insensitive loss max(0, |y − f| − ε)², as of scikit-learn's LinearSVR.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half width of the tube inside which errors are free, in the units of y.
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "squared_epsilon_insensitive"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(0, |y − f| − ε)²."""
        return self._outside(y, f) ** 2

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """Twice what f is outside the tube by."""
        return 2.0 * np.sign(f - y) * self._outside(y, f)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """2 outside the tube, 0 inside."""
        return np.where(np.abs(y - f) > self.epsilon, 2.0, 0.0)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """R without ends, at the price ε|r| and with the quadratic term ½r²/(2 cost)."""
        check_price(y, cost)
        end = np.where(cost > 0, np.inf, 0.0)
        return SupportVectorLoss(
            y, lower=-end, upper=end, epsilon=self.epsilon, curvature=quadratic_term(2.0 * cost)
        )

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """(|y − f| − ε)₊²."""
        cp = import_cvxpy()
        return cp.square(cp.pos(cp.abs(y - f) - self.epsilon))

    def _outside(self, y: Vector, f: Vector) -> Vector:
        return np.maximum(np.abs(y - f) - self.epsilon, 0.0)
