"""A function of many items, wherever they are kept."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from cgboost.parallel import DaskExecutor, ThreadExecutor
from cgboost.parallel.item_tasks import ItemTasks


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that do not share this one's memory."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module", params=["serial", "threads", "processes", "dask"])
def executor(request: Any, processes: ProcessPoolExecutor) -> Iterator[Any]:
    """Executors of all kinds."""
    if request.param == "dask":
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield DaskExecutor(client)
    else:
        yield {"serial": None, "threads": ThreadExecutor(2), "processes": processes}[request.param]


@pytest.mark.parametrize("n", [0, 1, 3, 50])
def test_answers_come_in_the_order_of_the_items(executor: Any, n: int) -> None:
    """Of a function within a function, message after message, and after it was closed."""
    power = 2

    def work(message: int, item: int) -> int:
        return message + item**power

    tasks = ItemTasks(work, range(n), executor)
    for message in (1, 2):
        assert tasks.answers(message) == [message + k**2 for k in range(n)]
    tasks.close()
    assert tasks.answers(5) == [5 + k**2 for k in range(n)]
    tasks.close()


def test_the_first_error_is_raised(executor: Any) -> None:
    """That of the first item that fails, whichever fails first in time; later calls work."""

    def work(message: int, item: int) -> int:
        if item % 20 == message:
            raise KeyError(f"item {item}")
        return item

    tasks = ItemTasks(work, range(60), executor)
    with pytest.raises(KeyError, match="item 7"):
        tasks.answers(7)
    assert tasks.answers(-1) == list(range(60))


def test_copies_work_without_the_executor(processes: ProcessPoolExecutor) -> None:
    """A pickled one comes back, and asks its items itself."""
    import pickle

    tasks = ItemTasks(pow, [2, 3], processes)
    same = pickle.loads(pickle.dumps(tasks))
    assert same.executor is None
    assert same.answers(2) == [4, 8]


def test_wrong_executors() -> None:
    """What is no executor, or keeps nothing, is refused at once."""

    class Forgetful:
        n_tasks, here, share, run = 1, True, None, None

    with pytest.raises(TypeError, match="executor must be None"):
        ItemTasks(max, [1], "processes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keeps objects"):
        ItemTasks(max, [1], Forgetful())  # type: ignore[arg-type]
