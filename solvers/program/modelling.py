"""Answers to programs that CVXPY has written, and how they come back into it.

A CVXPY problem with a linear or convex quadratic objective and polyhedral constraints is a
`Program` after CVXPY's own rewriting (auxiliary variables for norms, maxima, …)::

    program = Program.from_cvxpy(problem)     # always a minimisation
    solution = solve(program)
    put_back(problem, solution)               # values, duals and problem.value, in CVXPY's signs
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .program import standard_form
from .solution import Solution
from .status import ProgramError

SOLVED = 1  # OSQP's number for it


def put_back(problem: Any, solution: Solution) -> float:
    """Give the variables, constraints and value of a CVXPY problem those of a solution.

    Parameters
    ----------
    problem : cvxpy.Problem
        The one that `Program.from_cvxpy` translated, unchanged since.
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
