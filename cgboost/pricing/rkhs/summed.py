"""The weighted sum of kernels as one kernel: the columns of a squared norm of functions.

With ½Σ_p w_p‖f_p‖² the optimum is f_p = K_p r/w_p with the same pseudo-response r for all kernels:
the support vector machine of the kernel

    S = Σ_p K_p/w_p,      ‖f‖²_S = min { Σ_p w_p‖f_p‖² : f = Σ_p f_p }

(Aronszajn, *Theory of reproducing kernels*, Trans. AMS 68, 1950, section I.6). Its columns are the
S(·, x_j), one for each training row, instead of one for each kernel and row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.kernels.kernel_family import EXPANSIONS, ExpansionFamily, KernelHypothesis, Terms
from cgboost.pricing.kernels.kernel_pool import KernelPool

ADDED_AT_ONCE = 2**22
"""Kernel values of columns that are made before they are added up (32 MB)."""


@dataclass(frozen=True, eq=False)
class SummedFunction:
    """h(x) = Σ_p k_p(x, x_j)/w_p of one training row x_j.

    Attributes
    ----------
    row : int
        j.
    functions : sequence of KernelHypothesis
        The k_p(·, x_j).
    weights : ndarray of shape (n_kernels,)
        The 1/w_p.
    """

    row: int
    functions: Sequence[KernelHypothesis]
    weights: Vector

    @property
    def family(self) -> ExpansionFamily:
        """What evaluates sums."""
        return EXPANSIONS

    def terms(self) -> Terms:
        """The functions k_p(·, x_j), their weights, and the names of the kernels."""
        return self.functions, self.weights, [own.family.name for own in self.functions]


class SummedKernel:
    """The columns S(·, x_j) of a pool's kernels, as one stratum.

    Parameters
    ----------
    weight : callable
        The weight w_p of a kernel by its name.
    """

    def __init__(self, pool: KernelPool, weight: Callable[[str], float]) -> None:
        self.pool = pool
        self.strata = (" + ".join(pool.strata),)
        self.shares = np.array([1.0 / weight(name) for name in pool.strata])

    def all_scores(self, response: Vector, deadline: float = np.inf) -> tuple[Vector, Vector]:
        """S r, and bounds on the errors, shape (1, n_rows); see :class:`KernelPool`."""
        return self._summed(self.pool.all_scores(response, deadline))

    def extended_scores(self, response: Vector) -> tuple[Vector, Vector] | None:
        """The same with more digits than float64, where there are such."""
        found = self.pool.extended_scores(response)
        return None if found is None else self._summed(found)

    def _summed(self, found: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        scores, errors = found
        rounding = (len(self.shares) + 1) * np.finfo(np.float64).eps
        sizes = self.shares @ np.abs(scores)
        return (self.shares @ scores)[None], (self.shares @ errors + rounding * sizes)[None]

    def sharpen(self) -> bool:
        """Make scores more exact, if they can be."""
        return self.pool.sharpen()

    def diagonal(self, stratum: int) -> Vector:
        """S(x, x) of all rows."""
        own = [self.pool.diagonal(p) for p in range(len(self.shares))]
        return np.asarray(self.shares @ np.array(own), dtype=np.float64)

    def is_narrow(self, stratum: int) -> bool:
        """Whether the values of some kernel are given, and in float32."""
        return any(self.pool.is_narrow(p) for p in range(len(self.shares)))

    def columns(
        self, strata: Sequence[int], indices: Sequence[int], *, wide: bool = False
    ) -> list[Column]:
        """The columns S(·, x_j) of some rows; ``wide`` as in :meth:`KernelPool.columns`."""
        count, columns = len(self.shares), []
        dtype = np.float32 if self.is_narrow(0) else np.float64
        everything = list(range(count))
        step = max(1, ADDED_AT_ONCE // (count * self.pool.X.shape[0]))
        for some in blocks_of(len(indices), step):
            own = list(indices[some])
            kernels = [p for _ in own for p in everything]
            parts = self.pool.columns(kernels, np.repeat(own, count).tolist(), wide=wide)
            for place, row in enumerate(own):
                columns.append(self._column(row, parts[place * count : (place + 1) * count], dtype))
        return columns

    def _column(self, row: int, parts: Sequence[Column], dtype: Any) -> Column:
        values = self.shares @ np.array([part.values for part in parts], dtype=np.float64)
        functions: list[Any] = [part.hypothesis for part in parts]
        (name,) = self.strata
        return Column(
            values.astype(dtype, copy=False),
            key=(name, row),
            hypothesis=SummedFunction(row, functions, self.shares),
            stratum=name,
        )

    def values_on(self, strata: Indices, indices: Indices, rows: Indices) -> Vector:
        """S of some rows with others, shape (len(indices), len(rows))."""
        values = np.zeros((len(indices), len(rows)))
        for p, share in enumerate(self.shares):
            values += share * self.pool.values_on(np.full(len(indices), p), indices, rows)
        return values
