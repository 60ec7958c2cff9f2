"""All rules, where there are so few that a budget has room for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.rules.literals import Literals
from cgboost.pricing.rules.rule_pricer import cover_mark

MOST_CONJUNCTIONS = 10_000
"""Conjunctions that are looked at, at most."""


def all_rules(literals: Literals, cost: Vector, capacity: float) -> list[Column] | None:
    """A rule for each set of rows that conjunctions hold for, the shortest; None: they cost more.

    Of rules for the same rows, or for the rows that another does not hold for, there is one.

    Parameters
    ----------
    literals : Literals
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
    """A list of all rules, which are offered at once: no other is missing after that.

    Parameters
    ----------
    columns : sequence of Column
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = list(columns)

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the master does not have yet, and what all scores are worth."""
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
