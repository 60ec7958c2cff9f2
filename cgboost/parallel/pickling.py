"""Pickling of what tasks need: functions that are no module's, and errors of any kind."""

from __future__ import annotations

import pickle
from typing import Any

import joblib

from cgboost.exceptions import ExecutorError


def pickled(what: Any, executor: Any, described: str) -> bytes:
    """Pickled with functions that are no module's, as pricers often are.

    Parameters
    ----------
    what : object
    executor : Executor
        It is named in the error.
    described : str
        What cannot be sent, such as "its blocks what they need".

    Raises
    ------
    ExecutorError
        For what cannot be pickled.
    """
    try:
        return pickle.dumps(joblib.wrap_non_picklable_objects(what, keep_wrapper=False))
    except Exception as error:
        raise ExecutorError(
            f"{type(executor).__name__} cannot send {described} ({_in_words(error)}): what a "
            "pricer holds open, such as a solver's model, it has to make when it is first asked, "
            "or its class has to say in __reduce__ how to make it"
        ) from error


def sendable(error: Exception) -> Exception:
    """The error, or one with its words where it cannot be pickled."""
    try:
        same: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(_in_words(error))
    return same


def _in_words(error: Exception) -> str:
    name, words = type(error).__name__, str(error)
    return f"{name}: {words}" if words else name
