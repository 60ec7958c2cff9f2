"""Pricers of rules: for a 1-norm master, of all rules where they are few, and within a budget.

Columns of the 1-norm are h/c with a cost c for the number of conditions, so that a master that
charges all columns alike charges a rule c.

:class:`RuleSelection` chooses one rule after another, as long as a budget of conditions lasts. With
the second derivative W of the loss, a rule h with the weight α lowers loss + ½α² by about

    ½(r·h)²/(1 + W·h)

for the best α. Each round takes the rule whose root of that is largest for what it costs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.rules.literals import Literals
from cgboost.pricing.rules.searches import (
    KEPT,
    BestConjunctions,
    BranchAndBound,
    LiteralPlaces,
    beam,
)

ENDLESS_SCORE = 1e300
"""Stands for a score without end."""


class RulePricer(Memoryless):
    """Conjunctions with the largest |r·h|/c.

    A beam search comes first; where it finds columns that price out, the round needs no more. The
    exact search follows where it finds none, and where a bound alone is asked for. Not for a
    penalty whose bound adds up the violations of all columns (``EntryRule.additive``, ½Σα²): the
    best conjunction says nothing of their sum, and there is no bound.

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
        return candidates.columns(
            state,
            limit,
            lambda places: cover_mark(self.literals, places),
            lambda places: self.literals.column(places, float(self.cost[len(places)])),
        )


def cover_mark(literals: Literals, places: LiteralPlaces) -> bytes:
    """The rows of a conjunction or of its complement: next to an intercept they say the same."""
    inside = literals.cover(places)
    return np.packbits(inside if inside[0] else ~inside).tobytes()


MOST_CONJUNCTIONS = 10_000
"""Conjunctions that are looked at, at most."""


def all_rules(literals: Literals, cost: Vector, capacity: float) -> list[Column] | None:
    """A rule for each set of rows that conjunctions hold for, the shortest; None: they cost more.

    Of rules for the same rows, or for the rows that another does not hold for, there is one.

    Parameters
    ----------
    cost : ndarray of shape (K + 1,)
        Of a rule by its number of conditions; the first entry is not used.
    capacity : float
        What they may cost together.
    """
    longest = len(cost) - 1
    if sum(math.comb(len(literals), size) for size in range(1, longest + 1)) > MOST_CONJUNCTIONS:
        return None
    found: dict[bytes, Column] = {}
    total, least = 0.0, max(1, literals.min_support)
    for size in range(1, longest + 1):
        for places in combinations(range(len(literals)), size):
            mark = cover_mark(literals, places)
            if mark in found or literals.cover(places).sum() < least:
                continue
            found[mark] = literals.column(places)
            total += float(cost[size])
            if total > capacity:
                return None
    return list(found.values())


class RuleList(Memoryless):
    """A list of all rules, which are offered at once: no other is missing after that."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = list(columns)

    def price(self, state: MasterState, limit: int) -> Priced:
        """All rules that the master does not have yet, whatever ``limit`` is."""
        held = {column.key for column in state.columns}
        new = [column for column in self.columns if column.key not in held]
        scores = np.array([column.values @ state.pseudo_response for column in self.columns])
        excess = state.rule.excess(scores)
        return Priced(
            new,
            exact=True,
            max_excess=float(excess.max(initial=0.0)),
            total_excess=float(excess.sum()),
            exhausted=not new,
            n_evaluated=len(scores),
            stratum="rule" if new else "",
        )


COST_POWER = 0.75
"""Gains are divided by this power of the costs. With ½ they are gains for each unit of cost, which
long rules of few rows win too often: of more conjunctions, the best is better by chance."""

LEAST_RULE_GAIN = 1e-9
"""A rule is of no use if its gain is less than this share of Σ|r|."""

OFFERED = 20
"""Rules that are looked at, the best first, until one is new; and as many for each in the model."""


class RuleSelection(Memoryless):
    """The rule that lowers the objective most for its costs, while there is room for it.

    Parameters
    ----------
    literals : Literals
    cost : ndarray of shape (K + 1,)
        Of a rule by its number of conditions; the first entry is not used.
    curvature : callable
        ``curvature(output)``, the second derivative of the loss, shape (n_rows,).
    max_rules, max_total_conditions : int or None
        Budgets of rules, and of the conditions of all rules together.
    """

    def __init__(
        self,
        literals: Literals,
        cost: Vector,
        curvature: Callable[[Vector], Vector],
        *,
        max_rules: int | None = None,
        max_total_conditions: int | None = None,
    ) -> None:
        self.literals, self.cost, self.curvature = literals, cost, curvature
        self.max_rules, self.max_total_conditions = max_rules, max_total_conditions

    def room(self, state: MasterState) -> int:
        """Conditions that the next rule may have."""
        if self.max_rules is not None and len(state.columns) >= self.max_rules:
            return 0
        largest = len(self.cost) - 1
        if self.max_total_conditions is None:
            return largest
        used = sum(len(column.key) for column in state.columns)  # type: ignore[arg-type, misc]
        return min(largest, self.max_total_conditions - used)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The best rule that is new, if there is room for one.

        A rule for the same rows as one in the model, or for all others, is not: besides the
        intercept it would only share a weight.
        """
        room = self.room(state)
        if room < 1 or not len(self.literals) or not limit:
            return Priced(())
        sums = (
            self.literals.sums(state.pseudo_response),
            self.literals.sums(self.curvature(state.output)),
        )
        least = LEAST_RULE_GAIN * float(np.abs(state.pseudo_response).sum())
        offered = OFFERED * (1 + len(state.columns))
        candidates = BestConjunctions(offered, max(least, np.finfo(float).tiny))
        evaluated = beam(self.literals, sums, self._score, candidates, room, all_pairs=True)
        held = {cover_mark(self.literals, column.key) for column in state.columns}  # type: ignore[arg-type]
        for _, places in candidates.sorted():
            if cover_mark(self.literals, places) not in held:
                column = self.literals.column(places)
                return Priced([column], n_evaluated=evaluated, stratum="rule")
        return Priced((), n_evaluated=evaluated)

    def _score(self, sums: Sequence[Vector], size: int) -> Vector:
        return np.abs(sums[0]) / np.sqrt(1.0 + sums[1]) / self.cost[size] ** COST_POWER
