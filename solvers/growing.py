"""A program that grows: the state behind every session, and the checks on what it is fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.arrays import (
    FloatArray,
    IntArray,
    Matrix,
    MatrixLike,
    as_bounds,
    as_finite_vector,
    as_matrix,
    is_sparse,
)
from solvers.growing_matrix import growing_matrix
from solvers.program import Program, as_diagonal, as_quadratic


class NewColumns(NamedTuple):
    """Checked columns, ready to be appended."""

    cost: FloatArray
    matrix: Matrix
    lower: FloatArray
    upper: FloatArray
    quadratic: FloatArray | None


class NewRows(NamedTuple):
    """Checked rows, ready to be appended."""

    matrix: Matrix
    lower: FloatArray
    upper: FloatArray


def check_columns(
    n_rows: int,
    cost: npt.ArrayLike,
    matrix: MatrixLike,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    quadratic: npt.ArrayLike | None,
) -> NewColumns:
    """Check a batch of columns; raises `ProgramError` with what is wrong."""
    costs = np.atleast_1d(np.asarray(cost, dtype=np.float64))
    k = costs.shape[0]
    low, high = as_bounds(lower, upper, k)
    return NewColumns(
        as_finite_vector(costs, k, "cost"),
        as_matrix(matrix, (n_rows, k), "matrix"),
        low,
        high,
        as_diagonal(quadratic, k),
    )


def check_rows(
    n_columns: int, matrix: MatrixLike, lower: npt.ArrayLike, upper: npt.ArrayLike
) -> NewRows:
    """Check a batch of rows; raises `ProgramError` with what is wrong."""
    k = matrix.shape[0] if is_sparse(matrix) else len(np.atleast_2d(matrix))
    block = as_matrix(matrix, (k, n_columns), "matrix")
    return NewRows(block, *as_bounds(lower, upper, k))


class GrowingProgram:
    """The current program of a session, updated in place with checked data.

    Vectors are replaced, never written into, so a `snapshot` stays what it was.
    """

    def __init__(self, program: Program) -> None:
        self.cost = program.cost
        self.lower, self.upper = program.lower, program.upper
        self.row_lower, self.row_upper = program.row_lower, program.row_upper
        self.quadratic = program.quadratic
        self.integrality = program.integrality
        self.constant = program.constant
        self._matrix = growing_matrix(program.matrix)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.row_lower.size

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self.cost.size

    def program(self) -> Program:
        """Return the program as it is now."""
        return Program.from_valid(matrix=self._matrix.whole(), **self._vectors())

    def snapshot(self) -> Callable[[], Program]:
        """Return a function that builds the program as it is now, whatever is added later."""
        matrix, vectors = self._matrix.snapshot(), self._vectors()
        return lambda: Program.from_valid(matrix=matrix(), **vectors)

    def _vectors(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_matrix"}

    def add_columns(self, new: NewColumns) -> None:
        """Append columns."""
        self.quadratic = _grown_quadratic(self.quadratic, self.n_columns, new)
        self.cost = np.concatenate([self.cost, new.cost])
        self.lower = np.concatenate([self.lower, new.lower])
        self.upper = np.concatenate([self.upper, new.upper])
        if self.integrality is not None:
            self.integrality = np.concatenate([self.integrality, np.zeros(new.cost.size, bool)])
        self._matrix = self._matrix.grown(new.matrix, axis=1)

    def add_rows(self, new: NewRows) -> None:
        """Append rows."""
        self.row_lower = np.concatenate([self.row_lower, new.lower])
        self.row_upper = np.concatenate([self.row_upper, new.upper])
        self._matrix = self._matrix.grown(new.matrix, axis=0)

    def remove_columns(self, indices: IntArray) -> None:
        """Delete columns; later ones move down."""
        keep = np.delete(np.arange(self.n_columns), indices)
        self.cost, self.lower, self.upper = self.cost[keep], self.lower[keep], self.upper[keep]
        if self.integrality is not None:
            mask = self.integrality[keep]
            self.integrality = mask if mask.any() else None
        if self.quadratic is not None:
            q: Any = self.quadratic
            self.quadratic = as_quadratic(q[keep] if q.ndim == 1 else q[:, keep][keep], keep.size)
        self._matrix = growing_matrix(self._matrix.whole()[:, keep])

    def remove_rows(self, indices: IntArray) -> None:
        """Delete rows; later ones move down."""
        keep = np.delete(np.arange(self.n_rows), indices)
        self.row_lower, self.row_upper = self.row_lower[keep], self.row_upper[keep]
        self._matrix = growing_matrix(self._matrix.whole()[keep])

    def replace(self, name: str, indices: IntArray, values: FloatArray) -> None:
        """Replace some entries of one of the vectors."""
        vector = getattr(self, name).copy()
        vector[indices] = values
        setattr(self, name, vector)


def _grown_quadratic(
    present: FloatArray | sp.csc_array | None, n_columns: int, new: NewColumns
) -> FloatArray | sp.csc_array | None:
    if present is None and new.quadratic is None:
        return None
    added = np.zeros(new.cost.size) if new.quadratic is None else new.quadratic
    if present is None:
        return np.concatenate([np.zeros(n_columns), added])
    if present.ndim == 1:
        return np.concatenate([present, added])
    if is_sparse(present):
        return sp.block_diag([present, sp.diags_array(added)], format="csc")
    size = n_columns + added.size
    grown = np.zeros((size, size))
    grown[:n_columns, :n_columns] = present
    grown[range(n_columns, size), range(n_columns, size)] = added
    return grown
