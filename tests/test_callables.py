"""Pricers as functions, and pricers in sequence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cgboost.callables import Duals, FunctionPricer, as_pricer
from cgboost.columns import Column
from cgboost.generation import ColumnGeneration
from cgboost.history import StopReason
from cgboost.masters import LinearMaster
from cgboost.pricing import PricerSequence
from cgboost.protocols import MasterState, Priced

UNIT = [Column(np.eye(2)[i], f"unit {i}", cost=1.0 + i) for i in range(2)]


def state(rows: Any = ("left", "right")) -> MasterState:
    """Duals (2, 5) of two rows."""
    zeros = np.zeros(2)
    return MasterState((), zeros[:0], 0.0, zeros, np.array([2.0, 5.0]), 0.0, zeros, rows=rows)


@pytest.mark.parametrize(
    ("answer", "exact", "bound"),
    [
        (UNIT, False, math.nan),
        ((UNIT[0], UNIT[1]), False, math.nan),
        ((), False, math.nan),
        ((UNIT, None), False, math.nan),
        ((UNIT, -3.0), True, -3.0),
        ((UNIT, -3.0, False), False, -3.0),
        ((UNIT, None, True), True, math.nan),
        (([], None, True), True, 0.0),
        ((UNIT, {"left": -1.0}), True, {"left": -1.0}),
    ],
)
def test_every_form_of_answer_is_understood(answer: Any, exact: bool, bound: Any) -> None:
    """Columns alone promise nothing; a bound means an exact search unless it says otherwise."""
    priced = FunctionPricer(lambda duals: answer).price(state(), 10)
    assert priced.exact is exact
    np.testing.assert_equal(priced.reduced_cost, bound)


def test_the_best_columns_come_first_and_the_limit_holds() -> None:
    """Reduced costs 1 − 2 and 2 − 5: the second column is the better one."""
    priced = FunctionPricer(lambda duals: UNIT).price(state(), 1)
    assert [column.key for column in priced.columns] == ["unit 1"]
    assert priced.n_evaluated == 2


def test_duals_answer_to_names_and_numbers() -> None:
    """Names are those of the master's rows, and only there if the rows have some."""
    duals = Duals.of_state(state())
    assert duals.of("right") == duals[1] == 5.0
    assert float(duals @ np.ones(2)) == 7.0
    with pytest.raises(KeyError):
        duals.of("middle")
    with pytest.raises(KeyError, match="no names"):
        Duals.of_state(state(rows=None)).of("left")


def test_a_function_cannot_change_the_masters_duals() -> None:
    """The function gets a copy."""
    here = state()

    def spoil(duals: Duals) -> list[Column]:
        duals[:] = 0.0
        return []

    FunctionPricer(spoil).price(here, 1)
    np.testing.assert_array_equal(here.pseudo_response, [2.0, 5.0])


def test_what_is_no_pricer_is_refused() -> None:
    """Neither a method price nor a function: a TypeError; a strange tuple: a ValueError."""
    with pytest.raises(TypeError, match="got 3"):
        as_pricer(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tuple of 4"):
        FunctionPricer(lambda duals: ([], 0, 0, 0)).price(state(), 1)
    with pytest.raises(ValueError, match="at least one"):
        PricerSequence([])


class Scripted:
    """A pricer that says what it is told and counts its calls."""

    def __init__(self, columns: list[Column], exact: bool) -> None:
        self.priced = Priced(columns, exact=exact, n_evaluated=10)
        self.calls = 0

    def price(self, state: MasterState, limit: int) -> Priced:
        self.calls += 1
        return self.priced


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
