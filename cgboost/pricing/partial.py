"""Partial pricing: a family in named strata, of which only as many are searched as need be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cgboost.generation.function_pricer import PriceFunction, as_pricer
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.generation.reduced_costs import combined
from cgboost.pricing.order import StratumOrder
from cgboost.pricing.sequence import asked_in_turn


class PartialPricing:
    """Asks one stratum after another, up to the first that finds a new column; itself a pricer.

    The strata together are the family: an answer is exact if all of them were asked, at the same
    duals, and all were exact. Their bounds on the reduced costs then make one bound, so that
    Lagrange's and Farley's hold as ever.

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
        self._order = StratumOrder(len(strata), round_robin=order == "round_robin")

    def price(self, state: MasterState, limit: int) -> Priced:
        """Columns of the first stratum with a new one; with ``limit=0`` all strata are asked."""
        numbers = list(self._order)
        pricers = (self.pricers[number] for number in numbers)
        answers = list(asked_in_turn(pricers, state, limit))
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
