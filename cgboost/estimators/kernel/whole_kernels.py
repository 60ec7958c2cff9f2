"""Whole kernels as the columns of a model: multiple kernel learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cgboost.estimators.common.fit_loop import FittedRun, Table
from cgboost.estimators.common.rows import Rows
from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.masters.support_vector.master import WarmStart
from cgboost.penalties import GroupNorm, get_penalty
from cgboost.pricing.rkhs.whole_kernels import WholeKernelPool, WholeKernelPricer

KERNELS_PER_ROUND = 30
"""Kernels a round: a master with a few too many costs less than another pass over all …"""

SHARE_PER_ROUND = 0.01
"""… and this share of all kernels, where there are so many that a pass takes seconds."""


@dataclass(frozen=True)
class WholeKernels(KernelColumns):
    """Kernels of a library, each as one column."""

    optional_attributes: ClassVar[tuple[str, ...]] = ("kernel_weights_",)

    def pool(self, rows: Rows) -> Any:
        """All kernels with their quadratic forms, a :class:`WholeKernelPool`."""
        penalty = get_penalty(self.penalty)
        assert isinstance(penalty, GroupNorm)
        return WholeKernelPool(super().pool(rows), penalty, self.cache_size)

    def pricer(self, pool: Any, tol: float) -> Any:
        """A pass over all kernels."""
        return WholeKernelPricer(pool)

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """Kernels a round."""
        count = len(self.library)
        share = max(KERNELS_PER_ROUND, round(SHARE_PER_ROUND * count))
        return count if self.at_once == "all" else share

    def warm_start(self, pool: Any, loss: Any, make_master: Callable[[Any], Any]) -> WarmStart:
        """None."""
        return WarmStart()

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The weight of each kernel, an array of one for each class where there are several.

        All functions are f_p = η_p K_p r with the same r: the coefficients of a kernel are as large
        as its weight.
        """
        labels, output = np.unique(table.get("class", []), return_inverse=True)
        names, kernel = np.unique(table["kernel"], return_inverse=True)
        sums = np.zeros((len(names), max(1, len(labels))))
        if not len(labels):
            output = np.zeros(len(kernel), dtype=np.intp)
        np.add.at(sums, (kernel, output), np.abs(table["coefficient"]))
        sums /= np.where(sums.any(axis=0), sums.sum(axis=0), 1.0)
        found = dict(zip(names.tolist(), sums, strict=True))
        nothing = np.zeros(sums.shape[1])
        weights = {name: found.get(name, nothing) for name in self.library.names}
        if not len(labels):
            return {"kernel_weights_": {name: float(own[0]) for name, own in weights.items()}}
        return {"kernel_weights_": weights}
