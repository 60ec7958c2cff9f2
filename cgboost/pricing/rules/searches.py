"""Searches over conjunctions: branch and bound, exact, and a beam, quick and without a proof.

Of all conjunctions q of at most K conditions with the costs c_1 ≤ … ≤ c_K the largest |r·h_q|/c_|q|
is sought. A conjunction that has more conditions than p holds within p, so that with the sums P and
N of the positive and the negative r over the rows of p

    |r·h_q|/c_|q| ≤ max(P, N)/c_(|p|+1)      for every q that adds conditions to p.

A node is a prefix p with the conditions that may be added. One product of the 0/1 matrix of the
rows that remain with itself, weighted by r, has the sums of all its extensions by two conditions;
those pairs whose bound is no better than the best conjunction known need no more conditions, and
neither do pairs of which one condition holds wherever the other does.

The beam extends the most promising conjunctions of each size alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.pricing.rules.literals import Literals, ZeroOneMatrix, cross, gram

LiteralPlaces = tuple[int, ...]

SAME_COVER = 1e-12
"""Sums of |r| this close, relative to the larger, are over the same rows."""

KEPT = 4
"""So many times the columns that are asked for are kept: some hold for the same rows."""


@dataclass
class BestConjunctions:
    """The best conjunctions found so far.

    Attributes
    ----------
    limit : int
        How many are kept.
    floor : float
        Scores up to this one do not count.
    """

    limit: int
    floor: float
    found: list[tuple[float, LiteralPlaces]] = field(default_factory=list)
    best: float = -np.inf

    def offer(
        self, scores: Vector, prefix: LiteralPlaces, first: Indices, second: Indices | None
    ) -> None:
        """Take note of conjunctions of a prefix and one or two conditions more."""
        if not len(scores):
            return
        self.best = max(self.best, float(scores.max()))
        if not self.limit:
            return
        places = np.flatnonzero(scores > self.floor)
        if len(places) > self.limit:
            places = places[np.argpartition(-scores[places], self.limit - 1)[: self.limit]]
        for k in places.tolist():
            more = (int(first[k]),) if second is None else (int(first[k]), int(second[k]))
            self.found.append((float(scores[k]), prefix + more))
        if len(self.found) > 10 * self.limit:
            self.found = self.sorted()
            self.floor = max(self.floor, self.found[-1][0])

    def rescored(self, score: Callable[[LiteralPlaces], float]) -> BestConjunctions:
        """The same conjunctions, with other scores."""
        again = BestConjunctions(self.limit, self.floor)
        again.found = [(score(places), places) for _, places in self.sorted()]
        again.best = max((value for value, _ in again.found), default=-np.inf)
        return again

    def sorted(self) -> list[tuple[float, LiteralPlaces]]:
        """The best ones, best first."""
        return sorted(self.found, key=lambda item: (-item[0], len(item[1]), item[1]))[: self.limit]

    def columns(
        self,
        state: MasterState,
        limit: int,
        mark: Callable[[LiteralPlaces], bytes],
        column: Callable[[LiteralPlaces], Column],
    ) -> list[Column]:
        """At most ``limit`` columns that are new, of those with the same mark the best.

        Parameters
        ----------
        state : MasterState
            Its columns are not new.
        limit : int
        mark : callable
            The rows that a conjunction holds for.
        column : callable
            The column of a conjunction.
        """
        held = {own.key for own in state.columns}
        seen: set[bytes] = set()
        columns: list[Column] = []
        for _, places in self.sorted():
            if len(columns) == limit:
                break
            rows = mark(places)
            if rows not in seen and tuple(sorted(places)) not in held:
                columns.append(column(places))
            seen.add(rows)
        return columns


@dataclass
class BranchAndBound:
    """The search.

    Parameters
    ----------
    response : ndarray of shape (n_groups,)
    cost : ndarray of shape (K + 1,)
        Of conjunctions by their number of conditions, not falling; the first entry is not used.
    candidates : BestConjunctions
        What is known already; its floor says what need not be found.
    two_sided : bool
        Whether r·h < 0 counts as r·h > 0 does.
    additive : bool
        Whether the score is r·h − c instead of r·h/c; it is then one-sided.
    listing : bool
        Whether all conjunctions above the floor are sought that the candidates have room for, and
        not the best alone; those that hold for the same rows as a shorter one are left out.
    limit : float
        Multiplications at most.
    deadline : float or None
        On the clock of ``time.perf_counter``.

    Attributes
    ----------
    open_bound : float
        Bound of what an early end has left open; −inf where nothing was.
    n_evaluated : int
    """

    literals: Literals
    response: Vector
    cost: Vector
    candidates: BestConjunctions
    two_sided: bool = True
    additive: bool = False
    listing: bool = False
    limit: float = np.inf
    deadline: float | None = None
    open_bound: float = -np.inf
    n_evaluated: int = 0
    _work: float = 0.0

    @property
    def threshold(self) -> float:
        """What a conjunction has to exceed to matter."""
        floor = self.candidates.floor
        return floor if self.listing else max(floor, self.candidates.best)

    @property
    def bound(self) -> float:
        """Upper bound on all scores above the floor; the largest one where the search is done."""
        return max(self.candidates.best, self.open_bound)

    def run(self) -> None:
        """Search all conjunctions."""
        counts = self.literals.limits_support or self.listing
        rows = np.arange(len(self.response)) if counts else np.flatnonzero(self.response)
        matrix, r = self.literals.matrix, self.response
        up: Vector = np.asarray(matrix.T @ np.maximum(r, 0.0), dtype=np.float64)
        down: Vector = np.asarray(matrix.T @ np.maximum(-r, 0.0), dtype=np.float64)
        places = np.arange(len(self.literals), dtype=np.intp)
        self.candidates.offer(self._scores(up, down, 1), (), places, None)
        self.n_evaluated += len(places)
        if len(self.cost) > 2:
            reach = self._reach(up, down, 2)
            order = np.argsort(reach, kind="stable")  # the widest have the fewest partners
            self._expand(rows, (), order[reach[order] > self.threshold])

    def _scores(self, up: Vector, down: Vector, size: int) -> Vector:
        sums = up - down
        if self.additive:
            return sums - self.cost[size]
        return (np.abs(sums) if self.two_sided else sums) / self.cost[size]

    def _reach(self, up: Vector, down: Vector, size: int) -> Vector:
        """Bound of all conjunctions of at least ``size`` conditions within some rows."""
        if self.additive:
            return up - self.cost[size]
        return (np.maximum(up, down) if self.two_sided else up) / self.cost[size]

    def _expand(self, rows: Indices, prefix: LiteralPlaces, own: Indices) -> None:
        """All conjunctions of a prefix and at least two of the conditions ``own``."""
        size = len(prefix) + 2
        if len(own) < 2:
            return
        self._work += len(rows) * len(own) ** 2
        matrix = self.literals.matrix[np.ix_(rows, own)]
        up, down = _pair_sums(matrix, self.response[rows])
        within = gram(matrix, self.literals.sizes[rows]) if self.listing else up + down
        alone = within.diagonal()
        wasted = within >= (1.0 - SAME_COVER) * np.minimum(alone[:, None], alone[None, :])
        useful = ~(wasted | np.tri(len(own), dtype=bool))
        if self.literals.limits_support:
            counts = gram(matrix, self.literals.sizes[rows])
            useful &= counts >= self.literals.min_support
        first, second = np.nonzero(useful)
        scores = self._scores(up[first, second], down[first, second], size)
        self.candidates.offer(scores, prefix, own[first], own[second])
        self.n_evaluated += len(first)
        if size + 1 >= len(self.cost):
            return
        reach = np.where(useful, self._reach(up, down, size + 1), -np.inf)
        del up, down, within, wasted, useful
        for k in range(len(own) - 2):
            if self._is_over():
                self.open_bound = max(self.open_bound, float(reach[k:].max()))
                return
            partners = np.flatnonzero(reach[k] > self.threshold)
            if len(partners) > 1:
                inside = rows[matrix[:, k] > 0]
                self._expand(inside, (*prefix, int(own[k])), own[partners])

    def _is_over(self) -> bool:
        late = self.deadline is not None and time.perf_counter() > self.deadline
        return late or self._work > self.limit


def _pair_sums(matrix: ZeroOneMatrix, response: Vector) -> tuple[Vector, Vector]:
    """Sums of the positive and of the negative r over the rows of every pair of conditions."""
    positive = response > 0
    up = gram(matrix[positive], response[positive])
    return up, gram(matrix[~positive], -response[~positive])


BEAM_WIDTH = 200
"""Conjunctions of each size that are extended."""

ALIKE = 1e-6
"""Numbers of rows this close, relative to the smaller, are the same: they are whole numbers below a
million, or single precision does not tell them apart."""

PAIR_BLOCK = 256
"""Conditions whose pairs are scored at once."""

ConjunctionScores = Callable[[Sequence[Vector], int], Vector]
"""Makes scores of sums over the rows of conjunctions, and of their number of conditions."""


def beam(
    literals: Literals,
    weights: Sequence[Vector],
    score: ConjunctionScores,
    candidates: BestConjunctions,
    largest: int,
    *,
    all_pairs: bool = False,
    deadline: float | None = None,
) -> int:
    """Score conjunctions, and extend those of each size that promise most.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_groups,)
        The sums of each over the rows of conjunctions are what ``score`` is given.
    score : callable
        The score of conjunctions, which decides which of them are extended, too.
    largest : int
        Conditions of a conjunction at most.
    all_pairs : bool
        Whether all conditions are extended by a second one.
    deadline : float or None
        On the clock of ``time.perf_counter``: single conditions are scored in any case.

    Returns
    -------
    int
        How many conjunctions were scored.
    """
    weights = [*weights, literals.sizes]
    every = np.arange(len(literals), dtype=np.intp)
    sums = [literals.matrix.T @ own for own in weights]
    scores = score(sums[:-1], 1)
    candidates.offer(scores, (), every, None)
    evaluated, size = len(every), 1
    frontier: list[LiteralPlaces] = [(int(j),) for j in _most(scores, every, all_pairs)]
    while size < largest and frontier:
        size += 1
        offers: list[tuple[float, LiteralPlaces]] = []
        for some in blocks_of(len(frontier), PAIR_BLOCK):
            if deadline is not None and time.perf_counter() > deadline:
                return evaluated
            block = frontier[some]
            offers += _extend(literals, weights, block, sums[-1], score, candidates)
            evaluated += len(block) * len(every)
        best = sorted(offers, key=lambda item: (-item[0], item[1]))
        frontier = list(dict.fromkeys(tuple(sorted(places)) for _, places in best))[:BEAM_WIDTH]
    return evaluated


def _most(scores: Vector, every: Indices, all_pairs: bool) -> Indices:
    if all_pairs:
        return every
    return np.argsort(-scores, kind="stable")[:BEAM_WIDTH]


def _extend(
    literals: Literals,
    weights: Sequence[Vector],
    block: Sequence[LiteralPlaces],
    sizes: Vector,
    score: ConjunctionScores,
    candidates: BestConjunctions,
) -> list[tuple[float, LiteralPlaces]]:
    """Score the extensions of some conjunctions; the best of them, with their scores."""
    size = len(block[0]) + 1
    covers = np.stack([literals.matrix[:, list(p)].all(axis=1) for p in block], axis=1)
    sums = cross(covers, weights, literals.matrix)
    inside, own = sums.pop(), covers.T @ literals.sizes
    useful = inside >= literals.min_support - 0.5
    useful &= inside < (1.0 - ALIKE) * np.minimum(own[:, None], sizes[None, :])
    if size == 2:  # the other order is the same pair
        useful &= np.array([p[0] for p in block])[:, None] < np.arange(len(literals))[None, :]
    rows, more = np.nonzero(useful)
    chosen = [values[rows, more] for values in sums]
    scores = score(chosen, size)
    best = np.argsort(-scores, kind="stable")[: max(BEAM_WIDTH, candidates.limit)].tolist()
    found = [(float(scores[k]), (*block[rows[k]], int(more[k]))) for k in best]
    candidates.found += [item for item in found if item[0] > candidates.floor]
    return found[:BEAM_WIDTH]
