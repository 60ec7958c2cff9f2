"""Programs out of CVXPY and back into it; CVXPY is imported when a function is called.

A CVXPY problem with a linear or convex quadratic objective and polyhedral constraints is a
`Program` after CVXPY's own rewriting (auxiliary variables for norms, maxima, …)::

    program = program_from_cvxpy(problem)     # always a minimisation
    solution = solve(program)
    put_back(problem, solution)               # values, duals and problem.value, in CVXPY's signs
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .program import Program, standard_form
from .solution import Solution
from .status import ProgramError

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
    return Program.from_cvxpy(problem)


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
    data, chain, inverse = standard_form(problem)
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
    return program.to_cvxpy()
