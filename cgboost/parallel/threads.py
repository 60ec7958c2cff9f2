"""A function of many items on threads of this process: what it makes comes in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

A = TypeVar("A")
T = TypeVar("T")

AHEAD = 2
"""Items that wait for each thread: none waits for work, and few results for those before them."""


class Mapped(Protocol):
    """``map``, or the same on several threads."""

    def __call__(self, work: Callable[[A], T], items: Iterable[A], /) -> Iterator[T]:
        """What a function makes of every item, in their order."""
        ...


def on_threads(count: int) -> Mapped:
    """``map`` on so many threads; on this one where it is 1."""
    return map if count == 1 else partial(_mapped, count)


def _mapped(count: int, work: Callable[[A], T], items: Iterable[A], /) -> Iterator[T]:
    """As ``map``, a few items ahead of time; a single item is worked on here."""
    if isinstance(items, Sized) and len(items) < 2:
        yield from map(work, items)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(count) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > AHEAD * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
