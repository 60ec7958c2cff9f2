"""One partition of a pricing pass: its scores, brought up to date and searched.

A partition has the columns K_p(·, x_j) of all kernels p whose centres x_j are training rows start,
…, stop − 1. Its scores are those of the last pass plus what has changed since,

    K(·, x_j)·r = K(·, x_j)·r_last + Σ_i (r − r_last)_i K(x_i, x_j),

over the few rows i where r has changed: an order names these rows and their weights. The sums come
from the structure of a kernel where that is cheaper, from rows K(x_i, ·) that are still in memory,
and from blocks of kernel values for all other rows. From one round to the next r changes mostly in
the same rows: rows of kernel values that were not needed for the longest time make room for others.

What :func:`advance` does depends on the data, on the state of the partition and on the order alone,
so that it may run anywhere, and again where it was lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cgboost.arrays import Indices, Mask, Matrix, Vector
from cgboost.pricing.kernels.blocks import KernelData, Precision
from cgboost.pricing.kernels.row_cache import RowCache, transpose, weighted_rows
from cgboost.pricing.scans.candidates import (
    Candidates,
    OutOfTimeError,
    PricingRequest,
    merged,
    search_strata,
)
from cgboost.tolerances import UNIT_ROUNDOFF

WHOLE = 7
"""Where values of at least one row in so many are missing, those of all are computed: after the
part of the rows that gives a warm start come most of the others."""

SHARP_ROWS = 4096
"""Rows converted to a wider dtype at a time, for sums that need no kernel values."""

FEW_FEATURES = 32
"""With fewer features kernel values are as soon computed as they are copied."""

NO_SCORES: Vector = np.zeros((0, 0))


@dataclass(frozen=True)
class ScoreUpdate:
    """How the scores of one stratum are brought up to date.

    Attributes
    ----------
    weights : ndarray of shape (n_order_rows,)
        Of the order's rows.
    restart : bool
        Whether the sum replaces the scores so far; otherwise it is added to them.
    structured : bool
        Whether the sum is made from the kernel's structure, without kernel values.
    error : float or None
        The new scores are off by at most this times the size of the centre; None where nothing is
        known of the rounding of the kernel: then the error of the sum is bounded.
    """

    stratum: int
    weights: Vector
    restart: bool
    structured: bool
    error: float | None


@dataclass(frozen=True)
class PassRequest:
    """What a pass asks of every partition.

    Attributes
    ----------
    rows : ndarray of int
        Training rows with a weight in any step.
    precision : Precision
        Of kernel values.
    indices : ndarray of int or None
        Columns that are wanted of every stratum, ascending; then nothing is remembered. None: all.
    request : PricingRequest
        Without its response, which travels as weights.
    threads : int
        BLAS threads for large products.
    with_scores : bool
        Whether the scores themselves are wanted, besides what they show.
    seconds : float
        Time for each part, which ends by an :class:`OutOfTimeError` before the next block of values
        of kernels. The first block is always made.
    """

    rows: Indices
    steps: Sequence[ScoreUpdate]
    precision: Precision
    indices: Indices | None
    request: PricingRequest
    threads: int = 1
    with_scores: bool = False
    seconds: float = np.inf


@dataclass(frozen=True)
class CentrePartition:
    """The scores of the last pass for the centres start, …, stop − 1; all strata.

    Attributes
    ----------
    memory : sequence of int
        Bytes for kernel values, for every stratum.
    precision : Precision or None
        Of kernel values; None before the first pass.
    scores : ndarray of shape (n_strata, stop − start)
    errors : ndarray of shape (n_strata, stop − start)
        Of scores of kernels whose rounding is not known.
    caches : sequence of RowCache
        Kept kernel values of every stratum.
    block : ndarray of shape (n_rows, n_together, stop − start) or None
        The values of kernels of unknown rounding that can all be kept: row by row, those of all
        kernels next to each other. Their caches are views of it.
    together : frozenset of int
        Their strata.
    """

    start: int
    stop: int
    memory: Sequence[int]
    precision: Precision | None
    scores: Vector
    errors: Vector
    caches: Sequence[RowCache]
    block: Matrix | None = None
    together: frozenset[int] = frozenset()

    @classmethod
    def bare(cls, start: int, stop: int, memory: Sequence[int]) -> CentrePartition:
        """A partition before its first pass."""
        nothing = np.zeros((len(memory), 0))
        return cls(start, stop, memory, None, nothing, nothing, ())

    def begun(self, data: KernelData, precision: Precision) -> CentrePartition:
        """The same without scores, for kernel values of a precision."""
        width, n_rows = self.stop - self.start, data.n_rows
        dtypes, known = data.kept_dtypes(precision), data.roundings(precision.computed)
        capacities = [
            room // max(1, width * dtype.itemsize)
            for room, dtype in zip(self.memory, dtypes, strict=True)
        ]
        together = [s for s, own in enumerate(known) if own is None and 0 < n_rows <= capacities[s]]
        block, stores = None, {}
        if len(together) > 1:
            block = np.zeros((n_rows, len(together), width), dtype=precision.computed)
            stores = {s: block[:, place] for place, s in enumerate(together)}
        caches = [
            RowCache(
                capacity=capacity, n_rows=n_rows, width=width, dtype=dtype, store=stores.get(s)
            )
            for s, (capacity, dtype) in enumerate(zip(capacities, dtypes, strict=True))
        ]
        zeros = np.zeros((len(self.memory), width))
        return replace(
            self,
            precision=precision,
            scores=zeros,
            errors=zeros,
            caches=caches,
            block=block,
            together=frozenset(stores),
        )


class PartialSums:
    """Σ_i w_i K(x_i, x_j) for the steps of an order and the columns of a partition.

    Attributes
    ----------
    sums : ndarray of shape (n_steps, n_columns)
    doubts : ndarray of shape (n_steps, n_columns)
        What sums of kernels of unknown rounding may be off by.
    """

    def __init__(
        self, data: KernelData, state: CentrePartition, order: PassRequest, columns: Indices | None
    ) -> None:
        self.data, self.state, self.order, self.columns = data, state, order, columns
        self.width = state.stop - state.start if columns is None else len(columns)
        self.sums = np.zeros((len(order.steps), self.width))
        self.doubts = np.zeros((len(order.steps), self.width))
        # a function may return more digits than are kept
        dtype = order.precision.computed
        rounding = 0.5 * float(np.finfo(dtype).eps) + (len(order.rows) + 4) * UNIT_ROUNDOFF
        known = data.roundings(dtype)
        self._spare: Matrix = np.zeros((0, 0))
        self._deadline, self._begun = time.perf_counter() + order.seconds, False
        self.roundings = {s.stratum: rounding for s in order.steps if known[s.stratum] is None}

    def add_from_structure(self, number: int) -> None:
        """Add a sum without kernel values; kernels with such a structure are symmetric."""
        data, rows, step = self.data, self.order.rows, self.order.steps[number]
        kernel = data.kernels[step.stratum]
        dtype = data.value_dtype(step.stratum, self.order.precision.computed, structured=True)
        if data.X.dtype == dtype:
            weights = np.zeros(data.n_rows)
            weights[rows] = step.weights
            parts = [kernel.expanded(data.X, weights)]
        else:
            chunks = [slice(i, i + SHARP_ROWS) for i in range(0, len(rows), SHARP_ROWS)]
            parts = [
                kernel.expanded(data.rows(rows[chunk], dtype), step.weights[chunk])
                for chunk in chunks
            ]
        for cells, centres in self._blocks():
            block = data.rows(centres, dtype)
            for part in parts:
                self.sums[number, cells] += part(block)

    def add_kept(self, number: int) -> Mask:
        """Add rows of kernel values that are in memory; which rows are not."""
        step = self.order.steps[number]
        cache = self.state.caches[step.stratum]
        slots = cache.slots(self.order.rows)
        missing = slots < 0
        if not missing.all():
            rounding = self.roundings.get(step.stratum)
            sums, sizes = weighted_rows(
                cache.store,
                slots[~missing],
                step.weights[~missing],
                self.columns,
                absolute=rounding is not None,
            )
            self.sums[number] += sums
            if rounding is not None:
                self.doubts[number] += rounding * sizes
        return missing

    def add_together(self) -> set[int]:
        """Make the steps of strata whose values are side by side in a block; which ones these are.

        It takes one product for all of them, where their steps have the same weights.
        """
        state, steps = self.state, self.order.steps
        numbers = [n for n, step in enumerate(steps) if step.stratum in state.together]
        if state.block is None or self.columns is not None or len(numbers) < len(state.together):
            return set()
        caches = [state.caches[steps[number].stratum] for number in numbers]
        weights = steps[numbers[0]].weights
        if any(cache.sizes is None for cache in caches) or any(
            steps[number].weights is not weights for number in numbers
        ):
            return set()
        block = state.block.reshape(len(state.block), -1)
        rows = self.order.rows
        sums, _ = weighted_rows(block, rows, weights, None, absolute=False)
        self.sums[numbers] += sums.reshape(len(numbers), -1)
        largest, total = (np.stack(own) for own in zip(*(c.sizes for c in caches), strict=True))
        self.doubts[numbers] += self._doubt(numbers[0], weights, largest, total)
        return set(numbers)

    def _doubt(self, number: int, weights: Vector, largest: Vector, total: Vector) -> Vector:
        """Rounding of sums of which the largest and the summed size of their values is known."""
        sizes = np.abs(weights)
        bound = np.minimum(sizes.sum() * largest, sizes.max(initial=0.0) * total)
        return self.roundings[self.order.steps[number].stratum] * bound

    def add_whole(self, missing: dict[int, Mask]) -> None:
        """Compute all values of kernels that many rows are missing of, where all can be kept.

        Of symmetric kernels each pair of rows is computed once, which is no more work than half of
        the rows are. No row will be missing again. These steps are done then, and no longer
        among those with ``missing`` rows.
        """
        order, caches, n_rows = self.order, self.state.caches, self.data.n_rows
        if self.columns is not None:
            return
        numbers = {
            order.steps[number].stratum: number
            for number, mask in missing.items()
            if WHOLE * np.count_nonzero(mask) >= n_rows
            and len(caches[order.steps[number].stratum].store) == n_rows
        }
        pairs = [s for s in numbers if self.data.symmetric and self.data.symmetric[s]]
        if self.width < n_rows or self.data.X.shape[1] < FEW_FEATURES:
            pairs = []
        singly = [s for s in numbers if s not in set(pairs)]
        parts = self.data.parts(n_rows)
        for i, rows in enumerate(parts):
            if singly:
                for cells, centres in self._blocks():
                    self._store(singly, rows, centres, cells)
            if pairs:
                for centres in parts[i:]:
                    self._store(pairs, rows, centres, centres, mirrored=rows != centres)
        for stratum, number in numbers.items():
            mask, rounding = missing.pop(number), self.roundings.get(stratum)
            weights, cache = order.steps[number].weights[mask], caches[stratum]
            cache.keep_all(with_sizes=rounding is not None)
            sums, _ = weighted_rows(cache.store, order.rows[mask], weights, None, absolute=False)
            self.sums[number] += sums
            if cache.sizes is not None:
                self.doubts[number] += self._doubt(number, weights, *cache.sizes)

    def _store(
        self,
        strata: Sequence[int],
        rows: slice,
        centres: slice | Indices,
        cells: slice,
        *,
        mirrored: bool = False,
    ) -> None:
        """Compute a block of values, and keep it; ``mirrored``: its transpose, too."""
        self._check_time()
        dtype, threads = self.order.precision.computed, self.order.threads
        for stratum, values in self.data.blocks(strata, rows, centres, dtype, threads):
            store = self.state.caches[stratum].store
            store[rows, cells] = values
            if mirrored:
                transpose(values, store[cells, rows])

    def add_computed(self, missing: Mapping[int, Mask]) -> None:
        """Add rows that some step has not in memory; as many are kept as there is room for.

        Parameters
        ----------
        missing : mapping of int to ndarray of bool, shape (n_order_rows,)
            By the number of the step.
        """
        order, caches, dtype = self.order, self.state.caches, self.order.precision.computed
        absent = np.flatnonzero(np.any(list(missing.values()), axis=0))
        for part in self.data.parts(len(absent)):
            places = absent[part]
            wanted: dict[int, tuple[int, Indices]] = {}
            room: dict[int, Indices] = {}
            for number, mask in missing.items():
                own = np.flatnonzero(mask[places])
                if len(own):
                    stratum = order.steps[number].stratum
                    wanted[stratum] = number, own
                    # a part of a row is of no use later
                    room[stratum] = caches[stratum].places(len(own) if self.columns is None else 0)
            for cells, centres in self._blocks():
                self._check_time()
                for stratum, values in self.data.blocks(
                    list(wanted), order.rows[places], centres, dtype, order.threads
                ):
                    number, own = wanted[stratum]
                    if len(own) < len(places):
                        values = values[own]
                    weights = order.steps[number].weights[places[own]]
                    self.sums[number, cells] += weights @ values.astype(np.float64, copy=False)
                    if stratum in self.roundings:
                        own_sizes = self._scratch(values)
                        np.abs(values, out=own_sizes)
                        sizes = np.abs(weights) @ own_sizes
                        self.doubts[number, cells] += self.roundings[stratum] * sizes
                    slots = room[stratum]
                    caches[stratum].store[slots, cells] = values[: len(slots)]
            for stratum, slots in room.items():
                own = wanted[stratum][1][: len(slots)]
                caches[stratum].keep(order.rows[places[own]], slots)

    def _check_time(self) -> None:
        """Raise an OutOfTimeError before a block that comes too late."""
        if self._begun and time.perf_counter() > self._deadline:
            raise OutOfTimeError
        self._begun = True

    def _scratch(self, values: Matrix) -> Matrix:
        """An array like these values, the same as long as they are alike: new memory is slow."""
        if self._spare.shape != values.shape or self._spare.dtype != values.dtype:
            self._spare = np.empty_like(values)
        return self._spare

    def _blocks(self) -> Iterator[tuple[slice, slice | Indices]]:
        """Blocks of the wanted centres: their places among them, and their numbers."""
        start = self.state.start
        for part in self.data.parts(self.width):
            if self.columns is None:
                yield part, slice(part.start + start, part.stop + start)
            else:
                yield part, self.columns[part] + start


@dataclass(frozen=True)
class PricingResult:
    """What a pass has shown.

    Attributes
    ----------
    scores, errors : ndarray of shape (n_strata, n_columns)
        Scores, and bounds on their errors; of shape (0, 0) where they are not wanted.
    """

    candidates: Candidates
    scores: Vector
    errors: Vector


def advance(
    data: KernelData, state: CentrePartition, order: PassRequest
) -> tuple[CentrePartition, PricingResult]:
    """The subproblem of a pass: a partition after it, and what its columns show.

    The state before the pass stays as it is, except that its caches may hold other rows.
    """
    before = state
    if state.precision != order.precision:
        state = state.begun(data, order.precision)
    columns = order.indices
    if columns is not None:
        first, last = np.searchsorted(columns, [state.start, state.stop])
        columns = columns[first:last] - state.start
    partial = PartialSums(data, state, order, columns)
    if partial.width and len(order.rows):
        missing = {}
        done = partial.add_together()
        for number, step in enumerate(order.steps):
            if number in done:
                continue
            if step.structured:
                partial.add_from_structure(number)
            else:
                missing[number] = partial.add_kept(number)
        partial.add_whole(missing)
        if missing:
            partial.add_computed(missing)
    scores, errors = state.scores.copy(), state.errors.copy()
    places = np.arange(partial.width) if columns is None else columns
    indices = state.start + places
    roundings = data.roundings(order.precision.computed)
    strata = np.array([step.stratum for step in order.steps], dtype=np.intp)
    added = np.array([not step.restart for step in order.steps], dtype=bool)
    cells = strata[:, None], places
    own, off = partial.sums, partial.doubts
    if added.any():
        own[added] += scores[cells][added]
        off[added] += errors[cells][added]
    off += UNIT_ROUNDOFF * np.abs(own)
    scores[cells], errors[cells] = own, off
    for step, errs in zip(order.steps, off, strict=True):
        rounding = roundings[step.stratum]
        if rounding is not None and step.error is not None:
            errs[:] = step.error * rounding.size[indices]
    candidates = search_strata(strata, indices, own, off, order.request)
    result = PricingResult(candidates, NO_SCORES, NO_SCORES)
    if order.with_scores:
        result = PricingResult(candidates, partial.sums, partial.doubts)
    if columns is not None:
        return before, result
    return replace(state, scores=scores, errors=errors), result


def combined(results: Sequence[PricingResult], limit: int) -> PricingResult:
    """The results of all partitions, in their order, as one."""
    if len(results) == 1:
        return results[0]
    candidates = Candidates()
    for result in results:
        candidates = merged(candidates, result.candidates, limit)
    return PricingResult(
        candidates,
        np.concatenate([result.scores for result in results], axis=1),
        np.concatenate([result.errors for result in results], axis=1),
    )
