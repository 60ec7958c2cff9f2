"""The two ways in, solve once or open a live session; the backends by name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from .backends.auto import AutoBackend
from .backends.clarabel import CLARABEL
from .backends.cvxpy import PREFIX, cvxpy_backend, cvxpy_solver_names
from .backends.daqp import DAQP
from .backends.highs import HighsBackend
from .backends.osqp import OSQP
from .backends.piqp import PIQP
from .backends.scipy import SCIPY
from .program.errors import LimitError, verified
from .program.program import Program
from .program.solution import Solution
from .program.status import OptionError, SolverError, SolverFailure, UnknownSolverError
from .sessions.protocols import BACKENDS, Backend, Session, local_backends

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


THROUGH_CVXPY = {
    "CBC", "COPT", "CPLEX", "CUCLARABEL", "CUOPT", "CVXOPT", "ECOS", "GLOP", "GLPK", "GLPK_MI",
    "GUROBI", "KNITRO", "MOSEK", "MPAX", "NAG", "PDLP", "PROXQP", "QOCO", "SCIP", "SCS", "SDPA",
    "XPRESS",
}  # fmt: skip
"""Solvers that CVXPY calls and this package has no file for; whether they are installed is another
question."""


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
    alike, absent = get_close_matches(name.lower(), ["auto", *BACKENDS]), ""
    if name.upper() in THROUGH_CVXPY:
        alike = [PREFIX + name.upper()]
        absent = "" if alike[0] in cvxpy_solver_names() else ", which is not installed"
    elif name.lower() == PREFIX.rstrip(":"):
        alike = [f"{PREFIX}SCS"]
    meant = f"did you mean {alike[0]!r}{absent}? Known" if alike else "known"
    raise UnknownSolverError(
        f"no solver is called {name!r}; {meant} are auto, {', '.join(BACKENDS)} and {PREFIX}NAME "
        "(more: cgboost explain solvers)",
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


def solve(
    program: Program,
    solver: str = "auto",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve a program once, and check the answer against the program itself.

    Parameters
    ----------
    program : Program
        What to solve.
    solver : str
        A name from `available_backends`, or ``"auto"``.
    tol : float, optional
        Tolerance handed to the solver in its own terms; its default if None.
    time_limit : float, optional
        Seconds.
    options : mapping of str to object, optional
        ``max_iterations``, and the backend's own options (:func:`check_options`).

    Returns
    -------
    Solution
        `OPTIMAL` if its residuals confirm that to 1e-6 (10·`tol` if given), whatever the solver
        claims; `INACCURATE` otherwise.

    Raises
    ------
    SolverError
        A subclass for every other outcome, see `solvers.program.errors`.
    """
    session = open_session(program, solver, options=options)
    return verified(session.solve(tol=tol, time_limit=time_limit), tol)


def open_session(
    program: Program,
    solver: str = "auto",
    *,
    options: Mapping[str, Any] | None = None,
    **more: Any,
) -> Session:
    """Open a live model of `program` that can grow and be solved again and again.

    Parameters
    ----------
    program : Program
        The first program, which may have no rows or no columns yet.
    solver : str
        A name from `available_backends`, or ``"auto"``.
    options : mapping of str to object, optional
        ``max_iterations`` everywhere, and the backend's own options (:func:`check_options`).
    **more
        Options too, unless they are called as an argument is.

    Returns
    -------
    Session
    """
    return get_backend(solver).open(program, **(dict(options or {}) | more))


def check_options(solver: str, options: Mapping[str, Any]) -> None:
    """Check that a backend takes these options, by a program of two variables.

    Parameters
    ----------
    solver : str
        A name from `available_backends`; ``"auto"`` takes no options of one solver.
    options : mapping of str to object
        ``max_iterations``, and the backend's own.

    Raises
    ------
    OptionError
        For a name or a value that it does not take, with its own words.
    """
    backend = get_backend(solver)
    is_linear = "lp" in backend.capabilities
    program = Program(
        cost=np.array([1.0, 2.0]),
        matrix=np.ones((1, 2)),
        row_lower=np.ones(1),
        row_upper=np.full(1, np.inf),
        quadratic=None if is_linear else np.ones(2),
    )
    backend.open(program).solve()  # if it fails without options, they are not to blame
    try:
        backend.open(program, **options).solve()
    except (OptionError, UnknownSolverError):
        raise
    except LimitError:
        return  # a limit that the options set
    except SolverFailure as error:
        raise OptionError(
            f"{solver} rejects the options {dict(options)!r}: {error.words or error}",
            backend=solver,
            words=error.words,
        ) from error
    except (SolverError, TypeError) as error:
        raise OptionError(
            f"{solver} rejects the options {dict(options)!r}: {error}", backend=solver
        ) from error
