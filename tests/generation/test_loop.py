"""The loop with mock masters and pricers: every way to stop, and what is kept."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason, relative_gap
from cgboost.generation.protocols import MasterState, Priced, Vertex, gap_scale
from cgboost.generation.stabilization import NoSmoothing
from cgboost.masters import LinearMaster
from tests.generation.loop_mocks import CountingMaster, Partial, Supply, run
from tests.generation.test_callbacks import ToyMaster, ToyPricer, column


def test_stops_optimal_when_an_exact_pricer_finds_nothing() -> None:
    """Nothing found by an exact pricer, with the gap closed, is optimality."""
    result = run(CountingMaster(bound=7.0), Supply(3))
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == 7.0
    assert result.gap == 0.0
    assert result.n_rounds == 4


def test_nothing_found_with_an_open_gap_is_a_stall() -> None:
    """An exact pricer without columns but a bound below the objective blames the duals."""
    result = run(CountingMaster(bound=1.0), Supply(3))
    assert result.stop_reason is StopReason.STALLED
    assert "too inaccurate" in result.message


def test_a_heuristic_pricer_certifies_nothing() -> None:
    """Finding nothing without an exact search is never called optimal and gives no bound."""
    result = run(CountingMaster(bound=7.0), Supply(3, exact=False))
    assert result.stop_reason is StopReason.NO_COLUMN
    assert result.bound is None
    assert result.gap == math.inf
    assert np.isnan(result.history["bound"]).all()


def test_stops_at_the_gap() -> None:
    """The loop ends as soon as the certified relative gap is at most tol."""
    result = run(CountingMaster(bound=4.0), tol=0.2)
    assert result.stop_reason is StopReason.GAP
    assert result.gap == pytest.approx((5.0 - 4.0) / 5.0)
    assert result.objective == 5.0


def test_the_best_bound_so_far_is_kept() -> None:
    """A later, weaker bound never replaces a stronger one."""
    master = CountingMaster()
    bounds = iter([-5.0, 3.0, -100.0, 2.0])
    master.bound = lambda state, priced: next(bounds)
    result = run(master, max_columns=3)
    np.testing.assert_array_equal(result.history["bound"], [-5.0, 3.0, 3.0, 3.0])


def test_stops_at_max_columns_exactly() -> None:
    """The last round asks the pricer only for the columns that still fit."""
    pricer = Supply()
    result = run(pricer=pricer, columns_per_round=4, max_columns=10)
    assert result.stop_reason is StopReason.MAX_COLUMNS
    assert len(result.coef) == 10
    assert pricer.limits[:3] == [4, 4, 2]
    own = run(max_columns=3, columns_reason=StopReason.COLUMN_LIMIT)
    assert own.stop_reason is StopReason.COLUMN_LIMIT


def test_duplicates_are_never_added_and_alone_stop_the_loop() -> None:
    """A pricer that repeats itself ends the loop with that reason; known columns are dropped."""

    class Repeating:
        def price(self, state: MasterState, limit: int) -> Priced:
            return Priced([Column(np.zeros(2), name) for name in ("a", "b")], exact=False)

    result = run(pricer=Repeating())
    assert result.stop_reason is StopReason.ONLY_DUPLICATES
    assert [column.key for column in result.columns] == ["a", "b"]


def test_a_column_offered_twice_in_one_round_is_added_once() -> None:
    """The duplicate guard also holds within one pricing pass."""

    class Stuttering:
        def price(self, state: MasterState, limit: int) -> Priced:
            name = len(state.columns)
            return Priced([Column(np.zeros(2), name), Column(np.zeros(2), name)], exact=False)

    result = run(pricer=Stuttering(), max_columns=3)
    assert [column.key for column in result.columns] == [0, 1, 2]


def test_time_limit_stops_and_is_handed_to_the_master() -> None:
    """The limit ends the loop, and the master is told how much is left."""
    master = CountingMaster()
    result = run(master, time_limit=1e-9)
    assert result.stop_reason is StopReason.TIME
    assert master.limits == [None]
    roomy = CountingMaster()
    run(roomy, time_limit=100.0, max_columns=2)
    assert roomy.limits[0] is None
    assert 0 < roomy.limits[1] <= 100.0


def test_a_callback_sees_every_round_and_stops_the_loop() -> None:
    """Callbacks get the rounds in order, may add scores to the history, and may stop."""
    seen: list[int] = []

    def watch(turn: Round) -> bool:
        seen.append(turn.number)
        turn.scores["mine"] = 2.0 * turn.columns
        return turn.columns == 3

    result = run(callbacks=[watch])
    assert result.stop_reason is StopReason.CALLBACK
    assert seen == [0, 1, 2, 3]
    np.testing.assert_array_equal(result.history["mine"], [0, 2, 4, 6])


def test_a_callback_may_name_the_round_to_return() -> None:
    """The result is cut at best_round: its coefficients, columns, objective and gap."""

    class Best:
        best_round = 2

        def __call__(self, turn: Round) -> bool:
            return turn.number == 5

        def finish(self, result: Any) -> None:
            self.finished = result

    best = Best()
    result = run(CountingMaster(bound=0.0), callbacks=[best])
    assert result.best_round == 2
    assert result.n_rounds == 6
    assert best.finished is result
    assert len(result.coef) == len(result.columns) == 2
    assert result.intercept == 2.0
    assert result.objective == 8.0
    assert result.gap == relative_gap(8.0, 0.0)


class CrossingMaster(CountingMaster):
    """Has a vertex whose objective differs from the round's by a given amount, or fails to."""

    def __init__(self, change: float | None) -> None:
        super().__init__(bound=0.0)
        self.change = change
        self.asked: list[tuple[int, float | None]] = []

    def crossover(self, coef: Any, intercept: Any, *, time_limit: float | None = None) -> Any:
        self.asked.append((len(coef), time_limit))
        if self.change is None:
            raise MasterError("singular basis")
        return Vertex(np.r_[0.0, coef[1:]], -1.0, 10.0 - len(coef) + self.change)


