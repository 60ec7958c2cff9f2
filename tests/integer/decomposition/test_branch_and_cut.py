"""Branch and cut on whole models, alone and in turns with a tree search; units of costs."""

import io
import math
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from rich.console import Console

from cgboost import decompose
from cgboost.arrays import Vector
from cgboost.exceptions import BoundError
from cgboost.generation.callbacks import Callback
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Priced
from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.decomposition import branch_and_cut, decomposition
from cgboost.integer.decomposition.blocks import Structure, structure_of
from cgboost.integer.decomposition.branch_and_cut import (
    BranchAndCut,
    CutOutcome,
    InTurns,
    PausedCut,
)
from cgboost.integer.decomposition.decomposition import Decomposition
from cgboost.integer.decomposition.model import Model, as_model
from cgboost.integer.decomposition.pricing.block import (
    BlockError,
    BlockRequest,
    BlockTimeError,
    Found,
)
from cgboost.integer.decomposition.pricing.block_pricer import BlockPricer
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.reformulation import (
    BlocksGivenUpError,
    NotDecomposableError,
    reformulated,
)
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.reporting.progress import TreeProgress
from cgboost.integer.result import BranchAndPriceResult
from cgboost.parallel.executors import FuturesExecutor
from solvers import Program
from solvers.backends import highs as highs_backend
from tests.cases import law

from .cases import MODELS, ModelCase, assignment, infeasible, model_of, packing

INF = math.inf


def divided(structure: Structure) -> Decomposition:
    """A structure as if it had been detected."""
    return Decomposition(structure.model, structure, "found", detected=True)


