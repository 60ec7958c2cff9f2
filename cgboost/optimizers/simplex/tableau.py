"""A linear map y = T·x, of which entries of y and of x change places: the simplex tableau.

Solving y_r = T_r·x for x_c, and putting it into the other rows, changes T by a product of two
vectors,

    T − (T_·c + e_r)(T_r· − e_c)ᵀ / T_rc

(Jordan exchange). Some of them are kept as they are, and taken from T all at once: one matrix
product instead of as many passes over T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from cgboost.arrays import Indices, Vector

PENDING = 32
"""Exchanges that are taken from T at once. It was not tuned."""

ROOM = 0.25
"""Share of the columns that is left free for further ones, when there is no room."""


class Tableau:
    """Live map of shape (n_rows, n_columns).

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        It is copied.
    """

    def __init__(self, matrix: Vector) -> None:
        self.shape = matrix.shape
        self._held = np.zeros((0, 0))
        self._reserve(*matrix.shape)
        self._held[:, : matrix.shape[1]] = matrix

    def _reserve(self, n_rows: int, n_columns: int) -> None:
        """An array of so many rows, and room for more columns; what is in it is lost."""
        width = self._held.shape[1]
        if n_columns > width:
            width = n_columns + int(ROOM * n_columns)
        self._held = np.zeros((n_rows, width))
        self._left = np.zeros((n_rows, PENDING), order="F")
        self._right = np.zeros((PENDING, width))
        self._pending = 0

    def _settle(self) -> None:
        """Take what is pending from T."""
        if self._pending:
            right, left = self._right[: self._pending].T, self._left[:, : self._pending]
            dgemm(-1.0, right, left, 1.0, self._held.T, trans_b=1, overwrite_c=1)
            self._pending = 0

    # ------------------------------------------------------------------ what it says

    def column(self, place: int) -> Vector:
        """T_·c, shape (n_rows,)."""
        count, values = self._pending, self._held[:, place]
        if not count:
            return values.copy()
        difference: Vector = values - self._left[:, :count] @ self._right[:count, place]
        return difference

    def row(self, place: int) -> Vector:
        """T_r·, shape (n_columns,)."""
        count, width = self._pending, self.shape[1]
        values: Vector = self._held[place, :width]
        if not count:
            return values.copy()
        values = values - self._left[place, :count] @ self._right[:count, :width]
        return values

    def combined(self, places: Indices, weights: Vector) -> Vector:
        """Σ_r weight_r T_r· of some rows, shape (n_columns,)."""
        count, width = self._pending, self.shape[1]
        values: Vector = weights @ self._held[places, :width]
        if count:
            values -= (weights @ self._left[places, :count]) @ self._right[:count, :width]
        return values

    def output(self, x: Vector) -> Vector:
        """T·x, shape (n_rows,)."""
        self._settle()
        output: Vector = self._held[:, : self.shape[1]] @ x
        return output

    def slopes(self, weights: Vector) -> Vector:
        """Σ_r weight_r T_r· of all rows, shape (n_columns,)."""
        self._settle()
        slopes: Vector = weights @ self._held[:, : self.shape[1]]
        return slopes

    def rows(self, places: Indices) -> Vector:
        """Some rows, shape (len(places), n_columns)."""
        self._settle()
        return self._held[places, : self.shape[1]]

    def squares(self) -> Vector:
        """Σ_r T_rc², shape (n_columns,)."""
        self._settle()
        held = self._held[:, : self.shape[1]]
        squares: Vector = np.einsum("ij,ij->j", held, held)
        return squares

    # ------------------------------------------------------------------ how it changes

    def exchange(self, row: int, column: int, of_column: Vector, of_row: Vector) -> None:
        """y_r and x_c change places; ``of_column`` and ``of_row`` are T_·c and T_r·."""
        left, right = self._left[:, self._pending], self._right[self._pending]
        left[:] = of_column
        left[row] += 1.0
        left /= of_column[row]
        right[: self.shape[1]] = of_row
        right[column] -= 1.0
        self._pending += 1
        if self._pending == PENDING:
            self._settle()

    def append_rows(self, rows: Vector) -> None:
        """Further rows, of shape (n_new, n_columns)."""
        self._replace(np.arange(self.shape[0]), rows)

    def keep_rows(self, places: Indices) -> None:
        """Leave some rows, in this order."""
        self._replace(places, np.zeros((0, self.shape[1])))

    def _replace(self, places: Indices, rows: Vector) -> None:
        self._settle()
        held, (_, width), kept = self._held, self.shape, len(places)
        self._reserve(kept + len(rows), width)
        self._held[:kept] = held[places]
        self._held[kept:, :width] = rows
        self.shape = (kept + len(rows), width)

    def append_columns(self, columns: Vector) -> None:
        """Further columns, of shape (n_rows, n_new)."""
        self._settle()
        count, width = self.shape
        if width + columns.shape[1] > self._held.shape[1]:
            held = self._held
            self._reserve(count, width + columns.shape[1])
            self._held[:, :width] = held[:, :width]
        self._held[:, width : width + columns.shape[1]] = columns
        self.shape = (count, width + columns.shape[1])


def exchanged(matrix: Vector, rows: Indices, columns: Indices) -> Vector:
    """The map after y_rows and x_columns, as many, have changed places one by one.

    Raises
    ------
    numpy.linalg.LinAlgError
        If they cannot.
    """
    inverse = np.linalg.inv(matrix[np.ix_(rows, columns)])
    share, crossing = matrix[:, columns] @ inverse, matrix[rows]
    result: NDArray[np.float64] = share @ crossing
    np.subtract(matrix, result, out=result)
    result[:, columns] = share
    result[rows] = -inverse @ crossing
    result[np.ix_(rows, columns)] = inverse
    return result
