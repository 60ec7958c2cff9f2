"""What CVXPY's problems and the data of a program have to do with each other.

`solvers.program.modelling` says how to use it. CVXPY is imported when a function is called. CVXPY's
form of a quadratic program is asked for by the name of a solver that CVXPY always brings along
(OSQP); it is not run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.program.arrays import BoolArray, FloatArray, Matrix
from solvers.program.status import MissingBackendError, ProgramError

FORM = "OSQP"


def arguments_of(problem: Any) -> dict[str, Any]:
    """Return the arguments of `Program` that a CVXPY problem amounts to; raises `ProgramError`."""
    data, _, inverse = standard_form(problem)
    equations, inequalities = sp.csr_array(data["A"]), sp.csr_array(data["F"])
    right, limits = np.asarray(data["b"], dtype=np.float64), np.asarray(data["G"], dtype=np.float64)
    lower, upper = data.get("lower_bounds"), data.get("upper_bounds")
    return {
        "cost": np.asarray(data["q"], dtype=np.float64),
        "matrix": sp.vstack([equations, inequalities], format="csr"),
        "row_lower": np.concatenate([right, np.full(limits.size, -np.inf)]),
        "row_upper": np.concatenate([right, limits]),
        "lower": -np.inf if lower is None else lower,
        "upper": np.inf if upper is None else upper,
        "quadratic": data["P"],
        "constant": float(inverse[-1]["offset"]),
    }


def problem_of(
    *,
    cost: FloatArray,
    quadratic: sp.csc_matrix | None,
    constant: float,
    matrix: Matrix,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    integrality: BoolArray | None,
) -> Any:
    """Return the `cvxpy.Problem` with these data, as `Program` has them; P is a whole matrix."""
    cvxpy = load_cvxpy()
    x = variable(cvxpy, cost.size, integrality)
    rows = sp.csr_array(matrix)
    equal = row_lower == row_upper
    below, above = np.isfinite(row_lower) & ~equal, np.isfinite(row_upper) & ~equal
    is_low, is_high = np.isfinite(lower), np.isfinite(upper)
    constraints = [
        rows[equal] @ x == row_upper[equal],
        rows[below] @ x >= row_lower[below],
        rows[above] @ x <= row_upper[above],
        x[is_low] >= lower[is_low],
        x[is_high] <= upper[is_high],
    ]
    used = [constraint for constraint in constraints if constraint.size]
    return cvxpy.Problem(cvxpy.Minimize(objective(cvxpy, x, cost, quadratic) + constant), used)


def variable(cvxpy: Any, n: int, integrality: BoolArray | None) -> Any:
    """Return a CVXPY variable for x, integer where the mask says so."""
    if integrality is None:
        return cvxpy.Variable(n, name="x")
    return cvxpy.Variable(n, name="x", integer=[np.flatnonzero(integrality)])


def objective(cvxpy: Any, x: Any, cost: FloatArray, quadratic: sp.csc_matrix | None) -> Any:
    """Return ``½ x'Px + c'x`` as a CVXPY expression."""
    linear = cost @ x
    if quadratic is None:
        return linear
    return 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(quadratic)) + linear


def load_cvxpy() -> Any:
    """Return the module cvxpy; raises `MissingBackendError`."""
    try:
        import cvxpy
    except ImportError as error:
        raise MissingBackendError("cvxpy is not installed: pip install cvxpy") from error
    return cvxpy


def standard_form(problem: Any) -> tuple[dict[str, Any], Any, Any]:
    """Return CVXPY's data of the quadratic program, the reductions, and the way back."""
    cvxpy = load_cvxpy()
    if not isinstance(problem, cvxpy.Problem):
        raise ProgramError(f"expected a cvxpy.Problem, got {type(problem).__name__}")
    unset = [p.name() for p in problem.parameters() if p.value is None]
    if unset:
        raise ProgramError(f"parameters without a value: {', '.join(unset)}")
    if not problem.variables():
        raise ProgramError("the CVXPY problem has no variables")
    if not problem.is_dcp():
        raise ProgramError("the CVXPY problem is not convex by the rules of CVXPY (is_dcp)")
    if problem.is_mixed_integer():
        raise ProgramError("the CVXPY problem has integer variables; only LPs and QPs are taken")
    if not problem.is_qp():
        raise ProgramError(
            "the CVXPY problem is neither an LP nor a QP: a linear or quadratic objective and "
            "polyhedral constraints are taken, no other cones"
        )
    try:
        return problem.get_problem_data(FORM)
    except cvxpy.error.SolverError as error:
        raise ProgramError(f"CVXPY cannot write this as a quadratic program: {error}") from error
