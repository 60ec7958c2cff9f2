"""A loss along a few directions: its value, gradient and Hessian, as sums over rows.

    L(f + b + Σ_k c_k h_k)     over (b, c_1, …, c_m)

That is all that a master needs of the rows when it chooses few coefficients at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Quadratic:
    """The second-order model of a loss at a point.

    Attributes
    ----------
    value : float
        Loss of the training rows.
    gradient : ndarray of shape (1 + m,)
        By the constant and the coefficients.
    hessian : ndarray of shape (1 + m, 1 + m)
        Of a loss that is straight at all rows, Σ w hhᵀ.
    holdout : float
        Loss of the rows held out.
    """

    value: float
    gradient: Vector
    hessian: Vector
    holdout: float = 0.0

    def merged(self, other: Quadratic) -> Quadratic:
        """Of the rows of both."""
        return Quadratic(
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            self.holdout + other.holdout,
        )

    def along(self, basis: Vector) -> Quadratic:
        """By other variables v, of which those here are ``basis @ v``."""
        return Quadratic(
            self.value, basis.T @ self.gradient, basis.T @ self.hessian @ basis, self.holdout
        )

    def damped(self, share: float) -> Quadratic:
        """With a share of its diagonal added to the Hessian: where that is singular, definite."""
        hessian = self.hessian + share * np.diag(np.diag(self.hessian))
        return Quadratic(self.value, self.gradient, hessian, self.holdout)
