"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from cgboost.exceptions import ExecutorError, WorkerWarning, warn_caller
from cgboost.parallel.executors import (
    Ask,
    Build,
    Combine,
    Task,
    at_least_one,
    in_order,
    sending,
)

logger = logging.getLogger(__name__)

CHECKPOINT = 50
"""After so many passes states come home from a cluster, so that lost ones are soon made again."""

TRIM_THRESHOLD = "MALLOC_TRIM_THRESHOLD_"
"""The variable by which Dask has the C library of its workers give freed memory back."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Names of limits in ``malloc.h``."""

MMAP_THRESHOLD = 2**17
"""The limit of that library where its environment sets the other one."""

KEPT_FREE = (2**25, 2**26)
"""Bytes of a piece, and of all, that the C library may keep after they were freed in a task. A pass
makes arrays of a block's size and drops them again. With Dask's 64 KB each of them is got from the
system anew: a fit of 10⁶ × 20 takes 7.4 instead of 1.7 CPU seconds, 4.9 of them in the system."""

LOSSES = 3
"""How often a pass may lose its data on a cluster before it runs in this process."""

RESTART = 2.0
"""Seconds in which Dask has mostly started a new worker for one that was killed."""

WORKERS_WAIT = 60.0
"""Seconds without a worker after which that is said, while the pass goes on waiting for one."""


