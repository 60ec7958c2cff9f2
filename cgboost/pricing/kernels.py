"""Kernel libraries as pools of columns, with a cache of Gram columns.

A column K(·, x_j) is computed when it is first needed and kept while the memory budget lasts; what
does not fit is computed again in blocks whenever it is scored. The pool outlives one run of the
loop: one-vs-rest classes share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.columns import Column
from cgboost.exceptions import KernelScaleWarning, warn_caller
from cgboost.kernels import Kernel, KernelLibrary, Matrix, kernel_values
from cgboost.pricing.strata import Indices, Priority, StrataPricer, Vector

BLOCK = 256
"""Gram columns computed or scored at a time."""

SCALE_RATIO = 1e6
"""Column norms of two kernels may differ by this factor before a warning is given."""

SCALE_ADVICE = (
    "Scale the features first (sklearn.preprocessing.StandardScaler, or to [0, 1]), or normalise "
    'the kernels: library=KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": '
    "RBF()}, normalize=True), with the kernels that you use."
)


@dataclass(frozen=True)
class KernelFamily:
    """One named kernel; evaluates its hypotheses together."""

    name: str
    kernel: Kernel

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelHypothesis]) -> Matrix:
        """Kernel values of the rows of X with the centres, shape (len(X), n_hypotheses)."""
        centres = np.stack([hypothesis.centre for hypothesis in hypotheses])
        return kernel_values(self.name, self.kernel, X, centres)


@dataclass(frozen=True, eq=False)
class KernelHypothesis:
    """h(x) = k(x, centre), with the training row the centre came from."""

    family: KernelFamily
    row: int
    centre: NDArray[Any]


class KernelPool:
    """The columns K_p(·, x_j) of every kernel p and training row j; one stratum a kernel.

    Parameters
    ----------
    library : KernelLibrary
    X : ndarray of shape (n_rows, n_features)
        Training rows. Columns are computed and kept in its dtype; scores add up in float64.
    cache_size : float, default=1000
        Megabytes for Gram columns.

    Warns
    -----
    KernelScaleWarning
        If the column norms of two kernels differ by more than 1e6.
    """

    def __init__(self, library: KernelLibrary, X: Matrix, *, cache_size: float = 1000.0) -> None:
        self.X = X
        self.strata = library.names
        self.families = [KernelFamily(name, k) for name, k in library.fit(X).items()]
        self._cache = _ColumnCache(
            n_rows=len(X), sizes=[len(X)] * len(library), dtype=X.dtype, megabytes=cache_size
        )
        self._warn_about_scales()

    def size(self, stratum: int) -> int:
        """Number of training rows."""
        return len(self.X)

    def rows(self, stratum: int) -> Indices:
        """Column j is centred on training row j."""
        return np.arange(len(self.X))

    def column(self, stratum: int, index: int) -> Column:
        """The column K(·, x_index) of one kernel."""
        family = self.families[stratum]
        centre = family.kernel.centres(self.X, slice(index, index + 1))[0]
        return Column(
            values=self.values(stratum, np.array([index]))[0],
            key=(family.name, index),
            hypothesis=KernelHypothesis(family, index, np.array(centre)),
            stratum=family.name,
        )

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·K(·, x_j) for the wanted j, shape (n_wanted,)."""
        wanted = np.arange(len(self.X)) if indices is None else indices
        scores = np.empty(len(wanted))
        self._fill(stratum, wanted)
        slots = self._cache.slots(stratum, wanted)
        cached = np.flatnonzero(slots >= 0)
        scores[cached] = self._cache.dot(slots[cached], response)
        missing = np.flatnonzero(slots < 0)
        support = np.flatnonzero(response)
        for block in _blocks(missing):
            values = self._compute(stratum, wanted[block], support)
            scores[block] = values.astype(np.float64) @ response[support]
        return scores

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """Columns as rows of an array, from the cache where they are in it."""
        slots = self._cache.slots(stratum, indices)
        if (slots >= 0).all():
            return self._cache.store[slots]
        return self._compute(stratum, indices, slice(None))

    def _fill(self, stratum: int, wanted: Indices) -> None:
        missing = wanted[self._cache.slots(stratum, wanted) < 0]
        for block in _blocks(missing[: self._cache.free]):
            self._cache.put(stratum, block, self._compute(stratum, block, slice(None)))

    def _compute(self, stratum: int, indices: Indices, rows: Any) -> Matrix:
        family = self.families[stratum]
        centres = family.kernel.centres(self.X, indices)
        values = kernel_values(family.name, family.kernel, self.X[rows], centres)
        return values.T.astype(self.X.dtype, copy=False)

    def _warn_about_scales(self) -> None:
        sample = np.unique(np.linspace(0, len(self.X) - 1, 8).astype(np.intp))
        norms = {}
        for stratum, name in enumerate(self.strata):
            self._fill(stratum, sample)
            values = self.values(stratum, sample).astype(np.float64)
            norms[name] = float(np.median(np.linalg.norm(values, axis=1)))
        positive = [norm for norm in norms.values() if norm > 0]
        if positive and max(positive) > SCALE_RATIO * min(positive):
            sizes = ", ".join(f"{name} {norm:.1e}" for name, norm in norms.items())
            warn_caller(
                f"column norms differ by more than {SCALE_RATIO:.0e} between kernels ({sizes}): "
                f"the penalty then decides by scale alone. {SCALE_ADVICE}",
                KernelScaleWarning,
            )


class KernelPricer(StrataPricer):
    """Exact pricing of a kernel library on training rows X; see :class:`StrataPricer`."""

    def __init__(
        self,
        library: KernelLibrary,
        X: Matrix,
        *,
        priority: Priority = "full",
        tol: float = 1e-4,
        cache_size: float = 1000.0,
    ) -> None:
        super().__init__(KernelPool(library, X, cache_size=cache_size), priority=priority, tol=tol)


class _ColumnCache:
    """Columns as rows of one array, filled in the order in which they are first needed."""

    def __init__(self, *, n_rows: int, sizes: list[int], dtype: Any, megabytes: float) -> None:
        affordable = int(megabytes * 2**20 / max(1, n_rows * np.dtype(dtype).itemsize))
        # the pages of an empty array cost nothing until they are written
        self.store: Matrix = np.empty((min(sum(sizes), affordable), n_rows), dtype=dtype)
        self._slot_of = [np.full(size, -1, dtype=np.intp) for size in sizes]
        self._used = 0

    @property
    def free(self) -> int:
        return len(self.store) - self._used

    def slots(self, stratum: int, indices: Indices) -> Indices:
        return self._slot_of[stratum][indices]

    def put(self, stratum: int, indices: Indices, values: Matrix) -> None:
        slots = np.arange(self._used, self._used + len(indices))
        self.store[slots[0] : slots[0] + len(slots)] = values
        self._slot_of[stratum][indices] = slots
        self._used += len(slots)

    def dot(self, slots: Indices, response: Vector) -> Vector:
        """store[slots] @ response, added up in float64; contiguous slots are not copied."""
        result = np.empty(len(slots))
        for block in _blocks(np.argsort(slots)):
            first, last = slots[block[0]], slots[block[-1]]
            whole = last - first + 1 == len(block)
            rows = self.store[first : last + 1] if whole else self.store[slots[block]]
            result[block] = rows.astype(np.float64, copy=False) @ response
        return result


def _blocks(indices: Indices) -> list[Indices]:
    return [indices[start : start + BLOCK] for start in range(0, len(indices), BLOCK)]
