"""Linear, convex quadratic and mixed-integer programs behind one interface.

`solve` answers once; `open_session` keeps a model that grows by rows and columns. Both speak
`Program` and `Solution`, use the same dual convention for every backend, and never take a
solver's word for optimality. Importing this package loads no solver.
"""

from .api import BACKENDS as BACKENDS
from .api import available_backends, check_options, get_backend, open_session, solve
from .backends.highs import quiet_highs as quiet_highs
from .backends.highs import run_highs as run_highs
from .backends.highs import run_interruptible as run_interruptible
from .program.errors import InterruptedSolveError, LimitError
from .program.modelling import put_back as put_back
from .program.program import Program
from .program.solution import Solution
from .program.status import (
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
from .sessions.protocols import Backend, Session

__all__ = [
    "Backend",
    "InfeasibleError",
    "InfeasibleOrUnboundedError",
    "InterruptedSolveError",
    "LimitError",
    "MissingBackendError",
    "OptionError",
    "Program",
    "ProgramError",
    "Session",
    "Solution",
    "SolverError",
    "SolverFailure",
    "Status",
    "UnboundedError",
    "UnknownSolverError",
    "UnsupportedProblemError",
    "available_backends",
    "check_options",
    "get_backend",
    "open_session",
    "solve",
]
