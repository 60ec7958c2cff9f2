"""What solvers raise, as errors of a master."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cgboost.exceptions import MasterError, see
from solvers import LimitError, SolverError, Status


@contextmanager
def solver_errors_as_master_errors() -> Iterator[None]:
    """Pass on what a solver raises as a MasterError with advice."""
    try:
        yield
    except SolverError as error:
        if isinstance(error, LimitError) and error.status is Status.TIME_LIMIT:
            raise MasterError(str(error), timed_out=True) from error
        # these problems always have an optimum: failing to find it is a matter of numbers
        raise MasterError(
            f"{error}; scale the features or normalise the kernels{see('solvers')}"
        ) from error
