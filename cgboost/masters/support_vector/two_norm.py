"""The 2-norm master: a quadratic program (Bi, Zhang, Bennett, KDD 2004: [B], eq. 7 to 12).

Primal   min ½Σα_j² [+ ½b²] + loss(Hα + b)
Dual     max gain(r) − ½Σ φ(h_j·r)²   with  φ(s) = s  (α free)  or  max(0, s)  (α ≥ 0)

In the restricted dual every column has a variable z_j with  h_j·r = z_j  or  h_j·r ≤ z_j, z_j ≥ 0,
so that the problem grows by one row and one variable a column. At the optimum α = z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.protocols import MasterState, Priced
from cgboost.masters.dual_solvers.simplex import DualForm
from cgboost.masters.support_vector.master import SupportVectorMaster

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class TwoNormEntry:
    """Every column with φ(s) ≠ 0 lowers the objective, by at most ½φ(s)² ([B] Prop. 4.1)."""

    two_sided: bool
    scale: float
    additive: ClassVar[bool] = True

    def excess(self, scores: Vector) -> Vector:
        """½φ(s)² relative to max(1, |objective|)."""
        active = scores if self.two_sided else np.maximum(scores, 0.0)
        return 0.5 * active**2 / self.scale

    def settled(self, score: float) -> float:
        """0, where the column no longer adds to the gap."""
        return 0.0


class TwoNormMaster(SupportVectorMaster):
    """Restricted 2-norm master; see :class:`SupportVectorMaster` for the parameters."""

    def _bound(self, state: MasterState, priced: Priced) -> float:
        """Dual objective at t·r for the best t in [0, 1]; at t = 1 the gap is Prop. 4.1's.

        With a margin of the loss's choice only t = 1 is feasible.
        """
        response = state.pseudo_response
        assert isinstance(state.entry, TwoNormEntry)
        curvature = 2.0 * priced.total_excess * state.entry.scale + self.loss.squared(response)
        if self.offset == "penalized":
            curvature += float(response.sum()) ** 2
        gain, step = self.loss.linear_gain(response), 1.0
        if self.loss.shrinks:
            if gain <= 0:
                return 0.0
            step = 1.0 if curvature <= gain else gain / curvature
        return step * gain - 0.5 * step**2 * curvature

    def _form(self) -> DualForm:
        return DualForm(quadratic=True, two_sided=self.two_sided, offset=self.offset)

    def _penalty(self, coef: Vector, intercept: float) -> float:
        offset = intercept**2 if self.offset == "penalized" else 0.0
        return 0.5 * (float(coef @ coef) + offset)

    def _entry(self, objective: float, response: Vector) -> TwoNormEntry:
        return TwoNormEntry(two_sided=self.two_sided, scale=self._scale(objective))

    def _worth_of(self, margin: float) -> float:
        assert self.loss.mass is not None
        # of α = Hᵀr with Σ|r| = mass: outputs, and so twice the objective, grow as |h|²·mass²
        return 0.5 * margin * (self.loss.mass.amount * self._dual.largest_entry) ** 2
