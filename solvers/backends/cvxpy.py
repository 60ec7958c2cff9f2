"""The door to every solver CVXPY has installed, under the names ``"cvxpy:NAME"``.

The problem is built anew at each solve, about five times slower than a live model, so this is
the reference for tests and the way to a solver without its own file, not an inner loop.
Importing CVXPY takes a second or more; it happens when a name with the prefix is first used.

CVXPY's dual value of an inequality is >= 0 whichever way it points, and that of an equation is
minus the derivative with respect to its right-hand side.

Only affine constraints are written, and bounds as constraints: where CVXPY 1.9 makes its own
variables (for a maximum, a norm) it may give them false bounds: ``docs/development/solvers.md``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..program.program import Program, Sides, full_sparse, objective, variable
from ..program.solution import Point
from ..program.status import MissingBackendError, OptionError, Status, UnknownSolverError
from ..sessions.engine import Answer, Request
from ..sessions.rebuilding import RebuildingBackend
from ..tolerances import CERTIFICATE
from .highs import leave_no_scheduler
from .scipy import unknown_options_as_errors

logger = logging.getLogger(__name__)

PREFIX = "cvxpy:"
TIGHT = 1e-8
"""Asked of solvers whose own tolerance, 1e-3 to 1e-5, would not meet `DEFAULT_CHECK` of
`solvers.program.errors`."""

NO_CERTIFICATES = {"PIQP", "SCIPY"}
"""PIQP may end at a limit where nothing is feasible, SciPy in a failure where it is unbounded."""

FIRST_ORDER = {"OSQP", "SCS"}

NOT_FOR_QUADRATIC = {"HIGHS"}  # hangs on small quadratic programs (HiGHS#1000, #2489)

_STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "unbounded_inaccurate": Status.UNBOUNDED,
    "infeasible_or_unbounded": Status.INFEASIBLE_OR_UNBOUNDED,
    "user_limit": Status.ITERATION_LIMIT,
}

_TOLERANCES: dict[str, tuple[str, ...]] = {
    "CLARABEL": ("tol_feas", "tol_gap_abs", "tol_gap_rel"),
    "DAQP": ("primal_tol", "dual_tol"),
    "HIGHS": ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
    "OSQP": ("eps_abs", "eps_rel"),
    "PIQP": ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"),
    "SCS": ("eps_abs", "eps_rel"),
}
_ITERATION_LIMITS = {
    "CLARABEL": "max_iter",
    "DAQP": "iter_limit",
    "HIGHS": "simplex_iteration_limit",
    "OSQP": "max_iter",
    "PIQP": "max_iter",
    "SCS": "max_iters",
}
_TIME_LIMITS = {
    "CLARABEL": "time_limit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    # OSQP's polishing prints where no row is active; ours follows anyway
    "OSQP": {
        "eps_abs": TIGHT,
        "eps_rel": TIGHT,
        "eps_dual_inf": CERTIFICATE,
        "max_iter": 50_000,
        "polishing": False,
    },
    "SCS": {"eps_abs": TIGHT, "eps_rel": TIGHT, "max_iters": 200_000},
}


def cvxpy_solver_names() -> tuple[str, ...]:
    """Return ``"cvxpy:NAME"`` for every solver CVXPY has installed; imports CVXPY."""
    if find_spec("cvxpy") is None:
        return ()
    import cvxpy

    return tuple(PREFIX + name for name in cvxpy.installed_solvers())


def cvxpy_backend(name: str) -> RebuildingBackend:
    """Return the backend for ``"cvxpy:NAME"``; imports CVXPY."""
    if find_spec("cvxpy") is None:
        raise MissingBackendError("cvxpy is not installed: pip install cvxpy", backend=name)
    solver = name.removeprefix(PREFIX).upper()
    known = cvxpy_solver_names()
    if PREFIX + solver not in known:
        raise UnknownSolverError(
            f"CVXPY has no solver {solver!r} installed; it has {', '.join(known)} (more: cgboost "
            "explain solvers)",
            backend=name,
        )
    return RebuildingBackend(
        PREFIX + solver, _capabilities(solver), "cvxpy", partial(solve_with_cvxpy, solver)
    )


def solve_with_cvxpy(solver: str, program: Program, request: Request) -> Answer:
    """Build, call, translate back."""
    import cvxpy

    x = variable(cvxpy, program.n_columns, program.integrality)
    rows = Sides(program.row_lower, program.row_upper)
    matrix = sp.csr_array(program.matrix)
    equations, inequalities = matrix[rows.equal], rows.one_sided_rows(matrix)
    constraints = [
        equations @ x == program.row_upper[rows.equal],
        inequalities @ x <= rows.one_sided_right(program.row_lower, program.row_upper),
    ]
    is_low, is_high = np.isfinite(program.lower), np.isfinite(program.upper)
    bounds = [x[is_low] >= program.lower[is_low], x[is_high] <= program.upper[is_high]]
    used = [constraint for constraint in (*constraints, *bounds) if constraint.size]
    if not used:  # some solvers refuse a problem without constraints
        used = [np.zeros(program.n_columns) @ x <= 1.0]
    quadratic = full_sparse(program) if program.is_qp else None
    problem = cvxpy.Problem(cvxpy.Minimize(objective(cvxpy, x, program.cost, quadratic)), used)
    with warnings.catch_warnings():  # "may be inaccurate": the session checks that itself
        warnings.simplefilter("ignore", UserWarning)
        with unknown_options_as_errors(PREFIX + solver):
            problem.solve(solver=solver, **_options(solver, request))
    if solver == "HIGHS":
        leave_no_scheduler()
    stats = problem.solver_stats
    iterations = max(0, int(stats.num_iters or 0))
    status = _STATUS.get(problem.status, Status.FAILED)
    if solver == "GLOP" and status is Status.INFEASIBLE:  # what it says of unbounded ones, too
        status = Status.INFEASIBLE_OR_UNBOUNDED
    if status in (Status.INACCURATE, Status.ITERATION_LIMIT):
        status = _limit(request, iterations, stats.solve_time or 0.0) or status
    point = None
    if x.value is not None and np.all(np.isfinite(x.value)):
        point = Point(np.asarray(x.value), _row_duals(program, rows, constraints))
    return Answer(status, problem.status, point, iterations)


def _limit(request: Request, iterations: int, seconds: float) -> Status | None:
    """Return the limit that was asked for and reached.

    CVXPY has one word for both limits, and calls the point that SCS has by then inaccurate.
    """
    if request.time_limit is not None and seconds >= request.time_limit:
        return Status.TIME_LIMIT
    if request.max_iterations is not None and iterations >= request.max_iterations:
        return Status.ITERATION_LIMIT
    return None


def _row_duals(program: Program, rows: Sides, constraints: list[Any]) -> Any:
    if program.is_mip:
        return np.full(program.n_rows, np.nan)
    equations, inequalities = (
        np.zeros(c.size) if c.dual_value is None else np.atleast_1d(c.dual_value)
        for c in constraints
    )
    return rows.duals(equations, inequalities)


def _options(solver: str, request: Request) -> dict[str, Any]:
    options: dict[str, Any] = dict(_DEFAULTS.get(solver, {}))
    if request.tol is not None:
        options |= dict.fromkeys(_TOLERANCES.get(solver, ()), request.tol)
    if request.max_iterations is not None:
        if solver not in _ITERATION_LIMITS:
            raise OptionError(
                f"how to set this limit for {solver} is not known here; pass the solver's own "
                "option to open_session",
                backend=PREFIX + solver,
            )
        options[_ITERATION_LIMITS[solver]] = request.max_iterations
    seconds = request.time_limit
    if seconds is not None and solver not in _TIME_LIMITS:
        logger.info("%s%s: no time limit is known here: %s s is not kept", PREFIX, solver, seconds)
    elif seconds is not None and np.isfinite(seconds):  # SCS refuses infinity
        options[_TIME_LIMITS[solver]] = seconds
    _check_passed_on(solver, request.options)
    return options | deepcopy(
        dict(request.options)
    )  # CVXPY takes "method" out of SciPy's, for good


def _check_passed_on(solver: str, options: Mapping[str, Any]) -> None:
    """Raise OptionError for options that CVXPY would pass over in silence, or take for its own."""
    if "solver" in options:
        raise OptionError(
            f"{PREFIX}{solver} already names the solver; solver = {options['solver']!r} is no "
            "option",
            backend=PREFIX + solver,
        )
    if solver == "DAQP":
        import daqp

        known = set(daqp.Model().settings)
    elif solver in ("GLOP", "PDLP"):
        known = {"parameters_proto", "time_limit_sec"}
    else:
        return
    if unknown := sorted(set(options) - known):
        name = PREFIX + solver
        raise OptionError(f"{name} has no option {unknown[0]!r}", backend=name)


def _capabilities(solver: str) -> frozenset[str]:
    """Read what a solver can do from CVXPY's own tables."""
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC, SOLVER_MAP_QP

    conic, quadratic = SOLVER_MAP_CONIC.get(solver), SOLVER_MAP_QP.get(solver)
    is_quadratic = quadratic is not None or (
        conic is not None and ("SOC" in _cones(conic) or conic.supports_quad_obj())
    )
    is_integer = any(form is not None and form.MIP_CAPABLE for form in (conic, quadratic))
    found = {"lp"}
    if is_quadratic and solver not in NOT_FOR_QUADRATIC:
        found.add("qp")
    if is_integer:
        found.add("mip")
    if solver in _TIME_LIMITS:
        found.add("time-limit")
    if solver not in NO_CERTIFICATES:
        found.add("certificates")
    if solver not in FIRST_ORDER:
        found.add("exact")
    return frozenset(found)


def _cones(conic: Any) -> set[str]:
    return {constraint.__name__ for constraint in conic.SUPPORTED_CONSTRAINTS}
