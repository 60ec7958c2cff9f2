"""Whole kernels as the columns of a model: multiple kernel learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.penalties import GroupNorm
from cgboost.pricing.rkhs.whole_kernel_pricer import (
    WholeKernelPool,
    WholeKernelPricer,
    gram_megabytes,
)

KERNELS_PER_ROUND = 30
"""Kernels a round: a master with a few too many costs less than another pass over all …"""

FEW_KERNELS = 3
"""Fewer kernels than this in the master are no choice among many."""

SHARE_PER_ROUND = 0.006
"""… and this share of all kernels, where there are so many that a pass takes seconds."""


WORKING_MATRICES = 10
"""Memory of the interior point method, in triangles of kernel matrices: the sum of the kernels, its
factor and copies of it, 112 MB with 1797 rows, which is 8.7 triangles."""


@dataclass(frozen=True)
class WholeKernels(KernelColumns):
    """Kernels of a library, each as one column."""

    wide: ClassVar[bool] = True
    is_for_all_outputs: ClassVar[bool] = True

    limited_by: ClassVar[str] = (
        "memory holds no more kernels in the master, raise cache_size or take fewer rows"
    )

    def pool(self, rows: TrainingRows) -> Any:
        """All kernels with their quadratic forms, a :class:`WholeKernelPool`."""
        assert isinstance(self.penalty, GroupNorm)
        self._check_memory(len(rows.weights))
        return WholeKernelPool(super().pool(rows), self.penalty, self.cache_size, rows.weights)

    def _check_memory(self, n_rows: int) -> None:
        """Raise ValueError if memory does not hold the matrices of a few kernels."""
        few = min(FEW_KERNELS, len(self.library))
        if self.most_columns(n_rows) < few:
            needed = (few + WORKING_MATRICES) * gram_megabytes(n_rows)
            raise ValueError(
                f"{self.penalty!r} holds whole kernel matrices, {_size(needed)} for {few} "
                f"kernels over {n_rows} rows, and cache_size={self.cache_size:g} is "
                f"{_size(self.cache_size)}: raise "
                "cache_size, take fewer rows, or a penalty that holds columns, 'rkhs' or 'l1'"
            )

    def most_columns(self, n_rows: int) -> int:
        """As many kernels as memory holds, besides what the interior point method works with."""
        return int(self.cache_size / gram_megabytes(n_rows)) - WORKING_MATRICES

    def pricer(self, pool: Any, tol: float) -> Any:
        """A pass over all kernels; memory is free for the matrices of its own run."""
        pool.release()
        return WholeKernelPricer(pool)

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """Kernels a round."""
        count = len(self.library)
        share = max(KERNELS_PER_ROUND, round(SHARE_PER_ROUND * count))
        return count if self.per_round == "all" else share

    def warm_start(
        self, pool: Any, loss: Any, make_master: Callable[[Any], Any], time_limit: float | None
    ) -> WarmStart:
        """None."""
        return WarmStart()

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The weight of each kernel, an array of one for each class where each chooses by itself.

        w_p‖f_p‖, divided by their sum: the optimal weights of Σ_p η_p K_p/w_p² with Ση = 1.
        """
        outputs = [run.outputs[0] for run in runs]  # those of one run share their sizes
        places = {name: place for place, name in enumerate(self.library.names)}
        sums = np.array([[out.sizes.get(name, 0.0) for out in outputs] for name in places])
        sums /= np.where(sums.any(axis=0), sums.sum(axis=0), 1.0)
        if len(outputs) == 1:
            return {"kernel_weights_": dict(zip(places, sums[:, 0].tolist(), strict=True))}
        return {"kernel_weights_": dict(zip(places, sums, strict=True))}


def _size(megabytes: float) -> str:
    """Memory in words: kilobytes where there is less than a megabyte."""
    kilobytes = 1024 * megabytes
    if megabytes >= 1:
        return f"{megabytes:.0f} MB"
    return f"{kilobytes:.0f} KB" if kilobytes >= 10 else f"{kilobytes:.2g} KB"
