"""The end of the time of a solve, in seconds of ``time.perf_counter``; ∞ without a limit."""

from __future__ import annotations

import time

import numpy as np

from cgboost._solvers import LimitError, Status

LEAST_SECONDS = 0.01
"""A solver is given so much at least: with less it has no answer at all."""

NEWTON = "Newton's method"
"""What runs out of time in several modules."""


def deadline_of(time_limit: float | None) -> float:
    """The end of a time that begins now."""
    return np.inf if time_limit is None else time.perf_counter() + time_limit


def time_left(deadline: float) -> float | None:
    """The seconds that are left for a solver; None without a limit."""
    return None if deadline == np.inf else max(LEAST_SECONDS, deadline - time.perf_counter())


def check_time(deadline: float, method: str) -> None:
    """Raise a LimitError past the deadline, which says which method ran out of time."""
    if time.perf_counter() > deadline:
        raise LimitError(f"{method} ran out of time", status=Status.TIME_LIMIT)
