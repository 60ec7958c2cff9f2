"""What solvers are told, and how they fail: options of named ones, time, errors of masters.

Options win over what the engine sets itself; errors have advice that fits. A deadline is in seconds
of ``time.perf_counter``, ∞ without a limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from cgboost._solvers import (
    LimitError,
    MissingBackendError,
    OptionError,
    SolverError,
    Status,
    UnknownSolverError,
    UnsupportedProblemError,
    check_options,
)
from cgboost.exceptions import MasterError, see
from cgboost.losses import SupportVectorLoss
from cgboost.tolerances import LARGE_ENTRY

TIME_LIMITS = ("time_limit", "time_limit_secs")
"""Names that solvers have for a limit of one solve; masters divide the time that is left."""


SHORTEST_SOLVE = 0.01
"""A solver is given so much at least: with less it has no answer at all."""

NEWTON = "Newton's method"
"""What runs out of time in several modules."""


def deadline_of(time_limit: float | None) -> float:
    """The end of a time that begins now."""
    return np.inf if time_limit is None else time.perf_counter() + time_limit


def time_left(deadline: float) -> float | None:
    """The seconds that are left for a solver; None without a limit."""
    return None if deadline == np.inf else max(SHORTEST_SOLVE, deadline - time.perf_counter())


def check_time(deadline: float, method: str) -> None:
    """Raise a LimitError past the deadline, which says which method ran out of time."""
    if time.perf_counter() > deadline:
        raise LimitError(f"{method} ran out of time", status=Status.TIME_LIMIT)


def checked_options(solver: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a solver, tried on a small program.

    They win over what the engine chooses for the solver (tolerances, the variant of the simplex,
    presolve, output): a bound never rests on the solver's accuracy. A time limit does not: it
    belongs to the fit.

    Parameters
    ----------
    solver : str
        Any name of :func:`solvers.available_backends`, or "auto", which takes no options.
    options : mapping of str to object, or None

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        For options that the solver does not take, or without a solver; the message has its words.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError(
            "solver_options must be a dict of the solver's own options or None, got "
            f"{options!r}{see('solvers')}"
        )
    if not options:
        return {}
    if solver == "auto":
        raise ValueError(
            f"solver_options={dict(options)!r} belong to one solver, got solver='auto', which is "
            f"none: name it, as in solver='highs'{see('solvers')}"
        )
    if limits := [name for name in options if name in TIME_LIMITS]:
        raise ValueError(
            f"solver_options has {limits[0]!r}, which would overrule the time that is left of a "
            f"fit: set time_limit of the model or the loop instead{see('solvers')}"
        )
    try:
        check_options(solver, options)
    except ValueError as error:
        raise ValueError(f"solver_options: {error}{see('solvers')}") from error
    return dict(options)


NOT_OF_NUMBERS = (OptionError, UnknownSolverError, MissingBackendError, UnsupportedProblemError)
"""Errors of solvers that have nothing to do with the numbers of the problem."""

LARGE_COST = 1e8
"""Besides costs beyond this what solvers allow a row, 1e-7, is no longer small."""


OTHERWISE = "name another solver, or allow a larger tol"
"""What may help where nothing is large."""


def advice(loss: Any, largest: float, otherwise: str = OTHERWISE) -> str:
    """What may help a solver that fails: to make smaller whatever it is that is large.

    Parameters
    ----------
    largest : float
        The largest absolute value of a column; 0 without one.
    otherwise : str
        What is said where neither costs nor columns are large.
    """
    if isinstance(loss, SupportVectorLoss) and loss.mass is None:
        cost = float(np.maximum(np.abs(loss.lower), np.abs(loss.upper)).max(initial=0.0))
        if cost > LARGE_COST:
            return f"choose a smaller C, or a larger alpha: errors of a row cost up to {cost:.3g}"
    if largest > LARGE_ENTRY or 0.0 < largest < 1.0 / LARGE_ENTRY:
        return (
            "scale the features or normalise the kernels: the largest value of a column is "
            f"{largest:.3g}"
        )
    return otherwise


@contextmanager
def solver_errors_as_master_errors(advice: Callable[[], str] | None = None) -> Iterator[None]:
    """Pass on what a solver raises as a MasterError, with advice where it met bad numbers.

    Parameters
    ----------
    advice : callable, optional
        For problems that always have an optimum: failing to find it is a matter of numbers.
    """
    try:
        yield
    except SolverError as error:
        timed_out = isinstance(error, LimitError) and error.status is Status.TIME_LIMIT
        if timed_out or advice is None:
            raise MasterError(str(error), timed_out=timed_out) from error
        words = "" if isinstance(error, NOT_OF_NUMBERS) else f"; {advice()}"
        raise MasterError(f"{error}{words}{see('solvers')}") from error
