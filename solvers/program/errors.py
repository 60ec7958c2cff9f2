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

from solvers.program.solution import Solution
from solvers.program.status import (
    InfeasibleError,
    InfeasibleOrUnboundedError,
    MissingBackendError,
    OptionError,
    ProgramError,
    SolverError,
    SolverFailure,
    Status,
    UnboundedError,
    UnknownSolverError,
    UnsupportedProblemError,
)

__all__ = [
    "InfeasibleError",
    "InfeasibleOrUnboundedError",
    "InterruptedSolveError",
    "LimitError",
    "MissingBackendError",
    "OptionError",
    "ProgramError",
    "SolverError",
    "SolverFailure",
    "Status",
    "UnboundedError",
    "UnknownSolverError",
    "UnsupportedProblemError",
]


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
