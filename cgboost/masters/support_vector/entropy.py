"""The master of entropy-regularised LPBoost (Warmuth, Glocer, Vishwanathan, ALT 2008).

Primal   min F(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D       (F: :mod:`cgboost.losses.dual.entropic`)
Dual     max gain(r) − D·max_j |h_j·r|,   gain(r) = −(1/η) Σ u_i log(u_i/ū_i),  u = |r|

The entropy keeps the distribution over the rows from jumping between rounds: their number is of
the order of log(1/ν)/δ² for a soft margin within δ of the best one.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses import EntropicLoss, SupportVectorLoss
from cgboost.masters.support_vector.master import Offset, Sign, SupportVectorMaster
from cgboost.penalties import Entropy


class EntropyMaster(SupportVectorMaster):
    """Restricted master of ERLPBoost; parameters as :class:`BudgetMaster`.

    The loss is an :class:`~cgboost.losses.EntropicLoss`, the solver one of quadratic programs.
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        budget: float = 1.0,
        coef: Sign = "free",
        offset: Offset = "free",
        solver: str = "auto",
    ) -> None:
        if not isinstance(loss, EntropicLoss):
            raise ValueError(f"EntropyMaster needs an EntropicLoss, got a {type(loss).__name__}")
        if not 0 < budget < np.inf:
            raise ValueError(f"budget must be positive and finite, got {budget!r}")
        self.budget = budget
        penalty = Entropy(loss.eta, radius=budget)
        super().__init__(loss, penalty, coef=coef, offset=offset, solver=solver)
