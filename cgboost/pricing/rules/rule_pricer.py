"""Pricer of a 1-norm master over all conjunctions: exact by branch and bound, or greedy.

Columns are h/c with a cost c for the number of conditions, so that a master that charges all
columns alike charges a rule c.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.rules.beam import beam
from cgboost.pricing.rules.branching import KEPT, BestConjunctions, BranchAndBound, LiteralPlaces
from cgboost.pricing.rules.literals import Literals

ENDLESS_SCORE = 1e300
"""Stands for a score without end."""


class RulePricer(Memoryless):
    """Conjunctions with the largest |r·h|/c.

    A beam search comes first; where it finds columns that price out, the round needs no more. The
    exact search follows where it finds none, and where a bound alone is asked for.

    Parameters
    ----------
    literals : Literals
    cost : ndarray of shape (K + 1,)
        Of a conjunction by its number of conditions, above 0 and not falling; the first entry is
        not used.
    exact : bool, default=True
        False: the beam search alone, without a bound.
    search_limit : float, default=inf
        Multiplications of one exact search. One that needs more ends there, and its bound counts
        what it has left open at the most that it may be.
    tol : float, default=1e-4
        The beam search alone decides where it finds scores that exceed the threshold by more.
    """

    def __init__(
        self,
        literals: Literals,
        cost: Vector,
        *,
        exact: bool = True,
        search_limit: float = np.inf,
        tol: float = 1e-4,
    ) -> None:
        self.literals, self.cost = literals, np.asarray(cost, dtype=np.float64)
        if len(self.cost) < 2 or not self.cost[1] > 0 or (np.diff(self.cost[1:]) < 0).any():
            raise ValueError(
                f"cost must have an entry for each number of conditions, above 0 and not falling, "
                f"got {self.cost[1:].tolist()}"
            )
        self.exact, self.search_limit, self.tol = exact, search_limit, tol
        self.seconds_left: float | None = None
        self.complete = True

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best conjunctions found; the best of all, with a bound, where the search is exact."""
        if not len(self.literals):
            return Priced((), exact=True, max_excess=0.0, total_excess=0.0, exhausted=True)
        if len(state.pseudo_response) != self.literals.n_rows:
            raise ValueError(
                f"the rules have {self.literals.n_rows} rows, the master has "
                f"{len(state.pseudo_response)}"
            )
        response, rule = self.literals.sums(state.pseudo_response), state.rule
        two_sided = rule.two_sided
        candidates = BestConjunctions(KEPT * max(limit, 1), rule.settled(ENDLESS_SCORE))
        evaluated = self._beam(response, candidates, two_sided)

        def score(places: LiteralPlaces) -> float:
            net = float(response @ self.literals.matrix[:, list(places)].all(axis=1))
            return (abs(net) if two_sided else net) / float(self.cost[len(places)])

        candidates = candidates.rescored(score)
        columns = self._columns(candidates, state, limit)
        excess = float(rule.excess(np.array([max(candidates.best, 0.0)]))[0])
        if not self.exact or rule.additive or (columns and excess > self.tol):
            return Priced(columns, n_evaluated=evaluated, stratum="rule" if columns else "")
        deadline = None if self.seconds_left is None else time.perf_counter() + self.seconds_left
        search = BranchAndBound(
            self.literals,
            response,
            self.cost,
            candidates,
            two_sided=two_sided,
            limit=self.search_limit,
            deadline=deadline,
        )
        search.run()
        self.complete = search.open_bound <= search.threshold
        columns = self._columns(candidates, state, limit)
        return Priced(
            columns,
            exact=True,
            max_excess=float(rule.excess(np.array([max(search.bound, 0.0)]))[0]),
            n_evaluated=evaluated + search.n_evaluated,
            stratum="rule" if columns else "",
        )

    def _beam(self, response: Vector, candidates: BestConjunctions, two_sided: bool) -> int:
        def score(sums: Sequence[Vector], size: int) -> Vector:
            return (np.abs(sums[0]) if two_sided else sums[0]) / self.cost[size]

        return beam(self.literals, (response,), score, candidates, len(self.cost) - 1)

    def _columns(
        self, candidates: BestConjunctions, state: MasterState, limit: int
    ) -> list[Column]:
        """At most ``limit`` new conjunctions, of those for the same rows the best."""
        held = {column.key for column in state.columns}
        seen: set[bytes] = set()
        columns: list[Column] = []
        for _, places in candidates.sorted():
            if len(columns) == limit:
                break
            mark = cover_mark(self.literals, places)
            if mark not in seen and tuple(sorted(places)) not in held:
                columns.append(self.literals.column(places, float(self.cost[len(places)])))
            seen.add(mark)
        return columns


def cover_mark(literals: Literals, places: LiteralPlaces) -> bytes:
    """The rows of a conjunction or of its complement: next to an intercept they say the same."""
    inside = literals.cover(places)
    return np.packbits(inside if inside[0] else ~inside).tobytes()
