"""The 1-norm ball: Σ|α_j| ≤ D, with Ω*(s) = D·max|s_j| (D·max(s_j)₊ where α ≥ 0)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import Priced
from cgboost.penalties.penalty import DualLoss, Penalty, sizes

ABOVE_LARGEST = 1e-12
"""Scores above the largest so far by more than this, relative to it, price out: the columns in use
have the largest score themselves, up to the rounding of long sums."""

IN_BALL = 1e-9
"""Coefficients this far outside the ball, relative to its radius, count as inside. A solver's
answer is on the boundary up to its error; larger, it might cost less than the optimum."""


@dataclass(frozen=True)
class BudgetEntry:
    """A column prices out when its score exceeds the largest among those in the master."""

    two_sided: bool
    largest: float
    cut: float
    budget: float
    scale: float
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """D·(|s| − largest) relative to the scale of the gap, which is at most the largest."""
        over = (np.abs(scores) if self.two_sided else scores) - self.largest
        return np.where(over > self.cut, self.budget * over / self.scale, 0.0)

    def settled(self, score: float) -> float:
        """± the largest score so far."""
        return float(np.sign(score)) * self.largest if abs(score) > self.largest else score


@dataclass(frozen=True)
class L1Ball(Penalty):
    """Σ|α| ≤ radius, and no other cost.

    Parameters
    ----------
    radius : float, default=1
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.radius, Real) and 0 < self.radius < np.inf):
            raise ValueError(f"radius must be positive and finite, got {self.radius!r}")

    def value(self, coef: Vector) -> float:
        """0 inside the ball, inf outside."""
        return 0.0 if float(np.abs(coef).sum()) <= self.radius * (1.0 + IN_BALL) else np.inf

    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """D times the largest score."""
        return self.radius * float(sizes(scores, two_sided=two_sided).max(initial=0.0))

    def entry(
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> BudgetEntry:
        """Scores above the largest of the columns in the master price out."""
        cut = max(ABOVE_LARGEST * largest, noise)
        return BudgetEntry(two_sided, largest, cut, self.radius, scale)

    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """gain(r) − D·max|h·r| over all columns (with Σr, which is in the entry's largest)."""
        largest = entry.largest + entry.cut
        largest += priced.max_excess * entry.scale / self.radius
        return loss.gain(response) - self.radius * max(largest, abs(offset_score))
