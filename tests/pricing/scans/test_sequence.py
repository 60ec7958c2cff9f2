"""Pricers in sequence: heuristics first, the exact search last."""

from typing import Any

import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.history import StopReason
from cgboost.masters import LinearMaster
from cgboost.pricing import PricerSequence
from tests.pricing.scripted import UNIT, Scripted, state


def test_a_sequence_needs_a_pricer() -> None:
    """None at all is refused."""
    with pytest.raises(ValueError, match="needs a sequence of pricers"):
        PricerSequence([])


def test_the_first_pricer_that_finds_a_column_answers() -> None:
    """Later pricers are not asked; the exactness is that of the one who answered."""
    first, second = Scripted(UNIT[:1], exact=False), Scripted(UNIT[1:], exact=True)
    priced = PricerSequence([first, second]).price(state(), 1)
    assert priced.columns == UNIT[:1]
    assert not priced.exact
    assert second.calls == 0


def test_a_sequence_is_exact_when_the_one_that_found_nothing_was() -> None:
    """Nothing found: heuristics pass the question on, an exact search ends it."""
    nothing, proof = Scripted([], exact=False), Scripted([], exact=True)
    assert not PricerSequence([nothing, nothing]).price(state(), 1).exact
    priced = PricerSequence([nothing, proof, nothing]).price(state(), 1)
    assert priced.exact
    assert priced.n_evaluated == 20
    assert nothing.calls == 3


def test_a_heuristic_that_repeats_itself_does_not_stop_the_exact_search() -> None:
    """Columns the master already holds count as nothing found."""

    def greedy(duals: Duals) -> list[Column]:
        return UNIT[:1]

    def exact(duals: Duals) -> Any:
        reduced = [column.cost - column.values @ duals for column in UNIT]
        return [c for c, r in zip(UNIT, reduced, strict=True) if r < -1e-9], min(reduced)

    master = LinearMaster(["left", "right"], ">=", 1.0, least_cost=1.0)
    result = ColumnGeneration(master, PricerSequence([greedy, exact])).run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(3.0)
