"""What an engine, a solver that takes a whole program at a time, is asked and answers.

And programs without variables, which most solvers refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..program.errors import refusal
from ..program.growing import GrowingProgram
from ..program.program import Program
from ..program.solution import Point, Solution
from ..program.status import OptionError, SolverError, SolverFailure, Status


@dataclass(frozen=True)
class Request:
    """What an engine is asked besides the program.

    Attributes
    ----------
    tol : float or None
        In the solver's own terms; None for the engine's default.
    time_limit : float or None
        Seconds.
    max_iterations : int or None
        None for the engine's default.
    options : mapping
        The solver's own options; they win over the engine's choices.
    guess : Point or None
        Where to start, for an engine that can use it.
    """

    tol: float | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    guess: Point | None = None


@dataclass(frozen=True)
class Answer:
    """What an engine says: a status, the solver's own words, and a point if there is one.

    `backend` is set by an engine that only passes the question on.
    """

    status: Status
    words: str
    point: Point | None = None
    iterations: int = 0
    backend: str = ""


Engine = Callable[[Program, Request], Answer]

POINTLESS = {Status.INFEASIBLE, Status.UNBOUNDED, Status.FAILED}
"""Where a solver has no point, or a filler instead of one."""


def ask(engine: Engine, program: Program, request: Request, name: str) -> Answer:
    """Call an engine; whatever native code throws becomes a `SolverFailure`.

    So does what is no answer: of another type, or a point that does not fit the program. A panic
    in a Rust library (clarabel) is a BaseException of a type that cannot be imported, so it is
    recognised by name.
    """
    try:
        answer = engine(program, request)
    except SolverError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise SolverFailure(f"{name} failed: {error}", backend=name, words=str(error)) from error
    if wrong := _wrong_with(answer, program):
        raise SolverFailure(f"{name}: {wrong}", backend=name, words=wrong)
    return answer


def _wrong_with(answer: Any, program: Program) -> str:
    """What keeps something from being the answer of an engine; empty if nothing does."""
    if not (isinstance(answer, Answer) and isinstance(answer.status, Status)):
        return f"its engine must return an Answer with a Status, got {answer!r:.80}"
    is_optimum = answer.status in (Status.OPTIMAL, Status.INACCURATE)
    if answer.point is None:
        return f"its engine says {answer.status.value!r} without a point" if is_optimum else ""
    lengths = {"x": program.n_columns, "row_duals": program.n_rows}
    for part, length in lengths.items():
        values = np.asarray(getattr(answer.point, part))
        if values.shape != (length,):
            return f"{part} of its engine must have shape ({length},), got {values.shape}"
    return ""


def apply_options(settings: Any, options: Mapping[str, Any], name: str) -> None:
    """Set options as attributes of a native settings object; raises `OptionError`."""
    for key, value in options.items():
        if not hasattr(settings, key):
            raise OptionError(f"{name} has no option {key!r}", backend=name)
        try:
            setattr(settings, key, value)
        except (TypeError, ValueError) as error:
            raise OptionError(f"{name} rejects {key} = {value!r}: {error}", backend=name) from error


FEASIBILITY_TOLERANCE = 1e-9
"""As `TIGHTEST_CHECK` of `solvers.program.errors`: bounds of rows from which columns were taken
have rounding."""

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
