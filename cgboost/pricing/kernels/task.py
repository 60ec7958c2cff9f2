"""Task of a pricing pass: the sums over one partition, brought up to date.

Weighted sums of kernel values over training rows, for the columns of one partition.

They come from the structure of a kernel where that is cheaper, from rows of kernel values that are
still in memory, and from blocks of kernel values for all other rows.

The task of a pricing pass: one partition, brought up to date and searched.

What a task does depends on the data, on the state of its partition and on the order alone, so that
it may run anywhere, and again where it was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.partition import Order, Partition, Step
from cgboost.pricing.scans.candidates import Candidates, merged, search_scores
from cgboost.tolerances import UNIT_ROUNDOFF

Vector = NDArray[np.float64]

Indices = NDArray[np.intp]

Mask = NDArray[np.bool_]

SHARP_ROWS = 4096
"""Rows converted to a wider dtype at a time, for sums that need no kernel values."""


class PartialSums:
    """Σ_i w_i K(x_i, x_j) for the steps of an order and the columns of a partition."""

    def __init__(
        self, data: KernelData, state: Partition, order: Order, columns: Indices | None
    ) -> None:
        self.data, self.state, self.order, self.columns = data, state, order, columns
        width = state.stop - state.start if columns is None else len(columns)
        self.sums = np.zeros((len(order.steps), width))
        self.doubts = np.zeros((len(order.steps), width))
        self.numbers = {step.stratum: number for number, step in enumerate(order.steps)}

    def computed(self) -> tuple[Vector, Vector]:
        """The sums, and what those of kernels of unknown rounding may be off by."""
        if self.sums.shape[1] and len(self.order.rows):
            for number, step in enumerate(self.order.steps):
                if step.structured:
                    self.sums[number] = self._from_structure(step)
            by_rows = [step.stratum for step in self.order.steps if not step.structured]
            if by_rows:
                self._add_rows(by_rows)
        return self.sums, self.doubts

    def _from_structure(self, step: Step) -> Vector:
        """The sum without kernel values; kernels with such a structure are symmetric."""
        data, rows = self.data, self.order.rows
        kernel = data.kernels[step.stratum]
        dtype = data.value_dtype(step.stratum, self.order.dtype, structured=True)
        if data.X.dtype == dtype:
            weights = np.zeros(len(data.X))
            weights[rows] = step.weights
            parts = [kernel.expanded(data.X, weights)]
        else:
            chunks = [slice(i, i + SHARP_ROWS) for i in range(0, len(rows), SHARP_ROWS)]
            parts = [
                kernel.expanded(data.rows(rows[chunk], dtype), step.weights[chunk])
                for chunk in chunks
            ]
        total = np.empty(self.sums.shape[1])
        for cells, centres in self._cells():
            block = data.rows(centres, dtype)
            total[cells] = sum(part(block) for part in parts)
        return total

    def _add_rows(self, strata: list[int]) -> None:
        """Add up rows of kernel values: those that are kept, then blocks of the others."""
        rows = self.order.rows
        absent = np.zeros(len(rows), dtype=bool)
        missing: dict[int, Mask] = {}
        for stratum in strata:
            slots = self.state.caches[stratum].slots(rows)
            missing[stratum] = slots < 0
            absent |= missing[stratum]
            kept = np.flatnonzero(~missing[stratum])
            if len(kept):
                self._add_kept(stratum, slots[kept], kept)
        places = np.flatnonzero(absent)
        for part in self.data.parts(len(places)):
            self._add_block(places[part], {s: missing[s][places[part]] for s in strata})

    def _add_kept(self, stratum: int, slots: Indices, places: Indices) -> None:
        number, unknown = self.numbers[stratum], self._unknown(stratum)
        weights = self.order.steps[number].weights[places]
        sums, sizes = self.state.caches[stratum].weighted_sums(
            slots, weights, self.columns, absolute=unknown
        )
        self.sums[number] += sums
        if unknown:
            self._add_doubt(number, sizes)

    def _add_block(self, places: Indices, missing: dict[int, Mask]) -> None:
        """Add rows that some stratum has not kept, and keep as many as there is room for."""
        rows = self.order.rows[places]
        strata = [stratum for stratum, absent in missing.items() if absent.any()]
        kept = _Keeping(self, strata, rows, missing)
        for cells, centres in self._cells():
            for stratum, values in self.data.blocks(
                strata, rows, centres, self.order.dtype, self.order.threads
            ):
                absent = missing[stratum]
                own = values if absent.all() else values[absent]
                number = self.numbers[stratum]
                weights = self.order.steps[number].weights[places[absent]]
                self.sums[number, cells] += weights @ own.astype(np.float64, copy=False)
                if self._unknown(stratum):
                    self._add_doubt(number, np.abs(weights) @ np.abs(own), cells)
                kept.put(stratum, cells, own)
        kept.finish()

    def _cells(self) -> list[tuple[slice, slice | Indices]]:
        """Blocks of the wanted centres: their places among them, and their numbers."""
        if self.columns is None:
            start = self.state.start
            return [
                (slice(part.start - start, part.stop - start), part)
                for part in self.data.parts(self.state.stop, start)
            ]
        centres = self.state.start + self.columns
        return [(part, centres[part]) for part in self.data.parts(len(centres))]

    def _unknown(self, stratum: int) -> bool:
        """Whether nothing is known of the rounding of a kernel."""
        return self.data.sizes(self.order.dtype)[stratum] is None

    def _add_doubt(self, number: int, sizes: Vector, cells: slice = slice(None)) -> None:
        """The rounding of a sum whose terms have absolute values of that size in total.

        A function may return more digits than are kept.
        """
        kept = 0.5 * float(np.finfo(self.order.dtype).eps)
        self.doubts[number, cells] += (kept + (len(self.order.rows) + 4) * UNIT_ROUNDOFF) * sizes


class _Keeping:
    """Room for rows of a block in the caches of some strata; only whole rows are kept."""

    def __init__(
        self,
        sums: PartialSums,
        strata: list[int],
        rows: Indices,
        missing: dict[int, Mask],
    ) -> None:
        self.caches = sums.state.caches
        self.room: dict[int, tuple[Indices, Indices]] = {}
        if sums.columns is None:  # a part of a row is of no use later
            for stratum in strata:
                absent = rows[missing[stratum]]
                slots = self.caches[stratum].places(len(absent))
                self.room[stratum] = (absent[: len(slots)], slots)

    def put(self, stratum: int, cells: slice, values: NDArray[np.floating[Any]]) -> None:
        """Store what is kept of a block."""
        if stratum in self.room:
            slots = self.room[stratum][1]
            self.caches[stratum].store[slots, cells] = values[: len(slots)]

    def finish(self) -> None:
        """All blocks of these rows have been stored."""
        for stratum, (rows, slots) in self.room.items():
            self.caches[stratum].keep(rows, slots)


@dataclass(frozen=True)
class PricingResult:
    """What a pass has shown; scores of each stratum, and bounds on their errors, if wanted."""

    candidates: Candidates
    scores: list[Vector]
    errors: list[Vector]


def advance(data: KernelData, state: Partition, order: Order) -> tuple[Partition, PricingResult]:
    """One task of a pass: the partition after it, and what its columns show.

    The state before the pass stays as it is, except that its caches may hold other rows.
    """
    before = state
    if state.dtype is None or state.dtype != order.dtype:  # to NumPy, None is float64
        state = state.begun(order.dtype, len(data.X))
    wanted = order.indices
    columns = None if wanted is None else _within(wanted, state) - state.start
    sums, doubts = PartialSums(data, state, order, columns).computed()
    scores, errors = state.scores.copy(), state.errors.copy()
    places = slice(None) if columns is None else columns
    for step, sum_, doubt in zip(order.steps, sums, doubts, strict=True):
        s = step.stratum
        scores[s, places] = sum_ if step.restart else scores[s, places] + sum_
        errors[s, places] = doubt if step.restart else errors[s, places] + doubt
        errors[s, places] += UNIT_ROUNDOFF * np.abs(scores[s, places])
    result = _result(data, state, order, places, scores, errors)
    if columns is not None:
        return before, result
    return replace(state, scores=scores, errors=errors), result


def _result(
    data: KernelData,
    state: Partition,
    order: Order,
    places: slice | Indices,
    scores: Vector,
    errors: Vector,
) -> PricingResult:
    indices = np.arange(state.start, state.stop)[places]
    sizes = data.sizes(order.dtype)
    candidates, shown, off = [], [], []
    for step in order.steps:
        s, size = step.stratum, sizes[step.stratum]
        own = scores[s, places]
        error = errors[s, places]
        if size is not None and step.error is not None:
            error = step.error * size[indices]
        candidates.append(search_scores(s, indices, own, error, order.request))
        shown.append(own)
        off.append(error)
    limit = order.request.limit
    together = reduce(lambda a, b: merged(a, b, limit), candidates)
    return (
        PricingResult(together, shown, off)
        if order.with_scores
        else PricingResult(together, [], [])
    )


def combined(results: Sequence[PricingResult], limit: int) -> PricingResult:
    """The results of all partitions, in their order, as one."""
    candidates = reduce(lambda a, b: merged(a, b, limit), [result.candidates for result in results])
    scores = [np.concatenate(parts) for parts in zip(*(a.scores for a in results), strict=True)]
    errors = [np.concatenate(parts) for parts in zip(*(a.errors for a in results), strict=True)]
    return PricingResult(candidates, scores, errors)


def _within(indices: Indices, state: Partition) -> Indices:
    """Those of the ascending indices that belong to a partition."""
    first, last = np.searchsorted(indices, [state.start, state.stop])
    return indices[first:last]