@law(MODELS)
def test_in_turns_both_have_the_optimum(case: ModelCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the turns are: end, optimum and bound are those of branch and cut alone."""
    monkeypatch.setattr(branch_and_cut, "TURN", 1e-4)
    model, blocks = case.make(0)
    result = divided(structure_of(model, blocks)).solve()
    expected = Decomposition(model, None, "").solve(gap=1e-9)
    assert result.objective == pytest.approx(expected.objective, rel=1e-6)
    assert result.bound == pytest.approx(expected.bound, rel=1e-6)
    for end in (StopReason.INFEASIBLE, StopReason.UNBOUNDED):
        assert (result.stop_reason is end) == (expected.stop_reason is end)


def slow_block(monkeypatch: pytest.MonkeyPatch) -> tuple[Model, Structure]:
    """A model with a block that takes longer than it: branch and cut is asked at once."""
    monkeypatch.setattr(branch_and_cut, "TURN", 0.0)
    rng = np.random.default_rng(0)
    n, half = 60, 30
    block = np.vstack([np.r_[rng.integers(20, 99, half), np.zeros(half)] for _ in range(3)])
    matrix = np.vstack([block, np.r_[np.zeros(half), np.ones(half)], np.ones(n)])
    high = np.r_[block.sum(axis=1) / 2, 9.0, 12.0]
    cost = -np.r_[rng.integers(20, 99, half), np.ones(half)].astype(float)
    whole = np.r_[np.ones(half - 1), 0.0, np.ones(half)]
    model = as_model(Program(cost, matrix, -INF, high, 0.0, 1.0, None, whole))
    return model, structure_of(model, {"r0": 0, "r1": 0, "r2": 0, "r3": 1})


def test_branch_and_cut_has_its_turn_within_a_pricing_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A block may take longer than the model: it is left as soon as branch and cut has the answer.

    Copies for other processes have nothing to wait for.
    """
    model, structure = slow_block(monkeypatch)
    asked: list[str] = []
    take_turn = InTurns.take_turn

    def counted(self: InTurns) -> bool:
        asked.append(sys._getframe(1).f_code.co_name)
        return asked[-1] in ("asked", "waiting") and take_turn(self)

    monkeypatch.setattr(InTurns, "take_turn", counted)
    result = divided(structure).solve()
    assert "asked" in asked  # by HiGHS, within a block
    assert result.objective == pytest.approx(Decomposition(model, None, "").solve().objective)
    problem = reformulated(structure).pricer.problems[0]
    problem.waiting = bool
    assert pickle.loads(pickle.dumps(problem)).waiting is None


def test_branch_and_cut_has_its_turn_while_blocks_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks take longer to make than the model to solve; then there is no tree."""
    model, structure = slow_block(monkeypatch)
    own = divided(structure)
    go_on = PausedCut.go_on
    monkeypatch.setattr(PausedCut, "go_on", lambda self, _: go_on(self, None))
    result = own.solve()
    assert result.tree is None
    assert result.structure is structure
    assert result.objective == pytest.approx(Decomposition(model, None, "").solve().objective)


def endless(n: int = 20) -> Program:
    """A block of n rows over a cone, and a linking row."""
    rng = np.random.default_rng(0)
    matrix = np.vstack([rng.uniform(-1, 1, (n, 2 * n)), np.ones(2 * n)])
    high = np.r_[np.zeros(n), 9.0]
    return Program(rng.uniform(-2, -1, 2 * n), matrix, -INF, high, 0.0, INF)


def test_branch_and_cut_has_its_turn_while_rays_are_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the linear programs that find whether a block has rays, and the one of least cost."""
    program, n = endless(), 20
    structure = structure_of(as_model(program), {f"r{i}": 0 for i in range(n)})
    asked: list[int] = []

    def waiting() -> bool:
        asked.append(0)
        return len(asked) > 2

    with pytest.raises(BlocksGivenUpError, match="directions"):
        reformulated(structure, waiting=waiting)
    assert len(asked) == 3
    problem = reformulated(structure).pricer.problems[0]
    problem.waiting = waiting
    request = BlockRequest(problem.block.cost, problem.block.lower, problem.block.upper)
    asked[:] = []
    with pytest.raises(BlockTimeError, match="directions"):
        problem.solve(request)
    assert len(asked) == 3  # before the problem, and twice in it
    problem.waiting = None
    monkeypatch.setattr(highs_backend, "run_highs", lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        problem.solve(request)


def test_time_counts_while_blocks_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """What branch and cut knows by then is the result; without it, that the time is up."""
    model, structure = slow_block(monkeypatch)
    own = divided(structure)
    timed = own.solve(time_limit=0.0, branch_and_cut=False)
    assert (timed.stop_reason, timed.bound, timed.tree) == (StopReason.TIME, None, None)
    assert decomposition.NOT_MADE in timed.message
    optimum = Decomposition(model, None, "").solve().objective
    turns = iter([False])
    monkeypatch.setattr(InTurns, "take_turn", lambda self: next(turns) and self.paused.has_ended)
    monkeypatch.setattr(PausedCut, "known", CutOutcome(StopReason.INTERRUPTED, INF, -1e9, None))
    monkeypatch.setattr(PausedCut, "has_begun", True)
    monkeypatch.setattr(PausedCut, "go_on", lambda *_: False)
    timed = own.solve(time_limit=0.0)
    assert (timed.stop_reason, timed.bound) == (StopReason.TIME, -1e9)
    assert timed.bound <= optimum


def test_integers_are_made_whole_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the point is as it was, and the end says what has come between.

    An optimum whose integers only have to be rounded stays one.
    """
    model = as_model(replace(endless(), integrality=(np.arange(40) == 0).astype(float)))
    x = np.zeros(len(model.names))
    late = BranchAndCut(model, time.perf_counter() - 1.0)
    for off in (0.0, 1e-7):
        near, ended = late.made_whole(x + off * (np.arange(40) == 0))
        assert (near.tolist(), ended) == (x.tolist(), None)
    off = x + 0.4 * (np.arange(40) == 0)
    same, ended = late.made_whole(off)
    assert (same is off, ended) == (True, StopReason.TIME)
    monkeypatch.setattr(highs_backend, "run_highs", lambda _: signal.raise_signal(signal.SIGINT))
    same, ended = BranchAndCut(model).made_whole(x)
    assert (same is x, ended) == (True, StopReason.INTERRUPTED)


def test_branch_and_cut_that_had_turns_goes_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search shows nothing it does not begin anew."""
    model, structure = slow_block(monkeypatch)
    expected = Decomposition(model, None, "").solve().objective
    monkeypatch.setattr(InTurns, "take_turn", _begun)
    monkeypatch.setattr(BlockPricer, "price", lambda *_: Priced(()))
    monkeypatch.setattr(BranchAndCut, "run", _refused)
    assert divided(structure).solve().objective == pytest.approx(expected)


def test_ctrl_c_within_a_pricing_problem_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Branch and cut does not begin anew; what it knows by then is the result."""
    model, structure = slow_block(monkeypatch)
    take_turn, begun = InTurns.take_turn, list[float]()

    def struck(self: InTurns) -> bool:
        caller = sys._getframe(1).f_code.co_name
        is_solved = caller in ("asked", "waiting") and take_turn(self)
        if caller == "asked" and self.paused.best[1] is not None:
            signal.raise_signal(signal.SIGINT)
        return is_solved

    def run(self: BranchAndCut, gap: float, *_: Any, **__: Any) -> Any:
        begun.append(gap)
        return found

    found = BranchAndCut(model).run(0.0, None)
    monkeypatch.setattr(InTurns, "take_turn", struck)
    monkeypatch.setattr(BranchAndCut, "run", run)
    result = divided(structure).solve()
    assert not begun
    assert result.stop_reason is StopReason.INTERRUPTED
    assert result.message.startswith("Ctrl-C")
    assert model.is_feasible(np.array(list(result.x.values())))
    assert result.objective >= found.objective - 1e-6
    assert result.bound is None or result.bound <= found.objective + 1e-6


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_ctrl_c_while_blocks_are_solved_elsewhere(
    monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    """The search keeps its solution and bound, and the executor works on."""
    model, blocks = model_of(1, "ssn")
    known = list[TreeState]()

    class Known(Callback):
        """Keeps what the search knows."""

        def __call__(self, state: TreeState) -> bool:
            """After a node."""
            known.append(state)
            return False

    def struck(self: Any, *told: Any) -> Any:
        if known and math.isfinite(known[-1].objective):
            signal.raise_signal(signal.SIGINT)
        return ask(self, *told)

    ask, own = FuturesExecutor.ask, decompose(model, blocks)
    with make(2) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(FuturesExecutor, "ask", struck)
            result = own.solve(block_executor=pool, callbacks=[Known()])
        again = own.solve(block_executor=pool)
    assert result.stop_reason is StopReason.INTERRUPTED
    assert (result.objective, result.bound) == (known[-1].objective, known[-1].bound)
    assert result.x
    assert again.objective == pytest.approx(Decomposition(model, None, "").solve().objective)


def hard_blocks() -> tuple[Program, dict[str, object]]:
    """Two blocks whose pricing problems take minutes; the whole model takes a second."""
    rng, n, m = np.random.default_rng(0), 200, 15
    rows = sp.block_diag([rng.integers(20, 99, (m, n)) for _ in range(2)], format="csr")
    matrix = sp.csr_array(sp.vstack([rows, np.ones((1, 2 * n))]))
    high = np.r_[np.asarray(rows.sum(axis=1)).ravel() / 2, n / 2]
    cost = -rng.integers(20, 99, 2 * n).astype(float)
    program = Program(cost, matrix, -INF, high, 0, 1, None, np.ones(2 * n))
    return program, {f"r{row}": row // m for row in range(2 * m)}


def test_the_tree_search_is_alone_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found blocks too: with duals, pool and certificate; no run of branch and cut begins."""
    structure = slow_block(monkeypatch)[1]
    program, _ = assignment(0)
    for refused in ("run", "loaded"):
        monkeypatch.setattr(BranchAndCut, refused, _refused)
    monkeypatch.setattr(PausedCut, "go_on", _refused)
    monkeypatch.setattr(decomposition, "FIRST_TURN", 1.0)
    monkeypatch.setattr(BranchAndCut, "made_whole", lambda _, x: (x, None))
    found = decompose(program).solve(branch_and_cut=False)
    assert found.stop_reason is StopReason.OPTIMAL
    assert found.duals
    assert found.pool
    timed = divided(structure).solve(branch_and_cut=False, time_limit=0.0)
    assert (timed.stop_reason, timed.objective) == (StopReason.TIME, INF)
    with pytest.raises(NotDecomposableError, match=r"no blocks were found.*branch_and_cut=False"):
        decompose(Program([1.0], [[1.0]], 0.0, 1.0)).solve(branch_and_cut=False)
    with pytest.raises(ValueError, match="branch_and_cut must be True or False, got 0"):
        decompose(program).solve(branch_and_cut=0)
    monkeypatch.undo()
    assert found.objective == pytest.approx(Decomposition(program, None, "").solve().objective)


def test_a_search_alone_that_shows_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its solution, bound and reason are the result; what fails in it keeps what was found."""
    model, blocks = assignment(0)
    own = divided(structure_of(model, blocks))
    optimum = own.solve(branch_and_cut=False).objective
    price = BlockPricer.price
    monkeypatch.setattr(BlockPricer, "price", lambda *_: Priced(()))
    nothing = own.solve(branch_and_cut=False)
    assert (nothing.stop_reason, nothing.bound) == (StopReason.NO_COLUMN, None)
    assert not nothing.x
    asked: list[int] = []

    def breaks(self: BlockPricer, *given: Any) -> Priced:
        asked.append(0)
        if len(asked) > 6:
            raise BlockError("no more")
        return price(self, *given)

    monkeypatch.setattr(BlockPricer, "price", breaks)
    failed = own.solve(branch_and_cut=False)
    assert failed.stop_reason is StopReason.PRICER_FAILED
    assert failed.bound is None or failed.bound >= optimum - 1e-6
    monkeypatch.undo()
    run = BranchAndPrice.run
    monkeypatch.setattr(BranchAndPrice, "run", lambda *a, **k: replace(run(*a, **k), bound=-99.0))
    open_end = divided(structure_of(*infeasible(0))).solve(branch_and_cut=False)
    assert (open_end.stop_reason, open_end.bound) == (StopReason.STALLED, -99.0)


def test_ctrl_c_does_not_wait_for_a_pricing_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given blocks too: the result is what branch and cut knows; without it, there is none."""
    program, blocks = hard_blocks()
    monkeypatch.setattr(branch_and_cut, "TURN", 0.01)
    take_turn, solve, answered = InTurns.take_turn, HighsBlock.solve, list[Found]()

    def solved(self: HighsBlock, request: BlockRequest) -> Found:
        answered.append(solve(self, request))
        return answered[-1]

    monkeypatch.setattr(HighsBlock, "solve", solved)

    def struck(self: InTurns) -> bool:
        has_ended = take_turn(self)
        if self.paused.known or has_ended or share == 0.0:
            signal.raise_signal(signal.SIGINT)
        return has_ended

    monkeypatch.setattr(InTurns, "take_turn", struck)
    for share in (0.0, 0.3):
        monkeypatch.setattr(decomposition, "SHARE_OF_GIVEN", share)
        if share:
            result = decompose(program, blocks).solve()
            assert result.stop_reason is StopReason.INTERRUPTED
            assert result.x
        else:
            with pytest.raises(KeyboardInterrupt):
                decompose(program, blocks).solve()
        assert not answered


def test_a_solution_is_known_only_with_its_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another thread reads while HiGHS hands over a solution is whole."""
    program, _ = hard_blocks()
    paused = PausedCut(BranchAndCut(as_model(program)), 0.0)
    value, seen = Program.objective_value, list[CutOutcome | None]()

    def looked_at(self: Program, x: Vector) -> float:
        seen.append(paused.known)
        return value(self, x)

    monkeypatch.setattr(Program, "objective_value", looked_at)
    paused.go_on(5.0)
    paused.close()
    monkeypatch.undo()
    assert len(seen) > 1
    for known in seen:
        assert known is None or known.x is None or known.objective == value(program, known.x)


def test_given_blocks_that_are_slow_lose_to_branch_and_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a share of the time, whatever the pricing problems; the log says who has won."""
    monkeypatch.setattr(decomposition, "SHARE_OF_GIVEN", branch_and_cut.SHARE_OF_GIVEN)
    program, blocks = hard_blocks()
    stream = io.StringIO()
    line = TreeProgress(console=Console(file=stream, width=200))
    result = decompose(program, blocks).solve(time_limit=60.0, callbacks=[line])
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.message.startswith("solved by branch and cut in HiGHS, in turns")
    last = stream.getvalue().splitlines()[-2]
    assert last.startswith("optimal after 1 node")
    assert f"objective {result.objective:.8g}, bound {result.bound:.8g}" in last


def fake_turns(monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], list[float]]:
    """A clock that turns of branch and cut move on, and the seconds each was asked for."""
    clock, asked = [0.0], list[float]()
    monkeypatch.setattr(branch_and_cut.time, "perf_counter", lambda: clock[0])

    def go_on(self: PausedCut, seconds: float) -> bool:
        asked.append(seconds)
        clock[0] += seconds
        return False

    monkeypatch.setattr(PausedCut, "go_on", go_on)
    return clock, asked


@pytest.mark.parametrize(("bound", "share"), [(-INF, 1 / 2), (90.0, 1 / 2), (99.0, 1 / 3)])
def test_branch_and_cut_has_its_share(
    monkeypatch: pytest.MonkeyPatch, bound: float, share: float
) -> None:
    """Its share of the time, half of it if the bound is far away, and no turn beyond the limit."""
    model, blocks = assignment(0)
    clock, asked = fake_turns(monkeypatch)
    made = reformulated(structure_of(model, blocks))
    turns = InTurns(BranchAndCut(model), 0.0, 1 / 3, time_limit=100.0)
    turns.made = made
    turns.waiting(TreeState(1, 1, bound, 100.0, INF, 0, 0.0))
    for passed in (1.0, 2.0, 0.01, 30.0):
        clock[0] += passed
        turns.take_turn()
        assert sum(asked) == pytest.approx(share * clock[0], abs=branch_and_cut.TURN)
    clock[0] = 99.0
    turns.take_turn()
    assert asked[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(("entry", "limit"), [(1e-3, None), (1e-3, 0.01), (1.0, None)])
def test_branch_and_cut_is_first_where_blocks_are_found(
    monkeypatch: pytest.MonkeyPatch, entry: float, limit: float | None
) -> None:
    """It has its seconds for each entry before a search, a second or the time limit at most.

    Given blocks are made at once, and a model that is easy as a whole needs none.
    """
    monkeypatch.setattr(decomposition, "FIRST_TURN", entry)
    model, blocks = assignment(0)
    structure, asked = structure_of(model, blocks), list[float | None]()
    go_on = PausedCut.go_on

    def noted(self: PausedCut, seconds: float | None) -> bool:
        asked.append(seconds)
        return go_on(self, None)

    monkeypatch.setattr(PausedCut, "go_on", noted)
    result = divided(structure).solve(time_limit=limit)
    n_entries = int((structure.block_of_variable[model.matrix.indices] >= 0).sum())
    assert len(structure.groups()) == structure.n_blocks
    assert asked == [pytest.approx(min(entry * n_entries, limit or 1.0, 1.0))]
    assert result.tree is None
    assert result.message.startswith("solved by branch and cut in HiGHS, in turns")
    given = Decomposition(model, structure, "given").solve()
    assert len(asked) == 1
    assert given.objective == pytest.approx(result.objective)


def test_the_first_turn_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is on account: branch and cut has half of the time, whenever it has had it."""
    clock, asked = fake_turns(monkeypatch)
    turns = InTurns(BranchAndCut(assignment(0)[0]), 0.0, 0.5)
    assert not turns.take_first_turn(0.0)
    assert not turns.take_first_turn(0.8)
    for passed in (0.5, 0.2, 0.3, 0.4):
        clock[0] += passed
        turns.take_turn()
    assert asked == [0.8, pytest.approx(0.2), pytest.approx(0.4)]


def test_a_block_is_left_once_the_model_is_solved() -> None:
    """Whatever algorithm it has: then nothing is proven by its price."""
    model, blocks = assignment(0)
    made = reformulated(structure_of(model, blocks))
    problem = made.pricer.problems[0]
    assert problem.special is not None
    state = made.master.solve()
    assert made.pricer.price(state, 9).exact
    problem.waiting = lambda: True
    assert not made.pricer.price(state, 9).exact


def test_branch_and_cut_calls_back_from_its_own_thread_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not from the linear program at its end: HiGHS makes an error of Ctrl-C within a call."""
    _, structure = slow_block(monkeypatch)
    called, threads = PausedCut._called, set[threading.Thread]()

    def seen(self: PausedCut, *told: Any) -> None:
        threads.add(threading.current_thread())
        called(self, *told)

    monkeypatch.setattr(PausedCut, "_called", seen)
    result = divided(structure).solve()
    assert "in turns with a tree search" in result.message
    assert threads
    assert threading.current_thread() not in threads


@pytest.mark.parametrize("make", [assignment, packing])
def test_a_point_of_the_model_has_its_columns(make: Any) -> None:
    """Columns of the solution of branch and cut, of equal blocks too, are this solution again."""
    model, blocks = make(1)
    made = reformulated(structure_of(model, blocks))
    found = BranchAndCut(model).run(0.0, None)
    assert found.x is not None
    columns, counts = made.columns_of(found.x)
    as_result: Any = replace(
        BranchAndPriceResult(0.0, None, INF, (), np.zeros(0), 0, 0, StopReason.TIME, "", {}),
        columns=tuple(columns),
        coef=np.array(counts),
    )
    back = made.point(as_result)
    assert model.is_feasible(back)
    assert model.program.objective_value(back) == pytest.approx(found.objective)
    cost = sum(count * column.cost for column, count in zip(columns, counts, strict=True))
    assert cost + made.constant + model.program.constant == pytest.approx(found.objective)


def test_bounds_between_turns_hold() -> None:
    """After every pause the optimum is between bound and objective; nothing runs in the end."""
    rng = np.random.default_rng(0)
    weights, n = rng.integers(10, 40, size=(5, 40)).astype(float), 40
    program = Program(
        -rng.integers(10, 40, n).astype(float), weights, -INF, weights.sum(axis=1) / 3,
        0, 1, None, np.ones(n), constant=1000.0,
    )  # fmt: skip
    model = Decomposition(decompose(program).model, None, "").model
    optimum = BranchAndCut(model).run(0.0, None).objective
    run, ends, n_threads = PausedCut(BranchAndCut(model), 0.0), [], threading.active_count()
    outcome = None
    while outcome is None:
        outcome = run.outcome() if run.go_on(0.01) else None
        ends.append((run.bound, run.objective))
    run.close()
    assert threading.active_count() <= n_threads
    assert all(bound <= optimum + 1e-6 <= objective + 2e-6 for bound, objective in ends)
    assert (outcome.stop_reason, outcome.objective) == (StopReason.OPTIMAL, optimum)
    other = PausedCut(BranchAndCut(model), 0.0)
    other.go_on(0.0)
    other.close()
    assert threading.active_count() <= n_threads


def test_a_bound_above_a_solution_is_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree search with a wrong bound loses: branch and cut solves the model."""
    model, blocks = assignment(0)
    structure = structure_of(model, blocks)
    turns = InTurns(BranchAndCut(model), 0.0)
    turns.made = reformulated(structure)
    turns._started = turns._seen = -1e9
    turns.waiting(TreeState(1, 1, -INF, INF, INF, 0, 0.0))
    assert turns.outcome is not None
    turns.paused.close()
    too_high = turns.paused.objective + 100.0
    tree = BranchAndPriceResult(INF, too_high, INF, (), np.zeros(0), 1, 0, StopReason.TIME, "", {})
    with pytest.raises(BoundError, match="above the objective"):
        turns.check_bound(tree)
    monkeypatch.setattr(InTurns, "check_bound", _refused)
    result = divided(structure).solve()
    alone = Decomposition(model, None, "").solve()
    assert result.objective == result.bound == alone.objective
    assert "wrong" in result.message


def test_branch_and_cut_finishes_a_search_that_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With blocks that were found, and with given ones."""
    model, blocks = assignment(0)
    structure = structure_of(model, blocks)
    monkeypatch.setattr(branch_and_cut, "TURN", INF)
    monkeypatch.setattr(BlockPricer, "price", lambda *_: Priced(()))
    for result in (divided(structure).solve(), decompose(model, blocks).solve()):
        assert result.objective == result.bound == Decomposition(model, None, "").solve().objective
        assert "no column" in result.message


def _refused(self: Any, *_: Any, **__: Any) -> Any:
    raise BoundError("a wrong bound")


def _begun(turns: InTurns) -> bool:
    return turns.paused.go_on(0.0)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("blocks", ["given", "found", "none"])
def test_costs_in_any_unit(blocks: str, maximize: bool) -> None:
    """A model with costs of 1e-12 to 1e15 has the solution and 1e-12 to 1e15 times the value."""
    model, given = assignment(3)
    program = replace(model.program, constant=0.0)
    if not maximize:
        program = replace(program, cost=-program.cost)
    best = None
    for unit in (1.0, 1e-12, 1e-8, 1e8, 1e12, 1e15):
        own = replace(model, program=replace(program, cost=unit * program.cost), maximize=maximize)
        structure = structure_of(own, given)
        problem = {
            "given": Decomposition(own, structure, ""),
            "found": divided(structure),
            "none": Decomposition(own, None, ""),
        }[blocks]
        seen: list[TreeState] = []
        result = problem.solve(callbacks=[seen.append])
        best = result.objective if best is None else best
        assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
        assert result.objective / unit == pytest.approx(best)
        assert result.bound is not None
        assert result.bound / unit == pytest.approx(best)
        sign = -1.0 if maximize else 1.0
        if blocks == "given":
            assert result.tree is not None
            assert result.tree.objective / unit == pytest.approx(sign * best)
            assert seen[-1].objective / unit == pytest.approx(best)


@pytest.mark.parametrize(
    ("low", "reason"), [(0.5, StopReason.INFEASIBLE), (0.0, StopReason.UNBOUNDED)]
)
def test_unbounded_and_infeasible_models_are_called_that(low: float, reason: StopReason) -> None:
    """Also where presolving says only that one of them is so; each has the bound of its kind."""
    rows = [[1.0, -1.0, 0.0], [0.0, 0.0, 2.0]]
    model = Program(
        [-1.0, 0.0, 0.0], rows, [0.0, low], [0.0, 0.5 + low / 2], 0, [INF, INF, 1], None,
        np.ones(3),
    )  # fmt: skip
    for every in (model, replace(model, integrality=None)):
        result = decompose(every, {}).solve()
        if every is model or reason is StopReason.UNBOUNDED:
            bound = INF if reason is StopReason.INFEASIBLE else -INF
            assert (result.stop_reason, result.bound) == (reason, bound)


def test_a_linear_program_that_is_cut_short_has_no_bound() -> None:
    """What the simplex method has reached is not a bound, and no point of it is a solution."""
    rng = np.random.default_rng(0)
    matrix = rng.random((200, 300))
    program = Program(-rng.random(300), matrix, -INF, 10.0 + rng.random(200), 0.0, INF)
    result = decompose(program, {}).solve(time_limit=0.0)
    assert (result.stop_reason, result.bound) == (StopReason.TIME, None)


def test_the_gap_counts_the_constant() -> None:
    """Branch and cut may stop at a gap that is relative to the objective of the model."""
    model, _ = assignment(2)
    far = replace(model, program=replace(model.program, constant=1e9))
    result = decompose(far, {}).solve(gap=1e-2)
    assert result.gap <= 1e-2
    assert result.objective == pytest.approx(-1e9, rel=1e-2)
