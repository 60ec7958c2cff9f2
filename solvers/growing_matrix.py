"""Matrices that grow by blocks of rows and columns.

A column generation loop adds a hundred batches. A dense matrix therefore lives in a buffer with
room to spare, and a sparse one as blocks that are joined when somebody asks for the whole. The
matrix stays dense as long as every block with nonzeros was dense, and is sparse from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import numpy as np
import scipy.sparse as sp

from solvers.arrays import FloatArray, Matrix, is_sparse

GROWTH = 1.5


def growing_matrix(matrix: Matrix) -> DenseMatrix | SparseMatrix:
    """Wrap a matrix, dense or CSR, so that it can grow."""
    return SparseMatrix(matrix) if is_sparse(matrix) else DenseMatrix(matrix)


class DenseMatrix:
    """A dense matrix in the corner of a larger buffer.

    Growing writes only outside the present matrix, so what `whole` and `snapshot` returned
    before, views of the same buffer, keep their content.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._buffer = matrix
        self._shape = matrix.shape
        self._is_own = False  # the first growth copies: this buffer may be the caller's

    def whole(self) -> FloatArray:
        """Return the matrix, read-only."""
        view = self._buffer[: self._shape[0], : self._shape[1]]
        view.flags.writeable = False
        return view

    def snapshot(self) -> Callable[[], FloatArray]:
        """Return a function that returns the matrix as it is now."""
        view = self.whole()
        return lambda: view

    def grown(self, block: Matrix, axis: int) -> DenseMatrix | SparseMatrix:
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
        self._pending: tuple[tuple[Matrix, int], ...] = ()
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

    def grown(self, block: Matrix, axis: int) -> DenseMatrix | SparseMatrix:
        """Return the matrix with rows (axis 0) or columns (axis 1) appended."""
        if not is_sparse(block):
            if self._is_empty:
                return DenseMatrix(self.whole().toarray()).grown(block, axis)
            block = sp.csr_array(block)
        self._pending = (*self._pending, (block, axis))
        self._is_empty = self._is_empty and block.nnz == 0
        return self


def _join(matrix: sp.csr_array, pending: tuple[tuple[Matrix, int], ...]) -> sp.csr_array:
    for axis, group in groupby(pending, key=itemgetter(1)):
        stack = sp.hstack if axis else sp.vstack
        matrix = stack([matrix, *(block for block, _ in group)], format="csr")
    return matrix
