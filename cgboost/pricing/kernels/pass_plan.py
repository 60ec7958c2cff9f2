"""Before the passes over kernel columns: what a sample tells, and how a pass is divided.

A few columns show scales, symmetry and the precision that is needed (:class:`KernelSample`); the
plan has the parts of a pass, the memory of each, and the kernels that need no values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Indices, Matrix
from cgboost.exceptions import KernelError, KernelScaleWarning, see, warn_caller
from cgboost.kernels.kernel import cost_of_expansion
from cgboost.kernels.sparse_rows import entries
from cgboost.parallel import Executor
from cgboost.parallel.threads import blas_threads
from cgboost.pricing.kernels.blocks import KernelData, Precision

LEAST_WIDTH = 2048
"""Centres that are worth their own thread."""

LINEAR_COST = 10
"""A kernel is as cheap as a linear one if its sums take this many operations for an entry of X."""

PRICED_VALUE_COST = 20
"""What a kernel value costs once the product is there, in multiplications of the product."""

LEAST_KEPT = 0.125
"""Where memory holds less than this share of the values of a kernel that is called, none is kept:
finding some of its rows, and calling it for the others, would take as long."""

REUSE = 3
"""How often values are used that are kept, on average."""


class PassPlan:
    """The division of passes over the columns of a library.

    Parameters
    ----------
    cache_size : float
        Megabytes for all that a pool holds.

    Attributes
    ----------
    bounds : list of int
        Part k has the centres bounds[k], …, bounds[k + 1] − 1: whole blocks of them.
    memory : list of int
        Bytes for kept values of each kernel, all parts together.
    precision : Precision
        Of the first passes. Values computed in float64 are kept in float32 where memory holds all
        of them only so: then none has to be computed twice.
    """

    def __init__(self, data: KernelData, executor: Executor, cache_size: float) -> None:
        self.data = data
        n_rows = data.n_rows
        self._n_entries = int(entries(data.X))
        cells = max(1, -(-n_rows // data.block_size))
        most = max(1, n_rows // LEAST_WIDTH) if executor.here else cells
        count = max(1, min(executor.n_tasks, most))
        ends = cells * np.arange(count + 1) // count * data.block_size
        self.bounds: list[int] = np.minimum(ends, n_rows).tolist()
        self._divide(Precision.of(data.dtype), count, cache_size if executor.here else 0.0)
        if data.dtype == np.float64 and 0 < max(self.memory) < n_rows**2 * 8:
            narrow = Precision(data.dtype, np.dtype(np.float32))
            self._divide(narrow, count, cache_size)

    def _divide(self, precision: Precision, count: int, cache_size: float) -> None:
        """Divide the memory among kernels, for passes over ``count`` parts."""
        data, self.precision = self.data, precision
        n_strata, n_rows, n_features = len(data.kernels), data.n_rows, self._n_entries
        # memory for kept values is what blocks in the making and scores leave: products and values
        # of a block, again in float64, and its rows and centres
        block, itemsize = min(data.block_size, n_rows), data.dtype.itemsize
        blocks = count * (block**2 * (3 * itemsize + 8) + 2 * block * n_features * itemsize)
        vectors = 16 * 8 * n_strata * n_rows
        left = max(0.0, cache_size * 2**20 - blocks - vectors)
        sizes = [dtype.itemsize for dtype in data.kept_dtypes(precision)]
        self._gram = n_rows**2 * np.array(sizes)  # bytes of all values of each kernel
        # Sums that cost what a linear kernel's do need no values. With fewer rows than twice the
        # features it is cheaper to add up values that are kept, and so it is where other kernels
        # need the products and memory holds the values of all.
        costs = np.array([cost_of_expansion(k, data.X, n_rows, n_rows) for k in data.kernels])
        products = np.isinf(costs) & [kernel.of_products for kernel in data.kernels]
        all_kept = left >= self._gram.sum() and products.any()
        cheap = n_rows > 2 * n_features and not all_kept
        self._linear = cheap & (costs <= LINEAR_COST * n_rows * n_features)
        each = int(left / max(1, int(np.count_nonzero(~self._linear))))
        memory = np.where(self._linear, 0, np.minimum(self._gram, each))
        called = np.array([not kernel.of_products for kernel in data.kernels])
        memory[called & (memory < LEAST_KEPT * self._gram)] = 0
        self.memory: list[int] = memory.tolist()

    @property
    def keeps_all(self) -> bool:
        """Whether memory holds the values of all kernels that need them."""
        return bool(np.all(self._linear | (np.array(self.memory) >= self._gram)))

    def part_memory(self, part: int) -> list[int]:
        """Bytes for kept values of each kernel in one part."""
        width = self.bounds[part + 1] - self.bounds[part]
        memory: list[int] = (np.array(self.memory) * width // max(1, self.data.n_rows)).tolist()
        return memory

    def by_structure(self, strata: Sequence[int], n_changed: int, width: int) -> list[bool]:
        """Whether a sum over changed rows is cheaper without values of each kernel.

        Parameters
        ----------
        strata : sequence of int
            All that are summed at once: they share the product that values are made from.
        n_changed, width : int
            Numbers of rows that are added up and of columns.
        """
        kernels, X = self.data.kernels, self.data.X
        costs = [cost_of_expansion(kernels[s], X, n_changed, width) for s in strata]
        product_is_there = any(
            kernels[s].of_products and np.isinf(cost) for s, cost in zip(strata, costs, strict=True)
        )
        return [
            bool(self._linear[s]) or self._expands(s, cost, n_changed, width, product_is_there)
            for s, cost in zip(strata, costs, strict=True)
        ]

    def _expands(
        self, stratum: int, own: float, n_changed: int, width: int, product_is_there: bool
    ) -> bool:
        """Whether a sum of cost ``own`` is cheaper than values, of a kernel that is not linear."""
        if self.memory[stratum] >= self._gram[stratum] or not np.isfinite(own):
            return False
        n_features = self._n_entries
        each = PRICED_VALUE_COST if product_is_there else PRICED_VALUE_COST + n_features
        values = each * float(n_changed) * width
        if self.memory[stratum] >= n_changed * self.data.n_rows * self.data.dtype.itemsize:
            values /= REUSE
        return own < values


COLUMNS, ROWS = 8, 256
"""Columns that are looked at, and on how many rows."""

SCALE_RATIO = 1e6
"""Column norms of two kernels may differ by this factor before a warning is given."""

SCALE_ADVICE = (
    "Let kernels see features of mean 0 and variance 1 and put them on one scale: "
    f"KernelLibrary(kernels, standardize=True, normalize=True){see('kernel-scales')}"
)

ROUGH = 1e-3
"""Errors of float32 values, relative to how much a column varies, from which on rows are taken in
float64: those far from the origin have such, and those so large that their powers overflow."""


class KernelSample:
    """What a few columns, evenly spread, tell about kernels.

    Attributes
    ----------
    norms : dict of str to float
        A typical column norm of each kernel.
    largest : float
        The largest |k| seen.
    symmetric : list of bool
        Whether a kernel is made of inner products and symmetric.
    rough : bool
        Whether float32 is too narrow for the values of a kernel.
    """

    def __init__(self, data: KernelData) -> None:
        n_rows = data.n_rows
        centres = _spread(n_rows, COLUMNS)
        rows = np.union1d(centres, _spread(n_rows, ROWS))
        count = len(data.kernels)
        self.norms = dict.fromkeys(data.names, 0.0)
        self.largest = 0.0
        self.symmetric = [False] * count
        places = np.searchsorted(rows, centres)
        exact: dict[int, Matrix] = {}
        with blas_threads(1):
            for stratum, values in data.blocks(range(count), rows, centres, np.float64):
                mean_squares = np.einsum("ij,ij->j", values, values) / len(rows)
                self.largest = max(self.largest, float(np.abs(values).max()))
                self.norms[data.names[stratum]] = float(np.sqrt(n_rows * np.median(mean_squares)))
                if data.kernels[stratum].of_products:
                    square = values[places]
                    off = 1e-6 * np.abs(square).max()
                    apart = np.abs(square - square.T)
                    self.symmetric[stratum] = bool((apart <= off + 1e-3 * np.abs(square)).all())
                    exact[stratum] = values.copy()
            self.rough = _is_rough(data, exact, rows, centres)

    def warn_about_scales(self) -> None:
        """Warn where the penalty decides by scale alone.

        Warns
        -----
        KernelScaleWarning
            If the column norms of two kernels differ by more than 1e6.
        """
        positive = [norm for norm in self.norms.values() if norm > 0]
        if positive and max(positive) > SCALE_RATIO * min(positive):
            sizes = ", ".join(f"{name} {norm:.1e}" for name, norm in self.norms.items())
            warn_caller(
                f"column norms differ by more than {SCALE_RATIO:.0e} between kernels ({sizes}): "
                f"the penalty then decides by scale alone. {SCALE_ADVICE}",
                KernelScaleWarning,
            )


def _is_rough(data: KernelData, exact: dict[int, Matrix], rows: Indices, centres: Indices) -> bool:
    """Whether values of kernels, by stratum, are far from these if computed in float32."""
    with np.errstate(all="ignore"):
        try:
            for stratum, values in data.blocks(list(exact), rows, centres, np.float32):
                spread = np.std(exact[stratum], axis=0)
                off = np.abs(values - exact[stratum]).max(axis=0)
                if np.any((off > ROUGH * spread) & (spread > 0)):
                    return True
        except KernelError:  # not finite
            return True
    return False


def _spread(n_rows: int, count: int) -> Indices:
    """At most so many rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))
