"""The name "auto": HiGHS for linear and mixed-integer programs, PIQP or Clarabel for quadratic.

Measured choices, see ``docs/development/solvers.md``: PIQP is the fastest of the quadratic backends
on every program tried and solved them all; Clarabel takes over where PIQP does not end in "solved",
and where PIQP is not installed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ..program.arrays import MatrixLike
from ..program.growing import GrowingProgram, check_columns
from ..program.program import Program
from ..program.solution import Solution
from ..program.status import MissingBackendError, OptionError, SolverFailure, Status
from ..sessions.engine import Answer, Request, ask
from ..sessions.protocols import Session, class_name, require_support
from ..sessions.rebuilding import RebuildingBackend
from ..tolerances import LEAST_TIME
from .clarabel import CLARABEL
from .highs import HighsBackend
from .piqp import PIQP

OPTIONS = {"max_iterations", "eliminate", "polish"}
CERTIFIED = {Status.INFEASIBLE, Status.UNBOUNDED}
OUT_OF_TIME = (Status.TIME_LIMIT, Status.ITERATION_LIMIT)
"""Of an answer and the one before it: the time limit is the better reason for having none."""


class AutoBackend:
    """Chooses by the class of the program, and again when it changes."""

    name = "auto"
    capabilities = frozenset({"lp", "qp", "mip", "time-limit", "certificates", "exact"})

    @property
    def is_installed(self) -> bool:
        """Whether there is anything to choose from."""
        return find_spec("highspy") is not None

    def open(self, program: Program, /, **options: Any) -> AutoSession:
        """Start a session; the options are those every backend has."""
        unknown = sorted(set(options) - OPTIONS)
        if unknown:
            raise OptionError(f"name a solver to use its own options {unknown}", backend="auto")
        return AutoSession(self, program, options)


class AutoSession:
    """A session that moves to a quadratic backend when the first quadratic column arrives."""

    def __init__(self, backend: AutoBackend, program: Program, options: dict[str, Any]) -> None:
        self._backend = backend
        self._options = options
        self._session = self._open(program)

    def _open(self, program: Program) -> Session:
        self._is_quadratic = program.is_qp
        require_support(self._backend, class_name(is_qp=program.is_qp, is_mip=program.is_mip))
        if program.is_qp:
            return QUADRATIC.open(program, **self._options)
        quadratic_only = {"eliminate", "polish"}
        return HighsBackend().open(
            program, **{k: v for k, v in self._options.items() if k not in quadratic_only}
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._session.n_rows

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self._session.n_columns

    @property
    def program(self) -> Program:
        """The current program, materialised on demand."""
        return self._session.program

    def add_columns(
        self,
        cost: npt.ArrayLike,
        matrix: MatrixLike,
        *,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        quadratic: npt.ArrayLike | None = None,
    ) -> None:
        """Append k variables; see `Session.add_columns`."""
        new = check_columns(self.n_rows, cost, matrix, lower, upper, quadratic)
        if new.quadratic is None or self._is_quadratic:
            self._session.add_columns(**new._asdict())
            return
        grown = GrowingProgram(self.program)
        grown.add_columns(new)
        self._session = self._open(grown.program())

    def add_rows(self, matrix: MatrixLike, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        """Append k rows; see `Session.add_rows`."""
        self._session.add_rows(matrix, lower, upper)

    def remove_columns(self, indices: npt.ArrayLike) -> None:
        """Delete variables; see `Session.remove_columns`."""
        self._session.remove_columns(indices)

    def remove_rows(self, indices: npt.ArrayLike) -> None:
        """Delete rows; see `Session.remove_rows`."""
        self._session.remove_rows(indices)

    def change_cost(self, indices: npt.ArrayLike, cost: npt.ArrayLike) -> None:
        """Replace the linear cost of some variables."""
        self._session.change_cost(indices, cost)

    def change_column_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some variables."""
        self._session.change_column_bounds(indices, lower, upper)

    def change_row_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some rows."""
        self._session.change_row_bounds(indices, lower, upper)

    def suggest_basis(self, columns: npt.ArrayLike, rows: npt.ArrayLike) -> None:
        """Suggest where the next solve should begin; see `Session.suggest_basis`."""
        self._session.suggest_basis(columns, rows)

    def solve(self, *, tol: float | None = None, time_limit: float | None = None) -> Solution:
        """Solve the current program; see `Session.solve`."""
        return self._session.solve(tol=tol, time_limit=time_limit)


def solve_with_best_available(program: Program, request: Request) -> Answer:
    """Ask PIQP, then Clarabel, until one is conclusive; else keep the first answer.

    PIQP may run to its limit on an infeasible program, so only its "solved" is conclusive. Each is
    given the time that is left, and where there is none the time limit is the answer.
    """
    end = time.perf_counter() + (np.inf if request.time_limit is None else request.time_limit)
    first: Answer | None = None
    failure: SolverFailure | None = None
    for backend in (PIQP, CLARABEL):
        if not backend.is_installed:
            continue
        if request.time_limit is not None:
            request = replace(request, time_limit=max(end - time.perf_counter(), LEAST_TIME))
        try:
            answer = ask(backend.engine, program, request, backend.name)
        except SolverFailure as error:
            failure = failure or error
            continue
        answer = replace(answer, backend=backend.name)
        if answer.status is Status.OPTIMAL or (answer.status in CERTIFIED and backend is not PIQP):
            return answer
        if first is None or (answer.status, first.status) == OUT_OF_TIME:
            first = answer
    if first is not None:
        return first
    raise failure or MissingBackendError("no quadratic solver is installed: pip install clarabel")


QUADRATIC = RebuildingBackend(
    "auto", frozenset({"lp", "qp"}), "numpy", solve_with_best_available, PIQP.eliminates_from
)
