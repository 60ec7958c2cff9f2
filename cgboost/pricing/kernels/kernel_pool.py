"""Kernel libraries as pools of columns: exact pricing by structure, within a budget of memory.

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

import copy
import time
from collections.abc import Sequence
from concurrent import futures
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.generation.columns import Column
from cgboost.kernels import AnyLibrary, as_library
from cgboost.kernels.checked_values import check_function
from cgboost.kernels.expansions import Rounding, Weights
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.scaling import FeatureScaler, Widened, scaled
from cgboost.kernels.sparse_rows import relative_weights, single
from cgboost.parallel import Executor, as_executor
from cgboost.parallel.threads import available, blas_threads
from cgboost.pricing.kernels.blocks import KernelData, Precision
from cgboost.pricing.kernels.partition import (
    CentrePartition,
    PassRequest,
    PricingResult,
    ScoreUpdate,
    advance,
    combined,
)
from cgboost.pricing.kernels.pass_plan import KernelSample, PassPlan
from cgboost.pricing.kernels.scores import (
    EXTENDED_UNIT,
    Reference,
    ResponseChange,
    change,
    extended_scores,
    likely_share,
    undecided,
)
from cgboost.pricing.scans.candidates import (
    NEAR_END,
    Candidates,
    HeldColumns,
    NoRule,
    OutOfTimeError,
    PricingRequest,
    adds_up,
    search_strata,
)
from cgboost.pricing.scans.scan import Priority, StrataPricer
from cgboost.tolerances import UNIT_ROUNDOFF

DOUBLE = Precision.of(np.float64)

NO_RESPONSE: Vector = np.zeros(0)

LARGEST_NARROW = 1e3
"""With larger kernel values float32 rows are taken in float64: seven digits of such a value are not
enough compared with a margin of 1."""

REFINED_SHARE = 0.25
"""Refinements may cost this share of a pass in float64 over all columns, in all."""

EXTENDED_SHARE = 20.0
"""In a float64 pool so many centres, relative to the rows, are scored with more digits, in all."""


def _sampled(
    library: KernelLibrary, X: Matrix, block_size: int, sample_weight: Weights
) -> tuple[KernelData, KernelSample]:
    """The kernels on rows as they see them, and what a few columns tell."""
    kernels = library.fit(X, sample_weight)
    for name, kernel in kernels.items():
        check_function(name, kernel, X)
    data = KernelData(X, library.names, list(kernels.values()), block_size)
    return data, KernelSample(data)


class KernelPool:
    """The columns K_p(·, x_j) of every kernel p and training row j; one stratum a kernel.

    Parameters
    ----------
    library : KernelLibrary
        Or what stands for one (:func:`~cgboost.kernels.as_library`).
    X : ndarray of shape (n_rows, n_features)
        Training rows. Columns have its dtype; scores add up in float64.
    sample_weight : ndarray of shape (n_rows,), optional
        Positive weights of the rows in means, deviations and widths.
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
    any_scale : bool, default=False
        Whether the penalty takes care of the scale of kernels.
    wide : bool, default=False
        Whether float32 is too narrow for kernel values, those of predictions too, whatever they
        are: the coefficients may be so large that their rounding counts.

    Warns
    -----
    KernelScaleWarning
        If the column norms of two kernels differ by more than 1e6, unless ``any_scale``.

    Attributes
    ----------
    data : KernelData
        Training rows, as kernels see them, and fitted kernels.
    executor : Executor
        Where passes run.
    shared : object
        What stands for ``data`` there.
    """

    def __init__(
        self,
        library: AnyLibrary,
        X: Matrix,
        *,
        sample_weight: Weights = None,
        cache_size: float = 1000.0,
        block_size: int = 1024,
        executor: Executor | futures.Executor | None = None,
        any_scale: bool = False,
        wide: bool = False,
    ) -> None:
        if block_size < 1:
            raise ValueError(f"block_size must be at least 1, got {block_size!r}")
        library = as_library(library)
        self.strata = library.names
        rows, weights = X, None if sample_weight is None else relative_weights(sample_weight)
        own = library.scaler(X, weights)
        scaler: FeatureScaler | Widened | None = own
        self.data, sample = _sampled(library, scaled(rows, scaler), block_size, weights)
        narrow = X.dtype == np.float32 and sample.largest > LARGEST_NARROW
        if (
            narrow or sample.rough or (wide and X.dtype.kind == "f")
        ):  # the rows to predict may be float32 where X is not
            scaler = Widened(own)
            self.data, sample = _sampled(library, scaled(rows, scaler), block_size, weights)
        if not any_scale:
            sample.warn_about_scales()
        self.X = self.data.X
        self.families = [
            KernelFamily(name, kernel.released(), scaler)
            for name, kernel in zip(self.strata, self.data.kernels, strict=True)
        ]
        self.data.symmetric, self.executor = tuple(sample.symmetric), as_executor(executor)
        self.shared = self.executor.share(self.data)
        self._plan = PassPlan(self.data, self.executor, cache_size)
        self._precision = self._plan.precision
        self._references = [Reference()] * len(self.families)
        self._states = self._bare()
        self._refinements = 0  # centres scored in float64 while the pool is in float32

    def without_memory(self) -> KernelPool:
        """The same pool in float64, which makes all values again that a pass needs."""
        other = copy.copy(self)
        other._plan = PassPlan(self.data, self.executor, 0.0)
        other._precision, other._refinements = DOUBLE, 0
        other._references = [Reference()] * len(self.families)
        other._states = other._bare()
        return other

    def _bare(self) -> list[Any]:
        return [
            CentrePartition.bare(start, stop, self._plan.part_memory(part))
            for part, (start, stop) in enumerate(pairwise(self._plan.bounds))
        ]

    def size(self, stratum: int) -> int:
        """Number of training rows."""
        return self.data.n_rows

    def rows(self, stratum: int) -> Indices:
        """Column j is centred on training row j."""
        return np.arange(self.data.n_rows)

    @property
    def rounds_columns(self) -> bool:
        """Whether columns have more or fewer digits than the values that scores are made from."""
        return self.data.dtype != np.float64 or self._precision.kept != np.float64

    @property
    def keeps_all(self) -> bool:
        """Whether memory holds all kernel values, so that passes are cheap but for the first."""
        return self._plan.keeps_all

    # ------------------------------------------------------------------ scores

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns ``indices`` (ascending; None: all) of some strata show.

        Where rounding hides the gap, scores are computed anew, and then in float64: those of the
        columns that it leaves undecided while these are few, later all of them.
        """
        candidates = self._pass(strata, indices, request).candidates
        likely = likely_share(request.response) if request.limit else 1.0
        while indices is None and candidates.blurred(request, likely):
            refined = self._refined(strata, request, candidates)
            if refined is not None and not refined.blurred(request, likely):
                return refined
            if not self.sharpen():
                break
            candidates = self._pass(strata, None, request).candidates
        return candidates

    def _refined(
        self, strata: Sequence[int], request: PricingRequest, rough: Candidates
    ) -> Candidates | None:
        """What all columns show, with those that rounding leaves undecided scored in float64.

        None where there is nothing to be gained, or so much to be done that float64 for all columns
        is cheaper in the end: such a pass is as much work as scoring every centre once.
        """
        widest = self._precision == DOUBLE
        if self._is_stale or (widest and not self._can_extend(request, rough)):
            return None
        result = self._pass(strata, None, replace(request, limit=0), with_scores=True)
        scores, errors = result.scores, result.errors
        centres = undecided(strata, scores, errors, request, rough)
        self._refinements += len(centres)
        share = EXTENDED_SHARE if widest else REFINED_SHARE
        if self._refinements > share * self.data.n_rows:
            return None
        if widest:
            kernels = [self.data.kernels[s] for s in strata]
            extended = extended_scores(kernels, self.X, centres, request.response)
            scores[:, centres], errors[:, centres] = extended
        else:
            exact = self._pass(strata, centres, request, with_scores=True, afresh=True)
            scores[:, centres], errors[:, centres] = exact.scores, exact.errors
        return search_strata(strata, np.arange(scores.shape[1]), scores, errors, request)

    def _can_extend(self, request: PricingRequest, rough: Candidates) -> bool:
        """Whether a number type with more digits than float64 is worth its time: near the end."""
        left = rough.total_left if adds_up(request.rule) else rough.max_left
        return self._extends and left <= NEAR_END * request.tol

    @property
    def _extends(self) -> bool:
        """Whether there are scores with more digits than float64."""
        dense = isinstance(self.X, np.ndarray) and self.X.dtype == np.float64
        formulas = all(kernel.of_products for kernel in self.data.kernels)  # not given values
        return EXTENDED_UNIT < UNIT_ROUNDOFF and dense and formulas

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·K(·, x_j) for the wanted j, shape (n_wanted,)."""
        nothing = HeldColumns(np.zeros(0, dtype=np.intp))
        request = PricingRequest(response, NoRule(), [nothing] * len(self.families), 0)
        if indices is None:
            return self._pass([stratum], None, request, with_scores=True).scores[0]
        ascending, places = np.unique(indices, return_inverse=True)
        return self._pass([stratum], ascending, request, with_scores=True).scores[0][places]

    def all_scores(self, response: Vector, deadline: float = np.inf) -> tuple[Vector, Vector]:
        """r·K_p(·, x_j) of all columns, and bounds on the errors, shape (n_strata, n_rows).

        The deadline is that of :class:`~cgboost.pricing.scans.candidates.PricingRequest`.
        """
        held = [HeldColumns(np.zeros(0, dtype=np.intp))] * len(self.families)
        request = PricingRequest(response, NoRule(), held, 0, deadline=deadline)
        strata = range(len(self.families))
        result = self._pass(strata, None, request, with_scores=True)
        return result.scores, result.errors

    def extended_scores(self, response: Vector) -> tuple[Vector, Vector] | None:
        """:meth:`all_scores` with more digits than float64; None where there are none.

        It takes many times as long: for the end of a run alone.
        """
        if not self._extends:
            return None
        return extended_scores(self.data.kernels, self.X, np.arange(self.data.n_rows), response)

    def _pass(
        self,
        strata: Sequence[int],
        indices: Indices | None,
        request: PricingRequest,
        *,
        with_scores: bool = False,
        afresh: bool = False,
    ) -> PricingResult:
        """One pass; ``afresh``: some columns in float64, whatever is known of them."""
        if len(request.response) != self.data.n_rows:
            raise ValueError(
                f"X has {self.data.n_rows} rows, the master has {len(request.response)}"
            )
        alone = len(self._states) == 1 and self.executor.here
        threads = available() if alone else 1
        with blas_threads(1):
            precision = DOUBLE if afresh else self._precision
            rows, steps, references = self._steps(strata, indices, request.response, afresh)
            asked = replace(request, response=NO_RESPONSE)  # it travels as weights
            seconds = request.deadline - time.perf_counter()
            order = PassRequest(
                rows, steps, precision, indices, asked, threads, with_scores, seconds
            )
            combine = partial(combined, limit=request.limit)
            own = self.shared, self._states, order
            try:
                states, result = self.executor.run(advance, combine, *own)
            except OutOfTimeError:  # some parts may be done, others half done
                self._start_anew()
                raise
        if indices is None:
            self._states = states
            for s, reference in zip(strata, references, strict=True):
                self._references[s] = reference
        return result

    def _steps(
        self, strata: Sequence[int], indices: Indices | None, response: Vector, afresh: bool
    ) -> tuple[Indices, list[ScoreUpdate], list[Reference]]:
        """Rows with weights, what a pass is to do, and what the scores belong to after it."""
        precision = DOUBLE if afresh else self._precision
        roundings = self._roundings(precision)
        changed = np.zeros(self.data.n_rows, dtype=bool)
        nothing = Reference()
        # many strata have the same reference and no rounding: what they have in common is done once
        changes: dict[tuple[int, int], ResponseChange] = {}
        keys = []
        for s in strata:
            old, rounding = nothing if afresh else self._references[s], roundings[s]
            keys.append((id(old), id(rounding)))
            if keys[-1] not in changes:
                own = changes[keys[-1]] = change(old, response, rounding)
                changed |= own.weights != 0
        rows = np.flatnonzero(changed)
        width = self.data.n_rows if indices is None else len(indices)
        structured = self._plan.by_structure(strata, len(rows), width)
        terms = [self._roundings(precision, structured=way) for way in (False, True)]
        weights = {key: own.weights[rows] for key, own in changes.items()}
        steps, references = [], []
        unknown: dict[tuple[int, int], Reference] = {}
        for s, key, way in zip(strata, keys, structured, strict=True):
            own, old, rounding, error = changes[key], self._references[s], terms[way][s], None
            if rounding is None:
                reference = unknown.setdefault(key, Reference(own.scored))
            else:
                kept, error = own.errors(nothing if afresh else old, rounding)
                first = kept if own.restart else old.first_error
                reference = Reference(own.scored, kept, first)
            steps.append(ScoreUpdate(s, weights[key], own.restart, way, error))
            references.append(reference)
        return rows, steps, references

    def _roundings(
        self, precision: Precision, *, structured: bool = False
    ) -> list[Rounding | None]:
        """Of the terms of scores."""
        kept = None if structured else precision.kept
        return self.data.roundings(precision.computed, structured=structured, kept=kept)

    @property
    def _is_stale(self) -> bool:
        return any(reference.is_stale for reference in self._references)

    def sharpen(self) -> bool:
        """Make scores more exact, if they can be: by a fresh start, then by a wider dtype."""
        stale = self._is_stale
        if not stale and self._precision == DOUBLE:
            return False
        if not stale:
            self._precision = DOUBLE
            self._start_anew()  # what they hold goes before there is more
        self._references = [Reference()] * len(self.families)
        return True

    def _start_anew(self) -> None:
        """Forget what passes have computed."""
        self._references = [Reference()] * len(self.families)
        self._states = self._bare()

    # ------------------------------------------------------------------ columns

    def diagonal(self, stratum: int) -> Vector:
        """K_p(x, x) of all rows."""
        return self.data.diagonal(stratum)

    def is_narrow(self, stratum: int) -> bool:
        """Whether the values of a kernel are given, and in float32."""
        return self.data.kernels[stratum].is_precomputed and self.data.dtype != np.float64

    def column(self, stratum: int, index: int) -> Column:
        """The column K(·, x_index) of one kernel."""
        return self.columns([stratum], [index])[0]

    def columns(
        self, strata: Sequence[int], indices: Sequence[int], *, wide: bool = False
    ) -> list[Column]:
        """Columns of several kernels; those with the same centre share its products.

        ``wide``: in float64, whatever the dtype of X, but for given values.
        """
        if not len(indices):
            return []
        wanted = np.asarray(strata), np.asarray(indices)
        if wide and self.data.dtype != np.float64:
            values = self.data.columns(*wanted, None, dtype=np.dtype(np.float64))
        else:
            values = self.values_on(*wanted, None)
        columns = []
        for stratum, index, value in zip(strata, indices, values, strict=True):
            hypothesis, family = self.function(stratum, index), self.families[stratum]
            key = family.name, int(index)
            if family.kernel.is_precomputed:
                value = value.astype(self.data.dtype, copy=False)
            columns.append(Column(value, key=key, hypothesis=hypothesis, stratum=family.name))
        return columns

    def function(self, stratum: int, index: int) -> KernelHypothesis:
        """The basis function K(·, x_index) of one kernel."""
        family = self.families[stratum]
        centre = single(family.kernel.centres(self.X, slice(index, index + 1)))
        return KernelHypothesis(family, int(index), centre)

    def values(self, stratum: int, indices: Indices) -> Matrix:
        """Columns as rows of an array, shape (n_wanted, n_rows)."""
        return self.values_on(np.full(len(indices), stratum), indices, None)

    def values_on(self, strata: Indices, indices: Indices, rows: Indices | None) -> Matrix:
        """Columns, of any strata, on some training rows, as the rows of an array.

        On all rows (None) they are computed in float64, or taken from memory, and then rounded:
        with float32 rows, the columns of the master are then as exact as float32 can be.
        """
        n_rows = self.data.n_rows if rows is None else len(rows)
        values = np.empty((len(indices), n_rows), dtype=self.data.dtype)
        missing = np.zeros(len(indices), dtype=bool)
        for stratum in np.unique(strata):
            own = np.flatnonzero(strata == stratum)
            kept = self._kept(int(stratum), indices[own], rows)
            if kept is None:
                missing[own] = True
            else:
                values[own] = kept
        if missing.all():
            return self.data.columns(strata, indices, rows, exactly=rows is None)
        if missing.any():
            values[missing] = self.data.columns(
                strata[missing], indices[missing], rows, exactly=rows is None
            )
        return values

    def _kept(self, stratum: int, indices: Indices, rows: Indices | None) -> Matrix | None:
        """Columns that are in memory: as rows, for a symmetric kernel; or as columns.

        Whole columns are for the master, and exact; on some rows they are only compared. Values of
        kernels that are not made of products are the same in any dtype of the pass.
        """
        if not self.executor.here or not all(state.caches for state in self._states):
            return None
        if self.data.symmetric[stratum]:
            if rows is None and self._precision != DOUBLE:
                return None
            parts = []
            for state in self._states:
                own = None if rows is None else rows[(state.start <= rows) & (rows < state.stop)]
                places = None if own is None else own - state.start
                kept = state.caches[stratum].kept(indices, places)
                if kept is None:
                    return None
                parts.append(kept)
            return np.concatenate(parts, axis=1)
        if self.families[stratum].kernel.of_products:
            return None
        columns = np.empty((len(indices), self.data.n_rows), dtype=self.data.dtype)
        for state in self._states:
            own = np.flatnonzero((state.start <= indices) & (indices < state.stop))
            kept = state.caches[stratum].kept_columns(indices[own] - state.start)
            if kept is None:
                return None
            columns[own] = kept
        return columns if rows is None else columns[:, rows]


class KernelPricer(StrataPricer):
    """Exact pricing of a kernel library on training rows X; see :class:`StrataPricer`."""

    def __init__(
        self,
        library: AnyLibrary,
        X: Matrix,
        *,
        priority: Priority = "full",
        tol: float = 1e-4,
        cache_size: float = 1000.0,
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        pool = KernelPool(library, X, cache_size=cache_size, executor=executor)
        super().__init__(pool, priority=priority, tol=tol)
