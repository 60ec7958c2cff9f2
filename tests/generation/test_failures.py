"""The loop when something breaks: who is blamed, and what is kept."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import BoundError, IndefiniteKernelError, MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState, Priced
from tests.generation.loop_mocks import CountingMaster, Supply, run


def test_interruption_keeps_the_last_complete_round() -> None:
    """Ctrl-C in the master leaves the round before it; with nothing to keep it is the caller's."""
    result = run(CountingMaster(fail_at=3, error=KeyboardInterrupt()))
    assert result.stop_reason is StopReason.INTERRUPTED
    assert len(result.coef) == 2
    with pytest.raises(KeyboardInterrupt):
        run(CountingMaster(fail_at=0, error=KeyboardInterrupt()))


def test_a_failing_master_keeps_the_last_good_round() -> None:
    """The reason carries the master's words; a failure of the first solve is an error."""
    result = run(CountingMaster(fail_at=2))
    assert result.stop_reason is StopReason.MASTER_FAILED
    assert "singular basis" in result.message
    assert len(result.coef) == 1
    with pytest.raises(MasterError, match="singular basis"):
        run(CountingMaster(fail_at=0))


class Breaking(Supply):
    """A pricer that does something wrong from its third call on."""

    def __init__(self, wrong: Any) -> None:
        super().__init__()
        self.wrong = wrong

    def price(self, state: MasterState, limit: int) -> Priced:
        if len(self.limits) < 2:
            return super().price(state, limit)
        if isinstance(self.wrong, Exception):
            raise self.wrong
        return Priced([self.wrong], exact=False)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (ZeroDivisionError("in my pricer"), "in my pricer"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (Column(np.array([0.0, math.nan]), "x"), "not finite"),
        (Column(np.zeros(2), "x", cost=math.nan), "not finite"),
        (Column(np.zeros(3), "x"), "the master has 2 rows"),
        ("no column at all", "no attribute"),
    ],
)
def test_a_failing_pricer_keeps_the_last_good_round(wrong: Any, words: str) -> None:
    """An exception or something that is no column ends the run with its words and the error."""
    result = run(pricer=Breaking(wrong))
    assert result.stop_reason is StopReason.PRICER_FAILED
    assert words in result.message
    assert isinstance(result.error, Exception)
    assert len(result.coef) == result.n_rounds - 1 == 1
    if isinstance(wrong, Exception):
        assert result.error is wrong


def test_what_refutes_the_bounds_leaves_no_result() -> None:
    """A kernel that turns out to have no RKHS makes earlier bounds wrong: the error is raised."""
    error = IndefiniteKernelError("mine", "its values have an eigenvalue of −1")
    with pytest.raises(IndefiniteKernelError, match="'mine' is not positive") as caught:
        run(pricer=Breaking(error))
    assert caught.value is error


def test_a_pricer_that_fails_at_once_raises_its_own_error() -> None:
    """Before the first round is complete there is nothing to keep."""

    class Broken:
        def price(self, state: MasterState, limit: int) -> Priced:
            raise ZeroDivisionError("at once") from KeyError("cause")

    with pytest.raises(ZeroDivisionError, match="at once") as caught:
        run(pricer=Broken())
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [MemoryError("no room"), ZeroDivisionError(), MasterError("no")])
def test_a_round_without_columns_is_not_kept(error: Exception) -> None:
    """In the first real round, whoever fails: the error itself is raised."""

    class Refusing(CountingMaster):
        def add(self, columns: Sequence[Column]) -> None:
            raise error

    for master in (CountingMaster(fail_at=1, error=error), Refusing()):
        with pytest.raises(type(error)) as caught:
            run(master)
        assert caught.value is error


def test_columns_that_are_not_in_use_are_no_model() -> None:
    """A master with columns whose coefficients are all 0 is at the constant as well."""

    class Idle(CountingMaster):
        def solve(self, *, time_limit: float | None = None) -> MasterState:
            state = super().solve(time_limit=time_limit)
            return replace(state, coef=np.zeros(len(self.columns)))

    with pytest.raises(MasterError, match="singular basis"):
        run(Idle(fail_at=3))


