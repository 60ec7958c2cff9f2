"""Errors of solvers, and the verdict on a backend's claim: a `Solution` or an exception.

::

    SolverError
    ├── ProgramError             the data are not a program (also a ValueError)
    ├── OptionError              an option the backend does not know (also a ValueError)
    ├── UnknownSolverError       no backend of that name (also a ValueError)
    ├── MissingBackendError      the backend's own package is not installed
    ├── UnsupportedProblemError  the backend cannot solve this class of problem
    ├── InfeasibleError
    ├── UnboundedError
    ├── InfeasibleOrUnboundedError
    ├── LimitError               out of time or iterations; carries the last point
    └── SolverFailure            the backend gave up

    KeyboardInterrupt
    └── InterruptedSolveError    Ctrl-C during a solve; carries the last point

Every exception carries the `status`, the `backend` and the backend's own `words`. Ctrl-C stays a
KeyboardInterrupt, so that no ``except SolverError`` mistakes it for a failure of the solver.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from .solution import Solution
from .status import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    SolverError,
    SolverFailure,
    Status,
    UnboundedError,
)


class LimitError(SolverError):
    """A time or iteration limit was reached first.

    Attributes
    ----------
    solution : Solution or None
        The last point, feasible or not, if the backend has one.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Status = Status.FAILED,
        backend: str = "",
        words: str = "",
        solution: Solution | None = None,
    ) -> None:
        super().__init__(message, status=status, backend=backend, words=words)
        self.solution = solution


class InterruptedSolveError(KeyboardInterrupt):
    """The user pressed Ctrl-C during a solve; the session stays usable.

    Attributes
    ----------
    status, backend, words
        As in `SolverError`.
    solution : Solution or None
        The last point, if the backend has one.
    """

    def __init__(self, message: str, backend: str, words: str, solution: Solution | None) -> None:
        super().__init__(message)
        self.status = Status.INTERRUPTED
        self.backend = backend
        self.words = words
        self.solution = solution


logger = logging.getLogger(__name__)

DEFAULT_CHECK = 1e-6
"""Ten times what solvers of linear programs allow a row by default, 1e-7."""

TIGHTEST_CHECK = 1e-9
"""Ten times the finest tolerance that HiGHS takes, 1e-10: residuals of long sums are no more
exact."""

USABLE = 1e-3
"""A point whose backend itself doubts it is worth returning up to this residual."""

_ERRORS: dict[Status, type[SolverError]] = {
    Status.INFEASIBLE: InfeasibleError,
    Status.UNBOUNDED: UnboundedError,
    Status.INFEASIBLE_OR_UNBOUNDED: InfeasibleOrUnboundedError,
    Status.FAILED: SolverFailure,
}


def check_tolerance(tol: float | None) -> float:
    """Return the residual up to which an answer counts as optimal.

    1e-6 by default and ten times `tol` if one was given: every solver scales its own tolerance
    in its own way, and ours must not reject what a solver met by its own rule.
    """
    return DEFAULT_CHECK if tol is None else max(10.0 * tol, TIGHTEST_CHECK)


def verified(solution: Solution, tol: float | None) -> Solution:
    """Return the solution with the status its own residuals deserve.

    `OPTIMAL` if they confirm it to `check_tolerance`, `INACCURATE` (and a log entry) if not.

    Raises
    ------
    SolverFailure
        If the backend itself calls the point inaccurate and the residuals exceed `USABLE`.
    """
    eps = check_tolerance(tol)
    if solution.is_optimal(eps):
        return replace(solution, status=Status.OPTIMAL)
    found = (
        f"primal residual {solution.primal_residual:.1e}, "
        f"dual residual {solution.dual_residual:.1e}, gap {solution.duality_gap:.1e}"
    )
    if solution.status is Status.INACCURATE and not solution.is_optimal(USABLE):
        raise SolverFailure(
            f"{solution.backend} found no usable point ({solution.message}): {found}",
            backend=solution.backend,
            words=solution.message,
        )
    logger.info("%s: not optimal to %.0e: %s", solution.backend, eps, found)
    return replace(solution, status=Status.INACCURATE)


def refusal(
    status: Status, backend: str, words: str, last: Solution | None = None
) -> SolverError | InterruptedSolveError:
    """Return the exception for a status that is not an answer."""
    message = f"{backend}: {status.value} ({words})"
    if status in _ERRORS:
        return _ERRORS[status](message, status=status, backend=backend, words=words)
    if status is Status.INTERRUPTED:
        return InterruptedSolveError(message, backend, words, last)
    return LimitError(message, status=status, backend=backend, words=words, solution=last)
