"""The elastic net: Ω(α) = Σ ρ|α_j| + ½(1 − ρ)α_j², with Ω*(s) = ½Σ(|s_j| − ρ)₊²/(1 − ρ).

Zou, Hastie, *Regularization and variable selection via the elastic net*, JRSS B 67, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import Priced
from cgboost.penalties.penalty import DualLoss, Penalty, ray_gain, sizes


@dataclass(frozen=True)
class ElasticNetEntry:
    """A column whose score exceeds the threshold lowers the objective, by at most φ*(s).

    Scores that exceed it by no more than ``cut`` do not count.
    """

    two_sided: bool
    threshold: float
    quadratic: float
    scale: float = 1.0
    cut: float = 0.0
    additive: ClassVar[bool] = True

    def excess(self, scores: Vector) -> Vector:
        """φ*(s) = ½(|s| − λ)₊²/μ relative to the scale of the gap; (s − λ)₊ where α ≥ 0."""
        size = np.abs(scores) if self.two_sided else np.asarray(scores)
        over = np.maximum(size - self.threshold, 0.0)
        over = np.where(over > self.cut, over, 0.0)
        return 0.5 * over**2 / self.quadratic / self.scale

    def settled(self, score: float) -> float:
        """±λ, where the column no longer adds to the gap."""
        if not self.two_sided:
            return min(score, self.threshold)
        return float(np.copysign(min(abs(score), self.threshold), score))


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """Σ ρ|α| + ½(1 − ρ)α²: as sparse as ρ is large, and unique, as the 1-norm is not.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        ρ, at least 0 and below 1 (``L1()`` is the limit).
    """

    l1_ratio: float = 0.5

    def __post_init__(self) -> None:
        if not (isinstance(self.l1_ratio, Real) and 0.0 <= self.l1_ratio < 1.0):
            raise ValueError(
                f"l1_ratio must be at least 0 and below 1 (use L1() for 1), got {self.l1_ratio!r}"
            )

    @property
    def threshold(self) -> float:
        """ρ."""
        return self.l1_ratio

    @property
    def quadratic(self) -> float:
        """1 − ρ."""
        return 1.0 - self.l1_ratio

    def value(self, coef: Vector) -> float:
        """Σ ρ|α| + ½(1 − ρ)α²."""
        square = 0.5 * self.quadratic * float(coef @ coef)
        return self.threshold * float(np.abs(coef).sum()) + square

    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """½Σ(|s| − ρ)₊²/(1 − ρ)."""
        over = np.maximum(sizes(scores, two_sided=two_sided) - self.threshold, 0.0)
        return 0.5 * float(over @ over) / self.quadratic

    def entry(
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> ElasticNetEntry:
        """Scores above ρ price out."""
        return ElasticNetEntry(two_sided, self.threshold, self.quadratic, scale)

    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """gain(t·r) − t²·Ω*(s) for the best t in [0, 1], since Ω*(t·s) ≤ t²·Ω*(s) there."""
        conjugate = priced.total_excess * entry.scale + self.conjugate(np.array([offset_score]))
        return ray_gain(loss, response, 2.0 * conjugate)
