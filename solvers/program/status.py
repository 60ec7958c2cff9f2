"""The status of a solve, and the errors without a point; `solvers.program.errors` has the tree."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Outcome of a solve.

    Only `OPTIMAL` and `INACCURATE` are ever returned in a `Solution` by `Session.solve`; the
    others arrive as the `status` of an exception (and of the solution a `LimitError` carries).
    """

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    TIME_LIMIT = "time limit"
    ITERATION_LIMIT = "iteration limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class SolverError(Exception):
    """Base class of everything this package raises on purpose.

    Parameters
    ----------
    message : str
        What was wrong and, where that is known, what to do about it.
    status : Status
        The outcome in the package's own terms.
    backend : str
        Name of the backend, empty if none was involved yet.
    words : str
        What the backend itself said.
    """

    def __init__(
        self,
        message: str,
        *,
        status: Status = Status.FAILED,
        backend: str = "",
        words: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.backend = backend
        self.words = words


class ProgramError(SolverError, ValueError):
    """The data do not describe a program: wrong shape, NaN, crossed bounds, ..."""


class OptionError(SolverError, ValueError):
    """The backend does not know an option, or rejects its value."""


class UnknownSolverError(SolverError, ValueError):
    """No backend has this name."""


class MissingBackendError(SolverError):
    """The backend exists but the package it drives is not installed."""


class UnsupportedProblemError(SolverError):
    """The backend does not solve this class of problem."""


class InfeasibleError(SolverError):
    """No point satisfies all the rows and bounds."""


class UnboundedError(SolverError):
    """The objective decreases without end."""


class InfeasibleOrUnboundedError(SolverError):
    """Infeasible or unbounded; the backend could not tell which."""


class SolverFailure(SolverError):  # noqa: N818 - the name is part of the interface
    """The backend stopped without a usable answer."""
