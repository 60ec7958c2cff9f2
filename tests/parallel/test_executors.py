"""Executors: the same columns and the same bits wherever a pass runs, also after a lost worker."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.exceptions import ExecutorError, WorkerWarning
from cgboost.generation.protocols import MasterState
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.parallel import (
    DaskExecutor,
    FuturesExecutor,
    SerialExecutor,
    ThreadExecutor,
    as_executor,
    cluster,
    executors,
)
from cgboost.parallel.executors import remove_stale
from cgboost.parallel.pickling import sendable
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing import KernelPool, StrataPricer

LIBRARY = KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(0.02)})
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 12)).astype(np.float32)
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, 1.0, -1.0)


def double(data: int, state: int, message: int) -> tuple[int, int]:
    """A task whose answer depends on everything that it is given."""
    return state + message, 100 * data + state


class Counter:
    """An object that is kept, and counts how often it was asked."""

    def __init__(self, item: int, number: int) -> None:
        self.item, self.number, self.asked = item, number, 0


def count(data: int, own: Counter, message: int) -> tuple[int, int]:
    """A task of a kept object."""
    own.asked += 1
    return data * own.item + own.number + message, own.asked


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


def test_a_pass_is_a_map_with_states_and_objects_and_a_reduction(
    processes: Any, client: Any
) -> None:
    """Every executor hands states on, keeps the order of parts, and combines their answers.

    It makes an object of each item, asks it, and says if it is always the same.
    """
    for executor in (
        SerialExecutor(),
        ThreadExecutor(2),
        FuturesExecutor(ThreadPoolExecutor(2)),
        FuturesExecutor(processes),
        DaskExecutor(client),
    ):
        shared = executor.share(7)
        states: list[Any] = [1, 2, 3]
        for message in (10, 20):
            states, answer = executor.run(double, list, shared, states, message)
        assert answer == [711, 712, 713]
        assert executor.n_tasks >= 1
        shared = executor.share(100)
        kept = executor.keep(Counter, [partial(int, number) for number in (1, 2, 3)])
        for times in (1, 2):
            answers = executor.ask(count, list, shared, kept, 10)
            assert [value for value, _ in answers] == [110, 211, 312]
            if executor.stays:
                assert [asked for _, asked in answers] == [times] * 3
        assert executor.ask(count, len, shared, kept[1:], 0) == 2
        executor.forget(kept)


def test_nothing_kept_is_left(processes: Any) -> None:
    """Files go with what stands for them, objects in workers when they are next asked."""
    executor = FuturesExecutor(ThreadPoolExecutor(1))
    kept = executor.keep(Counter, [partial(int, 7)])
    executor.ask(count, list, executor.share(0), kept, 0)
    path = kept[0].path
    assert path in executors._made
    executor.forget(kept)
    executor.executor.shutdown()
    assert not Path(path).parent.exists()
    assert path not in executors._made
    other = FuturesExecutor(processes)
    shared = other.share(np.arange(3))
    path = Path(shared.path)
    assert path.exists()
    del shared
    assert not path.parent.exists()
    with pytest.raises(ZeroDivisionError):
        other.ask(count, list, other.share(0), other.keep(divided, [partial(int, 0)]), 0)


def divided(item: int, number: int) -> float:
    """An object that cannot be made of 0."""
    return number / item


def failing(data: Any, own: Any, message: Any) -> None:
    """A task with an error of its own."""
    raise TypeError("of the task")


def test_what_cannot_be_sent_is_an_error_of_ours(processes: Any, client: Any) -> None:
    """A lock, which no way of pickling takes; errors of tasks are their own."""
    for executor, name in (
        (FuturesExecutor(processes, 2), "ProcessPoolExecutor"),
        (DaskExecutor(client), "Client"),
    ):
        what = f"{name} cannot send its tasks what they need .*lock.*Make them in the tasks"
        with pytest.raises(ExecutorError, match=what):
            executor.share(threading.Lock())
        with pytest.raises(ExecutorError, match=what):
            executor.keep(Counter, [threading.Lock])
        kept, shared = executor.keep(Counter, [partial(int, 1)]), executor.share(0)
        with pytest.raises(ExecutorError, match=what):
            executor.ask(count, list, shared, kept, threading.Lock())
        with pytest.raises(ExecutorError, match=what):
            executor.run(double, list, shared, [1], threading.Lock())
        with pytest.raises(TypeError, match="of the task"):
            executor.ask(failing, list, shared, kept, 0)
        if name != "Client":  # distributed sends it in its own way
            with pytest.raises(ExecutorError, match="an answer cannot be sent back"):
                executor.ask(lambda data, own, message: threading.Lock(), list, shared, kept, 1)
        executor.forget(kept)


def test_functions_within_functions_can_be_sent(processes: Any, client: Any) -> None:
    """As data, items, messages, tasks and answers."""
    for executor in (FuturesExecutor(processes, 2), DaskExecutor(client)):
        shared = executor.share(lambda x, number=3: x + number)
        kept = executor.keep(lambda item, k: item, [lambda: lambda x: 10 * x])
        (answer,) = executor.ask(
            lambda data, own, message: lambda: message(data(own(1))),
            list,
            shared,
            kept,
            lambda x: -x,
        )
        assert answer() == -13
        executor.forget(kept)


class OddError(Exception):
    """An error that can be pickled, but not be made again of what was pickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def odd(data: Any, own: Any, message: Any) -> None:
    """A task with such an error."""
    raise OddError("o", "dd")


