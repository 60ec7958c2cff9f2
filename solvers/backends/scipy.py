"""SciPy: its own copy of HiGHS, for linear (`linprog`) and mixed-integer (`milp`) programs.

The marginals of `linprog` are already derivatives with respect to the right-hand side.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..program.program import Program, Sides
from ..program.solution import Point
from ..program.status import OptionError, Status
from ..sessions.engine import Answer, Request
from ..sessions.rebuilding import RebuildingBackend
from ..tolerances import MIP_GAP

WITHOUT = ".*(Unrecognized options|Using default)"
"""How SciPy's warnings of options are worded that it goes on without."""

LIMIT = 1
UNCLEAR = 4

_STATUS = {
    0: Status.OPTIMAL,
    LIMIT: Status.ITERATION_LIMIT,
    2: Status.INFEASIBLE,
    3: Status.UNBOUNDED,
}


def solve_with_scipy(program: Program, request: Request) -> Answer:
    """Call `linprog` or `milp`."""
    with unknown_options_as_errors("scipy"):
        return _milp(program, request) if program.is_mip else _linprog(program, request)


@contextmanager
def unknown_options_as_errors(backend: str) -> Iterator[None]:
    """SciPy warns of an option that it does not take, and goes on without it."""
    from scipy.optimize import OptimizeWarning

    with warnings.catch_warnings():
        warnings.filterwarnings("error", WITHOUT, OptimizeWarning)
        try:
            yield
        except OptimizeWarning as error:
            raise OptionError(f"{backend} rejects an option: {error}", backend=backend) from error


def _linprog(program: Program, request: Request) -> Answer:
    from scipy.optimize import linprog

    sides = Sides(program.row_lower, program.row_upper)
    form = {
        "A_ub": sides.one_sided_rows(program.matrix),
        "b_ub": sides.one_sided_right(program.row_lower, program.row_upper),
        "A_eq": program.matrix[sides.equal],
        "b_eq": program.row_upper[sides.equal],
        "bounds": np.column_stack([program.lower, program.upper]),
    }
    options = _linprog_options(request)
    result = linprog(program.cost, **form, method="highs", options=options)
    if result.status == UNCLEAR and "presolve" not in options:
        options["presolve"] = False  # presolve may stop at "unbounded or infeasible"
        result = linprog(program.cost, **form, method="highs", options=options)
    if result.x is None:
        return Answer(_status(result), result.message, None, int(result.nit))
    duals = sides.duals(-result.eqlin.marginals, -result.ineqlin.marginals)
    return Answer(_status(result), result.message, Point(result.x, duals), int(result.nit))


def _milp(program: Program, request: Request) -> Answer:
    from scipy.optimize import Bounds, LinearConstraint, milp

    form = {
        "integrality": program.integrality,
        "bounds": Bounds(program.lower, program.upper),
        "constraints": LinearConstraint(program.matrix, program.row_lower, program.row_upper),
    }
    options = _milp_options(request)
    result = milp(program.cost, **form, options=options)
    if result.status == UNCLEAR and "presolve" not in options:
        options["presolve"] = False
        result = milp(program.cost, **form, options=options)
    point = None
    if result.x is not None:
        point = Point(result.x, np.full(program.n_rows, np.nan))
    return Answer(_status(result), result.message, point, int(result.mip_node_count or 0))


SCIPY = RebuildingBackend(
    "scipy",
    frozenset({"lp", "mip", "time-limit", "certificates", "exact"}),
    "scipy",
    solve_with_scipy,
)


def _linprog_options(request: Request) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if request.tol is not None:
        options["primal_feasibility_tolerance"] = request.tol
        options["dual_feasibility_tolerance"] = request.tol
    if request.max_iterations is not None:
        options["maxiter"] = request.max_iterations
    if request.time_limit is not None:
        options["time_limit"] = request.time_limit
    return options | dict(request.options)


def _milp_options(request: Request) -> dict[str, Any]:
    options: dict[str, Any] = {"mip_rel_gap": MIP_GAP if request.tol is None else request.tol}
    if request.max_iterations is not None:
        options["node_limit"] = request.max_iterations
    if request.time_limit is not None:
        options["time_limit"] = request.time_limit
    return options | dict(request.options)


def _status(result: Any) -> Status:
    if result.status == LIMIT and "time" in result.message.lower():
        return Status.TIME_LIMIT
    return _STATUS.get(result.status, Status.FAILED)
