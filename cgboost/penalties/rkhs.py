"""The squared norms of the kernels' functions: ½Σ_p w_p‖f_p‖² with f = Σ_p f_p + b, f_p ∈ H_p.

H_p is the reproducing kernel Hilbert space of kernel p. Over columns that are orthonormal in H_p
the norm is that of the coefficients: with K_p(Z, Z) = LLᵀ and f_p = K_p(·, Z)α, β = √w_p Lᵀα,

    ½ w_p‖f_p‖² = ½ w_p αᵀK_p(Z, Z)α = ½ Σβ²

so that entry rule and bound are those of the 2-norm. In the dual, where all of H_p is one column
with the score σ_p(r) = √(rᵀK_p r/w_p), the bound covers every function of every H_p. Without
offset, or with a free one, it is the support vector machine of the kernel Σ_p K_p/w_p.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cgboost.penalties.l2 import L2


@dataclass(frozen=True)
class RKHS(L2):
    """½Σ_p w_p‖f_p‖²: of one kernel, the penalty of its support vector machine.

    Parameters
    ----------
    weights : mapping of str to float or None
        w_p by the name of the kernel, positive; 1 for those that it leaves out.
    """

    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        for name, weight in (self.weights or {}).items():
            if not (weight > 0 and math.isfinite(weight)):
                raise ValueError(
                    f"the weight of kernel {name!r} must be positive and finite, got {weight!r}; "
                    "leave a kernel that should not count out of the library"
                )

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted((self.weights or {}).items()))))

    @property
    def of_functions(self) -> bool:
        """True."""
        return True

    def weight(self, name: str) -> float:
        """The weight w_p of a kernel."""
        return float((self.weights or {}).get(name, 1.0))

    def check_names(self, names: Sequence[str]) -> None:
        """Raise ValueError if there is a weight for a kernel that does not exist."""
        unknown = [name for name in self.weights or {} if name not in names]
        if unknown:
            raise ValueError(
                f"weights of {type(self).__name__} name kernel {unknown[0]!r}, the library has "
                f"{', '.join(map(repr, names))}"
            )
