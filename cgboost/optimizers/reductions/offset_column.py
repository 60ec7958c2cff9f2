"""A free offset as a column without a price, where a unit of it is not 1 on every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.reductions.reduction import Problem, Reduction


@dataclass(frozen=True)
class OffsetColumn(Reduction):
    """The column of the offset before all others, free of charge."""

    column: Column

    def apply(self, problem: Problem) -> Problem:
        """Without an offset, and with one more free column."""
        form = replace(problem.form, offset="none", n_free=problem.form.n_free + 1)
        return replace(problem, form=form, columns=[self.column, *problem.columns])

    def columns(self, new: Sequence[Column]) -> Sequence[Column]:
        """As they are: the one of the offset is there."""
        return new

    def start(self, coef: Vector, intercept: Any) -> tuple[Vector, Any]:
        """The offset as the first coefficient."""
        return np.append(intercept, coef), 0.0

    def invert(self, point: RestrictedPoint) -> RestrictedPoint:
        """The first coefficient as the offset."""
        return replace(point, coef=point.coef[1:], intercept=float(point.coef[0]))
