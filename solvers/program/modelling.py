"""Programs out of CVXPY and back into it; CVXPY is imported when a function is called.

A CVXPY problem with a linear or convex quadratic objective and polyhedral constraints is a
`Program` after CVXPY's own rewriting (auxiliary variables for norms, maxima, …)::

    program = program_from_cvxpy(problem)     # always a minimisation
    solution = solve(program)
    put_back(problem, solution)               # values, duals and problem.value, in CVXPY's signs

CVXPY's form of a quadratic program is asked for by the name of a solver that CVXPY always brings
along (OSQP); it is not run.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from solvers.program.errors import MissingBackendError, ProgramError
from solvers.program.program import full_sparse

if TYPE_CHECKING:
    from solvers.program.program import Program
    from solvers.program.solution import Solution

FORM = "OSQP"
SOLVED = 1  # OSQP's number for it


def program_from_cvxpy(problem: Any) -> Program:
    """Return the program that a CVXPY problem amounts to.

    Parameters
    ----------
    problem : cvxpy.Problem
        With a linear or convex quadratic objective and polyhedral constraints. A maximisation
        becomes the minimisation of the negative, constants included.

    Returns
    -------
    Program
        Its first rows are the equations, the others ``<=``; its columns are CVXPY's, auxiliary
        ones included. Use `put_back` to read them.

    Raises
    ------
    ProgramError
        For anything else: cones, integer variables, not convex, parameters without a value.
    MissingBackendError
        Without CVXPY.
    """
    from solvers.program.program import Program

    data, _, inverse = _standard_form(problem)
    equations, inequalities = sp.csr_array(data["A"]), sp.csr_array(data["F"])
    right, limits = np.asarray(data["b"], dtype=np.float64), np.asarray(data["G"], dtype=np.float64)
    lower, upper = data.get("lower_bounds"), data.get("upper_bounds")
    return Program(
        cost=np.asarray(data["q"], dtype=np.float64),
        matrix=sp.vstack([equations, inequalities], format="csr"),
        row_lower=np.concatenate([right, np.full(limits.size, -np.inf)]),
        row_upper=np.concatenate([right, limits]),
        lower=-np.inf if lower is None else lower,
        upper=np.inf if upper is None else upper,
        quadratic=data["P"],
        constant=float(inverse[-1]["offset"]),
    )


def put_back(problem: Any, solution: Solution) -> float:
    """Give the variables, constraints and value of a CVXPY problem those of a solution.

    Parameters
    ----------
    problem : cvxpy.Problem
        The one that `program_from_cvxpy` translated, unchanged since.
    solution : Solution
        Of that program.

    Returns
    -------
    float
        ``problem.value``, in the problem's own sense.

    Raises
    ------
    ProgramError
        If the solution belongs to a program of another size.
    """
    data, chain, inverse = _standard_form(problem)
    shape = (len(data["b"]) + len(data["G"]), len(data["q"]))
    if (solution.row_duals.size, solution.x.size) != shape:
        raise ProgramError(
            f"the solution has {solution.row_duals.size} rows and {solution.x.size} columns, the "
            f"problem {shape[0]} and {shape[1]}"
        )
    info = SimpleNamespace(
        status_val=SOLVED,
        obj_val=solution.objective - float(inverse[-1]["offset"]),
        iter=solution.iterations,
        run_time=solution.seconds,
    )
    # CVXPY's duals of "<=" are >= 0, those of an equation minus the derivative
    answer = SimpleNamespace(info=info, x=solution.x, y=-solution.row_duals, prim_inf_cert=None)
    problem.unpack_results(answer, chain, inverse)
    return float(problem.value)


def program_to_cvxpy(program: Program) -> Any:
    """Return a program as a `cvxpy.Problem` in one variable called ``x``.

    Its constraints, in this order, where there are any: the equations, the rows with a lower and
    those with an upper bound, the lower and the upper bounds of x.

    Raises
    ------
    MissingBackendError
        Without CVXPY.
    """
    cvxpy = _cvxpy()
    x = variable(cvxpy, program)
    matrix = sp.csr_array(program.matrix)
    low, high = program.row_lower, program.row_upper
    equal = low == high
    below, above = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
    is_low, is_high = np.isfinite(program.lower), np.isfinite(program.upper)
    constraints = [
        matrix[equal] @ x == high[equal],
        matrix[below] @ x >= low[below],
        matrix[above] @ x <= high[above],
        x[is_low] >= program.lower[is_low],
        x[is_high] <= program.upper[is_high],
    ]
    used = [constraint for constraint in constraints if constraint.size]
    return cvxpy.Problem(cvxpy.Minimize(objective(cvxpy, program, x) + program.constant), used)


def variable(cvxpy: Any, program: Program) -> Any:
    """Return a CVXPY variable for x, integer where the program says so."""
    if program.integrality is None:
        return cvxpy.Variable(program.n_columns, name="x")
    return cvxpy.Variable(
        program.n_columns, name="x", integer=[np.flatnonzero(program.integrality)]
    )


def objective(cvxpy: Any, program: Program, x: Any) -> Any:
    """Return ``½ x'Px + c'x`` as a CVXPY expression."""
    linear = program.cost @ x
    if program.quadratic is None:
        return linear
    return 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(full_sparse(program))) + linear


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        raise MissingBackendError("cvxpy is not installed: pip install cvxpy") from error
    return cvxpy


def _standard_form(problem: Any) -> tuple[dict[str, Any], Any, Any]:
    """Return CVXPY's data of the quadratic program, the reductions, and the way back."""
    cvxpy = _cvxpy()
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
