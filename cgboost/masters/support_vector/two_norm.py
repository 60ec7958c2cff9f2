"""The 2-norm master: a quadratic program (Bi, Zhang, Bennett, KDD 2004, eq. 7 to 12).

Primal   min ½Σα_j² [+ ½b²] + loss(Hα + b)
Dual     max gain(r) − ½Σ φ(h_j·r)²   with  φ(s) = s  (α free)  or  max(0, s)  (α ≥ 0)
"""

from __future__ import annotations

from typing import Any

from cgboost.masters.support_vector.master import Offset, Sign, SupportVectorMaster
from cgboost.penalties import L2


class TwoNormMaster(SupportVectorMaster):
    """Restricted 2-norm master; see :class:`SupportVectorMaster` for the parameters."""

    def __init__(
        self, loss: Any, *, coef: Sign = "free", offset: Offset = "free", solver: str = "auto"
    ) -> None:
        super().__init__(loss, L2(), coef=coef, offset=offset, solver=solver)
