"""Pickling of what tasks need: functions that are no module's, and errors of any kind."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import joblib

from cgboost.exceptions import ExecutorError

NEEDS = "its tasks what they need"

UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError)
"""What pickling raises, as other things do: only where nothing else happens they tell."""


@contextmanager
def sending(executor: Any) -> Iterator[None]:
    """Raise an ExecutorError for what cannot be pickled; inside nothing but sending happens."""
    try:
        yield
    except UNPICKLABLE as error:
        raise _unsendable(executor, NEEDS, error) from error


def pickled(what: Any, executor: Any, described: str = NEEDS) -> bytes:
    """Pickled with functions that are no module's, as pricers often are.

    Parameters
    ----------
    executor : Executor
        It is named in the error.
    described : str
        What cannot be sent, such as "its blocks what they need".

    Raises
    ------
    ExecutorError
        For what cannot be pickled.
    """
    with suppress(Exception):
        plain = pickle.dumps(what)  # in a tenth of the time
        if b"__main__" not in plain:  # which another process may not have
            return plain
    try:
        return pickle.dumps(joblib.wrap_non_picklable_objects(what, keep_wrapper=False))
    except Exception as error:
        raise _unsendable(executor, described, error) from error


def _unsendable(executor: Any, what: str, error: Exception) -> ExecutorError:
    return ExecutorError(
        f"{type(executor).__name__} cannot send {what} ({_in_words(error)}): files, connections, "
        "locks and models of solvers stay where they are made. Make them in the tasks: in __iter__ "
        "of a source of blocks, when a pricer is first asked, or as __reduce__ says; or give an "
        "executor of this process, ThreadExecutor()"
    )


def sendable(error: Exception) -> Exception:
    """The error, or one with its words where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(_in_words(error))
    return error


def _in_words(error: Exception) -> str:
    name, words = type(error).__name__, str(error)
    return f"{name}: {words}" if words else name
