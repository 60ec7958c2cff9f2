"""From a backend's claim to a `Solution` or an exception."""

from __future__ import annotations

import logging
from dataclasses import replace

from solvers.program.errors import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    InterruptedSolveError,
    LimitError,
    SolverError,
    SolverFailure,
    Status,
    UnboundedError,
)
from solvers.program.solution import Solution

logger = logging.getLogger(__name__)

DEFAULT_CHECK = 1e-6
TIGHTEST_CHECK = 1e-9
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
