"""Solution of a convex master: LPs and QPs by `solvers`, the rest by CVXPY."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from cgboost._solvers import BACKENDS, Program, available_backends, put_back, solve
from cgboost.exceptions import MasterError
from cgboost.optimizers.solver_options import checked_options, solver_errors_as_master_errors

PREFIX = "cvxpy:"

TIGHT_OPTIONS: dict[str, dict[str, float]] = {
    "CLARABEL": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    | dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), 1e-8),
    "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000},
    "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 100_000},
}

ALWAYS: dict[str, dict[str, Any]] = {"OSQP": {"polishing": False}}
"""Options besides these, at any tolerance: where no row is active OSQP's polishing prints a line on
the standard output, whatever ``verbose`` says."""

SOLVED = ("optimal", "optimal_inaccurate")

TIME_LIMITS = {"CLARABEL": "time_limit", "OSQP": "time_limit", "SCS": "time_limit_secs"}


def check_solver_options(solver: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a solver of :func:`minimise`, tried on a small program."""
    own = solver == "auto" or solver in BACKENDS
    return checked_options(solver if own else PREFIX + _cvxpy_name(solver), options)


def _cvxpy_name(solver: str) -> str:
    return solver.removeprefix(PREFIX).upper()


def minimise(
    problem: Any,
    solver: str,
    time_limit: float | None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """Solve in place, duals included.

    Parameters
    ----------
    problem : cvxpy.Problem
        A minimisation.
    solver : str
        "auto", a backend of `solvers` (LP and QP), or a solver of CVXPY, with or without prefix.
    time_limit : float or None
        Seconds.
    options : mapping of str to object, optional
        The solver's own; they win over the tight tolerances that it is given else.

    Raises
    ------
    MasterError
        With the solver's words; ``timed_out`` where the time limit was reached.
    """
    if solver == "auto":
        solver = "auto" if problem.is_qp() else "CLARABEL"
    if solver == "auto" or solver in BACKENDS:
        _solve_with_backend(problem, solver, time_limit, options)
        return
    name = _cvxpy_name(solver)
    if name not in TIGHT_OPTIONS and PREFIX + name in available_backends("qp") and problem.is_qp():
        # CVXPY hands such solvers wrong bounds of its own making (see docs/development/solvers.md)
        _solve_with_backend(problem, PREFIX + name, time_limit, options)
    else:
        _by_cvxpy(problem, name, time_limit, options or {})


def _solve_with_backend(
    problem: Any, solver: str, time_limit: float | None, options: Mapping[str, Any] | None
) -> None:
    with solver_errors_as_master_errors():
        program = Program.from_cvxpy(problem)
        solution = solve(program, solver, time_limit=time_limit, options=options)
    put_back(problem, solution)


def _by_cvxpy(
    problem: Any, solver: str, time_limit: float | None, options: Mapping[str, Any]
) -> None:
    if not problem.is_dcp():
        raise MasterError("the master is not convex by the rules of CVXPY (is_dcp)")
    limit: dict[str, Any] = ALWAYS.get(solver, {}) | dict(options)
    if time_limit is not None and solver in TIME_LIMITS:
        limit[TIME_LIMITS[solver]] = time_limit
    status = _status(problem, solver, TIGHT_OPTIONS.get(solver, {}) | limit)
    if status == "solver_error" and solver in TIGHT_OPTIONS:
        status = _status(problem, solver, limit)
    if status not in SOLVED:
        raise MasterError(f"{solver}: {status}", timed_out=status == "user_limit")


def _status(problem: Any, solver: str, options: dict[str, Any]) -> str:
    import cvxpy

    with warnings.catch_warnings():  # "may be inaccurate": the bound shows it
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver, warm_start=False, **options)  # warm: old tolerances
        except cvxpy.error.SolverError as error:
            if solver not in cvxpy.installed_solvers():
                raise MasterError(f"CVXPY has no solver {solver!r}: {error}") from error
            return "solver_error"
    return str(problem.status)
