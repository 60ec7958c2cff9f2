"""Functions that numba compiles, where it is installed: the extra ``fast``.

A function that is compiled is written in loops over arrays, and has a twin in NumPy, which does the
work where there is no numba, and is its test. Machine code is kept in the cache of numba: only the
first call of an installation compiles. Loading numba takes a process half a second, once.
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


def interruptible(loop: Callable[..., Any], *arguments: Any) -> Any:
    """What a compiled loop returns, or the Ctrl-C during it.

    Ctrl-C strikes where numba packs the results in Python, and comes out as a SystemError.
    """
    try:
        return loop(*arguments)
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        raise cause or error from None
