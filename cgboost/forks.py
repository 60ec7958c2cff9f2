"""What threads share, so that a process forked while one of them is at work does not wait for it.

In the child that thread does not exist, and a lock that it holds would never be opened.
"""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

from solvers.program.arrays import cached_property as cached_property


class Lock:
    """A lock for ``with`` that is open in a forked process, whoever held it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        if self._lock.locked():  # it is not where the fork was made inside
            self._lock.release()

    @staticmethod
    def renew() -> None:
        """Open all locks of this process, which has one thread."""
        for own in list(_locks):
            own._lock = threading.Lock()


_locks: WeakSet[Lock] = WeakSet()

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=Lock.renew)
