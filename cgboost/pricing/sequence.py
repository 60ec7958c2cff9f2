"""Several pricers in a row: the cheap heuristic first, the exact search last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cgboost.generation.function_pricer import PriceFunction, as_pricer
from cgboost.generation.protocols import MasterState, Priced, Pricer


class PricerSequence:
    """The first pricer that finds a new column answers; itself a pricer.

    All of them search the same family. The answer is exact when that pricer was. An exact pricer
    that finds nothing ends the search, for the ones after it could find nothing either. Pricers
    that search different parts of the family make a :class:`~cgboost.pricing.PartialPricing`.

    Parameters
    ----------
    pricers : sequence of Pricer or callable
        In the order in which they are asked.
    """

    def __init__(self, pricers: Sequence[Pricer | PriceFunction]) -> None:
        if callable(pricers) or not pricers:
            raise ValueError(f"a PricerSequence needs a sequence of pricers, got {pricers!r}")
        self.pricers = [as_pricer(pricer) for pricer in pricers]

    def price(self, state: MasterState, limit: int) -> Priced:
        """New columns of the first pricer that has any; with ``limit=0`` the first exact pass."""
        evaluated = 0
        for priced in asked_in_turn(self.pricers, state, limit):
            evaluated += priced.n_evaluated
            if priced.exact and not priced.columns:
                break
        return replace(priced, n_evaluated=evaluated)


def asked_in_turn(pricers: Iterable[Pricer], state: MasterState, limit: int) -> Iterator[Priced]:
    """The pricers' answers, up to the first with a column that the master does not hold."""
    held = {column.key for column in state.columns}
    for pricer in pricers:
        priced = pricer.price(state, limit)
        yield priced
        if any(column.key not in held for column in priced.columns):
            return
