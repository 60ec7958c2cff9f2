"""The exponential loss, for labels of ±1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import check_labels
from cgboost.losses.log_loss import half_log_odds
from cgboost.losses.loss import Expression, Loss, UnboundedStepError, WeightedLoss, import_cvxpy

LARGEST_EXPONENT = 600.0
"""Exponents are cut here: sums of such numbers and their squares' roots stay finite."""


@dataclass(frozen=True)
class Exponential(Loss):
    """Exponential loss exp(−y f), the loss of AdaBoost; labels are ±1."""

    name: ClassVar[str] = "exponential"
    classification: ClassVar[bool] = True
    attains_minimum: ClassVar[bool] = False
    log_odds: ClassVar[float] = 2.0

    def check_target(self, y: Vector) -> None:
        """Labels must be ±1."""
        check_labels(y)

    def value(self, y: Vector, f: Vector) -> Vector:
        """exp(−y f)."""
        return np.exp(np.clip(-y * f, -LARGEST_EXPONENT, LARGEST_EXPONENT))

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−y exp(−y f)."""
        return -y * self.value(y, f)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """exp(−y f)."""
        return self.value(y, f)

    def best_constant(self, y: Vector, weights: Vector) -> float:
        """½ log of the odds of y = 1; 0 where a class has no weight."""
        return half_log_odds(y, weights)

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value u log u − u, with u = −y s ≥ 0."""
        u = -y * s
        inside = u >= 0.0
        u = np.where(inside, u, 0.0)
        return np.where(inside, xlogy(u, u) - u, np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """Slopes with y s ≤ 0."""
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """exp(−y f)."""
        cp = import_cvxpy()
        return cp.exp(cp.multiply(-y, f))

    def on(self, y: Vector, weights: Vector) -> WeightedExponential:
        """The loss on training rows."""
        return WeightedExponential(self, y, weights)


class WeightedExponential(WeightedLoss):
    """Σ w_i exp(−y_i f_i); |r_i| are AdaBoost's weights of the rows."""

    def line_search(self, output: Vector, direction: Vector) -> float:
        """In closed form for a column with one margin a where right and one −b where wrong.

        The step is log(a·right/(b·wrong))/(a + b), with the weights of both kinds of rows: for a
        column of ±1 this is ½ log((1 − err)/err). Any other column takes Newton's method.
        """
        margins = self.target * direction
        a, b = float(margins.max()), -float(margins.min())
        hits = margins == a
        if a <= 0.0 or b <= 0.0 or not np.all(hits | (margins == -b)):
            return super().line_search(output, direction)
        weights = self.curvature(output)
        right, wrong = float(weights[hits].sum()), float(weights[~hits].sum())
        if wrong == 0.0 or right == 0.0:
            raise UnboundedStepError("the column is right, or wrong, on every row that counts")
        return (math.log(right) - math.log(wrong) + math.log(a / b)) / (a + b)
