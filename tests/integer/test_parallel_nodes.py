"""Nodes on executors: the same optimum, and one tree wherever its nodes are solved."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import decompose
from cgboost.exceptions import WorkerWarning
from cgboost.generation.history import StopReason
from cgboost.integer import (
    BestBound,
    BranchAndPriceResult,
    DepthFirst,
    RyanFoster,
    SubsetRow,
    VariableBranching,
    respects,
)
from cgboost.parallel import DaskExecutor, FuturesExecutor, SerialExecutor, ThreadExecutor
from solvers import Program
from tests.effort import examples

from .decomposition.test_decomposition import assignment, flows, with_slack
from .test_branch_and_price import check_stopped, failing
from .test_tree_search import CASES, check_tree
from .tree_problems import KINDS, Problem, bin_packing, generalised_assignment, set_covering

RULE = VariableBranching()


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that do not share this one's memory."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


def wide(least: int = 10) -> Problem:
    """A covering whose tree has many nodes."""
    for seed in range(1000):
        problem = set_covering(seed)
        result = problem.search(branching=RULE, heuristics=[]).run()
        if result.n_nodes >= least:
            return problem
    raise AssertionError("no such covering")


def same_tree(first: BranchAndPriceResult, second: BranchAndPriceResult) -> None:
    """Equal tables but for the seconds."""
    for name in set(first.tree) - {"seconds"}:
        np.testing.assert_array_equal(first.tree[name], second.tree[name])
    assert first.n_generated == second.n_generated


@pytest.mark.parametrize("case", ["packing, pairs", "cutting, count", "covering, variables"])
@settings(max_examples=examples(10))
@given(
    seed=st.integers(0, 10_000),
    n_tasks=st.integers(2, 5),
    selection=st.sampled_from([BestBound, DepthFirst]),
    alone=st.booleans(),
)
def test_optimum(
    case: str, seed: int, n_tasks: int, selection: Callable[[], Any], alone: bool
) -> None:
    """In batches of any size the tree ends at the optimum, and is right at every node."""
    make, rules = CASES[case]
    problem = make(seed)
    optimum = problem.optimum()
    result = problem.search(
        branching=rules,
        node_selection=selection(),
        heuristics=[] if alone else "auto",
        executor=ThreadExecutor(n_tasks),
    ).run(max_nodes=2000)
    check_tree(result, optimum)
    assert result.objective == pytest.approx(optimum, rel=1e-6)


def test_one_tree_wherever_its_nodes_are_solved(processes: ProcessPoolExecutor) -> None:
    """Threads, processes and a Dask cluster with three tasks each make the same tree."""
    distributed = pytest.importorskip("distributed")
    problem = wide()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        results = [
            problem.search(branching=RULE, heuristics=[], executor=executor).run()
            for executor in (
                ThreadExecutor(3),
                FuturesExecutor(processes, 3),
                DaskExecutor(client, 3),
                ThreadExecutor(3),
            )
        ]
    for result in results:
        same_tree(results[0], result)
        assert result.objective == pytest.approx(problem.optimum())


def test_one_task_is_the_serial_tree() -> None:
    """An executor of one task changes nothing."""
    problem = wide()
    plain = problem.search(branching=RULE, heuristics=[]).run()
    same_tree(plain, problem.search(branching=RULE, heuristics=[], executor=SerialExecutor()).run())


def test_cuts_in_batches() -> None:
    """Cuts of one node hold in the next batch, and the optimum stays."""
    problem, seen = bin_packing(3), []

    def cut(solution: Any) -> list[SubsetRow]:
        seen.append(solution.depth)
        rows = list(solution.rows)
        found = []
        for a in range(len(rows)):
            for b in range(a + 1, len(rows)):
                for c in range(b + 1, len(rows)):
                    row = SubsetRow(frozenset([rows[a], rows[b], rows[c]]))
                    total = sum(
                        x * row.coefficient(column, solution.rows)
                        for column, x in zip(solution.columns, solution.coef, strict=True)
                    )
                    if total > row.rhs + 1e-6:
                        found.append(row)
        return found

    for seed in range(10):
        problem = bin_packing(seed)
        result = problem.search(
            branching=RyanFoster(), heuristics=[], cuts=[cut], executor=ThreadExecutor(4)
        ).run()
        assert result.objective == pytest.approx(problem.optimum())
    assert seen


def test_decomposed_models_in_processes(processes: ProcessPoolExecutor) -> None:
    """Blocks with models in HiGHS are made anew in every process."""
    for seed in range(4):
        model, blocks = assignment(seed)
        alone = decompose(model, blocks).solve()
        there = decompose(model, blocks).solve(executor=processes, heuristics=[])
        assert there.stop_reason is alone.stop_reason
        assert there.objective == pytest.approx(alone.objective)


@pytest.mark.parametrize("problem", [assignment, with_slack, flows])
def test_blocks_in_processes(problem: Callable[[int], Any], processes: ProcessPoolExecutor) -> None:
    """The tree is the same as without, column by column, on threads and in processes."""
    model, blocks = problem(1)
    results = [
        decompose(model, blocks).solve(block_executor=executor)
        for executor in (None, ThreadExecutor(2), processes)
    ]
    for result in results:
        assert result.tree is not None
        assert results[0].tree is not None
        same_tree(results[0].tree, result.tree)
        assert result.x == results[0].x


def test_continuous_blocks_in_processes(processes: ProcessPoolExecutor) -> None:
    """Answers in HiGHS do not depend on what a worker was asked before."""
    rng = np.random.default_rng(0)
    n, k = 12, 3
    matrix = np.vstack([rng.integers(0, 5, (6, n * k)), np.kron(np.eye(k), rng.random((4, n)))])
    low = np.r_[np.full(6, 9.0), np.full(4 * k, -np.inf)]
    program = Program(rng.random(n * k), matrix, low, np.where(low > 0, np.inf, 2.0), 0, 3)
    blocks = {f"r{6 + i}": i // 4 for i in range(4 * k)}
    results = [
        decompose(program, blocks).solve(block_executor=executor)
        for executor in (ThreadExecutor(2), processes, FuturesExecutor(processes, 3))
    ]
    alone = decompose(program, blocks).solve()
    for result in results:
        assert result.tree is not None
        assert results[0].tree is not None
        same_tree(results[0].tree, result.tree)
        assert result.x == results[0].x
        assert result.objective == pytest.approx(alone.objective)


def test_a_worker_of_blocks_that_is_killed() -> None:
    """A new pool takes over, and the search ends at the optimum."""
    model, blocks = with_slack(0)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        def kill(state: Any) -> None:
            for process in pool._processes.values():
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)

        with pytest.warns(WorkerWarning, match="a new pool takes its place"):
            result = decompose(model, blocks).solve(
                block_executor=pool, heuristics=[], callbacks=[kill]
            )
    best = decompose(model, blocks).solve().objective
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("most", range(6))
def test_max_nodes(most: int) -> None:
    """A batch does not go beyond the limit, and what waited counts in the bound."""
    problem = wide()
    options = {"branching": RULE, "heuristics": [], "executor": ThreadExecutor(4)}
    result = problem.search(**options).run(max_nodes=most)
    assert result.n_nodes == most
    assert result.stop_reason is StopReason.MAX_NODES
    check_stopped(result, problem)


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), KeyboardInterrupt()])
def test_failing_pricer(error: BaseException) -> None:
    """What a pricer raises within a batch ends the search with a valid bound."""
    problem = wide()
    reasons = set()
    for calls in range(0, 40, 3):
        pricer = failing(problem, calls, error)
        options = {"branching": RULE, "heuristics": [], "executor": ThreadExecutor(3)}
        try:
            result = problem.search(pricer, **options).run()
        except type(error):
            continue
        check_stopped(result, problem)
        reasons.add(result.stop_reason)
    interrupted = isinstance(error, KeyboardInterrupt)
    assert (StopReason.INTERRUPTED if interrupted else StopReason.PRICER_FAILED) in reasons


def test_time_limit() -> None:
    """A limit that ends within a batch leaves a valid bound."""
    problem = wide()
    for seconds in (0.0, 0.01, 0.05):
        options = {"branching": RULE, "heuristics": [], "executor": ThreadExecutor(3)}
        check_stopped(problem.search(**options).run(time_limit=seconds), problem)


class Deadly:
    """Prices for a problem, and kills the process in which it is a copy."""

    respects = KINDS

    def __init__(self, problem: Problem) -> None:
        self.problem, self.home = problem, os.getpid()

    def price(self, state: Any, limit: int) -> Any:
        """See :class:`~cgboost.generation.protocols.Pricer`."""
        from cgboost.generation.function_pricer import as_pricer

        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return as_pricer(self.problem.pricer()).price(state, limit)


def test_killed_worker() -> None:
    """Where workers are killed the search goes on in this process, to the optimum."""
    problem = wide()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        search = problem.search(Deadly(problem), branching=RULE, heuristics=[], executor=pool)
        with pytest.warns(WorkerWarning, match="ProcessPoolExecutor has lost a worker"):
            result = search.run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-9)


def test_pricer_that_cannot_be_sent(processes: ProcessPoolExecutor) -> None:
    """The search ends with what is proven, and says what to do."""
    problem = wide()
    honest, lock = problem.pricer(), threading.Lock()

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        with lock:
            return honest(duals)

    result = problem.search(price, branching=RULE, heuristics=[], executor=processes).run()
    assert result.stop_reason is StopReason.WORKER_FAILED
    assert "cannot send a node its pricer" in result.message
    check_stopped(result, problem)


def test_wrong_executor() -> None:
    """What is no executor is refused at once."""
    with pytest.raises(TypeError, match="executor must be None"):
        generalised_assignment(0).search(executor="processes")
