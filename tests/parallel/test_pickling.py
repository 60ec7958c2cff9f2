"""What travels to workers, and errors on their way back."""

import pickle
import threading

import pytest

from cgboost.exceptions import ExecutorError
from cgboost.parallel import SerialExecutor
from cgboost.parallel.pickling import pickled, sendable


def test_a_function_within_a_function_can_be_sent() -> None:
    """With what it closes over."""
    number = 3
    same = pickle.loads(pickled(lambda x: x + number, SerialExecutor(), "a function"))
    assert same(4) == 7


def test_what_cannot_be_sent() -> None:
    """The error names the executor, what it was to send, and the reason."""
    with pytest.raises(ExecutorError, match=r"SerialExecutor cannot send its tasks a lock .*lock"):
        pickled(threading.Lock(), SerialExecutor(), "its tasks a lock")


def test_errors_that_cannot_be_pickled() -> None:
    """They come back with their words; others as they are."""

    class OddError(Exception):
        pass

    assert type(sendable(ValueError("oh"))) is ValueError
    assert str(sendable(OddError("oh"))) == "OddError: oh"
