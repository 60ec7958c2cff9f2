"""Candidates of a pricing request, and the column pools that are searched for them.

A search looks at some columns of a pool, wherever their scores are computed. It reports the few
best of them, and how much all of them add to the duality gap. Scores may be inexact: what a column
adds at most, if its score is off by a known error, is added up as well, and only that certifies.

A :class:`ColumnPool` is a finite family of columns in strata, and scores them. A
:class:`SearchablePool` also looks for the best of them, where their scores are computed;
:class:`ScoredPool` makes one of any other pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import EntryRule

BLUR = 0.25
"""Errors of scores may widen the gap by this share of what is left of it."""

NEAR_END = 10.0
"""What is left is near the end where it is this many times the tolerance at most."""

NO_PLACES: Indices = np.zeros(0, dtype=np.intp)

NO_NUMBERS: Vector = np.zeros(0)


class NoRule:
    """The entry rule of a search that wants scores alone: nothing adds to the gap."""

    two_sided = True
    additive = False

    def excess(self, scores: Vector) -> Vector:
        """0 for every score."""
        return np.zeros_like(scores)

    def settled(self, score: float) -> float:
        """Every score."""
        return score


@dataclass(frozen=True)
class HeldColumns:
    """The columns of a stratum that the master holds.

    Attributes
    ----------
    indices : ndarray of int, shape (n_held,)
    scores, errors : ndarray of shape (n_held,) or None
        Scores of the columns as the master has them, and bounds on their errors, where that is not
        quite what the search computes: it may round columns to float32 for the master.
    """

    indices: Indices
    scores: Vector | None = None
    errors: Vector | None = None


class OutOfTimeError(Exception):
    """A search was not done when its time was over."""


@dataclass(frozen=True)
class PricingRequest:
    """What is asked of a search.

    Attributes
    ----------
    response : ndarray of shape (n_rows,)
        The pseudo-response r; the score of a column h is r·h.
    rule : EntryRule
        What a score adds to the gap.
    held : sequence of HeldColumns
        For every stratum the columns that are in the master already: they are not offered.
    limit : int
        Most columns to be offered; 0 asks for the certificate alone.
    tol : float
        Gaps below this do not matter.
    reach : float
        Near violations are offered, too: columns that would add to the gap with a score larger by
        this share. They come behind those that do.
    per_stratum : int or None
        Most columns to be offered of each stratum, None: as many as there are.
    deadline : float
        On the clock of ``time.perf_counter``: what is then still on its way may end by an
        :class:`OutOfTimeError`.
    """

    response: Vector
    rule: EntryRule
    held: Sequence[HeldColumns]
    limit: int
    tol: float = 0.0
    reach: float = 0.0
    per_stratum: int | None = None
    deadline: float = np.inf


@dataclass(frozen=True)
class Candidates:
    """The best columns among those searched, best first, and what all of them add to the gap.

    Attributes
    ----------
    strata, indices : ndarray of int, shape (n_offered,)
    scores, excess, worth : ndarray of shape (n_offered,)
        ``excess`` is the violation of the dual constraint, ``worth`` the near violation: that of
        a score that is larger by the ``reach`` of the request.
    n_evaluated : int
        Number of columns that were searched.
    max_excess, total_excess : float
        Largest and summed violation, if every score is as far off as it may be.
    max_blur, total_blur : float
        By how much these exceed the violation of the scores as computed.
    max_left, total_left : float
        Largest and summed violation of scores as computed, of columns outside the master alone.
    """

    strata: Indices = field(default_factory=NO_PLACES.copy)
    indices: Indices = field(default_factory=NO_PLACES.copy)
    scores: Vector = field(default_factory=NO_NUMBERS.copy)
    excess: Vector = field(default_factory=NO_NUMBERS.copy)
    worth: Vector = field(default_factory=NO_NUMBERS.copy)
    n_evaluated: int = 0
    max_excess: float = 0.0
    total_excess: float = 0.0
    max_blur: float = 0.0
    total_blur: float = 0.0
    max_left: float = 0.0
    total_left: float = 0.0

    @property
    def best_excess(self) -> float:
        """Violation of the best column offered, 0 if there is none."""
        return float(self.excess[0]) if self.excess.size else 0.0

    def blurred(self, request: PricingRequest, likely: float = 1.0) -> bool:
        """Whether errors of scores, not scores, decide about the gap.

        The sum of the violations counts where the bound rests on it, otherwise the largest. Far
        from the end errors matter if they might lead the search astray, and near it if they leave
        the gap open.

        Parameters
        ----------
        request : PricingRequest
            What was asked: its rule, and the tolerance.
        likely : float
            The share of their bounds that errors will hardly exceed.
        """
        blur, left = self.max_blur, self.max_left
        if adds_up(request.rule):
            blur, left = self.total_blur, self.total_left
        if left > NEAR_END * request.tol:
            blur *= likely
        return blur > self.tolerated(request)

    def tolerated(self, request: PricingRequest) -> float:
        """By how much errors of scores may widen the gap."""
        left = self.total_left if adds_up(request.rule) else self.max_left
        return BLUR * max(left, request.tol)

    def best(self, limit: int) -> Candidates:
        """The same with at most ``limit`` columns offered."""
        order = largest(self.worth, limit)
        return replace(
            self,
            strata=self.strata[order],
            indices=self.indices[order],
            scores=self.scores[order],
            excess=self.excess[order],
            worth=self.worth[order],
        )


def adds_up(rule: EntryRule) -> bool:
    """Whether the bound rests on the sum of the violations; yes, where the rule does not say."""
    return getattr(rule, "additive", True)


def search_scores(
    stratum: int, indices: Indices, scores: Vector, errors: Vector | None, request: PricingRequest
) -> Candidates:
    """What scores of columns of one stratum show.

    Parameters
    ----------
    indices : ndarray of int, shape (n_columns,)
        The columns' numbers within the stratum, ascending.
    scores : ndarray of shape (n_columns,)
    errors : ndarray of shape (n_columns,) or None
        Bounds on the errors of the scores; None: they have none.
    """
    off = None if errors is None else errors[None]
    return search_strata([stratum], indices, scores[None], off, request)


def search_strata(
    strata: Sequence[int] | Indices,
    indices: Indices,
    scores: Vector,
    errors: Vector | None,
    request: PricingRequest,
) -> Candidates:
    """What scores of the same columns of several strata show.

    Parameters
    ----------
    indices : ndarray of int, shape (n_columns,)
        The columns' numbers within each stratum, ascending.
    scores : ndarray of shape (n_strata, n_columns)
    errors : ndarray of shape (n_strata, n_columns) or None
        Bounds on the errors of the scores; None: they have none.
    """
    scores, errors, places = _with_held(strata, indices, scores, errors, request)
    excess, wide = _violations(scores, errors, request.rule)
    left = excess.copy()
    left[places] = 0.0
    worth = left
    if request.reach:
        worth = request.rule.excess(scores * (1.0 + request.reach))
        worth[places] = 0.0
    if request.per_stratum is not None:
        worth = _best_of_each(worth, request.per_stratum)
    order = largest(worth.ravel(), request.limit)
    rows, columns = np.divmod(order, max(1, len(indices)))
    most, total = float(wide.max(initial=0.0)), float(wide.sum())
    return Candidates(
        strata=np.asarray(strata, dtype=np.intp)[rows],
        indices=indices[columns],
        scores=scores[rows, columns],
        excess=excess[rows, columns],
        worth=worth[rows, columns],
        n_evaluated=scores.size,
        max_excess=most,
        total_excess=total,
        max_blur=most - float(excess.max(initial=0.0)),
        total_blur=total - float(excess.sum()),
        max_left=float(left.max(initial=0.0)),
        total_left=float(left.sum()),
    )


def _best_of_each(worth: Vector, count: int) -> Vector:
    """The ``count`` largest of each stratum, and 0 for all others."""
    place = worth.shape[1] - count
    if place <= 0:
        return worth
    least = np.partition(worth, place, axis=1)[:, place]
    return np.where(worth >= least[:, None], worth, 0.0)


def doubts(
    strata: Sequence[int], scores: Vector, errors: Vector, request: PricingRequest
) -> Vector:
    """By how much errors widen the violation of each column, shape (n_strata, n_columns)."""
    own, off, _ = _with_held(strata, np.arange(scores.shape[1]), scores, errors, request)
    violation, wide = _violations(own, off, request.rule)
    return wide - violation


def merged(first: Candidates, second: Candidates, limit: int) -> Candidates:
    """What two searches among different columns found together."""
    together = Candidates(
        strata=np.concatenate([first.strata, second.strata]),
        indices=np.concatenate([first.indices, second.indices]),
        scores=np.concatenate([first.scores, second.scores]),
        excess=np.concatenate([first.excess, second.excess]),
        worth=np.concatenate([first.worth, second.worth]),
        n_evaluated=first.n_evaluated + second.n_evaluated,
        max_excess=max(first.max_excess, second.max_excess),
        total_excess=first.total_excess + second.total_excess,
        max_blur=max(first.max_blur, second.max_blur),
        total_blur=first.total_blur + second.total_blur,
        max_left=max(first.max_left, second.max_left),
        total_left=first.total_left + second.total_left,
    )
    return together.best(limit)


def largest(values: Vector, limit: int) -> Indices:
    """Places of the ``limit`` largest positive values, largest first, equal ones in their order."""
    places = np.flatnonzero(values > 0)
    count = min(limit, len(places))
    if count <= 0:
        return np.zeros(0, dtype=np.intp)
    positive = values[places]
    least = np.partition(positive, len(places) - count)[len(places) - count]
    places = places[positive >= least]
    return places[np.argsort(-values[places], kind="stable")][:count]


def _with_held(
    strata: Sequence[int] | Indices,
    indices: Indices,
    scores: Vector,
    errors: Vector | None,
    request: PricingRequest,
) -> tuple[Vector, Vector | None, tuple[Indices, Indices]]:
    """Scores and errors with those that the master sees, and the places of its columns."""
    rows, columns = [NO_PLACES], [NO_PLACES]
    copied = False
    for row, stratum in enumerate(strata):
        held = request.held[stratum]
        if not len(held.indices) or not len(indices):
            continue
        places = np.minimum(np.searchsorted(indices, held.indices), len(indices) - 1)
        there = np.flatnonzero(indices[places] == held.indices)
        places = places[there]
        if held.scores is not None and held.errors is not None:
            if not copied:
                errors = np.zeros_like(scores) if errors is None else errors.copy()
                scores, copied = scores.copy(), True
            assert errors is not None
            scores[row, places], errors[row, places] = held.scores[there], held.errors[there]
        rows.append(np.full(len(places), row, dtype=np.intp))
        columns.append(places)
    return scores, errors, (np.concatenate(rows), np.concatenate(columns))


def _violations(scores: Vector, errors: Vector | None, rule: EntryRule) -> tuple[Vector, Vector]:
    """The violation of scores as computed, and if they are as far off as they may be."""
    violation = rule.excess(scores)
    if errors is None:
        return violation, violation
    worst = np.copysign(np.abs(scores) + errors, scores) if rule.two_sided else scores + errors
    return violation, rule.excess(worst)


def may_price_out(scores: Vector, errors: Vector, request: PricingRequest) -> NDArray[np.bool_]:
    """Whether columns may be offered or add to the gap, if scores are off by as much."""
    factor = 1.0 + request.reach
    return np.asarray(_violations(factor * scores, factor * errors, request.rule)[1] > 0)


class ColumnPool(Protocol):
    """A finite family of columns in strata."""

    strata: tuple[str, ...]
    """Names, in order of priority."""

    def size(self, stratum: int) -> int:
        """Number of columns in a stratum."""
        ...

    def scores(self, stratum: int, indices: Indices | None, response: Vector) -> Vector:
        """r·h for the columns ``indices`` of a stratum (None: all of them)."""
        ...

    def rows(self, stratum: int) -> Indices | None:
        """Training row each column is centred on, None where columns have no row."""
        ...

    def values(self, stratum: int, indices: Indices) -> NDArray[np.floating[Any]]:
        """Columns of a stratum on the training rows, as the rows of an array."""
        ...

    def column(self, stratum: int, index: int) -> Column:
        """One column; its ``key`` must be ``(stratum name, index)``."""
        ...


@runtime_checkable
class SearchablePool(Protocol):
    """A pool that looks for the best columns itself, where their scores are computed."""

    @property
    def rounds_columns(self) -> bool:
        """Whether columns are rounded for the master, so that their scores are not quite these."""
        ...

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns ``indices`` (ascending; None: all) of some strata show."""
        ...

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """Several columns, of any strata."""
        ...

    def values_on(
        self, strata: Indices, indices: Indices, rows: Indices | None
    ) -> NDArray[np.floating[Any]]:
        """Several columns on some training rows (None: all), as the rows of an array."""
        ...


