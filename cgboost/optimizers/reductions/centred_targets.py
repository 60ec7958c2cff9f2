"""Targets and outputs less a number c, where the offset is free.

    F(y, Hα + b) = F(y − c, Hα + (b − c))

Solvers, sums and bounds then have the digits that targets far from 0 would take.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Problem, Reduction

MOST_TARGETS = (0.05, 0.95)
"""Targets between these shares are those that 0 may lie among: some outliers do not count."""


@dataclass(frozen=True)
class CentredTargets(Reduction):
    """Targets less a number.

    Attributes
    ----------
    constant : ndarray of shape (n_rows,) or float
        What a unit of the offset is on the rows.
    """

    centre: float
    constant: Vector | float = 1.0

    @classmethod
    def of(cls, problem: Problem) -> Self | None:
        """None without a free offset, or where 0 lies among the targets."""
        centre = centre_of(problem.loss) if problem.form.offset == "free" else 0.0
        return cls(centre) if centre else None

    def apply(self, problem: Problem) -> Problem:
        """The loss of y − c."""
        return replace(problem, loss=problem.loss.shifted(self.centre * self.constant))

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """The offset less c."""
        return coef, intercept - self.centre

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """Offset and output with c."""
        output = point.output + self.centre * self.constant
        return replace(point, intercept=point.intercept + self.centre, output=output)


def centre_of(loss: Any) -> float:
    """The target nearest to 0 of most of them; 0 for losses that are none of y − f.

    It does not depend on costs, so that a path has one.
    """
    if isinstance(loss, SupportVectorLoss):
        of_residuals = not loss.chooses_margin
    else:
        of_residuals = getattr(getattr(loss, "loss", None), "of_residuals", False)
    if not of_residuals:
        return 0.0
    counts = loss.upper > loss.lower if isinstance(loss, SupportVectorLoss) else loss.weights > 0
    targets = loss.target[counts]
    if not len(targets):
        return 0.0
    # np.quantile(…, method="nearest") in a tenth of its time, which small problems notice
    places = np.rint((len(targets) - 1) * np.array(MOST_TARGETS)).astype(np.intp)
    return float(np.clip(0.0, *np.partition(targets, places)[places]))
