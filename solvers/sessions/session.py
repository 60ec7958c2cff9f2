"""What all live sessions share: every update is checked, and recorded in the growing program."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.program.arrays import (
    FloatArray,
    IntArray,
    MatrixLike,
    as_bounds,
    as_finite_vector,
    as_indices,
)
from solvers.program.growing import GrowingProgram, NewColumns, NewRows, check_columns, check_rows
from solvers.program.program import Program
from solvers.sessions.catalogue import class_name, problem_class, require_support
from solvers.sessions.protocols import Backend


class CheckedSession:
    """All of a session but `solve`: checks every update, hands it to the native model, records it.

    A subclass adds `solve`, and overrides the `_native_...` hooks for the model it keeps alive; one
    that rebuilds at each solve leaves them alone. A hook that fails must leave the native model
    unchanged.
    """

    def __init__(self, backend: Backend, program: Program) -> None:
        require_support(backend, problem_class(program))
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
        costs = as_finite_vector(cost, at.size, "cost")
        self._native_change_cost(at, costs)
        self._growing.replace("cost", at, costs)

    def change_column_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some variables."""
        at = as_indices(indices, self.n_columns, "indices")
        low, high = as_bounds(lower, upper, at.size)
        self._native_change_column_bounds(at, low, high)
        self._growing.replace("lower", at, low)
        self._growing.replace("upper", at, high)

    def change_row_bounds(
        self, indices: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike
    ) -> None:
        """Replace the bounds of some rows."""
        at = as_indices(indices, self.n_rows, "indices")
        low, high = as_bounds(lower, upper, at.size)
        self._native_change_row_bounds(at, low, high)
        self._growing.replace("row_lower", at, low)
        self._growing.replace("row_upper", at, high)

    def suggest_basis(self, columns: npt.ArrayLike, rows: npt.ArrayLike) -> None:
        """Suggest where the next solve should begin; see `Session.suggest_basis`."""
        of_columns = as_finite_vector(columns, self.n_columns, "columns")
        of_rows = as_finite_vector(rows, self.n_rows, "rows")
        self._native_suggest_basis(np.sign(of_columns), np.sign(of_rows))

    def _native_suggest_basis(self, columns: FloatArray, rows: FloatArray) -> None:
        """Start the native model from a basis."""

    def _native_add_columns(self, new: NewColumns) -> None:
        """Append columns to the native model."""

    def _native_add_rows(self, new: NewRows) -> None:
        """Append rows to the native model."""

    def _native_remove_columns(self, indices: IntArray) -> None:
        """Delete columns of the native model."""

    def _native_remove_rows(self, indices: IntArray) -> None:
        """Delete rows of the native model."""

    def _native_change_cost(self, indices: IntArray, cost: FloatArray) -> None:
        """Replace costs in the native model."""

    def _native_change_column_bounds(
        self, indices: IntArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Replace column bounds in the native model."""

    def _native_change_row_bounds(
        self, indices: IntArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Replace row bounds in the native model."""
