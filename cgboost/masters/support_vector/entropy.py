"""The master of entropy-regularised LPBoost (Warmuth, Glocer, Vishwanathan, ALT 2008).

Primal   min F(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D       (F: :mod:`cgboost.losses.entropic`)
Dual     max gain(r) − D·max_j |h_j·r|,   gain(r) = −(1/η) Σ u_i log(u_i/ū_i),  u = |r|

The entropy keeps the distribution over the rows from jumping between rounds: their number is of
the order of log(1/ν)/δ² for a soft margin within δ of the best one.
"""

from __future__ import annotations

from cgboost.losses import SupportVectorLoss
from cgboost.losses.entropic import EntropicLoss
from cgboost.masters.support_vector.one_norm_ball import BudgetMaster
from cgboost.masters.support_vector.smooth_primal import SmoothPrimal


class EntropyMaster(BudgetMaster):
    """Restricted master of ERLPBoost; parameters as :class:`BudgetMaster`.

    The loss is an :class:`~cgboost.losses.EntropicLoss`, the solver one of quadratic programs.
    """

    loss: EntropicLoss

    def _restricted(self, loss: SupportVectorLoss, solver: str) -> SmoothPrimal:
        if not isinstance(loss, EntropicLoss):
            raise ValueError(f"EntropyMaster needs an EntropicLoss, got a {type(loss).__name__}")
        return SmoothPrimal(loss, self._form(), solver)
