"""Nodes and blocks on executors: one tree wherever they are solved, and workers that fail."""

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

from cgboost import decompose
from cgboost.exceptions import WorkerWarning
from cgboost.generation.function_pricer import as_pricer
from cgboost.generation.history import StopReason
from cgboost.integer import VariableBranching, respects
from cgboost.parallel import DaskExecutor, FuturesExecutor, ThreadExecutor
from solvers import Program

from .decomposition.cases import assignment, flows, with_slack
from .test_search_laws import same_tree
from .tree_problems import KINDS, Problem, check, set_covering

ALONE: dict[str, Any] = {"branching": VariableBranching(), "heuristics": []}


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that do not share this one's memory."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def wide() -> Problem:
    """A covering whose tree has many nodes."""
    problems = map(set_covering, range(1000))
    return next(each for each in problems if each.search(**ALONE).run().n_nodes >= 10)


def test_one_tree_wherever_its_nodes_are_solved(
    wide: Problem, processes: ProcessPoolExecutor
) -> None:
    """Threads, processes and a Dask cluster with three tasks each make the same tree.

    A batch does not go beyond a limit of nodes.
    """
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        results = [
            wide.search(**ALONE, executor=executor).run()
            for executor in (
                ThreadExecutor(3),
                FuturesExecutor(processes, 3),
                DaskExecutor(client, 3),
            )
        ]
    for result in results:
        same_tree(results[0], result)
        check(result, wide)
    for most in (1, 2, 5):
        result = wide.search(**ALONE, executor=ThreadExecutor(4)).run(max_nodes=most)
        assert (result.n_nodes, result.stop_reason) == (most, StopReason.MAX_NODES)
        check(result, wide)


def program(seed: int) -> tuple[Program, dict[str, object]]:
    """Three continuous blocks, whose answers must not depend on what HiGHS was asked before."""
    rng = np.random.default_rng(seed)
    n, k = 12, 3
    matrix = np.vstack([rng.integers(0, 5, (6, n * k)), np.kron(np.eye(k), rng.random((4, n)))])
    low = np.r_[np.full(6, 9.0), np.full(4 * k, -np.inf)]
    model = Program(rng.random(n * k), matrix, low, np.where(low > 0, np.inf, 2.0), 0, 3)
    return model, {f"r{6 + i}": i // 4 for i in range(4 * k)}


@pytest.mark.parametrize("make", [assignment, with_slack, flows, program])
def test_decomposed_models(make: Callable[[int], Any], processes: ProcessPoolExecutor) -> None:
    """Blocks on threads and in processes make one tree, column by column; nodes one optimum.

    Without executors it is the same tree where blocks are integer.
    """
    model, blocks = make(0 if make is program else 1)
    alone = decompose(model, blocks).solve()
    results = [
        decompose(model, blocks).solve(block_executor=executor)
        for executor in (ThreadExecutor(2), processes, FuturesExecutor(processes, 3))
    ]
    for result in results:
        assert result.tree is not None
        assert results[0].tree is not None
        same_tree(results[0].tree, result.tree)
        assert result.x == results[0].x
        assert result.objective == pytest.approx(alone.objective)
    if make is not program:
        same_tree(alone.tree, results[0].tree)
        assert alone.x == results[0].x
    there = decompose(model, blocks).solve(executor=processes, heuristics=[])
    assert there.stop_reason is alone.stop_reason
    assert there.objective == pytest.approx(alone.objective)


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


class Deadly:
    """Prices for a problem, and kills the process in which it is a copy."""

    respects = KINDS

    def __init__(self, problem: Problem) -> None:
        self.problem, self.home = problem, os.getpid()

    def price(self, state: Any, limit: int) -> Any:
        """See :class:`~cgboost.generation.protocols.Pricer`."""
        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return as_pricer(self.problem.pricer()).price(state, limit)


def test_killed_worker(wide: Problem) -> None:
    """Where workers are killed the search goes on in this process, to the optimum."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        search = wide.search(Deadly(wide), **ALONE, executor=pool)
        with pytest.warns(WorkerWarning, match="ProcessPoolExecutor has lost a worker"):
            result = search.run()
    assert result.stop_reason is StopReason.OPTIMAL
    check(result, wide)


def test_pricer_that_cannot_be_sent(wide: Problem, processes: ProcessPoolExecutor) -> None:
    """The search ends with what is proven, and says what to do."""
    honest, lock = wide.pricer(), threading.Lock()

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        with lock:
            return honest(duals)

    result = wide.search(price, **ALONE, executor=processes).run()
    assert result.stop_reason is StopReason.WORKER_FAILED
    assert "cannot send a node its pricer" in result.message
    check(result, wide)
