"""Scores of a kernel library, with the bounds of their errors.

What the scores of a stratum belong to, and what has to be added for another pseudo-response.

Scores are linear in r: where few of its entries have changed since the last pass, only these are
priced. Changes that are negligible beside the rounding of the scores wait until they add up. The
error of the scores is bounded from pass to pass (:mod:`cgboost.kernels.expansions`).

Columns that rounding leaves undecided: the few whose errors hide the gap.

Scores of all columns of a kernel library, kept up to date from pass to pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.kernels import Matrix
from cgboost.kernels.expansions import Rounding
from cgboost.parallel import Executor
from cgboost.parallel.executors import available, blas_threads
from cgboost.pricing.kernels.blocks import KernelData, PassPlan
from cgboost.pricing.kernels.partition import Order, Partition, Step
from cgboost.pricing.kernels.task import PricingResult, advance, combined
from cgboost.pricing.scans.candidates import (
    Candidates,
    Held,
    NoRule,
    PricingRequest,
    adds_up,
    doubts,
    merged,
    search_scores,
)
from cgboost.tolerances import UNIT_ROUNDOFF

Vector = NDArray[np.float64]

NEGLIGIBLE = 1e-11
"""Changes of r that are smaller than this in total, relative to Σ|r|, wait; …"""

WAITING_SHARE = 0.1
"""… so do changes of this share of the rounding of the scores."""

STALE = 2.0
"""Errors that have grown by this factor through many passes are worth a fresh start."""


@dataclass(frozen=True)
class Reference:
    """The pseudo-response that the scores of a stratum belong to.

    Attributes
    ----------
    response : ndarray of shape (n_rows,) or None
        None: there are no scores yet.
    error : float
        A score is off by at most this times the size of its centre.
    first_error : float
        The same after the last fresh start.
    """

    response: Vector | None = None
    error: float = 0.0
    first_error: float = 0.0

    @property
    def is_stale(self) -> bool:
        """Whether many passes have made scores much less exact than a fresh start would."""
        return self.error > STALE * self.first_error


@dataclass(frozen=True)
class Change:
    """How to come from a reference to a pseudo-response.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        What is added, or with ``restart`` begun with.
    restart : bool
    target : ndarray of shape (n_rows,)
        What the scores will belong to: the pseudo-response without negligible changes.
    response : ndarray of shape (n_rows,)
        The pseudo-response.
    """

    weights: Vector
    restart: bool
    target: Vector
    response: Vector

    def errors(self, reference: Reference, rounding: Rounding) -> tuple[float, float]:
        """Errors of the new scores, relative to the size of their centres.

        Parameters
        ----------
        reference : Reference
        rounding : Rounding
            Of the terms that are added.

        Returns
        -------
        kept, now : float
            As scores of the target, and as scores of the pseudo-response.
        """
        added = float(np.abs(self.weights) @ rounding.size)
        kept = 0.0 if self.restart else reference.error
        kept += (rounding.relative + (np.count_nonzero(self.weights) + 4) * UNIT_ROUNDOFF) * added
        kept += 2.0 * UNIT_ROUNDOFF * float(np.abs(self.response) @ rounding.size)
        return kept, kept + float(np.abs(self.response - self.target) @ rounding.size)


def change(reference: Reference, response: Vector, rounding: Rounding | None) -> Change:
    """The cheaper way to new scores: add what has changed, or begin anew."""
    cut = np.zeros_like(response)
    if rounding is not None:
        total = float(np.abs(response) @ rounding.size)
        waiting = max(NEGLIGIBLE, WAITING_SHARE * rounding.relative) * total / max(1, len(response))
        cut = np.divide(waiting, rounding.size, out=cut, where=rounding.size > 0)
    support = np.abs(response) > cut
    old = reference.response
    if old is not None:
        difference = response - old
        changed = np.abs(difference) > cut
        if np.count_nonzero(changed) < np.count_nonzero(support):
            target = np.where(changed, response, old)
            return Change(np.where(changed, difference, 0.0), False, target, response)
    target = np.where(support, response, 0.0)
    return Change(target, True, target, response)


Indices = NDArray[np.intp]

REST = 0.5
"""Columns that are not scored again may widen the gap by this share of what is tolerated."""


def undecided(
    strata: Sequence[int],
    scores: Vector,
    errors: Vector,
    request: PricingRequest,
    candidates: Candidates,
) -> Indices:
    """Centres of the columns that have to be scored more exactly, as few as will do.

    Parameters
    ----------
    strata : sequence of int
    scores, errors : ndarray of shape (n_strata, n_columns)
        Of all columns, and bounds on their errors.
    request : PricingRequest
    candidates : Candidates
        What these scores show.

    Returns
    -------
    ndarray of int
        Ascending. Errors of all other columns widen the excess that the bound rests on by at most
        ``REST`` of what is tolerated.
    """
    widened = np.array(
        [
            doubts(s, own, error, request)
            for s, own, error in zip(strata, scores, errors, strict=True)
        ]
    )
    tolerated = REST * candidates.tolerated(request)
    if not adds_up(request.rule):
        return np.flatnonzero((widened > tolerated).any(axis=0))
    by_centre = widened.sum(axis=0)
    ascending = np.argsort(by_centre, kind="stable")
    harmless = int(np.searchsorted(np.cumsum(by_centre[ascending]), tolerated, side="right"))
    return np.sort(ascending[harmless:])


UNLIKELY = 3.0
"""Standard deviations that an error will hardly exceed."""

REFINED_SHARE = 0.25
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

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns ``indices`` (ascending; None: all) of some strata show.

        Where rounding hides the gap, scores are computed anew, and then in float64: those of the
        columns that it leaves undecided while these are few, later all of them.
        """
        candidates = self._pass(strata, indices, request).candidates
        likely = _likely_share(request.response) if request.limit else 1.0
        while indices is None and candidates.blurred(request, likely):
            refined = self._refined(strata, request, candidates)
            if refined is not None and not refined.blurred(request, likely):
                return refined
            if not self._sharpen():
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
        if self._dtype == np.float64 or self._is_stale:
            return None
        result = self._pass(strata, None, replace(request, limit=0), with_scores=True)
        scores, errors = np.array(result.scores), np.array(result.errors)
        centres = undecided(strata, scores, errors, request, rough)
        self._refinements += len(centres)
        if self._refinements > REFINED_SHARE * len(self._data.X):
            return None
        exact = self._pass(strata, centres, request, with_scores=True, afresh=True)
        scores[:, centres], errors[:, centres] = exact.scores, exact.errors
        everything = np.arange(scores.shape[1])
        candidates = [
            search_scores(s, everything, own, error, request)
            for s, own, error in zip(strata, scores, errors, strict=True)
        ]
        return reduce(lambda a, b: merged(a, b, request.limit), candidates)

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·K(·, x_j) for the wanted j, shape (n_wanted,)."""
        nothing = Held(np.zeros(0, dtype=np.intp))
        request = PricingRequest(response, NoRule(), [nothing] * len(self._data.kernels), 0)
        if indices is None:
            return self._pass([stratum], None, request, with_scores=True).scores[0]
        ascending, places = np.unique(indices, return_inverse=True)
        return self._pass([stratum], ascending, request, with_scores=True).scores[0][places]

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
        n_rows = len(self._data.X)
        if len(request.response) != n_rows:
            raise ValueError(f"X has {n_rows} rows, the master has {len(request.response)}")
        alone = len(self._states) == 1 and self._executor.here
        threads = available() if alone else 1
        with blas_threads(1):
            order, references = self._order(strata, indices, request, afresh)
            order = replace(order, threads=threads, with_scores=with_scores)
            combine = partial(combined, limit=request.limit)
            states, result = self._executor.run(advance, combine, self._shared, self._states, order)
        if indices is None:
            self._states = states
            for s, reference in zip(strata, references, strict=True):
                self._references[s] = reference
        return result

    def _order(
        self,
        strata: Sequence[int],
        indices: Indices | None,
        request: PricingRequest,
        afresh: bool,
    ) -> tuple[Order, list[Reference]]:
        """What a pass is to do, and what the scores belong to after it."""
        dtype = np.dtype(np.float64) if afresh else self._dtype
        roundings = self._data.roundings(dtype)
        known = [Reference() if afresh else self._references[s] for s in strata]
        changes = [
            change(reference, request.response, roundings[s])
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
            request=replace(request, response=np.zeros(0)),
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

        Values of kernels that are not made of products are the same in any dtype of the pass.
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
            kept = state.kept_columns(stratum, indices[own])
            if kept is None:
                return None
            columns[own] = kept
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
