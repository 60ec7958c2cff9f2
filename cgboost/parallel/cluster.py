"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from concurrent import futures
from typing import Any

from cgboost.exceptions import ExecutorError, WorkerWarning, warn_caller
from cgboost.parallel.executors import Ask, Asking, Build, Combine, at_least_one
from cgboost.parallel.pickling import sending

logger = logging.getLogger(__name__)

LOSSES = 3
"""How often a pass may lose its data on a cluster before it runs in this process."""

RESTART = 2.0
"""Seconds in which Dask has mostly started a new worker for one that was killed."""

WORKERS_WAIT = 60.0
"""Seconds without a worker after which that is said, while the pass goes on waiting for one."""


class DaskExecutor(Asking):
    """Tasks on the workers of a Dask cluster (``pip install cgboost[distributed]``).

    Data is sent to every worker once, and objects that are kept stay on one worker each; states
    travel with the tasks. If a worker is lost, Dask repeats the tasks whose results it held; if
    data was lost with the last worker that had it, it is sent again. Where a task has killed as
    many workers as Dask allows, or data is lost for the fourth time in a pass, tasks run one after
    another in this process from then on.

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

    def share(self, data: Any) -> _Sent:
        """The data as a future that every worker holds."""
        self._check_open()
        sent = _Sent(self.client, data)
        self._send([sent])
        return sent

    def keep(self, build: Build, items: Iterable[Any]) -> list[_Kept]:
        """See :meth:`KeepingExecutor.keep`."""
        self._check_open()
        kept = [_Kept(self.client, build, item, number) for number, item in enumerate(items)]
        self._send(kept)
        return kept

    def ask(
        self, task: Ask, combine: Combine, shared: _Sent, kept: Sequence[Any], message: Any
    ) -> Any:
        """See :meth:`KeepingExecutor.ask`."""
        from distributed import KilledWorker  # which not everybody has

        self._check_open()
        sent = [shared, *(own for own in kept if isinstance(own, _Kept))]
        for lost in range(1, LOSSES + 2):
            if self._serial:
                break
            try:
                return self._asked(task, combine, shared, kept, message)
            except futures.CancelledError:
                logger.warning("the cluster has lost its data (%d of %d times)", lost, LOSSES)
                if lost > LOSSES:
                    self._stay_home(f"has lost its data {lost} times in one pass")
                else:
                    self._send(sent)
            except KilledWorker as error:
                self._stay_home(f"has lost one worker after another to the same task ({error})")
        data = shared.at_home()
        return combine(
            [task(data, o.at_home() if isinstance(o, _Kept) else o, message) for o in kept]
        )

    def _asked(
        self, task: Ask, combine: Combine, shared: _Sent, kept: Sequence[Any], message: Any
    ) -> Any:
        """What the workers answer."""
        places = [own.place if isinstance(own, _Kept) else {} for own in kept]
        with sending(self.client):
            answers = [
                self.client.submit(
                    task,
                    shared.future,
                    own.future if isinstance(own, _Kept) else own,
                    message,
                    pure=False,
                    **place,
                )
                for own, place in zip(kept, places, strict=True)
            ]
        return self._result(self.client.submit(combine, answers, pure=False))

    def _send(self, what: Sequence[_Sent]) -> None:
        """Send what is not there; if no worker takes it, tasks run in this process."""
        try:
            for own in () if self._serial else what:
                own.send()
        except _UnreachedError as error:
            self._stay_home(f"cannot be sent data ({error})")

    def _stay_home(self, why: str) -> None:
        """From now on tasks run in this process."""
        self._serial = True
        warn_caller(
            f"the cluster {why}: tasks go on in this process, one by one; where workers are killed "
            "for want of memory, give them more, or smaller blocks",
            WorkerWarning,
        )

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


class _UnreachedError(Exception):
    """Data that no worker has taken."""


def _scattered(client: Any, data: Any, **how: Any) -> Any:
    """Futures of data that was sent; again where a worker went while that was under way."""
    for lost in range(LOSSES + 1):
        try:
            with sending(client):
                return client.scatter(data, **how)
        except OSError as error:
            if lost == LOSSES:
                raise _UnreachedError(str(error)) from error
            logger.warning("data did not reach the cluster (%d of %d times)", lost + 1, LOSSES)
            time.sleep(RESTART)


class _Sent:
    """Data on every worker of a cluster."""

    def __init__(self, client: Any, data: Any) -> None:
        self._client, self._data = client, data
        self.future: Any = None

    def send(self) -> None:
        """Send it, for the first time or again: workers that have it take it from each other."""
        self.future = _scattered(self._client, self._data, broadcast=True, hash=True)

    def at_home(self) -> Any:
        """The data in this process."""
        return self._data


class _Kept(_Sent):
    """An object on one worker of a cluster."""

    def __init__(self, client: Any, build: Build, item: Any, number: int) -> None:
        super().__init__(client, None)
        self._build, self._item, self._number = build, item, number
        self._own: Any = None
        self._place: dict[str, Any] | None = None

    def send(self) -> None:
        """Send the item, or have it computed, and make the object of it where it is.

        Not if it is there or being made.
        """
        if self.future is not None and not (
            {self._data.status, self.future.status} - {"finished", "pending"}
        ):
            return
        item, self._place = self._item, None
        if hasattr(item, "__dask_graph__"):
            self._data = self._client.compute(item)
        elif is_lazy(item):
            self._data = item
        else:
            (self._data,) = _scattered(self._client, [item()], hash=False)
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
        if self.future is not None:
            self.future.release()
            if not is_lazy(self._item):
                self._data.release()
            self.future = None


def is_lazy(item: Any) -> bool:
    """Whether an item is a future of Dask, or a delayed one."""
    return type(item).__module__.split(".")[0] in ("dask", "distributed")
