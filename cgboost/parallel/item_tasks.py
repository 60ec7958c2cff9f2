"""A function of many items on an executor, which keeps the items where its tasks run.

An item may hold what is dear to make, such as a live model of a solver. It is sent once. Answers
come in the order of the items, wherever they are worked on.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cgboost.parallel.executors import Executor, KeepingExecutor, as_executor
from cgboost.parallel.pickling import pickled, sendable

Work = Callable[[Any, Any], Any]
"""(message, item) → answer."""

PARTS = 4
"""So many parts has each task of an executor: items take unequal time, and parts are the least that
is waited for."""


class ItemTasks:
    """Asks every item for an answer.

    Copies, and what is pickled of it, work without the executor.

    Parameters
    ----------
    work : callable
        ``work(message, item)``; on threads it is called several times at once.
    executor : Executor, concurrent.futures.Executor or None
        One that keeps objects, as all of :mod:`cgboost.parallel` do. None: one item after another.
    """

    def __init__(
        self,
        work: Work,
        items: Sequence[Any],
        executor: Executor | futures.Executor | None = None,
    ) -> None:
        self._work, self.items = work, list(items)
        self.executor: KeepingExecutor | None = None
        self._kept: list[Any] | None = None
        self._shared: Any = None
        if executor is not None:
            own: Any = as_executor(executor)
            if not (hasattr(own, "keep") and hasattr(own, "ask")):
                raise TypeError(f"executor must be one that keeps objects, got {executor!r}")
            self.executor = own

    def __reduce__(self) -> tuple[Any, ...]:
        return ItemTasks, (self._work, self.items)

    def answers(self, message: Any) -> list[Any]:
        """The answers of all items, in their order.

        Raises
        ------
        Exception
            What the work on the first item that fails has raised.
        ExecutorError
            If the executor has lost a worker, or cannot send what is needed.
        """
        executor = self.executor
        if executor is None or not self.items:
            return [self._work(message, item) for item in self.items]
        if self._kept is None:
            self._shared, self._kept = executor.share(None), self._keep(executor)
        answers = []
        for own, error in executor.ask(_answered, list, self._shared, self._kept, message):
            if error is not None:
                raise error
            answers += own
        return answers

    def close(self) -> None:
        """Leave nothing behind with the workers; when it is asked again items are sent anew."""
        if self.executor is not None and self._kept is not None:
            self.executor.forget(self._kept)
            self._kept = self._shared = None

    def _keep(self, executor: KeepingExecutor) -> list[Any]:
        """Parts of the items, where tasks run."""
        n_parts = min(len(self.items), PARTS * executor.n_tasks)
        ends = np.linspace(0, len(self.items), n_parts + 1).round().astype(int).tolist()
        parts = [_Part(self._work, self.items[a:b], executor.here) for a, b in pairwise(ends)]
        if executor.here:
            return executor.keep(_as_it_is, [_given(part) for part in parts])
        sent = [pickled(part, executor, "its tasks their items") for part in parts]
        return executor.keep(_unpickled, [_given(part) for part in sent])


@dataclass(frozen=True)
class _Part:
    """Items that are worked on by one task, one after another."""

    work: Work
    items: Sequence[Any]
    here: bool


def _given(what: Any) -> Callable[[], Any]:
    return lambda: what


def _as_it_is(part: _Part, number: int) -> _Part:
    return part


def _unpickled(part: bytes, number: int) -> _Part:
    own: _Part = pickle.loads(part)
    return own


def _answered(shared: None, part: _Part, message: Any) -> tuple[list[Any], Exception | None]:
    """The answers of a part up to the first error, and this error."""
    answers: list[Any] = []
    try:
        for item in part.items:
            answers.append(part.work(message, item))
    except Exception as error:
        return answers, error if part.here else sendable(error)
    return answers, None
