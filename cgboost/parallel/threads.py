"""A function of many items on threads of this process: what it makes comes in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

from cgboost.forks import cached_property
from cgboost.parallel.blas import blas_threads

A = TypeVar("A")
T = TypeVar("T")

AHEAD = 2
"""Items that wait for each thread: none waits for work, and few results for those before them."""


class Mapped(Protocol):
    """``map``, or the same on several threads."""

    def __call__(self, work: Callable[[A], T], items: Iterable[A], /) -> Iterator[T]:
        """What a function makes of every item, in their order."""
        ...


class Threads:
    """``map`` on threads, which are there from the first call on until nobody knows this object.

    Linear algebra within an item runs on one thread. What is worked on must not call it again: it
    would wait for the thread that it is on.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int) -> None:
        self.count = count

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.count)

    def __reduce__(self) -> tuple[Any, ...]:
        return Threads, (self.count,)

    def __call__(self, work: Callable[[A], T], items: Iterable[A], /) -> Iterator[T]:
        """As ``map``, a few items ahead of time; a single item is worked on by the caller."""
        with blas_threads(1):
            if self.count == 1 or (isinstance(items, Sized) and len(items) < 2):
                yield from map(work, items)
            else:
                yield from self._ahead(work, items)

    def _ahead(self, work: Callable[[A], T], items: Iterable[A]) -> Iterator[T]:
        waiting: deque[Future[T]] = deque()
        try:
            for item in items:
                waiting.append(self._pool.submit(work, item))
                if len(waiting) > AHEAD * self.count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after an error nothing goes on behind the caller's back
            for future in waiting:
                future.cancel()
            wait(waiting)
