"""Live sessions: every update is checked, and recorded in the growing program.

A solver that takes a whole program at a time is one function, its engine
(`solvers.sessions.engine`). Everything else happens here: the growing, the substitution of columns,
the warm start, the polish, and the check of every answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ..program.arrays import (
    Float64Array,
    IntArray,
    MatrixLike,
    as_bounds,
    as_finite_vector,
    as_indices,
)
from ..program.errors import refusal, verified
from ..program.growing import (
    ColumnEntries,
    GrowingProgram,
    NewColumns,
    NewRows,
    check_columns,
    check_rows,
)
from ..program.program import Program
from ..program.solution import Point, Solution
from ..program.status import MissingBackendError, Status
from ..refinement.polish import polished
from ..refinement.presolve import Elimination, Gram, find_elimination
from .engine import Answer, Engine, Request, ask, empty_answer
from .protocols import Backend, class_name, require_support


class CheckedSession:
    """All of a session but `solve`: checks every update, hands it to the native model, records it.

    A subclass adds `solve`, and overrides the `_native_...` hooks for the model it keeps alive; one
    that rebuilds at each solve leaves them alone. A hook that fails must leave the native model
    unchanged.
    """

    def __init__(self, backend: Backend, program: Program) -> None:
        require_support(backend, class_name(is_qp=program.is_qp, is_mip=program.is_mip))
        self._backend = backend
        self._growing = GrowingProgram(program)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._growing.n_rows

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self._growing.n_columns

    @property
    def program(self) -> Program:
        """The current program, materialised on demand."""
        return self._growing.program()

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
        if new.quadratic is not None:
            is_mip = self._growing.integrality is not None
            require_support(self._backend, class_name(is_qp=True, is_mip=is_mip))
        self._native_add_columns(new)
        self._growing.add_columns(new)

    def add_rows(self, matrix: MatrixLike, lower: npt.ArrayLike, upper: npt.ArrayLike) -> None:
        """Append k rows; see `Session.add_rows`."""
        new = check_rows(self.n_columns, matrix, lower, upper)
        self._native_add_rows(new)
        self._growing.add_rows(new)

    def remove_columns(self, indices: npt.ArrayLike) -> None:
        """Delete variables; see `Session.remove_columns`."""
        gone = as_indices(indices, self.n_columns, "indices")
        self._native_remove_columns(gone)
        self._growing.remove_columns(gone)

    def remove_rows(self, indices: npt.ArrayLike) -> None:
        """Delete rows; see `Session.remove_rows`."""
        gone = as_indices(indices, self.n_rows, "indices")
        self._native_remove_rows(gone)
        self._growing.remove_rows(gone)

    def change_cost(self, indices: npt.ArrayLike, cost: npt.ArrayLike) -> None:
        """Replace the linear cost of some variables."""
        at = as_indices(indices, self.n_columns, "indices")
        self._change(at, cost=as_finite_vector(cost, at.size, "cost"))

    def change_column_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some variables."""
        at = as_indices(indices, self.n_columns, "indices")
        low, high = as_bounds(lower, upper, at.size)
        self._change(at, lower=low, upper=high)

    def change_row_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some rows."""
        at = as_indices(indices, self.n_rows, "indices")
        low, high = as_bounds(lower, upper, at.size)
        self._change(at, row_lower=low, row_upper=high)

    def _change(self, at: IntArray, **values: Float64Array) -> None:
        """Replace some entries of vectors of the program, by their names."""
        self._native_change(at, **values)
        for name, own in values.items():
            self._growing.replace(name, at, own)

    def suggest_basis(self, columns: npt.ArrayLike, rows: npt.ArrayLike) -> None:
        """Suggest where the next solve should begin; see `Session.suggest_basis`."""
        of_columns = as_finite_vector(columns, self.n_columns, "columns")
        of_rows = as_finite_vector(rows, self.n_rows, "rows")
        self._native_suggest_basis(np.sign(of_columns), np.sign(of_rows))

    def _native_suggest_basis(self, columns: Float64Array, rows: Float64Array) -> None:
        """Start the native model from a basis."""

    def _native_add_columns(self, new: NewColumns) -> None:
        """Append columns to the native model."""

    def _native_add_rows(self, new: NewRows) -> None:
        """Append rows to the native model."""

    def _native_remove_columns(self, indices: IntArray) -> None:
        """Delete columns of the native model."""

    def _native_remove_rows(self, indices: IntArray) -> None:
        """Delete rows of the native model."""

    def _native_change(self, indices: IntArray, **values: Float64Array) -> None:
        """Replace costs, or both bounds of columns or of rows, in the native model."""


@dataclass(frozen=True)
class RebuildingBackend:
    """A backend made of an engine.

    Parameters
    ----------
    name : str
        The name it is asked for by.
    capabilities : frozenset of str
        See `Backend`; ``"warm-start"`` if the engine uses `Request.guess`.
    package : str
        What the engine imports (and pip installs).
    engine : callable
        ``(Program, Request) -> Answer``; imports its package when called.
    eliminates_from : float
        Substitute columns when there are at least this many per remaining column (measured).

    Notes
    -----
    Options of `open`: ``max_iterations``; ``eliminate`` (True, False, or None for "where it
    pays", see `solvers.refinement.presolve`); ``polish`` (True, see `solvers.refinement.polish`);
    and the solver's own.
    """

    name: str
    capabilities: frozenset[str]
    package: str
    engine: Engine
    eliminates_from: float = 0.35

    @property
    def is_installed(self) -> bool:
        """Whether the package can be imported."""
        return find_spec(self.package) is not None

    def open(self, program: Program, /, **options: Any) -> RebuildingSession:
        """Start a session."""
        if not self.is_installed:
            raise MissingBackendError(
                f"{self.name} is not installed: pip install {self.package}", backend=self.name
            )
        return RebuildingSession(self, program, **options)


class RebuildingSession(CheckedSession):
    """A session that hands the whole program to the engine at each solve."""

    def __init__(
        self,
        backend: RebuildingBackend,
        program: Program,
        /,
        *,
        max_iterations: int | None = None,
        eliminate: bool | None = None,
        polish: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(backend, program)
        self._engine = backend.engine
        self._eliminates_from = backend.eliminates_from
        self._name = backend.name
        self._max_iterations = max_iterations
        self._eliminate = eliminate
        self._polish = polish
        self._options = options
        self._last: Point | None = None
        self._entries: ColumnEntries | None = None  # of the matrix, None if not known
        self._gram: Gram | None = None  # of the last substitution, None once positions moved

    def solve(self, *, tol: float | None = None, time_limit: float | None = None) -> Solution:
        """Solve the current program; see `Session.solve`."""
        start = time.perf_counter()
        program = self._growing.program()
        request = Request(tol, time_limit, self._max_iterations, self._options, self._last)
        answer = self._answer(program, request)
        solution = self._as_solution(program, answer, time.perf_counter() - start)
        if solution is None or answer.status not in (Status.OPTIMAL, Status.INACCURATE):
            raise refusal(answer.status, answer.backend or self._name, answer.words, solution)
        solution = verified(solution, tol)
        self._last = answer.point
        return solution

    def _answer(self, program: Program, request: Request) -> Answer:
        elimination = self._elimination(program)
        if elimination is None or not (self._eliminate or self._pays(elimination)):
            return self._ask(program, request)
        if request.guess is not None:
            request = replace(request, guess=elimination.restrict(request.guess))
        answer = self._ask(elimination.reduced, request)
        self._gram = elimination.gram
        point = None if answer.point is None else elimination.expand(answer.point)
        return replace(answer, point=point)

    def _elimination(self, program: Program) -> Elimination | None:
        if self._eliminate is False:
            return None
        if self._entries is None:
            self._entries = ColumnEntries.of(program.matrix)
        return find_elimination(program, self._entries, self._gram)

    def _ask(self, program: Program, request: Request) -> Answer:
        if program.n_columns == 0:
            return empty_answer(program)
        answer = ask(self._engine, program, request, self._name)
        is_answer = answer.status in (Status.OPTIMAL, Status.INACCURATE)
        if answer.point is None or program.is_mip or not (is_answer and self._polish):
            return answer
        return replace(answer, point=polished(program, answer.point))

    def _pays(self, elimination: Elimination) -> bool:
        ratio = elimination.columns.size / max(1, elimination.kept_columns.size)
        return ratio >= self._eliminates_from and elimination.is_dense

    def _as_solution(self, program: Program, answer: Answer, seconds: float) -> Solution | None:
        if answer.point is None:
            return None
        x, row_duals = answer.point.x, answer.point.row_duals
        pull = np.asarray(program.matrix.T @ row_duals)
        reduced_costs = program.curvature(x) + program.cost - pull
        if program.is_mip:
            reduced_costs = np.full(program.n_columns, np.nan)
        return Solution(
            status=answer.status,
            x=x,
            objective=program.objective_value(x),
            row_duals=row_duals,
            reduced_costs=reduced_costs,
            iterations=answer.iterations,
            seconds=seconds,
            backend=answer.backend or self._name,
            message=answer.words,
            source=lambda: program,
        )

    def _native_add_columns(self, new: NewColumns) -> None:
        if self._last is not None:
            x = np.append(self._last.x, np.clip(0.0, new.lower, new.upper))
            self._last = Point(x, self._last.row_duals)
        if self._entries is not None:
            self._entries = self._entries.with_columns(new.matrix)

    def _native_add_rows(self, new: NewRows) -> None:
        if self._last is not None:
            duals = np.append(self._last.row_duals, np.zeros(new.lower.size))
            self._last = Point(self._last.x, duals)
        if self._entries is not None:
            self._entries = self._entries.with_rows(new.matrix)

    def _native_remove_columns(self, indices: IntArray) -> None:
        if self._last is not None:
            self._last = Point(np.delete(self._last.x, indices), self._last.row_duals)
        if self._entries is not None:
            self._entries = self._entries.without_columns(indices)
        self._gram = None

    def _native_remove_rows(self, indices: IntArray) -> None:
        if self._last is not None:
            self._last = Point(self._last.x, np.delete(self._last.row_duals, indices))
        self._entries = self._gram = None
