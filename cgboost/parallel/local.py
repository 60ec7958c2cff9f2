"""Tasks in this process: one after another, or on threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cgboost.parallel.protocol import Combine, Task
from cgboost.parallel.threads import available, blas_threads


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
