"""The 1-norm: Ω(α) = Σ|α_j|.

Ω*(s) is 0 where max|s_j| ≤ 1 and ∞ elsewhere, so that r/τ with τ = max(1, max|h·r|) is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import Priced
from cgboost.penalties.penalty import DualLoss, Penalty, sizes

FEASIBILITY = 1e-9
"""Scores above the threshold by no more than this, relative to it, do not price out: those of
columns in use are at it up to the solver's error, and the relative gap hidden is no larger."""


@dataclass(frozen=True)
class OneNormEntry:
    """A column prices out when its score exceeds the threshold."""

    two_sided: bool
    threshold: float = 1.0
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """|s|/λ − 1, or s/λ − 1 where α ≥ 0; the gap is at most the largest of them."""
        size = (np.abs(scores) if self.two_sided else scores) / self.threshold
        return np.where(size > 1.0 + FEASIBILITY, size - 1.0, 0.0)

    def settled(self, score: float) -> float:
        """±λ, the boundary of the dual constraint."""
        return float(np.sign(score)) * self.threshold if abs(score) > self.threshold else score


@dataclass(frozen=True)
class L1(Penalty):
    """Σ|α|: a column has a coefficient only where |h·r| = 1."""

    threshold: ClassVar[float] = 1.0

    def value(self, coef: Vector) -> float:
        """Σ|α|."""
        return float(np.abs(coef).sum())

    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """0 where no score exceeds 1, inf elsewhere."""
        return 0.0 if sizes(scores, two_sided=two_sided).max(initial=0.0) <= 1.0 else np.inf

    def entry(
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> OneNormEntry:
        """Scores above 1 price out."""
        return OneNormEntry(two_sided)

    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """gain(r/τ), where τ ≥ 1 is the largest score: r/τ violates no column; at least gain(0)."""
        tau = max(1.0 + priced.max_excess, abs(offset_score))
        return max(loss.gain(np.zeros_like(response)), loss.gain(response / tau))
