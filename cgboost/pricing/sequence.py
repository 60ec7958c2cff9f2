"""Several pricers in a row: the cheap heuristic first, the exact search last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cgboost.callables import PriceFunction, as_pricer
from cgboost.protocols import MasterState, Priced, Pricer


class PricerSequence:
    """The first pricer that finds a new column answers; itself a pricer.

    The answer is exact when that pricer was. An exact pricer that finds nothing ends the search,
    for the ones after it could find nothing either.

    Parameters
    ----------
    pricers : sequence of Pricer or callable
        In the order in which they are asked.
    """

    def __init__(self, pricers: Sequence[Pricer | PriceFunction]) -> None:
        if not pricers:
            raise ValueError("a PricerSequence needs at least one pricer")
        self.pricers = [as_pricer(pricer) for pricer in pricers]

    def price(self, state: MasterState, limit: int) -> Priced:
        """New columns of the first pricer that has any; with ``limit=0`` the first exact pass."""
        held = {column.key for column in state.columns}
        evaluated = 0
        for pricer in self.pricers:
            priced = pricer.price(state, limit)
            evaluated += priced.n_evaluated
            found = any(column.key not in held for column in priced.columns)
            if found or (priced.exact and not priced.columns):
                break
        return replace(priced, n_evaluated=evaluated)
