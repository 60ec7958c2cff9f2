"""The Poisson deviance, for counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from cgboost.arrays import Vector
from cgboost.losses.exponential import LARGEST_EXPONENT
from cgboost.losses.loss import Expression, Loss, import_cvxpy

SMALLEST_MEAN = 1e-10
"""Mean that counts are given that are all 0. 0 has no logarithm; the one of this, −23, is below
that of any sample with a count in it."""


@dataclass(frozen=True)
class Poisson(Loss):
    """Half the Poisson deviance, e^f − y f + y log y − y, for y ≥ 0: f is the log of the mean."""

    name: ClassVar[str] = "poisson"
    is_score: ClassVar[bool] = True
    attains_minimum: ClassVar[bool] = False

    def check_target(self, y: Vector) -> None:
        """Counts must not be negative."""
        if np.any(y < 0):
            raise ValueError(f"y must not be negative for the Poisson loss, got {np.min(y):g}")

    def inverse_link(self, f: Vector) -> Vector:
        """The mean e^f."""
        return _exp(f)

    def attains_minimum_of(self, y: Vector) -> bool:
        """Where no count is 0: of rows with 0, f = −∞ is best."""
        return bool(np.all(y > 0))

    def value(self, y: Vector, f: Vector) -> Vector:
        """e^f − y f + y log y − y, at least 0."""
        return np.maximum(_exp(f) - y * f + _least(y), 0.0)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """e^f − y."""
        return _exp(f) - y

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """e^f."""
        return _exp(f)

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """The log of the weighted mean of y, which is taken as at least 10⁻¹⁰."""
        return math.log(max(float(np.average(y, weights=weights)), SMALLEST_MEAN))

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value v log v − v − (y log y − y), with v = y + s ≥ 0."""
        v = y + s
        inside = v >= 0.0
        v = np.where(inside, v, 0.0)
        return np.where(inside, xlogy(v, v) - v - _least(y), np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """Slopes s ≥ −y."""
        return -y, np.full(len(y), np.inf)

    def sizes(self, y: Vector, f: Vector) -> Vector:
        """Of the terms e^f, y f, y log y and y."""
        return _exp(f) + np.abs(y * f) + np.abs(xlogy(y, y)) + y

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """e^f − y f + y log y − y."""
        cp = import_cvxpy()
        return cp.exp(f) - cp.multiply(y, f) + _least(y)


def _exp(f: Vector) -> Vector:
    return np.exp(np.minimum(f, LARGEST_EXPONENT))


def _least(y: Vector) -> Vector:
    """Y log y − y, minus the least of e^f − y f."""
    return np.asarray(xlogy(y, y) - y, dtype=np.float64)
