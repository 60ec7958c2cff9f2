"""Threads of this process: those of a function of many items, and those of linear algebra.

The BLAS library behind NumPy runs every product on all cores it may use. Small products are far
slower that way: waking a second thread costs more than it saves. So passes over columns or rows run
on one BLAS thread, and only their large products on more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

from cgboost.forks import cached_property

A = TypeVar("A")
T = TypeVar("T")

AHEAD = 2
"""Items that wait for each thread: none waits for work, and few results for those before them."""


LARGE = 5e8
"""Multiplications from which a product gains by a second thread (some milliseconds on one core)."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def available() -> int:
    """Threads that BLAS may use now: the cores, unless the environment or a caller says less."""
    count = 0
    for library in _controller().lib_controllers:
        if library.user_api == "blas":
            count = max(count, int(library.num_threads))
    return max(1, count)


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Let BLAS use ``count`` threads for a while."""
    if available() == count:  # asking is far cheaper than setting
        yield
        return
    with _controller().limit(limits=count, user_api="blas"):
        yield


class Mapped(Protocol):
    """``map``, or the same on several threads."""

    def __call__(self, work: Callable[[A], T], items: Iterable[A], /) -> Iterator[T]:
        """What a function makes of every item, in their order."""
        ...


class Threads:
    """``map`` on threads, which are there from the first call on until nobody knows this object.

    Linear algebra within an item runs on one thread. What is worked on must not call it again: it
    would wait for the thread that it is on.
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
