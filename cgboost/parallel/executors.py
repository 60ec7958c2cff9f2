"""Executors of pricing passes: in this process, on threads, on ``concurrent.futures``.

Copies of an estimator that is given one share it, and what is stored leaves it out: workers can
neither be copied nor stored. So ``copy.copy``, ``copy.deepcopy`` and ``sklearn.base.clone`` make
estimators with the same executor, and a pickled one comes back with ``executor=None``: it predicts
as before, and fits in the process that it is in.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol, Self

import joblib

from cgboost.exceptions import ExecutorError, WorkerWarning, warn_caller
from cgboost.parallel.pickling import UNPICKLABLE, pickled, sendable, sending
from cgboost.parallel.threads import Threads, available, blas_threads

Task = Callable[[Any, Any, Any], tuple[Any, Any]]
"""(data, state, message) → (state, answer); of the top level of a module, to be found elsewhere."""

Combine = Callable[[Sequence[Any]], Any]
"""Answers of all parts, in order → one answer."""


class Executor(Protocol):
    """Runs the tasks of a pass."""

    @property
    def n_tasks(self) -> int:
        """How many parts a pass should have."""
        ...

    @property
    def here(self) -> bool:
        """Whether tasks share this process's memory, so that what they keep is kept once."""
        ...

    def share(self, data: Any) -> Any:
        """Send data to where the tasks run; what is returned stands for it in ``run``."""
        ...

    def run(
        self, task: Task, combine: Combine, shared: Any, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """Run a task for every state; the states after it, and the combined answers."""
        ...


Build = Callable[[Any, int], Any]
"""(item, its number) → an object that tasks ask; of the top level of a module."""

Ask = Callable[[Any, Any, Any], Any]
"""(data, object, message) → answer; of the top level of a module."""


class KeepingExecutor(Executor, Protocol):
    """Keeps objects where its tasks run, and asks them: rows that do not travel."""

    @property
    def stays(self) -> bool:
        """Whether an object is one and the same from task to task, while its worker lives.

        Otherwise another process may have made its own.
        """
        ...

    def keep(self, build: Build, items: Iterable[Any]) -> list[Any]:
        """Make an object of every item where tasks will run; what stands for each in ``ask``.

        Parameters
        ----------
        build : callable
        items : iterable
            Functions without arguments that make an item, called here and again if it was lost. On
            a Dask cluster also futures and delayed items.
        """
        ...

    def ask(
        self, task: Ask, combine: Combine, shared: Any, kept: Sequence[Any], message: Any
    ) -> Any:
        """Run a task for every object; the combined answers."""
        ...

    def forget(self, kept: Sequence[Any]) -> None:
        """Leave nothing of these objects behind."""
        ...


class Asking:
    """States go out with questions and come back with answers, like objects that are kept."""

    ask: Callable[[Ask, Combine, Any, Sequence[Any], Any], Any]

    def run(
        self, task: Task, combine: Combine, shared: Any, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """See :meth:`Executor.run`."""
        done: tuple[list[Any], Any] = self.ask(
            task, partial(_in_order, combine), shared, states, message
        )
        return done

    def __sklearn_clone__(self) -> Self:
        """Itself: scikit-learn copies parameters, but workers cannot be copied."""
        return self


class ThreadExecutor(Asking):
    """Tasks on threads of this process; linear algebra within a task runs on one.

    Parameters
    ----------
    n_threads : int or None
        None: as many as linear algebra may use.
    """

    here = stays = True

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = at_least_one("n_threads", n_threads)

    @property
    def n_tasks(self) -> int:
        """One for each thread."""
        return available() if self.n_threads is None else self.n_threads

    def share(self, data: Any) -> Any:
        """The data itself."""
        return data

    def keep(self, build: Build, items: Iterable[Any]) -> list[Any]:
        """See :meth:`KeepingExecutor.keep`."""
        return [build(item(), number) for number, item in enumerate(items)]

    def ask(
        self, task: Ask, combine: Combine, shared: Any, kept: Sequence[Any], message: Any
    ) -> Any:
        """See :meth:`KeepingExecutor.ask`."""
        return combine(list(Threads(self.n_tasks)(lambda own: task(shared, own, message), kept)))

    def forget(self, kept: Sequence[Any]) -> None:
        """They go with whoever holds them."""


class SerialExecutor(ThreadExecutor):
    """One task after another, in this thread."""

    def __init__(self) -> None:
        super().__init__(1)


def at_least_one(name: str, count: int | None) -> int | None:
    """A number of tasks as it was given; an error names it."""
    if count is not None and count < 1:
        raise ValueError(f"{name} must be at least 1 or None, got {count!r}")
    return count


def _in_order(combine: Combine, done: Sequence[tuple[Any, Any]]) -> tuple[list[Any], Any]:
    """The states of all parts, and their answers combined in the order of the parts."""
    states, answers = zip(*done, strict=True)
    return list(states), combine(answers)


DATA_SETS = 4
"""Data sets that a worker process keeps open."""


class FuturesExecutor(Asking):
    """Tasks on an executor of ``concurrent.futures``, such as a ``ProcessPoolExecutor``.

    Data is written to a temporary file once, which every worker maps into its memory; states travel
    with the tasks. So are objects that are kept: every worker makes its own of the file. The
    workers must be on this machine.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        It stays open. A pool that has lost a worker, and takes no tasks any more, is replaced by a
        new one of its kind, once; then tasks run one after another in this process.
    n_tasks : int, optional
        By default as many as it has workers; where it does not say, as many as linear algebra may
        use threads here.
    """

    here = stays = False

    def __init__(self, executor: futures.Executor, n_tasks: int | None = None) -> None:
        self.executor = executor
        workers = getattr(executor, "_max_workers", None)  # of the standard library, and of loky
        self.n_tasks = at_least_one("n_tasks", n_tasks) or workers or available()
        self._replaced = self._serial = False

    def share(self, data: Any) -> _File:
        """A file with the data, removed with the object that stands for it."""
        return _File(data, self.executor)

    def keep(self, build: Build, items: Iterable[Any]) -> list[_File]:
        """See :meth:`KeepingExecutor.keep`."""
        return [
            _File(_Item(build, item(), number), self.executor) for number, item in enumerate(items)
        ]

    def ask(
        self, task: Ask, combine: Combine, shared: _File, kept: Sequence[_File], message: Any
    ) -> Any:
        """See :meth:`KeepingExecutor.ask`."""
        return combine(self._done(partial(_asked, task, shared.path, message), kept))

    def forget(self, kept: Sequence[_File]) -> None:
        """Remove the files; every worker drops what it has made of them when it is next asked."""
        for own in kept:
            own.remove()
        with suppress(RuntimeError):  # it takes no tasks: its workers are gone
            for _ in range(self.n_tasks):
                self.executor.submit(_swept)

    def _done(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What the tasks of all items return."""
        own = pickled(work, self.executor)
        sent = [pickled(item, self.executor) for item in items]
        while not self._serial:
            try:
                return [pickle.loads(answer) for answer in self._answers(own, sent)]
            except futures.BrokenExecutor as error:
                self._replace(error)
        return [work(item) for item in items]

    def _answers(self, work: bytes, items: Sequence[bytes]) -> Iterator[bytes]:
        """What the tasks return, as long as there are workers."""
        try:
            return self.executor.map(_called, repeat(work), items)
        except futures.BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ExecutorError(
                f"{type(self.executor).__name__} takes no tasks ({error}): it was shut down. Give "
                "one that is open as long as the fit lasts"
            ) from error

    def _replace(self, error: Exception) -> None:
        """Take a new pool for one that is broken, the first time, and none after that."""
        name, old = type(self.executor).__name__, self.executor
        again = type(old) is futures.ProcessPoolExecutor and not self._replaced
        self._replaced, self._serial = True, not again
        if again:
            own: Any = old
            self.executor = pool = futures.ProcessPoolExecutor(
                own._max_workers, own._mp_context, own._initializer, own._initargs
            )
            weakref.finalize(self, pool.shutdown, wait=False)
        then = "a new pool takes its place" if again else "tasks go on in this process, one by one"
        warn_caller(
            f"{name} has lost a worker ({error}): {then}; where workers are killed for want of "
            "memory, give one with fewer",
            WorkerWarning,
        )


def _called(work: bytes, item: bytes) -> bytes:
    """The pickled answer of a task; an error that cannot be pickled is told in words."""
    try:
        answer = pickle.loads(work)(pickle.loads(item))
    except Exception as error:
        if (own := sendable(error)) is error:
            raise
        raise own from error
    try:
        return pickled(answer, None)
    except ExecutorError as error:
        raise ExecutorError(f"an answer cannot be sent back: {error.__cause__}") from None


PREFIX = "cgboost-"
"""Of the names of temporary folders; the number of their process follows."""


@lru_cache(1)
def remove_stale(parent: str) -> None:
    """Remove the folders of processes that are no more, which were killed before they could.

    Those of this user alone, once in a process.
    """
    for folder in Path(parent).glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            own = hasattr(os, "getuid") and folder.stat().st_uid == os.getuid()
            if number.isdigit() and own and not _is_alive(int(number)):
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


@dataclass(eq=False)
class _Place:
    """Where data is, for a worker."""

    path: str


class _File(_Place):
    """Data in a temporary file, for an executor; workers are told its place."""

    def __init__(self, data: Any, executor: Any) -> None:
        remove_stale(tempfile.gettempdir())
        folder = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
        self.remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(str(Path(folder) / "data.joblib"))
        try:
            joblib.dump(data, self.path)  # whose arrays can be mapped
        except UNPICKLABLE:
            with sending(executor):
                joblib.dump(joblib.wrap_non_picklable_objects(data, False), self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Place, (self.path,)


@lru_cache(DATA_SETS)
def _read(path: str) -> Any:
    return joblib.load(path, mmap_mode="r")


@dataclass(frozen=True)
class _Item:
    """What an object is made of."""

    build: Build
    item: Any
    number: int


_made: dict[str, Any] = {}
"""Objects that this worker has made of files."""


def _asked(task: Ask, shared: str, message: Any, own: Any) -> Any:
    """The answer of a state, or of an object, made of its file when this worker is first asked."""
    _swept()
    with blas_threads(1):
        if isinstance(own, _Place):
            if (made := _made.get(own.path)) is None:
                found = joblib.load(own.path, mmap_mode="r")
                made = _made.setdefault(own.path, found.build(found.item, found.number))
            own = made
        return task(_read(shared), own, message)


def _swept() -> None:
    """Drop the objects whose files are gone."""
    for path in list(_made):
        if not Path(path).exists():
            _made.pop(path, None)


def as_executor(executor: Executor | futures.Executor | None) -> Executor:
    """An executor for passes: None stands for threads, those of ``concurrent.futures`` are wrapped.

    Raises
    ------
    TypeError
        If it is neither; for a Dask client the error names the adapter.
    """
    if executor is None:
        return ThreadExecutor()
    if isinstance(executor, futures.Executor):
        return FuturesExecutor(executor)
    if not all(hasattr(executor, name) for name in ("n_tasks", "here", "share", "run")):
        raise TypeError(
            "executor must be None, an Executor such as ThreadExecutor(2), DaskExecutor(client) "
            f"for a Dask client, or an executor of concurrent.futures; got {executor!r}"
        )
    return executor


class SharesExecutor:
    """Base class, before others, of an estimator that may have a parameter ``executor``."""

    def __getstate__(self) -> dict[str, Any]:
        above: Any = super()
        state: dict[str, Any] = above.__getstate__()
        return {**state, "executor": None} if state.get("executor") is not None else state

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        executor = self.__dict__.get("executor")
        memo[id(executor)] = executor
        memo[id(self)] = twin = copy(self)
        twin.__dict__.update(deepcopy(self.__dict__, memo))
        return twin

    def __sklearn_clone__(self) -> Self:
        without, executor = copy(self), self.__dict__.get("executor")
        if executor is not None:
            without.__dict__["executor"] = None
        above: Any = super(SharesExecutor, without)
        twin: Self = above.__sklearn_clone__()
        if executor is not None:
            twin.__dict__["executor"] = executor
        return twin
