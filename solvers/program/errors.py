"""The status of a solve, and the tree of exceptions.

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

from enum import Enum
from typing import TYPE_CHECKING


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


if TYPE_CHECKING:
    from solvers.program.solution import Solution


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


class SolverFailure(SolverError):  # noqa: N818 - the name is part of the interface
    """The backend stopped without a usable answer."""
