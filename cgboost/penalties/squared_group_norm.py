"""Half the square of the group norm: Ω(f) = ½(Σ_p w_p‖f_p‖)², with Ω*(r) = ½ max_p σ_p².

The form of multiple kernel learning in which the kernels have weights η_p ≥ 0 with Σ w_p²η_p = 1
and the problem is the support vector machine of the kernel Σ η_p K_p (Rakotomamonjy, Bach, Canu,
Grandvalet, *SimpleMKL*, JMLR 9, 2008). With C for the cost it has the models of
:class:`~cgboost.penalties.GroupNorm` with C/Σ w_p‖f_p‖. A loss that chooses its margin needs it:
such a loss grows with the model as the group norm itself does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import Priced
from cgboost.penalties.group_norm import GroupNorm
from cgboost.penalties.penalty import DualLoss, ray_gain, sizes


@dataclass(frozen=True)
class SquaredGroupEntry:
    """A column prices out when its score exceeds the largest among those in the master."""

    two_sided: bool
    largest: float
    scale: float
    additive: ClassVar[bool] = False

    def excess(self, scores: Vector) -> Vector:
        """½(s² − largest²)₊ relative to the scale of the gap."""
        size = sizes(scores, two_sided=self.two_sided)
        return 0.5 * np.maximum(size**2 - self.largest**2, 0.0) / self.scale

    def settled(self, score: float) -> float:
        """± the largest score so far."""
        return float(np.clip(score, -self.largest, self.largest))


@dataclass(frozen=True)
class SquaredGroupNorm(GroupNorm):
    """½(Σ w_p‖f_p‖)²: few kernels, each as a whole, at the scale of a support vector machine.

    Parameters
    ----------
    weights : mapping of str to float, optional
    standardize, shared : bool, default=True
        All as of :class:`GroupNorm`.
    """

    __hash__ = GroupNorm.__hash__

    threshold: ClassVar[float] = 0.0
    degree: ClassVar[int] = 2
    compares_scores: ClassVar[bool] = True

    def value(self, coef: Vector) -> float:
        """½(Σ|α|)²."""
        return 0.5 * float(np.abs(coef).sum()) ** 2

    def conjugate(self, scores: Vector, *, two_sided: bool = True) -> float:
        """½ max s²."""
        return 0.5 * float(sizes(scores, two_sided=two_sided).max(initial=0.0)) ** 2

    def entry(  # type: ignore[override]
        self, *, two_sided: bool, scale: float = 1.0, largest: float = 0.0, noise: float = 0.0
    ) -> SquaredGroupEntry:
        """Scores above the largest of the columns in the master price out."""
        return SquaredGroupEntry(two_sided, largest + noise, scale)

    def bound(
        self,
        loss: DualLoss,
        response: Vector,
        entry: Any,
        priced: Priced,
        *,
        offset_score: float = 0.0,
    ) -> float:
        """gain(t·r) − ½t² max σ² for the best t in [0, 1]."""
        square = entry.largest**2 + 2.0 * priced.max_excess * entry.scale
        return ray_gain(loss, response, max(square, offset_score**2))
