"""The group norm of functions: Ω(f) = Σ_p w_p‖f_p‖ over the reproducing kernel Hilbert spaces H_p.

This is the penalty of multiple kernel learning. A whole kernel is a column: with h_p in the unit
ball of H_p and f_p = α_p h_p, the norm is the 1-norm of the α_p, and the best h_p for a
pseudo-response r is K_p r over its norm, which scores

    σ_p = √(rᵀK_p r)/w_p

Ω*(r) is 0 where no σ_p exceeds 1 and ∞ elsewhere: entry rule and bound are those of the 1-norm.
(Bach, Lanckriet, Jordan, *Multiple kernel learning, conic duality, and the SMO algorithm*,
ICML 2004.)
"""

from __future__ import annotations

from dataclasses import dataclass

from cgboost.penalties.function_norm import FunctionNorm
from cgboost.penalties.l1 import L1


@dataclass(frozen=True)
class GroupNorm(FunctionNorm, L1):
    """Σ w_p‖f_p‖: few kernels, each as a whole (multiple kernel learning).

    Parameters
    ----------
    weights : mapping of str to float, optional
        w_p by the name of a kernel; 1 for those that are not named. A kernel of a larger weight
        needs a better reason to enter.

    Examples
    --------
    >>> from cgboost.penalties import GroupNorm
    >>> GroupNorm({"rbf": 2.0}).weight("rbf")
    2.0
    """

    __hash__ = FunctionNorm.__hash__
