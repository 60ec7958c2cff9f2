"""SciPy: its own copy of HiGHS, for linear (`linprog`) and mixed-integer (`milp`) programs.

The marginals of `linprog` are already derivatives with respect to the right-hand side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
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
    own: dict[str, Any] = {}
    if request.tol is not None:
        own["primal_feasibility_tolerance"] = own["dual_feasibility_tolerance"] = request.tol
    options = _options(request, own, "maxiter")
    result = _clear(partial(linprog, program.cost, **form, method="highs"), options)
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
    own = {"mip_rel_gap": MIP_GAP if request.tol is None else request.tol}
    result = _clear(partial(milp, program.cost, **form), _options(request, own, "node_limit"))
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


def _options(request: Request, own: dict[str, Any], steps: str) -> dict[str, Any]:
    """All options of a call; ``steps`` is what it calls its limit of iterations."""
    limits = {steps: request.max_iterations, "time_limit": request.time_limit}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return own | given | dict(request.options)


def _clear(call: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The result; without presolve where that stops at "unbounded or infeasible"."""
    result = call(options=options)
    if result.status == UNCLEAR and "presolve" not in options:
        return call(options=options | {"presolve": False})
    return result


def _status(result: Any) -> Status:
    if result.status == LIMIT and "time" in result.message.lower():
        return Status.TIME_LIMIT
    return _STATUS.get(result.status, Status.FAILED)
