"""The expectile loss, asymmetric squares."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class Expectile(Loss):
    """Asymmetric squared error τ e² of the residual e = y − f > 0, (1 − τ) e² below.

    Its best constant is the τ-expectile, the mean for ½ (Newey, Powell, *Econometrica* 55, 1987).

    Parameters
    ----------
    alpha : float, default=0.5
        τ, between 0 and 1: what squares cost where the output is too low; too high, 1 − τ.
    """

    alpha: float = 0.5

    name: ClassVar[str] = "expectile"
    of_residuals: ClassVar[bool] = True
    squares_outliers: ClassVar[bool] = True
    is_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and 0 < self.alpha < 1):
            raise ValueError(f"alpha must be between 0 and 1, got {self.alpha!r}")

    def in_units(self, unit: float) -> tuple[Loss, float]:
        """See :meth:`Loss.in_units`."""
        return self, unit**2

    def value(self, y: Vector, f: Vector) -> Vector:
        """τ e² or (1 − τ) e²."""
        return self._factor(y - f) * (y - f) ** 2

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−2τ e or −2(1 − τ) e."""
        return 2.0 * self._factor(y - f) * (f - y)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """2τ or 2(1 − τ)."""
        return 2.0 * self._factor(y - f)

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """The weighted expectile, by a line search from the mean."""
        mean = float(np.average(y, weights=weights))
        return mean + self.on(y, weights).line_search(np.full(len(y), mean), np.ones(len(y)))

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value y s + s²/4τ for slopes s < 0, y s + s²/4(1 − τ) for others."""
        return s * (y + 0.25 * s / self._factor(-s))

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """τ (e)₊² + (1 − τ) (−e)₊²."""
        cp = import_cvxpy()
        above, below = cp.square(cp.pos(y - f)), cp.square(cp.pos(f - y))
        return self.alpha * above + (1.0 - self.alpha) * below

    def _factor(self, residual: Vector) -> Vector:
        return np.where(residual > 0, self.alpha, 1.0 - self.alpha)