def test_columns_that_the_master_began_with_are_kept() -> None:
    """A master of one's own may have a solution before the first search, which is a result."""
    master = CountingMaster()
    master.add([Column(np.zeros(2), "given")])
    master._fail_at = 1
    result = run(master)
    assert result.stop_reason is StopReason.MASTER_FAILED
    assert [column.key for column in result.columns] == ["given"]


@pytest.mark.parametrize("solve", [1, 2])
def test_a_master_out_of_time_stops_for_time(solve: int) -> None:
    """It is no failure, not even in the first real round: the round before is what was asked."""
    error = MasterError("out of time", timed_out=True)
    result = run(CountingMaster(fail_at=solve, error=error))
    assert result.stop_reason is StopReason.TIME
    assert len(result.coef) == solve - 1


@pytest.mark.parametrize(
    "changes",
    [
        {"pseudo_response": np.array([0.0, math.nan])},
        {"pseudo_response": np.array([0.0, math.inf])},
        {"objective": math.nan},
    ],
)
def test_a_master_without_duals_or_objective_fails(changes: dict[str, Any]) -> None:
    """Duals that are not finite never reach the pricer; the last good round is kept."""

    class Blind(CountingMaster):
        def solve(self, *, time_limit: float | None = None) -> MasterState:
            state = super().solve(time_limit=time_limit)
            return replace(state, **changes) if len(self.columns) == 2 else state

    result = run(Blind())
    assert result.stop_reason is StopReason.MASTER_FAILED
    assert isinstance(result.error, MasterError)
    assert len(result.coef) == 1


def test_a_master_that_raises_anything_or_refuses_columns_fails() -> None:
    """Not only MasterErrors, and not only from the solve, are the master's."""

    class Refusing(CountingMaster):
        def add(self, columns: Sequence[Column]) -> None:
            if len(self.columns) == 2:
                raise ValueError("full")
            super().add(columns)

    result = run(Refusing())
    assert result.stop_reason is StopReason.MASTER_FAILED
    assert result.message.startswith("ValueError: full")
    assert len(result.coef) == 2


@pytest.mark.parametrize("wrong", [8.5, math.nan])
def test_a_bound_above_the_objective_stops_the_run(wrong: float) -> None:
    """A bound that cannot be true is not entered, and ends the run with a reason of its own."""
    master = CountingMaster()
    bounds = iter([1.0, 2.0, wrong])
    master.bound = lambda state, priced: next(bounds)
    result = run(master)
    assert result.stop_reason is StopReason.INVALID_BOUND
    assert isinstance(result.error, BoundError)
    assert result.bound == 2.0
    assert result.objective == 9.0
    with pytest.raises(BoundError):
        run(CountingMaster(bound=10.1))


def test_what_a_master_or_a_callback_lacks_is_named() -> None:
    """Before the first round, not by an AttributeError in it."""

    class Half:
        def add(self, columns: Sequence[Column]) -> None: ...

    with pytest.raises(TypeError, match=r"needs the methods add, .* lacks solve and bound"):
        ColumnGeneration(Half(), Supply(1))
    with pytest.raises(TypeError, match="a callback must be callable with a Round, got 3"):
        ColumnGeneration(CountingMaster(), Supply(1), callbacks=[3])


def test_a_bound_above_the_objective_by_rounding_is_accepted() -> None:
    """It does not fail the run; the gap is its size."""
    result = run(CountingMaster(bound=7.0 + 1e-9), Supply(3))
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.gap == pytest.approx(1e-9 / 7.0, rel=1e-6)


def test_an_error_in_a_callback_is_the_callers() -> None:
    """The loop hides no bug of a callback."""

    def broken(turn: Round) -> None:
        raise ZeroDivisionError("in my callback")

    with pytest.raises(ZeroDivisionError):
        run(callbacks=[broken])