class ScoredPool:
    """A pool that only scores columns, searched for the length of one pass."""

    rounds_columns = False

    def __init__(self, pool: ColumnPool) -> None:
        self.pool = pool
        sizes = [pool.size(stratum) for stratum in range(len(pool.strata))]
        self._scores = [np.zeros(size) for size in sizes]
        self._scored = [np.zeros(size, dtype=bool) for size in sizes]

    def search(
        self, strata: Sequence[int], indices: Indices | None, request: PricingRequest
    ) -> Candidates:
        """What the columns show; those that were scored before are not scored again."""
        candidates = Candidates()
        for stratum in strata:
            among = np.arange(len(self._scores[stratum])) if indices is None else indices
            scores = self._score(stratum, among, request.response)
            own = search_scores(stratum, among, scores, None, request)
            candidates = merged(candidates, own, request.limit)
        return candidates

    def columns(self, strata: Sequence[int], indices: Sequence[int]) -> list[Column]:
        """One column after another."""
        return [self.pool.column(s, j) for s, j in zip(strata, indices, strict=True)]

    def values_on(
        self, strata: Indices, indices: Indices, rows: Indices | None
    ) -> NDArray[np.floating[Any]]:
        """The columns of one stratum after another, cut to the wanted rows."""
        chosen = slice(None) if rows is None else rows
        values: list[Any] = [None] * len(strata)
        for stratum in np.unique(strata):
            places = np.flatnonzero(strata == stratum)
            own = self.pool.values(int(stratum), indices[places])[:, chosen]
            for place, column in zip(places, own, strict=True):
                values[place] = column
        return np.stack(values)

    def _score(self, stratum: int, among: Indices, response: Vector) -> Vector:
        scores, scored = self._scores[stratum], self._scored[stratum]
        if len(among) == len(scores) and not scored.any():
            scores[:] = self.pool.scores(stratum, None, response)
        elif (wanted := among[~scored[among]]).size:
            scores[wanted] = self.pool.scores(stratum, wanted, response)
        scored[among] = True
        return scores[among]
