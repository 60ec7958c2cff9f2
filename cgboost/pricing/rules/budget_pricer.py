"""The pricer that chooses one rule after another, as long as a budget of conditions lasts.

With the second derivative W of the loss, a rule h with the weight α lowers loss + ½α² by about

    ½(r·h)²/(1 + W·h)

for the best α. Each round takes the rule whose root of that is largest for what it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.resuming import Memoryless
from cgboost.pricing.rules.beam import beam
from cgboost.pricing.rules.branching import BestConjunctions
from cgboost.pricing.rules.literals import Literals
from cgboost.pricing.rules.rule_pricer import cover_mark

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
    max_rules, max_conditions : int or None
        Budgets of rules, and of the conditions of all rules together.
    """

    def __init__(
        self,
        literals: Literals,
        cost: Vector,
        curvature: Callable[[Vector], Vector],
        *,
        max_rules: int | None = None,
        max_conditions: int | None = None,
    ) -> None:
        self.literals, self.cost, self.curvature = literals, cost, curvature
        self.max_rules, self.max_conditions = max_rules, max_conditions

    def room(self, state: MasterState) -> int:
        """Conditions that the next rule may have."""
        if self.max_rules is not None and len(state.columns) >= self.max_rules:
            return 0
        largest = len(self.cost) - 1
        if self.max_conditions is None:
            return largest
        used = sum(len(column.key) for column in state.columns)  # type: ignore[arg-type, misc]
        return min(largest, self.max_conditions - used)

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
