"""Executors of pricing passes: in this process, on threads, on ``concurrent.futures``."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import joblib

from cgboost.parallel.threads import available, blas_threads

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


class SerialExecutor:
    """One task after another, in this thread."""

    n_tasks = 1
    here = True

    def share(self, data: Any) -> Any:
        """The data itself."""
        return data

    def run(
        self, task: Task, combine: Combine, shared: Any, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """See :meth:`Executor.run`."""
        with blas_threads(1):
            pairs = [task(shared, state, message) for state in states]
        return [state for state, _ in pairs], combine([answer for _, answer in pairs])


class ThreadExecutor:
    """Tasks on threads of this process; linear algebra within a task runs on one.

    Parameters
    ----------
    n_threads : int or None
        None: as many as linear algebra may use.
    """

    here = True

    def __init__(self, n_threads: int | None = None) -> None:
        if n_threads is not None and n_threads < 1:
            raise ValueError(f"n_threads must be at least 1 or None, got {n_threads!r}")
        self.n_threads = n_threads

    @property
    def n_tasks(self) -> int:
        """One for each thread."""
        return available() if self.n_threads is None else self.n_threads

    def share(self, data: Any) -> Any:
        """The data itself."""
        return data

    def run(
        self, task: Task, combine: Combine, shared: Any, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """See :meth:`Executor.run`."""
        if len(states) == 1:
            return SerialExecutor().run(task, combine, shared, states, message)
        with blas_threads(1), ThreadPoolExecutor(len(states)) as pool:
            pairs = list(pool.map(lambda state: task(shared, state, message), states))
        return [state for state, _ in pairs], combine([answer for _, answer in pairs])


DATA_SETS = 4
"""Data sets that a worker process keeps open."""


class FuturesExecutor:
    """Tasks on an executor of ``concurrent.futures``, such as a ``ProcessPoolExecutor``.

    Data is written to a temporary file once, which every worker maps into its memory; states travel
    with the tasks. The workers must be on this machine.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        It stays open.
    n_tasks : int, optional
        By default as many as linear algebra may use threads here.
    """

    here = False

    def __init__(self, executor: futures.Executor, n_tasks: int | None = None) -> None:
        if n_tasks is not None and n_tasks < 1:
            raise ValueError(f"n_tasks must be at least 1 or None, got {n_tasks!r}")
        self.executor = executor
        self.n_tasks = available() if n_tasks is None else n_tasks

    def __sklearn_clone__(self) -> FuturesExecutor:
        """Itself: scikit-learn copies parameters, but workers cannot be copied."""
        return self

    def share(self, data: Any) -> _File:
        """A file with the data, removed with the object that stands for it."""
        return _File(data)

    def run(
        self, task: Task, combine: Combine, shared: _File, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """See :meth:`Executor.run`."""
        running = [
            self.executor.submit(_on_file, task, shared.path, state, message) for state in states
        ]
        pairs = [future.result() for future in running]
        return [state for state, _ in pairs], combine([answer for _, answer in pairs])


class _File:
    """Data in a temporary file."""

    def __init__(self, data: Any) -> None:
        folder = tempfile.mkdtemp(prefix="cgboost-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = str(Path(folder) / "data.joblib")
        joblib.dump(data, self.path)


@lru_cache(DATA_SETS)
def _read(path: str) -> Any:
    return joblib.load(path, mmap_mode="r")


def _on_file(task: Task, path: str, state: Any, message: Any) -> tuple[Any, Any]:
    with blas_threads(1):
        return task(_read(path), state, message)
