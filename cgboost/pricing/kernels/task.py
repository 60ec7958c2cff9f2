"""The task of a pricing pass: one partition, brought up to date and searched.

What a task does depends on the data, on the state of its partition and on the order alone, so that
it may run anywhere, and again where it was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.partition import Order, Partition
from cgboost.pricing.kernels.sums import PartialSums
from cgboost.pricing.scans.candidates import Candidates, merged, search_scores
from cgboost.tolerances import UNIT_ROUNDOFF

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


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
