"""How a pass over kernel columns is divided: parts, memory, and which kernels need no values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.parallel import Executor
from cgboost.pricing.kernels.blocks import KernelData

LEAST_WIDTH = 2048
"""Centres that are worth a thread of their own."""

LINEAR_COST = 10
"""A kernel is as cheap as a linear one if its sums take this many operations for an entry of X."""

KERNEL_VALUE_COST = 20
"""What a kernel value costs once the product is there, in multiplications of the product."""

REUSE = 3
"""How often values are used that are kept, on average."""


class PassPlan:
    """The division of passes over the columns of a library.

    Parameters
    ----------
    data : KernelData
    executor : Executor
    cache_size : float
        Megabytes for all that a pool holds.

    Attributes
    ----------
    bounds : list of int
        Part k has the centres bounds[k], …, bounds[k + 1] − 1: whole blocks of them.
    memory : list of int
        Bytes for kept values of each kernel, all parts together.
    """

    def __init__(self, data: KernelData, executor: Executor, cache_size: float) -> None:
        self.data = data
        n_rows, block = len(data.X), data.block_size
        cells = max(1, -(-n_rows // block))
        most = max(1, n_rows // LEAST_WIDTH) if executor.here else cells
        count = max(1, min(executor.n_tasks, most))
        self.bounds = [min(n_rows, cells * part // count * block) for part in range(count + 1)]
        self.memory = [0] * len(data.kernels)
        self._room = 0.0  # bytes for each kernel, if all are kept alike
        if executor.here:
            self._share_out(cache_size * 2**20, count)

    def part_memory(self, part: int) -> list[int]:
        """Bytes for kept values of each kernel in one part."""
        width = self.bounds[part + 1] - self.bounds[part]
        return [room * width // max(1, len(self.data.X)) for room in self.memory]

    def by_structure(self, stratum: int, strata: Sequence[int], n_changed: int, width: int) -> bool:
        """Whether a sum over changed rows is cheaper without values of the kernel.

        Parameters
        ----------
        stratum : int
        strata : sequence of int
            All that are summed at once: they share the product that values are made from.
        n_changed, width : int
            Numbers of rows that are added up and of columns.
        """
        if self._linear(stratum):
            return True
        n_features = self.data.X.shape[1]
        costs = [self.data.kernels[s].expansion_cost(n_changed, n_features, width) for s in strata]
        own = costs[list(strata).index(stratum)]
        if self.memory[stratum] >= self._gram or not np.isfinite(own):
            return False
        product_is_there = any(
            np.isinf(cost) and self.data.kernels[s].of_products
            for s, cost in zip(strata, costs, strict=True)
        )
        each = KERNEL_VALUE_COST if product_is_there else KERNEL_VALUE_COST + n_features
        values = each * float(n_changed) * width
        if self.memory[stratum] >= n_changed * len(self.data.X) * self.data.dtype.itemsize:
            values /= REUSE
        return own < values

    def _linear(self, stratum: int) -> bool:
        """Whether a kernel needs no values: its sums cost what a linear kernel's do.

        With fewer rows than twice the features it is cheaper to add up values that are kept, and so
        it is where other kernels need the products and memory holds the values of all.
        """
        n_rows, n_features = self.data.X.shape
        cost = self.data.kernels[stratum].expansion_cost(n_rows, n_features, n_rows)
        if n_rows <= 2 * n_features or cost > LINEAR_COST * n_rows * n_features:
            return False
        return not (self._room >= self._gram and self._products_are_needed)

    @property
    def _products_are_needed(self) -> bool:
        """Whether the library has a kernel that is made of products and nothing cheaper."""
        n_rows, n_features = self.data.X.shape
        return any(
            kernel.of_products and np.isinf(kernel.expansion_cost(n_rows, n_features, n_rows))
            for kernel in self.data.kernels
        )

    @property
    def _gram(self) -> int:
        """Bytes of all values of one kernel."""
        return len(self.data.X) ** 2 * self.data.dtype.itemsize

    def _share_out(self, budget: float, count: int) -> None:
        """Memory for kept values: what blocks in the making and scores leave, in equal shares."""
        n_strata, (n_rows, n_features) = len(self.data.kernels), self.data.X.shape
        block, itemsize = min(self.data.block_size, n_rows), self.data.dtype.itemsize
        # products and values of a block, once more in float64, and its rows and centres
        blocks = count * (block**2 * (3 * itemsize + 8) + 2 * block * n_features * itemsize)
        vectors = 16 * 8 * n_strata * n_rows
        left = max(0.0, budget - blocks - vectors)
        self._room = left / n_strata
        keeping = [s for s in range(n_strata) if not self._linear(s)]
        each = int(left / max(1, len(keeping)))
        for stratum in keeping:
            self.memory[stratum] = min(self._gram, each)
