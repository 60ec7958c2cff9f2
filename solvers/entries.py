"""Which columns of a matrix have a single entry, kept up to date while the matrix grows.

Looking through a dense matrix of w rows and w + n columns for them costs more than to solve the
program of n columns that remains when they are substituted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.arrays import IntArray, is_sparse


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
