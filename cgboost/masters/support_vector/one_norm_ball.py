"""The master with a budget: coefficients of a given total size.

Primal   min loss(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D
Dual     max gain(r) − D·max_j |h_j·r|   (or max(0, h_j·r) where α ≥ 0),  r feasible for the loss

This is the form of LPBoost with ν (Demiriz, Bennett, Shawe-Taylor, Machine Learning 46, 2002): with
D = 1 the model is a convex combination of columns and its margin ρ is comparable between models.
Σ|α| = 1 is asked for there; over columns that come with both signs that is the same. If α = 0 is
optimal, no combination of columns has a positive margin for that ν.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.master import Offset, Sign, SupportVectorMaster
from cgboost.masters.support_vector.one_norm import OneNormMaster
from cgboost.penalties import L1Ball


class BudgetMaster(SupportVectorMaster):
    """Restricted master with Σ|α| ≤ budget; further parameters as :class:`SupportVectorMaster`.

    Parameters
    ----------
    budget : float, default=1
        The constant D.
    """

    def __init__(
        self,
        loss: Any,
        *,
        budget: float = 1.0,
        coef: Sign = "free",
        offset: Offset = "free",
        solver: str = "auto",
    ) -> None:
        if not 0 < budget < np.inf:
            raise ValueError(f"budget must be positive and finite, got {budget!r}")
        self.budget = budget
        super().__init__(loss, L1Ball(budget), coef=coef, offset=offset, solver=solver)


def one_norm_master(loss: SupportVectorLoss) -> type[OneNormMaster] | type[BudgetMaster]:
    """The 1-norm master that suits a loss: with a penalty, or with a budget of 1.

    A loss that chooses its margin itself grows with α as the 1-norm does, so that only their ratio
    matters: the 1-norm is then given, not penalised.
    """
    return OneNormMaster if loss.shrinks else BudgetMaster
