"""`solvers.program.errors`: which status raises what."""

import pytest

from solvers import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    InterruptedSolveError,
    LimitError,
    SolverError,
    SolverFailure,
    Status,
    UnboundedError,
)
from solvers.program.errors import refusal


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.INFEASIBLE, InfeasibleError),
        (Status.UNBOUNDED, UnboundedError),
        (Status.INFEASIBLE_OR_UNBOUNDED, InfeasibleOrUnboundedError),
        (Status.TIME_LIMIT, LimitError),
        (Status.ITERATION_LIMIT, LimitError),
        (Status.FAILED, SolverFailure),
        (Status.INTERRUPTED, InterruptedSolveError),
    ],
)
def test_every_status_that_is_no_answer_has_its_exception(status, kind):
    """The exception carries the status, the backend and the backend's own words."""
    error = refusal(status, "mock", "its own words")
    assert type(error) is kind
    assert (error.status, error.backend, error.words) == (status, "mock", "its own words")
    assert str(error) == f"mock: {status.value} (its own words)"


def test_ctrl_c_is_no_solver_error():
    """`except SolverError`, as in a fallback, must not swallow Ctrl-C."""
    assert not issubclass(InterruptedSolveError, SolverError)
    assert issubclass(InterruptedSolveError, KeyboardInterrupt)
