"""What a round asks of the master, what a refuted bound leaves, and limits at their very ends."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.generation.loop import SOLVED_SHARE
from cgboost.generation.protocols import MasterState
from cgboost.generation.termination import Limits, rows_missed, shortfall
from tests.generation.loop_mocks import CountingMaster, Supply, run


class Adjustable(CountingMaster):
    """Keeps the accuracy that each solve was asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.accuracy = -1.0
        self.asked: list[float] = []

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        self.asked.append(self.accuracy)
        return super().solve(time_limit=time_limit)


def test_the_accuracy_that_rounds_ask_for() -> None:
    """All of it until a search has a bound, and in the last round; a share of tol in between."""
    master = Adjustable(bound=0.0)
    run(master, Supply(10), tol=1e-3, max_rounds=4)
    assert master.asked == [0.0, SOLVED_SHARE * 1e-3, SOLVED_SHARE * 1e-3, 0.0]
    unproven = Adjustable()
    run(unproven, Supply(2, exact=False), tol=1e-3)
    assert set(unproven.asked) == {0.0}


def test_a_warm_start_begins_coarsely() -> None:
    """With columns from before the first round is no more than a beginning."""
    master = Adjustable(bound=0.0)
    master.add([Column(np.zeros(2), "before")])
    run(master, Supply(10), tol=1e-3, max_rounds=4)
    assert master.asked[0] == SOLVED_SHARE * 1e-3


def test_a_refuted_bound_is_no_bound_of_the_result() -> None:
    """An objective far below the bound shows that one of the two is wrong: neither is claimed."""
    result = run(CountingMaster(bound=5.5), Supply(20), tol=1e-9)
    assert result.stop_reason is StopReason.INVALID_BOUND
    assert result.bound is None


def test_limits_at_their_ends() -> None:
    """A limit is reached at its value, not only beyond; there is always room for one column."""
    reached: Any = SimpleNamespace(columns=3, number=2, seconds=2.0)
    assert Limits(time_limit=2.0).reached(reached) == (
        StopReason.TIME,
        "the time limit was reached",
    )
    assert Limits(time_limit=2.0001).reached(reached) is None
    assert Limits(max_rounds=3).reached(reached) is not None
    assert Limits(max_rounds=4).reached(reached) is None
    assert Limits(max_columns=3).room(3, 7) == 1
    assert Limits(max_columns=9).room(3, 7) == 6


@pytest.mark.parametrize("bound", [np.nan, 12.5])
def test_rows_that_are_met_are_not_among_those_missed(bound: float) -> None:
    """The message names rows with slack alone, and a bound where there is one."""
    state = replace(CountingMaster().solve(), slack=np.array([0.0, 2.0]), rows=("a", "b"))
    current: Any = SimpleNamespace(state=state, bound=bound)
    proof = "" if np.isnan(bound) else "; any solution costs at least 12.5"
    assert shortfall(current) == f"no column helps to meet the rows 'b' (by 2){proof}"


def test_names_of_rows_are_told_from_numbers() -> None:
    """A number that is a name has quotes, too; the first five rows are named."""
    amounts = np.array([0.0, 1.0, 0.25, 3.0, 1.0, 1.0, 1.0])
    names = ["a", 2, np.int64(3), ("Mon", "early"), "b", "c", "d"]
    assert rows_missed(names, amounts) == (
        "'2' (by 1), '3' (by 0.25), ('Mon', 'early') (by 3), 'b' (by 1), 'c' (by 1) and 1 more"
    )