def test_an_error_that_cannot_come_back_does_not_break_the_pool(processes: Any) -> None:
    """It is told in words; where distributed was imported, errors of all kinds can be pickled."""
    executor = FuturesExecutor(processes, 2)
    with pytest.raises((RuntimeError, OddError), match="odd"):
        executor.run(odd, list, executor.share(0), [1], 0)
    assert executor.executor is processes
    assert processes.submit(pow, 2, 3).result() == 8


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_pool_that_is_shut_down_takes_no_tasks(kind: type) -> None:
    """The message says so; to forget what it has kept is no error."""
    with kind(1) as pool:
        executor = FuturesExecutor(pool, 1)
        kept, shared = executor.keep(Counter, [partial(int, 1)]), executor.share(0)
    with pytest.raises(ExecutorError, match=f"{kind.__name__} takes no tasks .*shut down"):
        executor.ask(count, list, shared, kept, 0)
    with pytest.raises(ExecutorError, match="takes no tasks"):
        executor.run(double, list, shared, [1], 0)
    executor.forget(kept)


def test_a_pool_that_loses_a_process_is_replaced_once() -> None:
    """A new pool does the tasks again; when that one breaks too, this process does them."""
    with ProcessPoolExecutor(1) as pool:
        executor, home = FuturesExecutor(pool, 1), os.getpid()
        kept, shared = executor.keep(Counter, [partial(int, 1)]), executor.share(0)
        with pytest.warns(WorkerWarning, match="a new pool takes its place"):
            first = executor.ask(partial(dying_but_at_home, home, once()), list, shared, kept, 0)
        assert executor.executor is not pool
        with pytest.warns(WorkerWarning, match="in this process, one by one"):
            second = executor.ask(partial(dying_but_at_home, home, None), list, shared, kept, 0)
        assert first == second == [1]
        executor.forget(kept)


def once() -> str:
    """A file that the first process to see it removes."""
    handle, path = tempfile.mkstemp()
    os.close(handle)
    return path


def dying_but_at_home(home: int, path: str | None, shared: Any, own: Any, message: Any) -> Any:
    """Kills its process, once where there is a file, unless it is the one that asked."""
    if os.getpid() != home and (path is None or Path(path).exists()):
        if path is not None:
            Path(path).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return 100 * shared + own.item + message


def test_folders_of_processes_that_were_killed_are_removed(tmp_path: Path) -> None:
    """Those of this process, of living ones, and what has another name stay."""
    code = "import os; print(os.getpid())"
    dead = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    gone = tmp_path / f"cgboost-{int(dead.stdout)}-abc"
    stay = [tmp_path / f"cgboost-{os.getpid()}-abc", tmp_path / "cgboost-abc", tmp_path / "other"]
    for folder in [gone, *stay]:
        folder.mkdir()
        (folder / "data").write_text("x")
    remove_stale.cache_clear()
    remove_stale(str(tmp_path))
    assert not gone.exists()
    assert all(folder.exists() for folder in stay)


def test_a_closed_client_takes_no_tasks() -> None:
    """Neither a new executor nor one that was made before; to forget is no error."""
    distributed = pytest.importorskip("distributed", reason="pip install cgboost[distributed]")
    with distributed.Client(processes=False, dashboard_address=None) as client:
        executor = DaskExecutor(client)
        kept, shared = executor.keep(Counter, [partial(int, 1)]), executor.share(0)
    for work in (
        lambda: DaskExecutor(client),
        lambda: executor.share(0),
        lambda: executor.keep(Counter, [partial(int, 1)]),
        lambda: executor.ask(count, list, shared, kept, 0),
        lambda: executor.run(double, list, shared, [1], 0),
    ):
        with pytest.raises(ExecutorError, match="the Dask client of DaskExecutor is closed: give"):
            work()
    executor.forget(kept)


def test_a_cluster_keeps_futures_and_delayed_items_as_well(client: Any) -> None:
    """They are not fetched, and the future of the user stays."""
    dask = pytest.importorskip("dask")
    future = client.submit(int, 5)
    executor = DaskExecutor(client)
    kept = executor.keep(Counter, [future, dask.delayed(int)(6)])
    assert executor.ask(count, list, executor.share(100), kept, 0) == [(500, 1), (601, 1)]
    executor.forget(kept)
    assert future.result() == 5


