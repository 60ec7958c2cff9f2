"""Pricers as functions of the duals."""

import math
import pydoc
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals, FunctionPricer, as_pricer
from cgboost.generation.protocols import MasterState

UNIT = [Column(np.eye(2)[i], f"unit {i}", cost=1.0 + i) for i in range(2)]


def state(rows: Any = ("left", "right"), columns: Sequence[Column] = ()) -> MasterState:
    """Duals (2, 5) of two rows."""
    zeros, coef = np.zeros(2), np.ones(len(columns))
    return MasterState(columns, coef, 0.0, zeros, np.array([2.0, 5.0]), 0.0, zeros, rows=rows)


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
    """Reduced costs 1 − 2 and 2 − 5: the second is the better one; but new ones come before."""
    for held, limit, expected in (
        ((), 1, ["unit 1"]),
        (UNIT[1:], 1, ["unit 0"]),
        (UNIT[1:], 2, ["unit 0", "unit 1"]),
    ):
        priced = FunctionPricer(lambda duals: UNIT).price(state(columns=held), limit)
        assert [column.key for column in priced.columns] == expected
        assert priced.n_evaluated == 2


def test_duals_answer_to_names_and_numbers() -> None:
    """Names are those of the master's rows, and only there if the rows have some."""
    duals = Duals.of_state(state())
    assert duals.of("right") == duals[1] == 5.0
    assert float(duals @ np.ones(2)) == 7.0
    with pytest.raises(KeyError):
        duals.of("middle")
    with pytest.raises(KeyError, match="have no names"):
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


def test_duals_name_the_capped_columns() -> None:
    """Those in the master with a finite upper bound; what is computed from the duals knows none."""
    capped = Column(np.ones(2), "capped", upper=3.0)
    duals = Duals.of_state(state(columns=[UNIT[0], capped]))
    assert duals.capped == {"capped"}
    with pytest.raises(AttributeError, match="as they were handed over"):
        _ = (2 * duals).capped


def test_help_of_the_duals_fits_a_few_screens() -> None:
    """It has their own members, and not the hundreds of an array."""
    text = pydoc.plain(pydoc.render_doc(Duals))
    assert len(text.splitlines()) < 150
    for name in ("of", "constant", "capped", "restrictions", "prices", "extra", "rhs"):
        assert f"\n |  {name}" in text
        assert name in dir(Duals)
    assert "argsort" not in text
    assert "argsort" in dir(np.zeros(2).view(Duals))
