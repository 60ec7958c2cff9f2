"""Norms of functions: what penalties on whole reproducing kernel Hilbert spaces have in common.

The model is f = Σ_p f_p + b with f_p in the space H_p of kernel p. Over columns that are
orthonormal in H_p the norm of f_p is that of the coefficients, and in the dual all of H_p is one
column, with the score √(rᵀK_p r), less where the kernel has a weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

from cgboost.penalties.penalty import Penalty

NO_SIGN_RULE = (
    "coef='nonneg' is a rule for the coefficients of columns, but this penalty is a norm of "
    "functions: f_p and −f_p have the same norm. Take coef='free', or a penalty of coefficients "
    "('l1', 'l2' or 'elasticnet')"
)


@dataclass(frozen=True)
class FunctionNorm(Penalty):
    """A cost of the norms ‖f_p‖, with a weight for each kernel.

    Parameters
    ----------
    weights : mapping of str to float or None
        w_p by the name of the kernel, positive; 1 for those that it leaves out.
    """

    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.weights, (Mapping, type(None))):
            raise ValueError(f"weights must be a dict of kernel names, got {self.weights!r}")
        for name, weight in (self.weights or {}).items():
            if not (isinstance(weight, Real) and weight > 0 and math.isfinite(weight)):
                raise ValueError(
                    f"the weight of kernel {name!r} must be positive and finite, got {weight!r}; "
                    "leave a kernel that should not count out of the library"
                )

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted((self.weights or {}).items()))))

    of_functions: ClassVar[bool] = True

    def weight(self, name: str) -> float:
        """The weight w_p of a kernel."""
        return float((self.weights or {}).get(name, 1.0))

    def check_names(self, names: Sequence[str]) -> None:
        """Raise ValueError if there is a weight for a kernel that does not exist."""
        unknown = [name for name in self.weights or {} if name not in names]
        if unknown:
            raise ValueError(
                f"weights of {type(self).__name__} name kernel {unknown[0]!r}, the library has "
                f"{', '.join(map(repr, list(names)[:10]))}"
            )
