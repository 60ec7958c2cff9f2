"""Scores of all columns of a kernel library, kept up to date from pass to pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import Matrix
from cgboost.parallel import Executor
from cgboost.parallel.threads import available, blas_threads
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.partition import Order, Partition, Step
from cgboost.pricing.kernels.plan import PassPlan
from cgboost.pricing.kernels.references import Change, Reference, change
from cgboost.pricing.kernels.rounding import Rounding
from cgboost.pricing.kernels.task import Answer, advance, combined
from cgboost.pricing.kernels.undecided import undecided
from cgboost.pricing.scans.candidates import Found, Held, NoRule, Query, merged, search_scores

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

UNLIKELY = 3.0
"""Standard deviations that an error will hardly exceed."""


REFINEMENT_SHARE = 0.25
"""Refinements may cost this share of a pass in float64 over all columns, in all."""


class KernelScores:
    """What a kernel pool knows of its scores, and the passes that bring them up to date.

    Parameters
    ----------
    data : KernelData
    symmetric : sequence of bool
        Which kernels are made of inner products and symmetric.
    executor : Executor
    cache_size : float
        Megabytes for all that is held.
    """

    def __init__(
        self, data: KernelData, symmetric: Sequence[bool], executor: Executor, cache_size: float
    ) -> None:
        self._data, self._symmetric, self._executor = data, symmetric, executor
        self._dtype = data.dtype
        self._shared = executor.share(data)
        self._plan = PassPlan(data, executor, cache_size)
        self._references = [Reference() for _ in data.kernels]
        self._states = self._bare()
        self._refinements = 0  # centres scored in float64 while the pool is in float32

    def _bare(self) -> list[Any]:
        return [
            Partition.bare(start, stop, self._plan.part_memory(part))
            for part, (start, stop) in enumerate(pairwise(self._plan.bounds))
        ]

    def search(self, strata: Sequence[int], indices: Indices | None, query: Query) -> Found:
        """What the columns ``indices`` (ascending; None: all) of some strata show.

        Where rounding hides the gap, scores are computed anew, and then in float64: those of the
        columns that it leaves undecided while these are few, later all of them.
        """
        found = self._pass(strata, indices, query).found
        likely = _likely_share(query.response) if query.limit else 1.0
        while indices is None and found.blurred(query, likely):
            refined = self._refined(strata, query, found)
            if refined is not None and not refined.blurred(query, likely):
                return refined
            if not self._sharpen():
                break
            found = self._pass(strata, None, query).found
        return found

    def _refined(self, strata: Sequence[int], query: Query, rough: Found) -> Found | None:
        """What all columns show, with those that rounding leaves undecided scored in float64.

        None where there is nothing to be gained, or so much to be done that float64 for all columns
        is cheaper in the end: such a pass is as much work as scoring every centre once.
        """
        if self._dtype == np.float64 or self._is_stale:
            return None
        answer = self._pass(strata, None, replace(query, limit=0), with_scores=True)
        scores, errors = np.array(answer.scores), np.array(answer.errors)
        centres = undecided(strata, scores, errors, query, rough)
        self._refinements += len(centres)
        if self._refinements > REFINEMENT_SHARE * len(self._data.X):
            return None
        exact = self._pass(strata, centres, query, with_scores=True, afresh=True)
        scores[:, centres], errors[:, centres] = exact.scores, exact.errors
        everything = np.arange(scores.shape[1])
        found = [
            search_scores(s, everything, own, error, query)
            for s, own, error in zip(strata, scores, errors, strict=True)
        ]
        return reduce(lambda a, b: merged(a, b, query.limit), found)

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·K(·, x_j) for the wanted j, shape (n_wanted,)."""
        nothing = Held(np.zeros(0, dtype=np.intp))
        query = Query(response, NoRule(), [nothing] * len(self._data.kernels), 0)
        if indices is None:
            return self._pass([stratum], None, query, with_scores=True).scores[0]
        ascending, places = np.unique(indices, return_inverse=True)
        return self._pass([stratum], ascending, query, with_scores=True).scores[0][places]

    def _pass(
        self,
        strata: Sequence[int],
        indices: Indices | None,
        query: Query,
        *,
        with_scores: bool = False,
        afresh: bool = False,
    ) -> Answer:
        """One pass; ``afresh``: some columns in float64, whatever is known of them."""
        n_rows = len(self._data.X)
        if len(query.response) != n_rows:
            raise ValueError(f"X has {n_rows} rows, the master has {len(query.response)}")
        alone = len(self._states) == 1 and self._executor.here
        threads = available() if alone else 1
        with blas_threads(1):
            order, references = self._order(strata, indices, query, afresh)
            order = replace(order, threads=threads, with_scores=with_scores)
            combine = partial(combined, limit=query.limit)
            states, answer = self._executor.run(advance, combine, self._shared, self._states, order)
        if indices is None:
            self._states = states
            for s, reference in zip(strata, references, strict=True):
                self._references[s] = reference
        return answer

    def _order(
        self,
        strata: Sequence[int],
        indices: Indices | None,
        query: Query,
        afresh: bool,
    ) -> tuple[Order, list[Reference]]:
        """What a pass is to do, and what the scores belong to after it."""
        dtype = np.dtype(np.float64) if afresh else self._dtype
        roundings = self._data.roundings(dtype)
        known = [Reference() if afresh else self._references[s] for s in strata]
        changes = [
            change(reference, query.response, roundings[s])
            for s, reference in zip(strata, known, strict=True)
        ]
        rows = np.flatnonzero(np.any([own.weights != 0 for own in changes], axis=0))
        width = len(self._data.X) if indices is None else len(indices)
        steps, references = [], []
        for s, old, own in zip(strata, known, changes, strict=True):
            structured = self._plan.by_structure(s, strata, len(rows), width)
            rounding = self._data.roundings(dtype, structured=structured)[s]
            reference, error = _after(old, own, rounding)
            steps.append(Step(s, own.weights[rows], own.restart, structured, error))
            references.append(reference)
        order = Order(
            rows=rows,
            steps=steps,
            dtype=dtype,
            indices=indices,
            query=replace(query, response=np.zeros(0)),
        )
        return order, references

    @property
    def _is_stale(self) -> bool:
        return any(reference.is_stale for reference in self._references)

    def _sharpen(self) -> bool:
        """Make scores more exact, if they can be: by a fresh start, then by a wider dtype."""
        stale = self._is_stale
        if not stale and self._dtype == np.float64:
            return False
        self._references = [Reference() for _ in self._data.kernels]
        if not stale:
            self._dtype = np.dtype(np.float64)
            self._states = self._bare()  # what they hold goes before there is more
        return True

    def kept(self, stratum: int, indices: Indices) -> Matrix | None:
        """Columns that are in memory: as rows, for a symmetric kernel in float64; or as columns.

        Values of kernels that are not made of products are what they are in any dtype.
        """
        if not self._executor.here:
            return None
        if self._symmetric[stratum]:
            if self._dtype != np.float64:
                return None
            parts = [state.kept(stratum, indices) for state in self._states]
            whole = [part for part in parts if part is not None]
            return np.concatenate(whole, axis=1) if len(whole) == len(parts) else None
        if self._data.kernels[stratum].of_products:
            return None
        columns = np.empty((len(indices), len(self._data.X)), dtype=self._data.dtype)
        for state in self._states:
            own = np.flatnonzero((state.start <= indices) & (indices < state.stop))
            found = state.kept_columns(stratum, indices[own])
            if found is None:
                return None
            columns[own] = found
        return columns


def _after(
    old: Reference, own: Change, rounding: Rounding | None
) -> tuple[Reference, float | None]:
    """The reference after a step, and the error of the scores as those of the response."""
    if rounding is None:
        return Reference(own.target), None
    kept, now = own.errors(old, rounding)
    first = kept if own.restart else old.first_error
    return Reference(own.target, kept, first), now


def _likely_share(response: Vector) -> float:
    """The share of its bound that the error of a score will hardly exceed.

    The errors of different rows are as good as independent, so that they add up like their squares
    (Higham, Mary, *A new approach to probabilistic rounding error analysis*, SIAM J. Sci. Comput.
    41, 2019), whereas the bound has to add up their sizes.
    """
    total = float(np.abs(response).sum())
    return min(1.0, UNLIKELY * float(np.linalg.norm(response)) / total) if total > 0 else 1.0
