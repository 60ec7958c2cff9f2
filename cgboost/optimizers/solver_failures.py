"""Failures of solvers as errors of masters, with advice that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
)
from cgboost.exceptions import MasterError, see
from cgboost.losses import SupportVectorLoss
from cgboost.tolerances import LARGE_ENTRY

NOT_OF_NUMBERS = (OptionError, UnknownSolverError, MissingBackendError, UnsupportedProblemError)
"""Errors of solvers that have nothing to do with the numbers of the problem."""

LARGE_COST = 1e8
"""Besides costs beyond this what solvers allow a row, 1e-7, is no longer small."""


def advice(loss: Any, largest: float) -> str:
    """What may help a solver that fails: to make smaller whatever it is that is large.

    Parameters
    ----------
    loss : SupportVectorLoss or other loss
    largest : float
        The largest absolute value of a column; 0 without one.
    """
    if isinstance(loss, SupportVectorLoss) and loss.mass is None:
        cost = float(np.maximum(np.abs(loss.lower), np.abs(loss.upper)).max(initial=0.0))
        if cost > LARGE_COST:
            return f"choose a smaller C: errors of a row cost up to {cost:.3g}"
    if largest > LARGE_ENTRY or 0.0 < largest < 1.0 / LARGE_ENTRY:
        return (
            "scale the features or normalise the kernels: the largest value of a column is "
            f"{largest:.3g}"
        )
    return "name another solver, or allow a larger tol"


@contextmanager
def solver_errors_as_master_errors(advice: Callable[[], str]) -> Iterator[None]:
    """Pass on what a solver raises as a MasterError, with advice where it met bad numbers."""
    try:
        yield
    except SolverError as error:
        if isinstance(error, LimitError) and error.status is Status.TIME_LIMIT:
            raise MasterError(str(error), timed_out=True) from error
        # these problems always have an optimum: failing to find it is a matter of numbers
        words = "" if isinstance(error, NOT_OF_NUMBERS) else f"; {advice()}"
        raise MasterError(f"{error}{words}{see('solvers')}") from error
