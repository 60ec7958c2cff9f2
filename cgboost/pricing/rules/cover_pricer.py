"""The pricer of rule sets that say yes where any rule holds.

With w_j = 1 for the rules of a set, ξ_i = 1 for a positive row that none of them holds for, and
rules of k_j conditions,

    min  Σ_{i positive} v_i ξ_i + Σ_j c_j w_j
    with ξ_i + Σ_{j holds for i} w_j ≥ 1,   Σ_j w_j ≤ R,   Σ_j k_j w_j ≤ B

where c_j is the weight of the negative rows that the rule holds for, and what rule and conditions
cost themselves: the errors, a negative row counted once for each rule that holds for it (Dash,
Günlük and Wei, *Boolean Decision Rules via Column Generation*, NeurIPS 2018). At the duals μ ≥ 0 of
the positive rows, ρ ≤ 0 of the number of rules and λ ≤ 0 of their conditions, the reduced cost is

    c_j − Σ_{i positive, j holds for i} μ_i − ρ − λ k_j,

a sum over rows and a price for the number of conditions, which branch and bound over conjunctions
makes as small as can be.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

import numpy as np

from cgboost.arrays import Indices, Mask, Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.rules.literals import Conjunction, Literals
from cgboost.pricing.rules.searches import (
    KEPT,
    BestConjunctions,
    BranchAndBound,
    LiteralPlaces,
    beam,
)

RULES, CONDITIONS = "rules", "conditions"
"""Names of the rows of the budgets; those of positive rows are numbers of groups."""

MOST_NUMBERS = 2e7
"""A list of columns has at most so many values."""

NEGATIVE = 1e-9
"""Reduced costs below this share of the weight of all rows, with a minus, are negative."""


class CoverPricer(Memoryless):
    """Conjunctions of the smallest reduced cost.

    A beam search comes first, and the exact one where it finds nothing, or a bound is asked for.

    Parameters
    ----------
    positive, negative : ndarray of shape (n_rows,)
        Weights of the rows that rules should hold for, and of those they should not.
    cost : ndarray of shape (K + 1,)
        Of a rule itself, by its number of conditions, not falling; the first entry is not used.
    exact : bool, default=True
        False: the beam search alone, without a bound.
    search_limit : float, default=inf
        Multiplications of one exact search, which proves less where it needs more.
    """

    def __init__(
        self,
        literals: Literals,
        positive: Vector,
        negative: Vector,
        cost: Vector,
        *,
        exact: bool = True,
        search_limit: float = np.inf,
    ) -> None:
        self.literals, self.cost = literals, cost
        self.exact, self.search_limit = exact, search_limit
        self.positive, self.negative = literals.sums(positive), literals.sums(negative)
        self.groups: Indices = np.flatnonzero(self.positive)
        self.seconds_left: float | None = None
        self._rounding = NEGATIVE * float(self.positive.sum() + self.negative.sum())

    @property
    def rows(self) -> list[Hashable]:
        """Names of the rows of positive groups."""
        return self.groups.tolist()

    def column(self, places: LiteralPlaces, rows: Sequence[Hashable]) -> Column:
        """A rule with its values in the rows of a master: of positive groups, and budgets."""
        inside = self._inside(places)
        size = len(places)
        budgets = [1.0 if name == RULES else float(size) for name in rows[len(self.groups) :]]
        return Column(
            np.concatenate([inside[self.groups], budgets]),
            tuple(sorted(places)),
            Conjunction(tuple(self.literals.conditions[place] for place in places)),
            "rule",
            cost=float(self.negative @ inside) + float(self.cost[size]),
        )

    def missed(self, rows: Sequence[Hashable]) -> list[Column]:
        """The columns ξ of positive groups that no rule holds for."""
        one = np.zeros(2 * len(rows) - 1)
        one[len(rows) - 1] = 1.0  # all unit vectors are windows of this one
        units = np.lib.stride_tricks.sliding_window_view(one, len(rows))[::-1]
        return [
            Column(units[k], ("missed", k), cost=cost, upper=1.0, integer=False)
            for k, cost in enumerate(self.positive[self.groups].tolist())
        ]

    def price(self, state: MasterState, limit: int) -> Priced:
        """Rules of a negative reduced cost, and the smallest of all where the search is exact."""
        if not len(self.literals):
            return Priced((), exact=True, reduced_cost=0.0, exhausted=True)
        response, price = self._priced(state)
        candidates = BestConjunctions(KEPT * max(limit, 1), self._rounding)
        if limit:
            self._beam(response, price, candidates, len(price) - 1)
            columns = self._columns(candidates, state, limit)
            if columns or not self.exact:
                return Priced(columns, stratum="rule" if columns else "")
        search = self._search(response, price, candidates)
        search.run()
        columns = self._columns(candidates, state, limit)
        least = -max(search.bound, search.threshold)
        return Priced(columns, exact=True, reduced_cost=least, stratum="rule" if columns else "")

    def best_for(self, held: Mask, room: float, rows: Sequence[Hashable]) -> Column | None:
        """The rule that takes off the most errors, if any does, of a beam search.

        Parameters
        ----------
        held : ndarray of bool, shape (n_positive_groups,)
            Positive groups that other rules hold for.
        room : float
            Conditions of the rule, at most.
        rows : sequence of hashable
            Names of the rows of the master.
        """
        response = -self.negative
        response[self.groups] += np.where(held, 0.0, self.positive[self.groups])
        candidates = BestConjunctions(1, self._rounding)
        longest = int(min(room, len(self.cost) - 1))
        self._beam(response, self.cost, candidates, longest)
        found = candidates.sorted()
        return self.column(found[0][1], rows) if found else None

    def cheapest(
        self, state: MasterState, most: float, limit: int
    ) -> tuple[list[Column], float, float]:
        """Rules of the smallest reduced costs.

        Parameters
        ----------
        most : float
            Rules of larger reduced costs are left out.
        limit : int
            Rules that are listed, at most.

        Returns
        -------
        columns : list of Column
            Of rules for the same positive rows, those are left out that cost no less and have no
            fewer conditions than another one.
        least : float
            No reduced cost is smaller, and it is at most 0.
        outside : float
            No rule that was not listed has a smaller reduced cost.
        """
        response, price = self._priced(state)
        limit = max(1, min(limit, int(MOST_NUMBERS / len(state.pseudo_response))))
        candidates = BestConjunctions(limit, -most)
        search = self._search(response, price, candidates, listing=True)
        search.run()
        found = candidates.sorted()
        floor = max(candidates.floor, search.open_bound)
        if len(candidates.found) > limit:
            floor = max(floor, found[-1][0])
        kept: dict[bytes, list[Column]] = {}
        for _, places in sorted(found, key=lambda item: len(item[1])):
            column = self.column(places, state.rows or ())
            own = kept.setdefault(np.packbits(column.values[: len(self.groups)] > 0).tobytes(), [])
            if all(column.cost < other.cost for other in own):
                own.append(column)
        columns = [column for own in kept.values() for column in own]
        return columns, -max(0.0, search.bound), -floor

    def _inside(self, places: LiteralPlaces) -> Mask:
        """The groups of rows that a rule holds for."""
        return np.asarray(self.literals.matrix[:, list(places)].all(axis=1))

    def _priced(self, state: MasterState) -> tuple[Vector, Vector]:
        """What each group of rows earns a rule, and the price of a rule by its conditions."""
        duals, n_groups = state.pseudo_response, len(self.groups)
        response = -self.negative
        response[self.groups] += duals[:n_groups]
        names = (state.rows or ())[n_groups:]
        prices = dict(zip(names, (-duals[n_groups:]).tolist(), strict=True))
        sizes = np.arange(float(len(self.cost)))
        return response, self.cost + prices[RULES] + prices.get(CONDITIONS, 0.0) * sizes

    @property
    def _deadline(self) -> float | None:
        """When a search that begins now has to end."""
        left = self.seconds_left
        return None if left is None else time.perf_counter() + left

    def _beam(
        self, response: Vector, price: Vector, candidates: BestConjunctions, longest: int
    ) -> None:
        """The most promising rules, with the scores of exact sums."""

        def score(sums: Sequence[Vector], size: int) -> Vector:
            return sums[0] - price[size]

        def exact(places: LiteralPlaces) -> float:
            inside = self._inside(places)
            return float(response @ inside - price[len(places)])

        values, until = (response,), self._deadline
        beam(self.literals, values, score, candidates, longest, all_pairs=True, deadline=until)
        again = candidates.rescored(exact)
        candidates.found = [item for item in again.found if item[0] > candidates.floor]
        candidates.best = max((value for value, _ in candidates.found), default=-np.inf)

    def _search(
        self,
        response: Vector,
        price: Vector,
        candidates: BestConjunctions,
        *,
        listing: bool = False,
    ) -> BranchAndBound:
        return BranchAndBound(
            self.literals,
            response,
            price,
            candidates,
            two_sided=False,
            additive=True,
            listing=listing,
            limit=self.search_limit,
            deadline=self._deadline,
        )

    def _columns(
        self, candidates: BestConjunctions, state: MasterState, limit: int
    ) -> list[Column]:
        """At most ``limit`` new rules, of those for the same rows the best."""
        return candidates.columns(
            state,
            limit,
            lambda places: np.packbits(self._inside(places)).tobytes(),
            lambda places: self.column(places, state.rows or ()),
        )
