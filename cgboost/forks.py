"""What threads share, so that a process forked while one of them is at work does not wait for it.

In the child that thread does not exist, and a lock that it holds would never be opened.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (that of Python 3.12)
        """Without the lock of Python 3.11, one for all objects: two threads may both compute."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """The value, computed once."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


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
