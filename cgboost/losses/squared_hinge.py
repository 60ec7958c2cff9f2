"""The squared hinge loss, for labels ±1."""

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
from cgboost.losses.loss import Expression, Loss, import_cvxpy


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """Squared hinge loss max(0, 1 − y f)², as in scikit-learn's LinearSVC; labels are ±1."""

    name: ClassVar[str] = "squared_hinge"
    classification: ClassVar[bool] = True

    def check_target(self, y: Vector) -> None:
        """Labels must be ±1."""
        check_labels(y)

    def value(self, y: Vector, f: Vector) -> Vector:
        """max(0, 1 − y f)²."""
        return np.maximum(1.0 - y * f, 0.0) ** 2

    def gradient(self, y: Vector, f: Vector) -> Vector:
        """−2y·max(0, 1 − y f)."""
        return -2.0 * y * np.maximum(1.0 - y * f, 0.0)

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """2 if y f < 1, otherwise 0."""
        return np.where(y * f < 1.0, 2.0, 0.0)

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """0 ≤ y r, with the quadratic term ½r²/(2 cost)."""
        check_labels(y)
        check_costs(y, cost)
        end = np.where(cost > 0, np.inf, 0.0)
        return SupportVectorLoss(
            y,
            lower=np.where(y < 0, -end, 0.0),
            upper=np.where(y > 0, end, 0.0),
            curvature=quadratic_term(2.0 * cost),
        )

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """The value y s + ¼s² where y s ≤ 0."""
        return np.where(y * s <= 0.0, y * s + 0.25 * s**2, np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """Slopes with y s ≤ 0."""
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """(1 − y f)₊²."""
        cp = import_cvxpy()
        return cp.square(cp.pos(1.0 - cp.multiply(y, f)))
