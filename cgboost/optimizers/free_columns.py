"""Columns whose coefficients cost nothing, in a matrix that is read where it lies.

A column without a penalty has s = h·r = 0 in the dual, as a free offset has Σr = 0. There are few
of them and often many rows: all features of a regression without a penalty, or those of weight 0
next to others. Solvers see directions Q that span them,

    Q = (F − 1m')T,     Q'Q = n·I,     α = Tc for the coefficients c of the directions,

with the means m where the offset is free, so that nothing depends on the scale of a column, and
columns that repeat others or the offset only have no direction: their coefficient is 0. T is made
of F'F where that leaves enough digits, and of the triangular factor of F, block of rows by block,
where not. Rows of Q are made when they are asked for; there is no second matrix of that size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array, issparse

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import Column

NUMBERS_AT_A_TIME = 2**20
"""Numbers of a matrix that are read at a time, 8 MB: rows of a block stay in the cache while they
are centred, scaled and multiplied."""

WELL_CONDITIONED = 1e-8
"""The least squared share of a column, compared with others, at which F'F leaves half of all digits
…"""

SUM_OF_OTHERS = 1e-12
"""… and the share at which the column is their sum but for rounding: some thousand units of it."""


class ColumnMatrix(Protocol):
    """A matrix F of columns, on the training rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        ...

    def __iter__(self) -> Iterator[tuple[slice, Vector]]:
        """Blocks of rows, in order: their place, and the rows in float64, not to be written to."""
        ...

    def rows(self, rows: Indices) -> Vector:
        """Some rows, shape (len(rows), n_columns), in float64."""
        ...

    def combine(self, coef: Vector) -> Vector:
        """Fα, shape (n_rows,)."""
        ...

    def scores(self, response: Vector) -> Vector:
        """F'r, shape (n_columns,)."""
        ...


