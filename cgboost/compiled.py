"""Functions that numba compiles, where it is installed: the extra ``fast``.

A function that is compiled is written in loops over arrays, and has a twin in NumPy, which does the
work where there is no numba, and is its test. Machine code is kept in the cache of numba: only the
first call of an installation compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from cgboost.optional import is_installed


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function as machine code; None without numba."""
    if not is_installed("numba"):
        return None
    import numba

    fast: Callable[..., Any] = numba.njit(cache=True)(function)
    return fast