def test_the_round_that_is_returned_moves_to_a_vertex() -> None:
    """Coefficients, offset, objective, gap and number of active columns are those of the vertex."""
    master = CrossingMaster(-0.5)
    result = run(master, max_columns=3, time_limit=1000.0)
    assert master.asked == [(3, 100.0)]
    assert result.coef.tolist() == [0.0, 1.0, 1.0]
    assert result.intercept == -1.0
    assert result.objective == result.history["objective"][-1] == 6.5
    assert result.gap == result.history["gap"][-1] == relative_gap(6.5, 0.0, 7.0)
    assert result.history["active"].tolist() == [0, 1, 2, 2]
    assert result.path[2][0].tolist() == [1.0, 1.0]


def test_a_vertex_of_an_earlier_round_is_over_its_columns() -> None:
    """Where a callback names a round, that one moves, and the others stay as they are."""

    class Second:
        best_round = 2

        def __call__(self, turn: Round) -> bool:
            return turn.number == 4

    master = CrossingMaster(0.0)
    result = run(master, callbacks=[Second()])
    assert master.asked == [(2, None)]
    assert result.history["active"].tolist() == [0, 1, 1, 3, 4]


@pytest.mark.parametrize("change", [0.1, None])
def test_a_worse_vertex_or_none_leaves_the_round_as_it_is(change: float | None) -> None:
    """A solver that fails in the end costs nothing."""
    result = run(CrossingMaster(change), max_columns=3)
    assert result.coef.tolist() == [1.0, 1.0, 1.0]
    assert result.objective == 7.0
    assert result.stop_reason is StopReason.MAX_COLUMNS


def test_a_run_that_is_interrupted_ends_at_once() -> None:
    """Ctrl-C is no time for a crossover."""

    def interrupt(turn: Round) -> None:
        if turn.number == 2:
            raise KeyboardInterrupt

    master = CrossingMaster(-0.5)
    assert run(master, callbacks=[interrupt]).stop_reason is StopReason.INTERRUPTED
    assert not master.asked


def test_a_run_cut_short_is_certified_by_one_more_pass() -> None:
    """max_columns and callbacks end with an exact pass, if the pricer can make one."""
    result = run(CountingMaster(bound=2.0), Partial(), max_columns=3)
    assert result.stop_reason is StopReason.MAX_COLUMNS
    assert result.bound == 2.0
    np.testing.assert_array_equal(result.history["gap"], [math.inf] * 3 + [5 / 7])
    np.testing.assert_array_equal(result.history["evaluated"], [100, 100, 100, 200])
    assert run(CountingMaster(bound=2.0), Supply(exact=False), max_columns=3).bound is None


