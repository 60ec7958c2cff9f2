"""Executors: the same columns and the same bits wherever a pass runs, also after a lost worker."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.generation.protocols import MasterState
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.parallel import (
    DaskExecutor,
    FuturesExecutor,
    SerialExecutor,
    ThreadExecutor,
    as_executor,
)
from cgboost.parallel.cluster import CHECKPOINT
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer

LIBRARY = KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(0.02)})
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 12)).astype(np.float32)
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, 1.0, -1.0)


def double(data: int, state: int, message: int) -> tuple[int, int]:
    """A task whose answer depends on everything that it is given."""
    return state + message, 100 * data + state


def run(executor: Any, *, priority: str = "full") -> dict[str, Any]:
    """What a run of column generation finds, to the last bit."""
    pool = KernelPool(LIBRARY, X, cache_size=0.0, block_size=16, executor=executor)
    pricer = StrataPricer(pool, priority=priority, tol=1e-6)
    master = OneNormMaster(hinge(LABELS, np.full(90, 0.02)))
    result = ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=6).run()
    assert result.gap <= 1e-6
    return {
        "columns": [column.key for column in result.columns],
        "bounds": np.array(result.history["bound"]).tobytes(),
        "objective": result.objective,
    }


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes, started afresh."""
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers of a Dask cluster, each in a process of its own."""
    distributed = pytest.importorskip("distributed", reason="pip install cgboost[distributed]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_pass_is_a_map_with_states_and_a_reduction(processes: Any, client: Any) -> None:
    """Every executor hands states on, keeps the order of parts, and combines their answers."""
    executors = [
        SerialExecutor(),
        ThreadExecutor(2),
        FuturesExecutor(ThreadPoolExecutor(2)),
        FuturesExecutor(processes),
        DaskExecutor(client),
    ]
    for executor in executors:
        shared = executor.share(7)
        states: list[Any] = [1, 2, 3]
        for message in (10, 20):
            states, answer = executor.run(double, list, shared, states, message)
        assert answer == [711, 712, 713]
        assert executor.n_tasks >= 1


@pytest.mark.parametrize("priority", ["full", "stratified"])
def test_the_same_columns_from_threads_and_processes(processes: Any, priority: str) -> None:
    """Threads and processes generate the columns of a serial run, with bounds of the same bits."""
    alone = run(SerialExecutor(), priority=priority)
    assert run(ThreadExecutor(3), priority=priority) == alone
    assert run(processes, priority=priority) == alone
    assert run(FuturesExecutor(processes, 5), priority=priority) == alone


def test_the_same_columns_from_a_cluster(client: Any) -> None:
    """Dask workers generate the columns of a serial run, with bounds of the same bits."""
    assert run(DaskExecutor(client)) == run(SerialExecutor())


def test_workers_killed_within_a_pass_change_nothing(client: Any) -> None:
    """Data, tasks and states that dying workers take along are made again, with the same bits.

    Two passes lose a worker each; after the second none is left of those that were sent the data.
    """
    executor = Killing(client, passes=[3, 6])
    assert run(executor) == run(SerialExecutor())
    assert len(executor.killed) == 2


def test_states_come_home_now_and_then(client: Any) -> None:
    """Every CHECKPOINT passes a state is fetched, so that little has to be done again."""
    executor = DaskExecutor(client)
    shared, states = executor.share(0), [1]
    for count in range(1, CHECKPOINT + 2):
        states, answers = executor.run(double, list, shared, states, 1)
        assert answers == [count]
        assert len(states[0].tasks) == count % CHECKPOINT
    assert states[0].base == 1 + CHECKPOINT


def test_data_of_a_pool_leaves_no_file_behind(processes: Any) -> None:
    """The file that processes read is removed with what stands for it."""
    executor = FuturesExecutor(processes)
    shared = executor.share(np.arange(3))
    path = Path(shared.path)
    assert path.exists()
    del shared
    assert not path.parent.exists()


def test_what_is_no_executor_is_refused() -> None:
    """The error names what may be given instead; numbers of tasks must be positive."""
    with pytest.raises(TypeError, match=r"DaskExecutor\(client\).*got 'threads'"):
        as_executor("threads")
    with pytest.raises(TypeError, match="executor must be"):
        KernelPool(LIBRARY, X, executor=2)
    with pytest.raises(ValueError, match="n_threads must be at least 1 or None, got 0"):
        ThreadExecutor(0)
    for kind in (FuturesExecutor, DaskExecutor):
        with pytest.raises(ValueError, match="n_tasks must be at least 1 or None, got 0"):
            kind(None, 0)


def test_rows_and_values_stay_in_processes_while_answers_come_back(processes: Any) -> None:
    """A pass on processes shows the best columns and the certificate of one with a cache."""
    response = RNG.normal(size=90)
    state = MasterState(
        (), np.zeros(0), 0.0, np.zeros(90), response, 1.0, np.zeros(90), OneNormEntry(True)
    )
    here, there = (
        StrataPricer(KernelPool(LIBRARY, X, block_size=16, executor=executor)).price(state, 1)
        for executor in (None, processes)
    )
    assert [column.key for column in here.columns] == [column.key for column in there.columns]
    assert there.exact
    assert there.max_excess == pytest.approx(here.max_excess, rel=1e-2)
    assert there.n_evaluated == 270


class Killing(DaskExecutor):
    """A cluster that loses a worker while a pass runs."""

    def __init__(self, client: Any, *, passes: list[int]) -> None:
        super().__init__(client, 4)
        self.passes = passes
        self.count = 0
        self.original = set(client.run(os.getpid).values())
        self.killed: set[int] = set()

    def run(self, task: Any, combine: Any, shared: Any, states: Any, message: Any) -> Any:
        """In some passes, kill one of the first workers as soon as all tasks are submitted."""
        self.count += 1
        submit = self.client.submit

        def submit_and_kill(function: Any, *arguments: Any, **options: Any) -> Any:
            future = submit(function, *arguments, **options)
            if function is combine and len(self.killed) < 1 + self.passes.index(self.count):
                victim = min(self.original - self.killed)
                self.killed.add(victim)
                os.kill(victim, signal.SIGKILL)
            return future

        if self.count in self.passes:
            self.client.submit = submit_and_kill
        try:
            return super().run(task, combine, shared, states, message)
        finally:
            self.client.submit = submit
