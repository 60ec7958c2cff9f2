"""Symmetric matrices by one triangle: half the memory, and half the reading in a product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dspmv
from scipy.linalg.lapack import dtpttr, dtrttp

from cgboost.arrays import Indices, Vector


class PackedMatrix:
    """A symmetric matrix K whose lower triangle stands row by row: K_ij at i(i + 1)/2 + j, j ≤ i.

    It is LAPACK's packed storage of an upper triangle by columns.

    Parameters
    ----------
    triangle : ndarray of shape (n_rows(n_rows + 1)/2,)
        It is not copied.
    """

    __array_ufunc__ = None  # vector @ K is no product of arrays

    def __init__(self, triangle: Vector, n_rows: int) -> None:
        self.triangle, self.n_rows = triangle, n_rows

    @classmethod
    def of(cls, matrix: PackedMatrix | Vector) -> PackedMatrix:
        """A matrix of shape (n_rows, n_rows), of which the lower triangle is read; or itself."""
        if isinstance(matrix, PackedMatrix):
            return matrix
        values = np.ascontiguousarray(matrix, dtype=np.float64)
        return cls(dtrttp(values.T, uplo="U")[0], len(values))

    @classmethod
    def combined(cls, weights: Vector, matrices: Sequence[PackedMatrix]) -> PackedMatrix:
        """Σ weight·K of at least one matrix."""
        total = np.zeros(len(matrices[0].triangle))
        for weight, matrix in zip(weights, matrices, strict=True):
            daxpy(matrix.triangle, total, a=weight)
        return cls(total, matrices[0].n_rows)

    @property
    def shape(self) -> tuple[int, int]:
        """That of the whole matrix."""
        return self.n_rows, self.n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        full = np.asarray(dtpttr(self.n_rows, self.triangle, uplo="U")[0])
        return (np.triu(full) + np.triu(full, 1).T).astype(dtype or np.float64, copy=False)

    def __matmul__(self, vector: Vector) -> Vector:
        """K v, shape (n_rows,)."""
        return np.asarray(dspmv(self.n_rows, 1.0, self.triangle, vector), dtype=np.float64)

    def form(self, vector: Vector) -> float:
        """vᵀK v."""
        return float(vector @ (self @ vector))

    def diagonal(self) -> Vector:
        """K_ii, shape (n_rows,)."""
        rows = np.arange(self.n_rows)
        return self.triangle[places(rows, rows)]

    def row(self, row: int) -> Vector:
        """One row of K, shape (n_rows,)."""
        return self.triangle[places(row, np.arange(self.n_rows))]

    def part(self, rows: Indices) -> Vector:
        """K on some rows and the same columns, shape (len(rows), len(rows))."""
        order = np.argsort(rows)
        ascending = rows[order]
        values = np.empty((len(rows), len(rows)))
        for count, row in enumerate(ascending.tolist(), start=1):  # an index of all is too large
            line = self.triangle[row * (row + 1) // 2 + ascending[:count]]
            values[order[count - 1], order[:count]] = line
            values[order[:count], order[count - 1]] = line
        return values


def places(rows: Any, columns: Any) -> Indices:
    """Where the entries of rows and columns stand in a triangle."""
    last, first = np.maximum(rows, columns), np.minimum(rows, columns)
    return np.asarray(last * (last + 1) // 2 + first, dtype=np.intp)