def test_an_objective_that_rises_again_returns_the_lowest_round() -> None:
    """Inexact masters may get worse: the best round is the result, the last of equals."""

    class Erratic(CountingMaster):
        def solve(self, *, time_limit: float | None = None) -> MasterState:
            state = super().solve(time_limit=time_limit)
            return replace(state, objective=[9.0, 5.0, 5.0, 8.0][len(self.columns)])

    result = run(Erratic(), max_columns=3)
    assert result.best_round == 2
    assert result.objective == 5.0
    assert len(result.coef) == 2


def test_history_has_one_entry_a_round_and_counts_evaluations() -> None:
    """All arrays of the history have the same length; the path follows the rounds."""
    result = run(columns_per_round=2, max_columns=6)
    assert {len(values) for values in result.history.values()} == {4}
    np.testing.assert_array_equal(result.history["columns"], [0, 2, 4, 6])
    assert [len(coef) for coef, _ in result.path] == [0, 2, 4, 6]
    assert "4, 400 scores evaluated" in result.summary()
    assert "bound  none" in result.summary()


def test_columns_per_round_must_be_positive() -> None:
    """Zero columns a round is refused with the value."""
    with pytest.raises(ValueError, match="whole number ≥ 1, got 0"):
        ColumnGeneration(CountingMaster(), Supply(), columns_per_round=0)


def test_an_infinite_objective_has_an_infinite_gap() -> None:
    """Nothing is certified while the master is infeasible."""
    assert relative_gap(math.inf, 3.0) == math.inf
    assert relative_gap(math.inf, -math.inf) == math.inf


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


@pytest.mark.parametrize("limit", [{"max_columns": 3}, {"max_rounds": 4}])
def test_the_last_round_is_priced_only_where_that_may_prove_something(
    limit: dict[str, Any],
) -> None:
    """With ``proves = False`` a search is saved; the result is the same, and callbacks see it."""
    seen: list[int] = []
    proving, saving = CountingMaster(bound=2.0), CountingMaster()
    saving.proves = False
    searches = {}
    for master in (proving, saving):
        pricer = Supply()
        result = run(master, pricer, callbacks=[lambda turn: seen.append(turn.number)], **limit)
        assert (len(result.coef), result.n_rounds) == (3, 4)
        assert str(result.stop_reason) in limit
        searches[master] = len(pricer.limits)
    assert searches == {proving: 4, saving: 3}
    assert seen == [0, 1, 2, 3] * 2


@pytest.mark.parametrize("limit", [1, 4, 5])
def test_no_more_columns_than_max_columns_whatever_the_pricer_returns(limit: int) -> None:
    """A pricer that gives three columns where it was asked for one fills the master, not more."""

    class Generous(ToyPricer):
        def price(self, state: Any, limit: int) -> Priced:
            return Priced([column(len(state.columns) + k) for k in range(3)], n_evaluated=3)

    result = ColumnGeneration(ToyMaster(), Generous(), max_columns=limit).run()
    assert result.stop_reason is StopReason.MAX_COLUMNS
    assert result.history["columns"].max() == limit
    assert [c.key for c in result.columns] == [("feature", k) for k in range(limit)]


class AnticipatingToy(ToyMaster):
    """A master that knows the solution of a neighbour, or of none."""

    known = True

    def anticipated(self) -> MasterState | None:
        return self.solve() if self.known else None


@pytest.mark.parametrize("known", [True, False])
def test_columns_of_a_neighbour_are_there_in_the_first_round(known: bool) -> None:
    """What a search at the neighbour's solution offers is in the master before it is solved."""
    master = AnticipatingToy()
    master.known = known
    result = ColumnGeneration(master, ToyPricer(), max_rounds=2).run()
    assert [len(coef) for coef, _ in result.path] == ([1, 2] if known else [0, 1])


@pytest.mark.parametrize(
    ("objective", "empty", "scale"),
    [
        (250.0, 300.0, 250.0),
        (0.01, 300.0, 1.0),
        (0.01, 0.5, 0.5),
        (1e-6, 2e-6, 2e-6),
        (-3.0, 0.0, 3.0),
        (0.0, 0.0, 1e-100),
    ],
)
def test_gaps_are_relative_to_what_there_was_to_explain(
    objective: float, empty: float, scale: float
) -> None:
    """A small objective counts as small only beside the objective of the empty model."""
    assert gap_scale(objective, empty) == scale


def test_a_bound_above_the_objective_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """More than rounding, and less than an error: the run says so in its message and its log."""
    result = run(CountingMaster(bound=7.0 + 7e-8), Supply(3))
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.gap == pytest.approx(1e-8)
    assert "the lower bound exceeds the objective by 1e-08" in result.message
    assert "exceeds the objective" in caplog.text
