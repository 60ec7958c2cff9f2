"""Pricers made of several: one for each stratum, or one after another, from heuristic to exact."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from cgboost.generation.columns import combined
from cgboost.generation.function_pricer import PriceFunction, as_pricer
from cgboost.generation.protocols import MasterState, Priced, Pricer, TimedPricer
from cgboost.generation.resuming import OfPricers
from cgboost.pricing.scans.scan import StratumOrder


class PartialPricing(OfPricers):
    """Asks one stratum after another, up to the first that finds a new column; itself a pricer.

    The strata together are the family: an answer is exact if all of them were asked, at the same
    duals, and all were exact. Their bounds on the reduced costs then make one bound, so that
    Lagrange's and Farley's hold as usual.

    Parameters
    ----------
    strata : mapping of str to Pricer or callable
        A pricer for each part of the family. ``Priced.stratum`` (and the history) names the one
        whose columns were taken.
    order : {"round_robin", "priority"}
        Begin where the last call found something, or always with the first stratum.
    """

    def __init__(
        self,
        strata: Mapping[str, Pricer | PriceFunction],
        *,
        order: Literal["round_robin", "priority"] = "round_robin",
    ) -> None:
        if not isinstance(strata, Mapping) or not strata:
            raise ValueError(
                f"PartialPricing needs a mapping from names of strata to pricers, got {strata!r}"
            )
        if order not in ("round_robin", "priority"):
            raise ValueError(f"order must be 'round_robin' or 'priority', got {order!r}")
        self.names = tuple(strata)
        self.pricers = [as_pricer(pricer) for pricer in strata.values()]
        self.seconds_left: float | None = None
        self._order = StratumOrder(len(strata), round_robin=order == "round_robin")

    def memory(self) -> tuple[list[Any], int]:
        """That of all pricers, and where the last columns came from."""
        return super().memory(), self._order.first

    def recall(self, memory: tuple[list[Any], int]) -> None:
        """Go on from there."""
        own, self._order.first = memory
        super().recall(own)

    def price(self, state: MasterState, limit: int) -> Priced:
        """Columns of the first stratum with a new one; with ``limit=0`` all strata are asked."""
        numbers = list(self._order)
        pricers = (self.pricers[number] for number in numbers)
        answers = list(answers_in_order(pricers, state, limit, self.seconds_left))
        number, last = numbers[len(answers) - 1], answers[-1]
        if last.columns:
            self._order.found_in(number)
        offered = [column for answer in reversed(answers) for column in answer.columns]
        exact = len(answers) == len(numbers) and all(answer.exact for answer in answers)
        return Priced(
            columns=offered[:limit],
            n_evaluated=sum(answer.n_evaluated for answer in answers),
            stratum=self.names[number] if last.columns else "",
            **(_certificate(answers) if exact else {}),
        )


def _certificate(answers: Sequence[Priced]) -> dict[str, Any]:
    """What exact answers of all strata say about the whole family."""
    return {
        "exact": True,
        "max_excess": float(np.max([answer.max_excess for answer in answers])),
        "total_excess": float(np.sum([answer.total_excess for answer in answers])),
        "reduced_cost": combined([answer.reduced_cost for answer in answers]),
    }


class PricerSequence(OfPricers):
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
        self.seconds_left: float | None = None

    def price(self, state: MasterState, limit: int) -> Priced:
        """New columns of the first pricer that has any; with ``limit=0`` the first exact pass."""
        evaluated = 0
        for priced in answers_in_order(self.pricers, state, limit, self.seconds_left):
            evaluated += priced.n_evaluated
            if priced.exact and not priced.columns:
                break
        return replace(priced, n_evaluated=evaluated)


def answers_in_order(
    pricers: Iterable[Pricer], state: MasterState, limit: int, seconds: float | None = None
) -> Iterator[Priced]:
    """The pricers' answers, up to the first with a column that the master does not hold.

    Each is told what is left of the seconds.
    """
    held = {column.key for column in state.columns}
    started = time.perf_counter()
    for pricer in pricers:
        tell_time(pricer, seconds, started)
        priced = pricer.price(state, limit)
        yield priced
        if any(column.key not in held for column in priced.columns):
            return


def tell_time(pricer: Pricer, seconds: float | None, started: float) -> None:
    """Tell a pricer what is left of the seconds that have begun at a time."""
    if isinstance(pricer, TimedPricer):
        used = time.perf_counter() - started
        pricer.seconds_left = None if seconds is None else max(0.0, seconds - used)
