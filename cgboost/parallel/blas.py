"""How many threads linear algebra may use.

The BLAS library behind NumPy runs every product on all cores it may use. Small products are far
slower that way: waking a second thread costs more than it saves. So passes over columns or rows run
on one BLAS thread, and only their large products on more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

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
