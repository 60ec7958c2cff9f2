"""Pricing by scanning strata of columns: fully, or by priority.

A :class:`ColumnPool` is a finite family of columns in named strata, in order of priority: the
kernels of a library, or a single matrix of features. :class:`StrataPricer` scans it.

* ``priority="full"`` scores every column every round (Bi, Zhang, Bennett, KDD 2004, eq. 6 to 12).
* ``priority="stratified"`` (their section 5) first looks among the columns of error points (ξ > 0),
  stratum by stratum, then among all columns, stratum by stratum, and stops at the first group that
  has something to offer.
* ``priority="round_robin"`` looks among all columns of the stratum that had something last time,
  and goes on to the next only when that has nothing.

Only a complete scan certifies: when no group has anything, and every ``certify_every`` rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from cgboost.columns import Column
from cgboost.pricing.order import StratumOrder
from cgboost.pricing.selection import select_unlike
from cgboost.protocols import EntryRule, MasterState, Priced

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
Priority = Literal["full", "stratified", "round_robin"]
Group = tuple[int, Indices | None]
"""A stratum and the columns of it that are looked at together (None: all of them)."""


PRIORITIES = get_args(Priority)

CANDIDATES = 3
"""Candidates per column taken, among which columns that resemble each other are avoided."""


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


class StrataPricer:
    """Exact pricer over a :class:`ColumnPool`.

    Parameters
    ----------
    pool : ColumnPool
    priority : {"full", "stratified", "round_robin"}
    tol : float
        A group is passed over when no column in it adds more than this to the relative gap; the
        final, complete scan returns every column that prices out.
    certify_every : int, default=10
        Complete the scan at least every so many calls, so that a run that is not "full" knows its
        gap before the end and can stop at it. The columns still come from the first group.
    """

    def __init__(
        self,
        pool: ColumnPool,
        *,
        priority: Priority = "full",
        tol: float = 1e-4,
        certify_every: int = 10,
    ) -> None:
        if priority not in PRIORITIES:
            raise ValueError(f"priority must be one of {PRIORITIES}, got {priority!r}")
        self.pool = pool
        self.priority = priority
        self.tol = tol
        self.certify_every = certify_every
        self._uncertified = 0
        self._order = StratumOrder(len(pool.strata), round_robin=priority == "round_robin")
        self._numbers = {name: number for number, name in enumerate(pool.strata)}

    def price(self, state: MasterState, limit: int) -> Priced:
        """Best columns of the first group that has any, or of everything after a full scan."""
        scan = _Scan(self.pool, state, self._held(state))
        everything: list[Group] = [(stratum, None) for stratum in range(len(self.pool.strata))]
        groups = everything
        if self.priority != "full" and limit > 0:
            groups = self._first_group(scan, state) or everything
        self._uncertified += 1
        if groups is everything or self._uncertified >= self.certify_every:
            for stratum, indices in everything:
                scan.evaluate(stratum, indices)
            self._uncertified = 0
        return scan.priced(groups, limit)

    def _first_group(self, scan: _Scan, state: MasterState) -> list[Group] | None:
        """The first group with a column worth adding, None if there is none."""
        for stratum, indices in self._groups(state):
            scan.evaluate(stratum, indices)
            if scan.best_excess(stratum, indices) > self.tol:
                self._order.found_in(stratum)
                return [(stratum, indices)]
        return None

    def _groups(self, state: MasterState) -> Iterator[Group]:
        if self.priority == "stratified":
            yield from self._error_points(state)
        for stratum in self._order:
            yield stratum, None

    def _error_points(self, state: MasterState) -> Iterator[Group]:
        errors = state.slack > 0
        for stratum in self._order:
            rows = self.pool.rows(stratum)
            if rows is not None and (indices := np.flatnonzero(errors[rows])).size:
                yield stratum, indices

    def _held(self, state: MasterState) -> list[Indices]:
        held: list[list[int]] = [[] for _ in self.pool.strata]
        for column in state.columns:
            name, index = cast(tuple[str, int], column.key)
            held[self._numbers[name]].append(index)
        return [np.array(indices, dtype=np.intp) for indices in held]


class _Scan:
    """Scores at one pseudo-response; each column is evaluated at most once."""

    def __init__(self, pool: ColumnPool, state: MasterState, held: list[Indices]) -> None:
        self.pool = pool
        self.response = state.pseudo_response
        self.entry: EntryRule = state.rule
        sizes = [pool.size(stratum) for stratum in range(len(pool.strata))]
        self.held = held
        self.scored = [np.zeros(size, dtype=bool) for size in sizes]
        self.scores = [np.zeros(size) for size in sizes]
        self.excess = [np.zeros(size) for size in sizes]

    @property
    def complete(self) -> bool:
        return all(scored.all() for scored in self.scored)

    def evaluate(self, stratum: int, indices: Indices | None) -> None:
        scored = self.scored[stratum]
        if indices is None and not scored.any():
            wanted, target = None, np.arange(len(scored))
        else:
            among = np.arange(len(scored)) if indices is None else indices
            wanted = target = among[~scored[among]]
        if target.size:
            scores = self.pool.scores(stratum, wanted, self.response)
            self.scores[stratum][target] = scores
            self.excess[stratum][target] = self.entry.excess(scores)
            scored[target] = True

    def best_excess(self, stratum: int, indices: Indices | None) -> float:
        return float(self._open(stratum, indices)[1].max(initial=0.0))

    def priced(self, groups: list[Group], limit: int) -> Priced:
        """The best ``limit`` columns of the groups, with the certificate if all was scored."""
        found = [(stratum, *self._open(stratum, indices)) for stratum, indices in groups]
        strata = np.concatenate([np.full(len(open_), s) for s, open_, _ in found])
        indices = np.concatenate([open_ for _, open_, _ in found])
        excess = np.concatenate([values for *_, values in found])
        best = _largest(excess, limit if limit == 1 else CANDIDATES * limit)
        if len(best) > limit:
            best = best[self._unlike(strata[best], indices[best], limit)]
        columns = [self.pool.column(int(strata[k]), int(indices[k])) for k in best]
        exact = self.complete
        return Priced(
            columns=columns,
            exact=exact,
            max_excess=max(e.max(initial=0.0) for e in self.excess) if exact else np.nan,
            total_excess=float(sum(e.sum() for e in self.excess)) if exact else np.nan,
            n_evaluated=int(sum(scored.sum() for scored in self.scored)),
            stratum=columns[0].stratum if columns else "",
        )

    def _unlike(self, strata: Indices, indices: Indices, limit: int) -> Indices:
        """Places of ``limit`` candidates, best first, that do not do the same work twice."""
        scores, values = np.empty(len(strata)), np.empty((len(strata), len(self.response)))
        for stratum in np.unique(strata):
            places = np.flatnonzero(strata == stratum)
            scores[places] = self.scores[stratum][indices[places]]
            values[places] = self.pool.values(int(stratum), indices[places])
        return select_unlike(values, scores, self.entry, limit)

    def _open(self, stratum: int, indices: Indices | None) -> tuple[Indices, Vector]:
        """Columns of a group that are outside the master, with their excess."""
        excess = self.excess[stratum].copy()
        excess[self.held[stratum]] = 0.0
        if indices is None:
            return np.arange(len(excess)), excess
        return indices, excess[indices]


def _largest(values: Vector, limit: int) -> Indices:
    """Places of the ``limit`` largest positive values, largest first."""
    count = min(limit, int(np.count_nonzero(values > 0)))
    if count <= 0:
        return np.zeros(0, dtype=np.intp)
    places = np.argpartition(-values, count - 1)[:count]
    return places[np.argsort(-values[places], kind="stable")]
