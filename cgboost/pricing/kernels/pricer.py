"""Pricer of kernel libraries.

A few columns of each kernel, looked at before the first pass.

Kernel libraries as pools of columns: exact pricing by structure, within a budget of memory.

A pass over the columns K_p(·, x_j) of all kernels p and training rows j needs K_p(·, x_j)·r.

* Only what has changed in r since the last pass is priced, if that has fewer nonzeros than r.
* A linear kernel takes X(Xᵀr), a quadratic one its matrix of moments, where that is cheaper.
* Other kernels take blocks of kernel values, from one matrix product for all of them.
* Rows of kernel values are kept while memory lasts, those that were needed last.
* Scores of a float32 pool are off by a known bound, which the certificate takes into account. Where
  that bound hides the gap, the columns that it leaves undecided are scored again in float64; where
  these are many, the pool goes on in float64.

The pool outlives one run of the loop: one-vs-rest classes share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent import futures
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import KernelScaleWarning, see, warn_caller
from cgboost.generation.columns import Column
from cgboost.kernels import KernelLibrary, Matrix
from cgboost.kernels.precomputed import KernelFamily, KernelHypothesis
from cgboost.parallel import Executor, as_executor
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.scores import KernelScores
from cgboost.pricing.scans.candidates import Candidates, PricingRequest
from cgboost.pricing.scans.scan import Indices, Priority, StrataPricer, Vector

COLUMNS, ROWS = 8, 256
"""Columns that are looked at, and on how many rows."""

SCALE_RATIO = 1e6
"""Column norms of two kernels may differ by this factor before a warning is given."""

SCALE_ADVICE = (
    "Scale the features first (sklearn.preprocessing.StandardScaler, or to [0, 1]), or normalise "
    'the kernels: library=KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": '
    f"RBF()}}, normalize=True), with the kernels that you use{see('kernel-scales')}"
)


class KernelSample:
    """What a few columns, evenly spread, tell about kernels.

    Attributes
    ----------
    norms : dict of str to float
        A typical column norm of each kernel.
    symmetric : list of bool
        Whether a kernel is made of inner products and symmetric.
    """

    def __init__(self, data: KernelData) -> None:
        n_rows = len(data.X)
        centres = _spread(n_rows, COLUMNS)
        rows = np.union1d(centres, _spread(n_rows, ROWS))
        self.norms: dict[str, float] = {}
        self.symmetric: list[bool] = []
        for stratum, (name, kernel) in enumerate(zip(data.names, data.kernels, strict=True)):
            columns = data.columns(np.full(len(centres), stratum), centres, rows).astype(np.float64)
            mean_squares = np.mean(columns**2, axis=1)
            self.norms[name] = float(np.sqrt(n_rows * np.median(mean_squares)))
            square = columns[:, np.searchsorted(rows, centres)]
            same = np.allclose(square, square.T, rtol=1e-3, atol=1e-6 * np.abs(square).max())
            self.symmetric.append(kernel.of_products and same)

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


def _spread(n_rows: int, count: int) -> Indices:
    """At most so many rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))


class KernelPool:
    """The columns K_p(·, x_j) of every kernel p and training row j; one stratum a kernel.

    Parameters
    ----------
    library : KernelLibrary
    X : ndarray of shape (n_rows, n_features)
        Training rows. Columns have its dtype; scores add up in float64.
    cache_size : float, default=1000
        Megabytes for all that the pool holds: kept kernel values, blocks in the making, scores. A
        block for each thread is always there.
    block_size : int, default=1024
        Rows and centres of a block of kernel values.
    executor : Executor or concurrent.futures.Executor, optional
        Where passes run (:mod:`cgboost.parallel`); by default on as many threads as linear algebra
        may use. Kernel values are kept between passes only where the executor shares this
        process's memory. With ``cache_size=0`` scores have the same bits wherever they are
        computed.

    Warns
    -----
    KernelScaleWarning
        If the column norms of two kernels differ by more than 1e6.
    """

    def __init__(
        self,
        library: KernelLibrary,
        X: Matrix,
        *,
        cache_size: float = 1000.0,
        block_size: int = 1024,
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        if block_size < 1:
            raise ValueError(f"block_size must be at least 1, got {block_size!r}")
        self.X = X
        self.strata = library.names
        self.families = [KernelFamily(name, k) for name, k in library.fit(X).items()]
        kernels = [family.kernel for family in self.families]
        self._data = KernelData(X, self.strata, kernels, block_size)
        sample = KernelSample(self._data)
        sample.warn_about_scales()
        self._scores = KernelScores(self._data, sample.symmetric, as_executor(executor), cache_size)

    def size(self, stratum: int) -> int:
        """Number of training rows."""
        return len(self.X)

    def rows(self, stratum: int) -> Indices:
        """Column j is centred on training row j."""
        return np.arange(len(self.X))

    @property
    def rounds_columns(self) -> bool:
        """Whether columns have fewer digits than scores."""
        return self._data.dtype != np.float64

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns ``indices`` (ascending; None: all) of some strata show."""
        return self._scores.search(strata, indices, request)

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·K(·, x_j) for the wanted j, shape (n_wanted,)."""
        return self._scores.scores(stratum, indices, response)

    def column(self, stratum: int, index: int) -> Column:
        """The column K(·, x_index) of one kernel."""
        return self.columns([stratum], [index])[0]

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """Columns of several kernels; those with the same centre share its products."""
        if not len(indices):
            return []
        values = self.values_on(np.asarray(strata), np.asarray(indices), None)
        return [
            self._column(int(stratum), int(index), own)
            for stratum, index, own in zip(strata, indices, values, strict=True)
        ]

    def _column(self, stratum: int, index: int, values: NDArray[Any]) -> Column:
        family = self.families[stratum]
        centre = family.kernel.centres(self.X, slice(index, index + 1))[0]
        return Column(
            values=values,
            key=(family.name, index),
            hypothesis=KernelHypothesis(family, index, np.array(centre)),
            stratum=family.name,
        )

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """Columns as rows of an array, shape (n_wanted, n_rows)."""
        return self.values_on(np.full(len(indices), stratum), indices, None)

    def values_on(self, strata: Indices, indices: Indices, rows: Indices | None) -> Matrix:
        """Columns, of any strata, on some training rows, as the rows of an array.

        On all rows (None) they are computed in float64, or taken from memory, and then rounded:
        with float32 rows, the columns of the master are then as exact as float32 can be.
        """
        n_rows = len(self.X) if rows is None else len(rows)
        values = np.empty((len(indices), n_rows), dtype=self._data.dtype)
        missing = np.zeros(len(indices), dtype=bool)
        for stratum in np.unique(strata):
            own = np.flatnonzero(strata == stratum)
            kept = self._scores.kept(int(stratum), indices[own])
            if kept is None:
                missing[own] = True
            else:
                values[own] = kept if rows is None else kept[:, rows]
        if missing.all():
            return self._data.columns(strata, indices, rows, exactly=rows is None)
        if missing.any():
            values[missing] = self._data.columns(
                strata[missing], indices[missing], rows, exactly=rows is None
            )
        return values


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
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        pool = KernelPool(library, X, cache_size=cache_size, executor=executor)
        super().__init__(pool, priority=priority, tol=tol)
