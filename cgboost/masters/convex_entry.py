"""Which columns price out for a penalty ``λ‖a‖₁ + ½μ‖a‖²`` or a budget ``‖a‖₁ ≤ R``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ConvexEntry:
    """A column prices out when its score exceeds the threshold λ."""

    two_sided: bool
    threshold: float
    curvature: float
    reach: float | None
    scale: float
    cut: float

    @property
    def additive(self) -> bool:
        """Σφ* is what the bound of a curved penalty rests on."""
        return self.curvature > 0

    def over(self, scores: Vector) -> Vector:
        """(|s| − λ)₊, or (s − λ)₊ where a ≥ 0; 0 below the cut, which the bound allows for."""
        size = np.abs(scores) if self.two_sided else np.asarray(scores)
        over = np.maximum(size - self.threshold, 0.0)
        return np.where(over > self.cut, over, 0.0)

    def excess(self, scores: Vector) -> Vector:
        """φ*(s) (or R·(|s| − λ)₊) relative to max(1, |objective|); |s|/λ − 1 where φ* is 0 or ∞."""
        over = self.over(scores)
        if self.curvature > 0:
            return 0.5 * over**2 / self.curvature / self.scale
        if self.reach is not None:
            return self.reach * over / self.scale
        return over / (self.threshold or self.scale)

    def settled(self, score: float) -> float:
        """±λ, where a column no longer prices out."""
        if not self.two_sided:
            return min(score, self.threshold)
        return float(np.copysign(min(abs(score), self.threshold), score))
