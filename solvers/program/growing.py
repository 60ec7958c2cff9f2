"""Growing programs: the state behind every session, and the checks on what is added.

A column generation loop adds a hundred batches. A dense matrix therefore lives in a buffer with
room to spare, and a sparse one as blocks that are joined when somebody asks for the whole. The
matrix stays dense as long as every block with nonzeros was dense, and is sparse from then on.

Which columns have a single entry is kept up to date: looking through a dense matrix of w rows and w
+ n columns for them costs more than to solve the program of n columns that remains when they are
substituted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .arrays import (
    DenseOrSparse,
    Float64Array,
    IntArray,
    MatrixLike,
    as_bounds,
    as_finite_vector,
    as_matrix,
    is_sparse,
)
from .program import Program, as_diagonal, as_quadratic

GROWTH = 1.5


def growing_matrix(matrix: DenseOrSparse) -> DenseMatrix | SparseMatrix:
    """Wrap a matrix, dense or CSR, so that it can grow."""
    return SparseMatrix(matrix) if is_sparse(matrix) else DenseMatrix(matrix)


class DenseMatrix:
    """A dense matrix in the corner of a larger buffer.

    Growing writes only outside the present matrix, so what `whole` and `snapshot` returned
    before, views of the same buffer, keep their content.
    """

    def __init__(self, matrix: Float64Array) -> None:
        self._buffer = matrix
        self._shape = matrix.shape
        self._is_own = False  # the first growth copies: this buffer may be the caller's

    def whole(self) -> Float64Array:
        """Return the matrix, read-only."""
        view = self._buffer[: self._shape[0], : self._shape[1]]
        view.flags.writeable = False
        return view

    def snapshot(self) -> Callable[[], Float64Array]:
        """Return a function that returns the matrix as it is now."""
        view = self.whole()
        return lambda: view

    def grown(self, block: DenseOrSparse, axis: int) -> DenseMatrix | SparseMatrix:
        """Return the matrix with rows (axis 0) or columns (axis 1) appended."""
        if is_sparse(block) and block.nnz:
            return SparseMatrix(sp.csr_array(self.whole())).grown(block, axis)
        m, n = self._shape
        k = block.shape[axis]
        rows, columns = (m + k, n) if axis == 0 else (m, n + k)
        self._reserve(rows, columns)
        if not is_sparse(block):
            self._buffer[rows - block.shape[0] : rows, columns - block.shape[1] : columns] = block
        self._shape = (rows, columns)
        return self

    def _reserve(self, rows: int, columns: int) -> None:
        m, n = self._shape
        room = self._buffer.shape if self._is_own else (0, 0)
        if rows <= room[0] and columns <= room[1]:
            return
        larger = [
            have if need <= have else need if need == now else int(GROWTH * need)
            for need, have, now in zip((rows, columns), room, self._shape, strict=True)
        ]
        buffer = np.zeros(larger)
        buffer[:m, :n] = self._buffer[:m, :n]
        self._buffer, self._is_own = buffer, True


class SparseMatrix:
    """A CSR matrix and the blocks not yet joined to it, each with the axis it grows along."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self._joined = matrix
        self._pending: tuple[tuple[DenseOrSparse, int], ...] = ()
        self._is_empty = matrix.nnz == 0

    def whole(self) -> sp.csr_array:
        """Return the matrix."""
        self._joined = _join(self._joined, self._pending)
        self._pending = ()
        return self._joined

    def snapshot(self) -> Callable[[], sp.csr_array]:
        """Return a function that returns the matrix as it is now."""
        joined, pending = self._joined, self._pending
        return lambda: _join(joined, pending)

    def grown(self, block: DenseOrSparse, axis: int) -> DenseMatrix | SparseMatrix:
        """Return the matrix with rows (axis 0) or columns (axis 1) appended."""
        if not is_sparse(block):
            if self._is_empty:
                return DenseMatrix(self.whole().toarray()).grown(block, axis)
            block = sp.csr_array(block)
        self._pending = (*self._pending, (block, axis))
        self._is_empty = self._is_empty and block.nnz == 0
        return self


def _join(matrix: sp.csr_array, pending: tuple[tuple[DenseOrSparse, int], ...]) -> sp.csr_array:
    for axis, group in groupby(pending, key=itemgetter(1)):
        stack = sp.hstack if axis else sp.vstack
        matrix = stack([matrix, *(block for block, _ in group)], format="csr")
    return matrix


@dataclass(frozen=True, eq=False)
class ColumnEntries:
    """Where the nonzeros of every column are, as far as single ones go.

    Attributes
    ----------
    count : ndarray of int, shape (n,)
        Number of nonzeros of each column.
    row : ndarray of int, shape (n,)
        A row with a nonzero: *the* row where `count` is 1; arbitrary where it is 0.
    n_rows : int
        Number of rows.
    """

    count: IntArray
    row: IntArray
    n_rows: int

    @classmethod
    def of(cls, matrix: Any) -> ColumnEntries:
        """Look through a matrix, dense or sparse."""
        m, n = matrix.shape
        if not m:
            return cls(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), 0)
        if not is_sparse(matrix):
            is_nonzero = matrix != 0.0
            count = np.count_nonzero(is_nonzero, axis=0)
            return cls(count, is_nonzero.argmax(axis=0), m)
        rows, columns = matrix.nonzero()
        row = np.zeros(n, dtype=np.int64)
        row[columns] = rows
        return cls(np.bincount(columns, minlength=n), row, m)

    def with_columns(self, block: Any) -> ColumnEntries:
        """Return the entries after columns were appended."""
        new = ColumnEntries.of(block)
        return ColumnEntries(
            np.append(self.count, new.count), np.append(self.row, new.row), self.n_rows
        )

    def with_rows(self, block: Any) -> ColumnEntries:
        """Return the entries after rows were appended."""
        new = ColumnEntries.of(block)
        row = np.where(new.count > 0, self.n_rows + new.row, self.row)
        return ColumnEntries(self.count + new.count, row, self.n_rows + new.n_rows)

    def without_columns(self, indices: IntArray) -> ColumnEntries:
        """Return the entries after columns were deleted."""
        return ColumnEntries(
            np.delete(self.count, indices), np.delete(self.row, indices), self.n_rows
        )


class NewColumns(NamedTuple):
    """Checked columns, ready to be appended."""

    cost: Float64Array
    matrix: DenseOrSparse
    lower: Float64Array
    upper: Float64Array
    quadratic: Float64Array | None


class NewRows(NamedTuple):
    """Checked rows, ready to be appended."""

    matrix: DenseOrSparse
    lower: Float64Array
    upper: Float64Array


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

    def replace(self, name: str, indices: IntArray, values: Float64Array) -> None:
        """Replace some entries of one of the vectors."""
        vector = getattr(self, name).copy()
        vector[indices] = values
        setattr(self, name, vector)


def _grown_quadratic(
    present: Float64Array | sp.csc_array | None, n_columns: int, new: NewColumns
) -> Float64Array | sp.csc_array | None:
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
