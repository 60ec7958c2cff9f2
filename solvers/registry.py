"""The backends by name, and which of them work on this machine."""

from __future__ import annotations

from difflib import get_close_matches

from solvers.backends.auto import AutoBackend
from solvers.backends.clarabel import CLARABEL
from solvers.backends.cvxpy import PREFIX, cvxpy_backend, cvxpy_solver_names
from solvers.backends.daqp import DAQP
from solvers.backends.highs import HighsBackend
from solvers.backends.osqp import OSQP
from solvers.backends.piqp import PIQP
from solvers.backends.scipy import SCIPY
from solvers.program.errors import UnknownSolverError
from solvers.sessions.catalogue import BACKENDS, local_backends
from solvers.sessions.protocols import Backend

__all__ = ["BACKENDS", "available_backends", "get_backend", "local_backends"]

BACKENDS.update(
    {
        "highs": HighsBackend(),
        "clarabel": CLARABEL,
        "daqp": DAQP,
        "osqp": OSQP,
        "piqp": PIQP,
        "scipy": SCIPY,
    }
)


def get_backend(name: str) -> Backend:
    """Return the backend called `name`.

    Parameters
    ----------
    name : str
        ``"auto"``, a key of `BACKENDS`, or ``"cvxpy:NAME"``.

    Raises
    ------
    UnknownSolverError
        With the names that are known.
    MissingBackendError
        For ``"cvxpy:NAME"`` without CVXPY; the others say so when opened.
    """
    if name in BACKENDS:
        return BACKENDS[name]
    if name == "auto":
        return AutoBackend()
    if name.startswith(PREFIX):
        return cvxpy_backend(name)
    by_cvxpy = name.lower() == PREFIX.rstrip(":")
    alike = [f"{PREFIX}SCS"] if by_cvxpy else get_close_matches(name.lower(), ["auto", *BACKENDS])
    meant = f"did you mean {alike[0]!r}? Known" if alike else "known"
    raise UnknownSolverError(
        f"no solver is called {name!r}; {meant} are auto, {', '.join(BACKENDS)} and {PREFIX}NAME "
        "(see docs/user_guide/solvers.md#backends)",
        backend=name,
    )


def available_backends(problem: str | None = None) -> tuple[str, ...]:
    """Return the names usable on this machine.

    Parameters
    ----------
    problem : {"lp", "qp", "mip"}, optional
        Only those that solve this class of problem.

    Notes
    -----
    Imports CVXPY, if it is installed, to ask it for its solvers: that takes a second or more.
    """
    through_cvxpy = tuple(
        name
        for name in cvxpy_solver_names()
        if problem is None or problem in cvxpy_backend(name).capabilities
    )
    return local_backends(problem) + through_cvxpy
