"""Scores of all columns of a kernel library, kept up to date from pass to pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.executors import Executor
from cgboost.kernels import Matrix
from cgboost.pricing.found import Found, Held, NoRule, Query
from cgboost.pricing.kernel_pass.blocks import KernelData
from cgboost.pricing.kernel_pass.partition import Order, Partition, Step
from cgboost.pricing.kernel_pass.plan import PassPlan
from cgboost.pricing.kernel_pass.references import Change, Reference, change
from cgboost.pricing.kernel_pass.task import Answer, advance, combined
from cgboost.threads import available, blas_threads

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

UNLIKELY = 3.0
"""Standard deviations that an error will hardly exceed."""


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

    def _bare(self) -> list[Any]:
        return [
            Partition.bare(start, stop, self._plan.part_memory(part))
            for part, (start, stop) in enumerate(pairwise(self._plan.bounds))
        ]

    def search(self, strata: Sequence[int], indices: Indices | None, query: Query) -> Found:
        """What the columns ``indices`` (ascending; None: all) of some strata show.

        Where rounding hides the gap, scores are computed anew, and then in float64.
        """
        found = self._pass(strata, indices, query).found
        likely = _likely_share(query.response) if query.limit else 1.0
        while indices is None and found.blurred(query.tol, likely) and self._sharpen():
            found = self._pass(strata, None, query).found
        return found

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
    ) -> Answer:
        n_rows = len(self._data.X)
        if len(query.response) != n_rows:
            raise ValueError(f"X has {n_rows} rows, the master has {len(query.response)}")
        alone = len(self._states) == 1 and self._executor.here
        threads = available() if alone else 1
        with blas_threads(1):
            order, references = self._order(strata, indices, query, threads, with_scores)
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
        threads: int,
        with_scores: bool,
    ) -> tuple[Order, list[Reference]]:
        """What a pass is to do, and what the scores belong to after it."""
        roundings = self._data.roundings(self._dtype)
        changes = [change(self._references[s], query.response, roundings[s]) for s in strata]
        rows = np.flatnonzero(np.any([own.weights != 0 for own in changes], axis=0))
        width = len(self._data.X) if indices is None else len(indices)
        steps, references = [], []
        for s, own in zip(strata, changes, strict=True):
            structured = self._plan.by_structure(s, strata, len(rows), width)
            reference, error = self._after(s, own, structured)
            steps.append(Step(s, own.weights[rows], own.restart, structured, error))
            references.append(reference)
        order = Order(
            rows=rows,
            steps=steps,
            dtype=self._dtype,
            indices=indices,
            query=replace(query, response=np.zeros(0)),
            threads=threads,
            with_scores=with_scores,
        )
        return order, references

    def _after(self, stratum: int, own: Change, structured: bool) -> tuple[Reference, float | None]:
        """The reference after a step, and the error of the scores as those of the response."""
        rounding = self._data.roundings(self._dtype, structured=structured)[stratum]
        if rounding is None:
            return Reference(own.target), None
        kept, now = own.errors(self._references[stratum], rounding)
        first = kept if own.restart else self._references[stratum].first_error
        return Reference(own.target, kept, first), now

    def _sharpen(self) -> bool:
        """Make scores more exact, if they can be: by a fresh start, then by a wider dtype."""
        stale = any(reference.is_stale for reference in self._references)
        if not stale and self._dtype == np.float64:
            return False
        if not stale:
            self._dtype = np.dtype(np.float64)
            self._states = self._bare()  # what they hold goes before there is more
        self._references = [Reference() for _ in self._data.kernels]
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


def _likely_share(response: Vector) -> float:
    """The share of its bound that the error of a score will hardly exceed.

    The errors of different rows are as good as independent, so that they add up like their squares
    (Higham, Mary, *A new approach to probabilistic rounding error analysis*, SIAM J. Sci. Comput.
    41, 2019), whereas the bound has to add up their sizes.
    """
    total = float(np.abs(response).sum())
    return min(1.0, UNLIKELY * float(np.linalg.norm(response)) / total) if total > 0 else 1.0
