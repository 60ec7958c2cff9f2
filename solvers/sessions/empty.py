"""Programs without variables, which most solvers refuse."""

from __future__ import annotations

import numpy as np

from solvers.program.growing import GrowingProgram
from solvers.program.program import Program
from solvers.program.solution import Point, Solution
from solvers.program.status import Status
from solvers.program.verdict import refusal
from solvers.sessions.engine import Answer

FEASIBILITY_TOLERANCE = 1e-9

WORDS = "no variables"


def empty_answer(program: Program | GrowingProgram) -> Answer:
    """Return the only point of a program without variables, if it violates no row."""
    is_below = program.row_lower > FEASIBILITY_TOLERANCE
    is_above = program.row_upper < -FEASIBILITY_TOLERANCE
    if np.any(is_below | is_above):
        return Answer(Status.INFEASIBLE, f"{WORDS}, and a row excludes 0")
    return Answer(Status.OPTIMAL, WORDS, Point(np.empty(0), np.zeros(program.n_rows)))


def empty_solution(growing: GrowingProgram, backend: str) -> Solution:
    """Return the solution of a program without variables; raises if there is none."""
    answer = empty_answer(growing)
    if answer.point is None:
        raise refusal(answer.status, backend, answer.words)
    return Solution(
        status=answer.status,
        x=answer.point.x,
        objective=growing.constant,
        row_duals=answer.point.row_duals,
        reduced_costs=np.empty(0),
        iterations=0,
        seconds=0.0,
        backend=backend,
        message=answer.words,
        source=growing.snapshot(),
    )
