"""The logistic loss, for labels ±1.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, xlogy

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import check_labels
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class LogLoss(Loss):
    """Logistic loss log(1 + exp(−2 y f)) ([M] eq. 33): f is half the log-odds; labels are ±1.

    Where outputs are log-odds themselves, as of linear classifiers, these are in a unit of 2
    (``log_odds``): that is what a user's log(1 + exp(−y f)) is then.
    """

    name: ClassVar[str] = "log_loss"
    classification: ClassVar[bool] = True
    attains_minimum: ClassVar[bool] = False
    log_odds: ClassVar[float] = 2.0

    def check_target(self, y: Vector) -> None:
        """Labels must be ±1."""
        check_labels(y)

    def value(self, y: Vector, f: Vector) -> Vector:
        """log(1 + exp(−2 y f))."""
        z = -2.0 * y * f
        return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))), dtype=np.float64)

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−2 (y* − p), with y* = (y + 1)/2 and p = 1/(1 + e^{−2f})."""
        slope = -2.0 * y
        return np.asarray(slope * expit(slope * f), dtype=np.float64)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """4 p (1 − p) = 4e/(1 + e)², with e = exp(−2|f|)."""
        e = np.exp(-2.0 * np.abs(f))
        return np.asarray(4.0 * e / (1.0 + e) ** 2, dtype=np.float64)

    def derivatives(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        """Both by one exponential, e = exp(−2|f|): p is 1/(1 + e) or e/(1 + e)."""
        e = np.exp(-2.0 * np.abs(f))
        most = 1.0 / (1.0 + e)  # of the likelier class
        wrong = np.where(y * f > 0.0, e * most, most)
        return np.asarray(-2.0 * y * wrong), np.asarray(4.0 * e * most**2)

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """½ log of the odds of y = 1; 0 where a class has no weight."""
        return half_log_odds(y, weights)

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value p log p + (1 − p) log(1 − p), with p = −y s/2 between 0 and 1."""
        p = -0.5 * y * s
        inside = (p >= 0.0) & (p <= 1.0)
        p = np.where(inside, p, 0.0)
        return np.where(inside, xlogy(p, p) + xlogy(1.0 - p, 1.0 - p), np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """−2 ≤ y s ≤ 0."""
        return np.where(y > 0, -2.0, 0.0), np.where(y > 0, 0.0, 2.0)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """log(1 + exp(−2 y f))."""
        cp = import_cvxpy()
        return cp.logistic(cp.multiply(-2.0 * y, f))


def half_log_odds(y: Vector, weights: Vector) -> float:
    """½ log of the odds of y = 1; 0 where a class has no weight."""
    positive, negative = float(weights[y > 0].sum()), float(weights[y < 0].sum())
    return 0.5 * math.log(positive / negative) if positive > 0 and negative > 0 else 0.0
