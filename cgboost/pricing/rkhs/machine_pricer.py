"""A support vector machine of whole kernels: sums for its solver, and the proof of its answer.

All functions of the RKHS of S = Σ_p K_p/w_p are priced by one pass S r, without a matrix in memory:
σ² = rᵀS r. Where the master goes on with columns S(·, x_j), they come from an
:class:`~cgboost.pricing.rkhs.rkhs_pricer.RKHSPricer`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.packed import PackedMatrix
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.kernels.kernel_space import KernelExpansion, KernelSpace
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.numeric.rbf import RBF
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer, SpannedState
from cgboost.pricing.rkhs.summed import SummedKernel
from cgboost.tolerances import UNIT_ROUNDOFF


class SummedKernelOfMachine:
    """S = Σ_p K_p/w_p over the training rows of a pool.

    Parameters
    ----------
    pool : KernelPool
    weight : callable
        The weight w_p of a kernel by its name.
    """

    def __init__(self, pool: KernelPool, weight: Callable[[str], float]) -> None:
        self.pool = pool.without_memory()
        self._sum = SummedKernel(self.pool, weight)
        self._known_for: Vector | None = None  # the last r
        self._scores = np.zeros(0), np.zeros(0)
        self._spaces = [
            KernelSpace(own, partial(self._gram, number), pool.X)
            for number, own in enumerate(pool.families)
        ]

    def _gram(self, kernel: int) -> PackedMatrix:
        """The values of a kernel on all pairs of training rows; its sums do not need them."""
        rows = np.arange(self.pool.data.n_rows)
        return PackedMatrix.of(np.asarray(self.pool.values(kernel, rows), dtype=np.float64))

    def fits(self, megabytes: float) -> bool:
        """Whether libsvm knows the kernel, or memory holds two copies of its matrix."""
        return self._known is not None or 16.0 * self.pool.data.n_rows**2 <= megabytes * 2**20

    @property
    def _known(self) -> Mapping[str, Any] | None:
        """Parameters of libsvm for a kernel that it has."""
        kernel: Any = self.pool.data.kernels[0]
        if len(self.pool.strata) > 1:
            return None
        if type(kernel) is RBF:
            return {"kernel": "rbf", "gamma": kernel.gamma}
        if type(kernel) is Polynomial:
            own = {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
            return {"kernel": "poly", **own}
        return {"kernel": "linear"} if type(kernel) is Linear else None

    @property
    def machine(self) -> tuple[Mapping[str, Any], Any, float]:
        """Parameters of libsvm, the rows that it takes, and S relative to its kernel."""
        if (known := self._known) is not None:
            return known, self.pool.X, float(self._sum.shares[0])
        rows = np.arange(self.pool.data.n_rows)
        return {"kernel": "precomputed"}, self._sum.values_on(0 * rows, rows, rows), 1.0

    def scores(self, response: Vector) -> tuple[Vector, Vector]:
        """S r on all rows, and bounds on the errors: one pass for the solver and for the proof."""
        if self._known_for is None or not np.array_equal(response, self._known_for):
            scores, errors = self._sum.all_scores(response)
            self._known_for, self._scores = response.copy(), (scores[0], errors[0])
        return self._scores

    def sums(self, response: Vector) -> Vector:
        """S r on all rows."""
        return self.scores(response)[0]

    def function(self, response: Vector, values: Vector, key: Hashable) -> Column:
        """S r, of the norm √(rᵀS r), as a column of the norm 1; 0 where it is 0."""
        size = float(np.sqrt(max(0.0, float(response @ values))))
        factor = 1.0 / size if size > 0 else 0.0
        expansion = KernelExpansion(self._spaces, factor * self._sum.shares[:, None] * response)
        (name,) = self._sum.strata
        return Column(factor * values, key, hypothesis=expansion, stratum=name)


class MachinePricer(Memoryless):
    """The pricer of a :class:`~cgboost.masters.rkhs.rkhs_master.MachineMaster`.

    Parameters
    ----------
    kernel : SummedKernelOfMachine
    columns : RKHSPricer
        Where there are columns.
    """

    def __init__(self, kernel: SummedKernelOfMachine, columns: RKHSPricer) -> None:
        self.kernel, self._columns = kernel, columns

    def price(self, state: MasterState, limit: int) -> Priced:
        """σ of the whole RKHS; the best columns too, where the master has columns."""
        if isinstance(state, SpannedState):
            return self._columns.price(state, limit)
        response = state.pseudo_response
        scores, errors = self.kernel.scores(response)
        rounding = (len(response) + 4) * UNIT_ROUNDOFF * np.abs(scores)
        square = float(response @ scores + np.abs(response) @ (errors + rounding))
        excess = state.rule.excess(np.sqrt([max(0.0, square)]))
        return Priced(
            columns=(),
            exact=True,
            max_excess=float(excess.max()),
            total_excess=float(excess.sum()),
            n_evaluated=len(response),
        )
