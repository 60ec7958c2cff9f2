"""The squared 2-norm: Ω(α) = ½Σα_j², with Ω*(s) = ½Σs_j² (Σ(s_j)₊²/2 where α ≥ 0).

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import Priced
from cgboost.penalties.penalty import DualLoss, Penalty, ray_gain, sizes


@dataclass(frozen=True)
class TwoNormEntry:
    """Every column with φ*(s) ≠ 0 lowers the objective, by at most ½s² ([B] Prop. 4.1)."""

    two_sided: bool
    scale: float
    additive: ClassVar[bool] = True

    def excess(self, scores: Vector) -> Vector:
        """½s², or ½(s)₊² where α ≥ 0, relative to the scale of the gap."""
        active = scores if self.two_sided else np.maximum(scores, 0.0)
        return 0.5 * active**2 / self.scale

    def settled(self, score: float) -> float:
        """0, where the column no longer adds to the gap."""
        return 0.0


@dataclass(frozen=True)
class L2(Penalty):
    """½Σα²: at the optimum α = h·r, for every column."""

    quadratic: ClassVar[float] = 1.0

    def value(self, coef: Vector) -> float:
        """½Σα²."""
        return 0.5 * float(coef @ coef)

    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """½Σs², over s > 0 alone where α ≥ 0."""
        size = sizes(scores, two_sided=two_sided)
        return 0.5 * float(size @ size)

    def entry(
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> TwoNormEntry:
        """Every score adds half its square."""
        return TwoNormEntry(two_sided, scale)

    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """gain(t·r) − t²·Ω*(s) for the best t in [0, 1]; at t = 1 the gap is that of Prop. 4.1."""
        conjugate = 2.0 * priced.total_excess * entry.scale + offset_score**2
        return ray_gain(loss, response, conjugate)
