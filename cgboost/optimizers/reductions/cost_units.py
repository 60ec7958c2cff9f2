"""Costs in units of their mean, for a loss that chooses its own margin.

Such a loss is a maximum over r with a given Σ|r|, so that the scale of its costs is arbitrary, and
solvers need numbers near 1: r' = r/p. A squared penalty has α = Hᵀr, so that α and the output are
divided alike; under a ball they stay, and a curvature c of the dual, ½cr², becomes p·c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from cgboost.arrays import Vector
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Problem, Reduction


@dataclass(frozen=True)
class CostUnits(Reduction):
    """Costs in units of a number.

    Attributes
    ----------
    scales_model : bool
        Whether the model is divided by it too.
    """

    unit: float
    scales_model: bool

    @classmethod
    def of(cls, problem: Problem) -> Self | None:
        """None for a loss with its own scale, or a penalty without a degree."""
        loss, form = problem.loss, problem.form
        if not loss.chooses_margin or (form.threshold > 0 and form.quadratic > 0):
            return None
        unit = float(loss.variables.costs.mean()) if len(loss.variables) else 1.0
        return None if unit == 1.0 else cls(unit, form.penalty.degree == 2)

    @property
    def _of_model(self) -> float:
        return self.unit if self.scales_model else 1.0

    def apply(self, problem: Problem) -> Problem:
        """The loss of costs in these units."""
        curvature = self.unit / self._of_model
        return replace(problem, loss=problem.loss.in_units(self.unit, curvature=curvature))

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """In units of the model."""
        return coef / self._of_model, intercept / self._of_model

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """Model and pseudo-response in their own units."""
        return replace(
            point,
            coef=self._of_model * point.coef,
            intercept=self._of_model * point.intercept,
            output=self._of_model * point.output,
            response=self.unit * point.response,
        )
