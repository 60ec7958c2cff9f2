"""The loop with mock masters and pricers: what rounds are asked for, and what is returned."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason, relative_gap
from cgboost.generation.loop import SOLVED_SHARE
from cgboost.generation.protocols import MasterState, Vertex
from cgboost.generation.stabilization import NoSmoothing
from cgboost.masters import LinearMaster

from .cases import CountingMaster, Partial, Supply, begun, column, run


class Named:
    """A callback that names a round and stops the run at another one."""

    def __init__(self, best_round: int, stop: int) -> None:
        self.best_round, self.stop = best_round, stop

    def __call__(self, turn: Round) -> bool:
        return turn.number == self.stop

    def finish(self, result: Any) -> None:
        self.finished = result


def test_a_callback_sees_every_round_and_may_name_the_one_to_return() -> None:
    """Rounds come in order, scores go into the history; the result is cut at ``best_round``."""
    seen: list[int] = []

    def watch(turn: Round) -> None:
        seen.append(turn.number)
        turn.scores["mine"] = 2.0 * turn.columns

    best = Named(2, stop=5)
    result = run(CountingMaster(0.0), callbacks=[watch, best])
    assert seen == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(result.history["mine"], [0, 2, 4, 6, 8, 10])
    assert best.finished is result
    assert (result.best_round, result.n_rounds) == (2, 6)
    assert result.coef.tolist() == [1.0, 2.0]
    assert (len(result.columns), result.intercept, result.objective) == (2, 2.0, 8.0)
    assert result.gap == relative_gap(8.0, 0.0)


def test_an_objective_that_rises_again_returns_the_lowest_round() -> None:
    """Inexact masters may get worse: the best round is the result, the last of equals."""
    objectives = [9.0, 5.0, 5.0, 8.0]
    master = CountingMaster(change=lambda s: replace(s, objective=objectives[len(s.columns)]))
    result = run(master, max_columns=3)
    assert (result.best_round, result.objective, len(result.coef)) == (2, 5.0, 2)


def test_what_a_run_counts() -> None:
    """Columns and evaluated scores of each round, the certificate's included; and its summary."""
    result = run(columns_per_round=2, max_columns=6)
    np.testing.assert_array_equal(result.history["columns"], [0, 2, 4, 6])
    np.testing.assert_array_equal(result.history["evaluated"], [100] * 4)
    assert "4, 400 scores evaluated" in result.summary()
    assert "bound  none" in result.summary()
    certified = run(CountingMaster(2.0), Partial(), max_columns=3).history
    np.testing.assert_array_equal(certified["gap"], [math.inf] * 3 + [5 / 7])
    np.testing.assert_array_equal(certified["evaluated"], [100, 100, 100, 200])


def test_the_repr_is_short() -> None:
    """Its length does not depend on the number of columns and rounds."""
    result = run(CountingMaster(7.0), Supply(3))
    large = replace(
        result,
        columns=1000 * result.columns,
        coef=np.tile(result.coef, 1000),
        history={name: np.tile(own, 1000) for name, own in result.history.items()},
        path=1000 * result.path,
    )
    assert repr(large) == repr(result)
    assert f"objective={result.objective!r}" in repr(result)
    assert len(repr(result)) < 500


class CrossingMaster(CountingMaster):
    """Has a vertex whose objective differs from the round's by a given amount, or fails to."""

    def __init__(self, change: float | None) -> None:
        super().__init__(0.0)
        self.moved = change
        self.asked: list[tuple[int, float | None]] = []

    def crossover(self, coef: Any, intercept: Any, *, time_limit: float | None = None) -> Any:
        self.asked.append((len(coef), time_limit))
        if self.moved is None:
            raise MasterError("singular basis")
        return Vertex(np.r_[0.0, coef[1:]], -1.0, 10.0 - len(coef) + self.moved)


def test_the_round_that_is_returned_moves_to_a_vertex() -> None:
    """Coefficients, offset, objective, gap and number of active columns are those of the vertex."""
    master = CrossingMaster(-0.5)
    result = run(master, max_columns=3, time_limit=1000.0)
    assert master.asked == [(3, 100.0)]
    assert result.coef.tolist() == [0.0, 2.0, 3.0]
    assert result.intercept == -1.0
    assert result.objective == result.history["objective"][-1] == 6.5
    assert result.gap == result.history["gap"][-1] == relative_gap(6.5, 0.0, 7.0)
    assert result.history["active"].tolist() == [0, 1, 2, 2]
    assert result.path[2][0].tolist() == [1.0, 2.0]