class DaskExecutor:
    """Tasks on the workers of a Dask cluster (``pip install cgboost[distributed]``).

    Data is sent to every worker once. In a pass only the message goes out and one answer comes
    back; states stay with the workers, and so do objects that are kept, each on one worker. If a
    worker is lost, Dask repeats the tasks whose results it held; if data was lost with the last
    worker that had it, it is sent again, and so are the messages of the passes since states were
    home. Where a task has killed as many workers as Dask allows, or data is lost for the fourth
    time in a pass, tasks run one after another in this process from then on.

    Parameters
    ----------
    client : distributed.Client
        It stays open.
    n_tasks : int, optional
        By default one for each thread of the workers.
    """

    here = False
    stays = True

    def __init__(self, client: Any, n_tasks: int | None = None) -> None:
        given = at_least_one("n_tasks", n_tasks)
        self.client = client
        self._check_open()
        self.n_tasks = given or max(1, sum(client.nthreads().values()))
        self._serial = False

    def __sklearn_clone__(self) -> DaskExecutor:
        """Itself: scikit-learn copies parameters, but workers cannot be copied."""
        return self

    def share(self, data: Any) -> _Sent:
        """The data as a future that every worker holds."""
        self._check_open()
        if not self._serial:
            try:
                return _Sent(self.client, data, stays_home=False)
            except OSError as error:
                self._stay_home(f"cannot be sent data ({error})")
        return _Sent(self.client, data, stays_home=True)

    def run(
        self, task: Task, combine: Combine, shared: _Sent, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """See :meth:`Executor.run`."""
        self._check_open()
        chains = [own if isinstance(own, _Chain) else _Chain(own) for own in states]

        def again() -> None:
            shared.send()
            for chain in chains:
                chain.repeat(self.client, shared.future)

        def there() -> tuple[list[Any], Any]:
            return self._run(task, combine, shared.future, chains, message)

        if not self._serial and (done := self._repeated(there, again)) is not None:
            return done
        own = [task(shared.data, chain.at_home(shared.data), message) for chain in chains]
        return in_order(own, combine)

    def _repeated(self, there: Callable[[], Any], again: Callable[[], None]) -> Any:
        """What is done there, ``again`` if its data was lost; None where it must be done here."""
        from distributed import KilledWorker  # which not everybody has

        for lost in range(1, LOSSES + 2):
            try:
                return there()
            except futures.CancelledError:
                why = f"has lost its data {lost} times in one pass"
                logger.warning("the cluster has lost its data (%d of %d times)", lost, LOSSES)
                if lost > LOSSES:
                    break
                try:
                    again()
                except OSError as failure:
                    why = f"cannot be sent data again ({failure})"
                    break
            except KilledWorker as error:
                why = f"has lost one worker after another to the same task ({error})"
                break
        self._stay_home(why)
        return None

    def _stay_home(self, why: str) -> None:
        """From now on tasks run in this process."""
        self._serial = True
        warn_caller(
            f"the cluster {why}: tasks go on in this process, one by one; where workers are killed "
            "for want of memory, give them more, or smaller blocks",
            WorkerWarning,
        )

    def _run(
        self, task: Task, combine: Combine, data: Any, chains: Sequence[_Chain], message: Any
    ) -> tuple[list[Any], Any]:
        with sending(self.client):
            links = [chain.link(self.client, data, task, message) for chain in chains]
        answers = [answer for _, answer in links]
        answer = self._result(self.client.submit(combine, answers, pure=False))
        after = [chain for chain, _ in links]
        if len(after[0].tasks) >= CHECKPOINT:
            home = self.client.gather([chain.state for chain in after])
            after = [_Chain(state) for state in home]
        return list(after), answer

    def keep(self, build: Build, items: Iterable[Any]) -> list[_Kept]:
        """See :meth:`KeepingExecutor.keep`."""
        self._check_open()
        kept = [_Kept(self.client, build, item, number) for number, item in enumerate(items)]
        for own in () if self._serial else kept:
            own.send()
        return kept

    def ask(
        self, task: Ask, combine: Combine, shared: _Sent, kept: Sequence[_Kept], message: Any
    ) -> Any:
        """See :meth:`KeepingExecutor.ask`."""
        self._check_open()

        def again() -> None:
            shared.send()
            for own in kept:
                own.send_if_lost()

        def there() -> tuple[Any]:
            return (self._ask(task, combine, shared.future, kept, message),)

        if not self._serial and (done := self._repeated(there, again)) is not None:
            return done[0]
        return combine([task(shared.data, own.at_home(), message) for own in kept])

    def _ask(
        self, task: Ask, combine: Combine, data: Any, kept: Sequence[_Kept], message: Any
    ) -> Any:
        places = [own.place for own in kept]
        with sending(self.client):
            answers = [
                self.client.submit(_asked, task, data, own.future, message, pure=False, **place)
                for own, place in zip(kept, places, strict=True)
            ]
        return self._result(self.client.submit(combine, answers, pure=False))

    def _result(self, future: Any) -> Any:
        """The result; that nobody is there to make it is said once."""
        waited = False
        while not waited:
            try:
                return future.result(timeout=WORKERS_WAIT)
            except TimeoutError:
                if future.done():  # it is the task's own
                    raise
                waited = not self.client.nthreads()
        warn_caller(
            "the cluster has had no workers for some time; the fit waits for one, and Ctrl-C ends "
            "it with its last round",
            WorkerWarning,
        )
        return future.result()

    def forget(self, kept: Sequence[_Kept]) -> None:
        """Release them on the cluster."""
        for own in kept if self._is_open else ():
            own.release()

    @property
    def _is_open(self) -> bool:
        return getattr(self.client, "status", "running") not in ("closing", "closed")

    def _check_open(self) -> None:
        if not self._is_open:
            raise ExecutorError(
                "the Dask client of DaskExecutor is closed: give one that is connected as long as "
                "the fit lasts, DaskExecutor(Client('scheduler:8786'))"
            )


def _asked(task: Ask, data: Any, own: Any, message: Any) -> Any:
    with _freed_memory_kept():
        return task(data, own, message)


@contextmanager
def _freed_memory_kept() -> Iterator[None]:
    """Let the C library use freed memory again, where its environment says otherwise."""
    given = os.environ.get(TRIM_THRESHOLD, "")
    library = ctypes.CDLL(None) if given.isdigit() and sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt"):  # which the GNU C library has
        yield
        return
    library.mallopt(M_MMAP_THRESHOLD, KEPT_FREE[0])
    library.mallopt(M_TRIM_THRESHOLD, KEPT_FREE[1])
    try:
        yield
    finally:
        library.mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        library.mallopt(M_TRIM_THRESHOLD, int(given))


class _Kept:
    """An object on one worker of a cluster."""

    def __init__(self, client: Any, build: Build, item: Any, number: int) -> None:
        self._client, self._build, self._item, self._number = client, build, item, number
        self._own: Any = None
        self._data: Any = None

    def send(self) -> None:
        """Send the item, or have it computed, and make the object of it where it is."""
        item = self._item
        self._place: dict[str, Any] | None = None
        if hasattr(item, "__dask_graph__"):
            self._data = self._client.compute(item)
        elif is_lazy(item):
            self._data = item
        else:
            made = item()
            (self._data,) = _scattered(self._client, [made], hash=False)
        self.future = self._client.submit(self._build, self._data, self._number, pure=False)

    @property
    def place(self) -> dict[str, Any]:
        """Options of tasks that go where the object is, as long as its worker lives."""
        if self._place is None:
            from distributed import wait  # which not everybody has

            wait(self.future)
            workers = self._client.who_has([self.future])[self.future.key]
            self._place = {"workers": workers, "allow_other_workers": True} if workers else {}
        return self._place

    def send_if_lost(self) -> None:
        """Send it again, unless it is there or being made."""
        if {self._data.status, self.future.status} - {"finished", "pending"}:
            self.send()

    def at_home(self) -> Any:
        """The object in this process, made again of its item.

        Raises
        ------
        ExecutorError
            If the item was on a lost worker alone.
        """
        if self._own is None:
            self._own = self._build(self._fetched(), self._number)
        return self._own

    def _fetched(self) -> Any:
        item = self._item
        if hasattr(item, "__dask_graph__"):
            return item.compute(scheduler="synchronous")
        if not is_lazy(item):
            return item()
        if item.status == "finished":
            return item.result()
        raise ExecutorError(
            "the cluster has lost a future. What was on a lost worker alone must be made again: "
            "give sources of blocks, delayed objects or futures of functions, not of scattered data"
        )

    def release(self) -> None:
        """Let the cluster drop it."""
        self._own = None
        if self._data is not None:
            self.future.release()
            if not is_lazy(self._item):
                self._data.release()


def is_lazy(item: Any) -> bool:
    """Whether an item is a future of Dask, or a delayed one."""
    return type(item).__module__.split(".")[0] in ("dask", "distributed")


class _Sent:
    """Data on every worker of a cluster, unless all stays at home."""

    def __init__(self, client: Any, data: Any, *, stays_home: bool) -> None:
        self._client, self.data = client, data
        if not stays_home:
            self.send()

    def send(self) -> None:
        """Send it, for the first time or again."""
        self.future = _scattered(self._client, self.data, broadcast=True, hash=True)


def _scattered(client: Any, data: Any, **how: Any) -> Any:
    """Futures of data that was sent; again where a worker went while that was under way."""
    for lost in range(LOSSES + 1):
        try:
            with sending(client):
                return client.scatter(data, **how)
        except OSError:
            if lost == LOSSES:
                raise
            logger.warning("data did not reach the cluster (%d of %d times)", lost + 1, LOSSES)
            time.sleep(RESTART)


class _Chain:
    """A state on a cluster, and the tasks that led to it from a state that is at home."""

    def __init__(
        self, base: Any, tasks: Sequence[tuple[Task, Any]] = (), state: Any = None
    ) -> None:
        self.base = base
        self.tasks = list(tasks)
        self.state = base if state is None else state

    def link(self, client: Any, data: Any, task: Task, message: Any) -> tuple[_Chain, Any]:
        """The chain after one more task, and what the task answers."""
        pair = client.submit(task, data, self.state, message, pure=False)
        state, answer = (client.submit(itemgetter(k), pair, pure=False) for k in (0, 1))
        return _Chain(self.base, [*self.tasks, (task, message)], state), answer

    def at_home(self, data: Any) -> Any:
        """The state, made in this process."""
        state = self.base
        for task, message in self.tasks:
            state, _ = task(data, state, message)
        return state

    def repeat(self, client: Any, data: Any) -> None:
        """Submit all tasks again."""
        again = _Chain(self.base)
        for task, message in self.tasks:
            again, _ = again.link(client, data, task, message)
        self.state = again.state