class MatrixColumns:
    """The columns (x_j − centre_j)/scale_j of a matrix X, of which no copy is made.

    Parameters
    ----------
    X : ndarray, memory map, sparse array, or blocks of rows; of shape (n_rows, n_columns)
        Of real numbers of any type, in C or Fortran order. A sparse array should be in CSR format,
        and is copied if it is not. Blocks are any object with a shape that gives pairs of a slice
        and its rows in order, again for every pass.
    centre, scale : array-like of shape (n_columns,), optional
        0 and 1 where they are not given.
    """

    def __init__(
        self, X: Any, centre: ArrayLike | None = None, scale: ArrayLike | None = None
    ) -> None:
        self.X = csr_array(X) if issparse(X) else X
        if len(self.X.shape) != 2:
            raise ValueError(f"X must have two dimensions, got shape {self.X.shape}")
        self.shape: tuple[int, int] = self.X.shape
        self._centre = None if centre is None else np.asarray(centre, dtype=np.float64)
        self._scale = None if scale is None else np.asarray(scale, dtype=np.float64)
        self._whole = issparse(X) or isinstance(X, np.ndarray)
        self._at_once = self._whole and self.X.dtype == np.float64

    def __iter__(self) -> Iterator[tuple[slice, Vector]]:
        """Blocks of rows, in order: their place, and the rows in float64, not to be written to."""
        return ((place, self._scaled(block)) for place, block in self._blocks())

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        if not self._whole:
            yield from self.X
            return
        step = max(1, NUMBERS_AT_A_TIME // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            place = slice(start, min(start + step, self.shape[0]))
            yield place, self.X[place]

    def _scaled(self, block: Any) -> Vector:
        values = _dense(block)
        if self._centre is not None:
            values = values - self._centre
        return values if self._scale is None else values / self._scale

    def rows(self, rows: Indices) -> Vector:
        """Some rows, shape (len(rows), n_columns), in float64; one pass over blocks."""
        if self._whole:
            return self._scaled(self.X[rows])
        values = np.empty((len(rows), self.shape[1]))
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        for place, block in self.X:
            first, last = np.searchsorted(ascending, [place.start, place.start + block.shape[0]])
            values[order[first:last]] = self._scaled(block[ascending[first:last] - place.start])
        return values

    def combine(self, coef: Vector) -> Vector:
        """Fα, shape (n_rows,)."""
        coef = coef if self._scale is None else coef / self._scale
        if self._at_once:
            output = np.asarray(self.X @ coef)
        else:
            output = np.empty(self.shape[0])
            for place, block in self._blocks():
                output[place] = _dense(block) @ coef
        return output if self._centre is None else output - float(self._centre @ coef)

    def scores(self, response: Vector) -> Vector:
        """F'r, shape (n_columns,)."""
        if self._at_once:
            scores = np.asarray(self.X.T @ response, dtype=np.float64)
        else:
            scores = np.zeros(self.shape[1])
            for place, block in self._blocks():
                scores += response[place] @ _dense(block)
        if self._centre is not None:
            scores = scores - self._centre * float(response.sum())
        return scores if self._scale is None else scores / self._scale


def _dense(block: Any) -> Vector:
    return np.asarray(block.toarray() if issparse(block) else block, dtype=np.float64)


class FreeColumns:
    """The columns without a penalty, and the directions that solvers see of them.

    Parameters
    ----------
    columns : sequence of Column
    matrix : ColumnMatrix, optional
        The same columns; of their values where it is not given, which are then copied.

    Attributes
    ----------
    columns : list of Column
    matrix : ColumnMatrix
    means : ndarray of shape (n_columns,)
        0 before :meth:`span`, and where columns are not centred.
    to_columns : ndarray of shape (n_columns, n_columns)
        T, with columns of 0 beyond the directions.
    n_directions : int
        The rank of the columns, without what the offset makes.
    """

    def __init__(self, columns: Sequence[Column], matrix: ColumnMatrix | None = None) -> None:
        self.columns = list(columns)
        if matrix is None:
            matrix = MatrixColumns(_side_by_side(self.columns))
        if matrix.shape[1] != len(self.columns):
            raise ValueError(
                f"free columns must be those of their matrix, got {len(self.columns)} columns "
                f"and a matrix of shape {matrix.shape}"
            )
        self.matrix = matrix
        self.means = np.zeros(len(self.columns))
        self.to_columns = self._to_directions = np.eye(len(self.columns))
        self.n_directions = len(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def span(self, *, centred: bool) -> None:
        """Find the directions, of columns that are centred or not.

        Raises
        ------
        ValueError
            If an entry is not finite.
        """
        n_rows = self.matrix.shape[0]
        if not len(self) or not n_rows:
            return
        sizes = np.zeros(len(self))
        for _, block in self.matrix:
            np.maximum(sizes, np.abs(block).max(axis=0), out=sizes)
        if not np.isfinite(sizes).all():
            wrong = self.columns[int(np.flatnonzero(~np.isfinite(sizes))[0])]
            raise ValueError(f"free column {wrong.key!r} is not finite")
        if centred:
            self.means = self.matrix.scores(np.full(n_rows, 1.0 / n_rows))
        units = np.divide(1.0, sizes, out=np.zeros(len(self)), where=sizes > 0)
        gram = np.zeros((len(self), len(self)))
        for _, block in self.matrix:
            scaled = (block - self.means) * units
            gram += scaled.T @ scaled
        lengths = np.sqrt(gram.diagonal())
        # a constant, with a free offset, is nothing but the rounding of its mean
        there = lengths > SUM_OF_OTHERS * np.sqrt(n_rows)
        units = np.divide(units, lengths, out=np.zeros(len(self)), where=there)
        gram *= np.outer(*(2 * [np.divide(1.0, lengths, out=np.zeros_like(lengths), where=there)]))
        factor, order, rank = _pivoted_cholesky(gram)
        if rank < len(self):
            factor, order, rank = self._pivoted_qr(units)
        first = order[:rank]
        inverse = solve_triangular(factor[:rank, :rank], np.eye(rank))
        self.to_columns, self.n_directions = np.zeros((len(self), len(self))), rank
        self.to_columns[first, :rank] = np.sqrt(n_rows) * units[first, None] * inverse
        lengths = np.divide(1.0, units, out=np.zeros(len(self)), where=units > 0)
        self._to_directions = np.zeros((len(self), len(self)))
        self._to_directions[:rank, order] = factor[:rank] * (lengths[order] / np.sqrt(n_rows))

    def _pivoted_qr(self, units: Vector) -> tuple[Vector, Indices, int]:
        """Triangular factor of all rows, in the order of its pivots, and its rank.

        The factor of some rows takes their place next to the next ones (Golub, Van Loan, *Matrix
        Computations*, section 5.2).
        """
        factor = np.zeros((0, len(self)))
        for _, block in self.matrix:
            below = (block - self.means) * units
            factor = qr(np.vstack([factor, below]), mode="r", overwrite_a=True)[0][: len(self)]
        factor, order = qr(factor, mode="r", pivoting=True)
        sizes = np.abs(factor.diagonal())
        return factor, order, int(np.count_nonzero(sizes > SUM_OF_OTHERS * sizes.max(initial=0.0)))

    def rows(self, rows: Indices, directions: Indices) -> Vector:
        """Some rows of some directions, shape (len(rows), len(directions))."""
        if not len(self):
            return np.zeros((len(rows), 0))
        return (self.matrix.rows(rows) - self.means) @ self.to_columns[:, directions]

    def combine(self, coef: Vector) -> Vector:
        """(F − 1m')α, shape (n_rows,)."""
        return self.matrix.combine(coef) - float(self.means @ coef)

    def scores(self, response: Vector) -> Vector:
        """Q'r, shape (n_columns,), with 0 beyond the directions."""
        return (self.matrix.scores(response) - self.means * float(response.sum())) @ self.to_columns

    def of_columns(self, coef: Vector) -> Vector:
        """Coefficients c of the directions, from those of the columns; shape (n_columns,)."""
        return self._to_directions @ coef

    def on_part(self, rows: Indices) -> FreeColumns:
        """The directions on some of the rows, as their own columns."""
        values = self.rows(rows, np.arange(self.n_directions))
        return FreeColumns(
            [Column(values[:, j], ("direction", j)) for j in range(self.n_directions)],
            MatrixColumns(values),
        )


def _side_by_side(columns: Sequence[Column]) -> Vector:
    lengths = {np.shape(column.values) for column in columns}
    if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        raise ValueError(f"free columns must be of one length, got shapes {sorted(lengths)}")
    if not columns:
        return np.zeros((0, 0))
    return np.stack([np.asarray(column.values, dtype=np.float64) for column in columns], axis=1)


def _pivoted_cholesky(gram: Vector) -> tuple[Vector, Indices, int]:
    """Upper factor of a matrix of ones on its diagonal, and how many pivots are large enough."""
    factor, order, rank, _ = dpstrf(gram, tol=WELL_CONDITIONED)
    return np.triu(factor), np.asarray(order, dtype=np.intp) - 1, int(rank)