def test_a_vertex_of_an_earlier_round_is_over_its_columns() -> None:
    """Where a callback names a round, that one moves, and the others stay as they are."""
    master = CrossingMaster(0.0)
    result = run(master, callbacks=[Named(2, stop=4)])
    assert master.asked == [(2, None)]
    assert result.history["active"].tolist() == [0, 1, 1, 3, 4]


@pytest.mark.parametrize("change", [0.1, None])
def test_a_worse_vertex_or_none_leaves_the_round_as_it_is(change: float | None) -> None:
    """A solver that fails in the end costs nothing."""
    result = run(CrossingMaster(change), max_columns=3)
    assert result.coef.tolist() == [1.0, 2.0, 3.0]
    assert result.objective == 7.0
    assert result.stop_reason is StopReason.MAX_COLUMNS


def test_a_run_that_is_interrupted_ends_at_once() -> None:
    """Ctrl-C is no time for a crossover."""
    master = CrossingMaster(-0.5)
    master.fail_at, master.error = 3, KeyboardInterrupt()
    assert run(master).stop_reason is StopReason.INTERRUPTED
    assert not master.asked


def test_a_held_column_never_stands_in_for_the_masters_own_duals() -> None:
    """Smoothed duals that bring up only a column at its bound are followed by the master's own."""

    class TwoPoints(NoSmoothing):
        def points(self, state: MasterState) -> Any:
            yield 0.9 * state.pseudo_response
            yield state.pseudo_response

    capped = Column(np.ones(1), "capped", cost=1.0, upper=1.0)
    dear, cheap = Column(np.ones(1), "dear", cost=5.0), Column(np.ones(1), "cheap", cost=4.8)

    def price(duals: Any) -> Any:
        return [cheap] if duals[0] > 4.9 else [capped]

    master = LinearMaster(1, ">=", 3.0)
    master.add([capped, dear])
    result = ColumnGeneration(master, price, smoothing=TwoPoints()).run()
    assert result.objective == pytest.approx(1.0 + 2 * 4.8)


@pytest.mark.parametrize("known", [True, False])
def test_columns_of_a_neighbour_are_there_in_the_first_round(known: bool) -> None:
    """What a search at the neighbour's solution offers is in the master before it is solved."""

    class Anticipating(CountingMaster):
        def anticipated(self) -> MasterState | None:
            return self.solve() if known else None

    result = run(Anticipating(), max_rounds=2)
    assert [len(coef) for coef, _ in result.path] == ([1, 2] if known else [0, 1])


class Adjustable(CountingMaster):
    """Keeps the accuracy that each solve was asked for."""

    def __init__(self, bound: float | None = None) -> None:
        super().__init__(bound)
        self.accuracy, self.asked = -1.0, list[float]()

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        self.asked.append(self.accuracy)
        return super().solve(time_limit=time_limit)


def test_the_accuracy_that_rounds_ask_for() -> None:
    """All of it until a search has a bound, and in the last round; a share of tol in between.

    With columns from before, the first round is no more than a beginning. With one column a round
    it is all of it, always.
    """
    share, options = SOLVED_SHARE * 1e-3, {"tol": 1e-3, "max_rounds": 4, "columns_per_round": 2}
    master, single = Adjustable(0.0), Adjustable(0.0)
    run(master, Supply(10), **options)
    assert master.asked == [0.0, share, share, 0.0]
    run(single, Supply(10), **options | {"columns_per_round": 1})
    assert single.asked == [0.0] * 4
    unproven = Adjustable()
    run(unproven, Supply(2, exact=False), tol=1e-3)
    assert set(unproven.asked) == {0.0}
    warm = begun(Adjustable(0.0), column("before"))
    run(warm, Supply(10), **options)
    assert warm.asked[0] == share


def test_a_linear_master_takes_as_many_columns_as_it_says() -> None:
    """20 of 60, a column for each of 40 blocks, and as many as are asked for."""
    rows = [("row", k) for k in range(60)]
    everything = dict.fromkeys(rows[:40], 1.0)
    for options, asked, expected in (
        ({}, {}, 20),
        ({"copies": everything}, {}, 40),
        ({}, {"columns_per_round": 3}, 3),
    ):
        n = len(options.get("copies", rows))
        own = [Column(np.eye(n)[k], k, cost=1.0 + k) for k in range(n)]
        master = LinearMaster(rows[:n], "==", 1.0, **options)
        run = ColumnGeneration(master, lambda duals, own=own: own, max_rounds=2, **asked).run()
        assert len(run.columns) == expected