@pytest.mark.parametrize("lazy", [False, True])
def test_kept_objects_of_a_killed_worker_are_made_again(client: Any, lazy: bool) -> None:
    """From the item: sent again, or computed again."""
    executor = DaskExecutor(client)
    items = [client.submit(int, k, pure=False) if lazy else partial(int, k) for k in (1, 2, 3)]
    kept, shared = executor.keep(Counter, items), executor.share(10)
    before = executor.ask(count, list, shared, kept, 0)
    workers = client.run(os.getpid)
    (place,) = {*client.who_has([kept[0].future])[kept[0].future.key]}
    os.kill(workers[place], signal.SIGKILL)
    after = executor.ask(count, list, shared, kept, 0)
    assert [value for value, _ in after] == [value for value, _ in before] == [10, 21, 32]
    executor.forget(kept)


def deadly(data: int, state: Any, message: int) -> tuple[Any, int]:
    """A task that no worker survives; in the process with this number it does its work."""
    if os.getpid() != message:
        os.kill(os.getpid(), signal.SIGKILL)
    return state, data


def deadly_question(data: int, own: Counter, message: int) -> int:
    """The same of an object that is kept."""
    _, answer = deadly(data, None, message)
    return answer + own.item


@pytest.mark.slow
def test_where_one_task_kills_all_workers_this_process_does_it() -> None:
    """With a warning, from the states and items that are at home or were made by earlier tasks."""
    distributed = pytest.importorskip("distributed", reason="pip install cgboost[distributed]")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor, own = DaskExecutor(client), os.getpid()
        states, answers = executor.run(double, list, executor.share(7), [1, 2], 10)
        assert answers == [701, 702]
        shared = executor.share(5)
        with pytest.warns(WorkerWarning, match=r"one worker after another.*in this process"):
            states, answers = executor.run(deadly, list, shared, states, own)
        assert (states, answers) == ([11, 12], [5, 5])
        assert executor.run(deadly, list, shared, states, own) == ([11, 12], [5, 5])

        executor = DaskExecutor(client)
        shared = executor.share(5)
        kept = executor.keep(Counter, [partial(int, 1), dask.delayed(int)(2)])
        with pytest.warns(WorkerWarning, match="in this process, one by one"):
            assert executor.ask(deadly_question, list, shared, kept, own) == [6, 7]
        executor.forget(kept)
        kept = executor.keep(Counter, [partial(int, 3)])
        assert executor.ask(deadly_question, list, executor.share(1), kept, own) == [4]
        executor.forget(kept)


@pytest.mark.parametrize("priority", ["full", "stratified"])
def test_the_same_columns_from_threads_and_processes(
    processes: Any, client: Any, priority: str
) -> None:
    """Tasks generate the columns of a serial run wherever they are, and bounds of the same bits."""
    alone = run(SerialExecutor(), priority=priority)
    for executor in (ThreadExecutor(3), processes, FuturesExecutor(processes, 5)):
        assert run(executor, priority=priority) == alone
    if priority == "full":
        assert run(DaskExecutor(client)) == alone


def test_workers_killed_within_a_pass_change_nothing(client: Any) -> None:
    """Data, tasks and states that dying workers take along are made again, with the same bits.

    Two passes lose a worker each; after the second none is left of those that were sent the data.
    """
    executor = Killing(client, passes=[3, 6])
    assert run(executor) == run(SerialExecutor())
    assert len(executor.killed) == 2


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
            if function is not task and len(self.killed) < 1 + self.passes.index(self.count):
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


def test_where_data_cannot_be_sent_this_process_does_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After some tries, with a warning: as when all workers are gone and none comes back."""
    distributed = pytest.importorskip("distributed", reason="pip install cgboost[distributed]")
    monkeypatch.setattr(cluster, "RESTART", 0.0)
    with distributed.Client(processes=False, dashboard_address=None) as client:
        executor = DaskExecutor(client)

        def refused(*_: Any, **__: Any) -> None:
            raise TimeoutError("No valid workers found")

        monkeypatch.setattr(client, "scatter", refused)
        with pytest.warns(WorkerWarning, match="cannot be sent data .*No valid workers found"):
            shared = executor.share(7)
        assert executor.run(double, list, shared, [1, 2], 10) == ([11, 12], [701, 702])


def test_errors_that_cannot_be_pickled() -> None:
    """They come back with their words; others as they are."""

    class OddError(Exception):
        pass

    assert type(sendable(ValueError("oh"))) is ValueError
    assert str(sendable(OddError("oh"))) == "OddError: oh"
