"""The squared norms of the kernels' functions: ½Σ_p w_p‖f_p‖² with f = Σ_p f_p + b, f_p ∈ H_p.

H_p is the reproducing kernel Hilbert space of kernel p. Over columns that are orthonormal in H_p
the norm is that of the coefficients: with K_p(Z, Z) = LLᵀ and f_p = K_p(·, Z)α, β = √w_p Lᵀα,

    ½ w_p‖f_p‖² = ½ w_p αᵀK_p(Z, Z)α = ½ Σβ²

so that entry rule and bound are those of the 2-norm. In the dual, where all of H_p is one column
with the score σ_p(r) = √(rᵀK_p r/w_p), the bound covers every function of every H_p. Without
offset, or with a free one, it is the support vector machine of the kernel Σ_p K_p/w_p.
"""

from __future__ import annotations

from dataclasses import dataclass

from cgboost.penalties.function_norm import FunctionNorm
from cgboost.penalties.l2 import L2


@dataclass(frozen=True)
class RKHS(FunctionNorm, L2):
    """½Σ_p w_p‖f_p‖²: of one kernel, the penalty of its support vector machine.

    Parameters
    ----------
    weights : mapping of str to float or None
        w_p by the name of the kernel, positive; 1 for those that it leaves out.
    """

    __hash__ = FunctionNorm.__hash__
