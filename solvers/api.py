"""The two ways in: solve once, or open a live session."""

from __future__ import annotations

from typing import Any

from solvers.program.program import Program
from solvers.program.solution import Solution
from solvers.program.verdict import verified
from solvers.registry import get_backend
from solvers.sessions.protocols import Session


def solve(
    program: Program,
    solver: str = "auto",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
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
    session = open_session(program, solver)
    return verified(session.solve(tol=tol, time_limit=time_limit), tol)


def open_session(program: Program, solver: str = "auto", **options: Any) -> Session:
    """Open a live model of `program` that can grow and be solved again and again.

    Parameters
    ----------
    program : Program
        The first program, which may have no rows or no columns yet.
    solver : str
        A name from `available_backends`, or ``"auto"``.
    **options
        ``max_iterations`` everywhere, and the backend's own options.

    Returns
    -------
    Session
    """
    return get_backend(solver).open(program, **options)
