"""The 1-norm master: a linear program (Bi, Zhang, Bennett, KDD 2004, eq. 4 to 6).

Primal   min Σ|α_j| [+ |b|] + loss(Hα + b)
Dual     max gain(r)   with  |h_j·r| ≤ 1  (α free)  or  h_j·r ≤ 1  (α ≥ 0),  r feasible for the loss
"""

from __future__ import annotations

from typing import Any

from cgboost.masters.support_vector.master import Offset, Sign, SupportVectorMaster
from cgboost.penalties import L1

VERTICES = "highs"
"""The solver for columns that repeat each other: of many optima a simplex finds a sparse one."""


class OneNormMaster(SupportVectorMaster):
    """Restricted 1-norm master; see :class:`SupportVectorMaster` for the parameters.

    Not for losses with a margin of their own choice (:func:`~cgboost.losses.nu_hinge`): they and
    the penalty grow alike with α, so that the optimum would be 0 or unbounded;
    :class:`~cgboost.masters.BudgetMaster` is the 1-norm form of these.
    """

    def __init__(
        self, loss: Any, *, coef: Sign = "free", offset: Offset = "free", solver: str = "auto"
    ) -> None:
        super().__init__(loss, L1(), coef=coef, offset=offset, solver=solver)
