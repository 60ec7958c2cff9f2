"""Substitution of free columns that one equation defines.

A column z that is free, occurs in a single row, that row an equation ``a z + g'r = b``, and
has only its own quadratic cost ``½ p z² + c z``, is an abbreviation for ``(b - g'r) / a``. Putting
that in everywhere leaves a program in r alone:

    P + G'DG,   D = diag(p / a²);      c - G'(D b + c_z / a);      constant + ½ b'Db + b'(c_z / a)

The dual of a substituted row follows from the stationarity of its z: ``p z + c_z = a y``. The
reduced costs of r come out the same in both programs.

This is what makes the dual form of a 2-norm master (``min ½ z'z - y'r, H'r = z``) cost the same
however many columns H has: the substituted program is a dense one in r alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg.blas as blas
import scipy.sparse as sp

from ..program.arrays import Float64Array, IntArray, is_sparse
from ..program.growing import ColumnEntries
from ..program.program import Program
from ..program.solution import Point
from ..tolerances import DENSE_FILL

LARGEST_DENSE = 8000

DENSE_BLOCK = 0.25


@dataclass(frozen=True, eq=False)
class Gram:
    """The product G'DG of an elimination, which lasts while the program only grows."""

    columns: IntArray
    rows: IntArray
    kept_columns: IntArray
    value: Any

    def is_start_of(self, other: Elimination) -> bool:
        """Whether the other one substitutes the same columns first and keeps the same ones."""
        k = self.columns.size
        return (
            np.array_equal(self.columns, other.columns[:k])
            and np.array_equal(self.rows, other.rows[:k])
            and np.array_equal(self.kept_columns, other.kept_columns)
        )


class Elimination:
    """Columns to substitute and the equations that define them, pairwise.

    Parameters
    ----------
    program : Program
        The whole program.
    columns, rows : ndarray of int, shape (w,)
        ``columns[k]`` occurs only in ``rows[k]``.
    known : Gram or None
        That of an elimination in the same program when it had fewer rows and columns.

    Attributes
    ----------
    kept_columns, kept_rows : ndarray of int
        Positions of the columns and rows that remain.
    pivot : ndarray, shape (w,)
        Coefficients of the substituted columns in their rows.
    curvature : ndarray, shape (w,)
        Quadratic costs p of the substituted columns.
    block : matrix, shape (w, n - w)
        G: the defining rows in the remaining columns, dense or CSR.
    """

    def __init__(
        self, program: Program, columns: IntArray, rows: IntArray, known: Gram | None = None
    ) -> None:
        self.program, self.columns, self.rows, self._known = program, columns, rows, known
        self.kept_columns = np.delete(np.arange(program.n_columns), columns)
        self.kept_rows = np.delete(np.arange(program.n_rows), rows)
        self.pivot = np.asarray(program.matrix[rows, columns]).ravel()
        self.curvature = _diagonal(program)[columns]
        self.block: Any = part_of(program.matrix, rows, self.kept_columns)
        self._weight = self.curvature / self.pivot**2
        self._gram: Gram | None = None
        self._reduced: Program | None = None

    @property
    def is_dense(self) -> bool:
        """Whether G is a mostly full block, small enough for a dense matrix in its columns.

        A sparse solver substitutes columns of a sparse block itself, if that helps.
        """
        w, n = self.block.shape
        nonzeros = self.block.nnz if is_sparse(self.block) else np.count_nonzero(self.block)
        return bool(n <= LARGEST_DENSE and nonzeros >= DENSE_BLOCK * w * n)

    @property
    def reduced(self) -> Program:
        """The program without the substituted columns and rows."""
        if self._reduced is None:
            self._reduced = self._without_columns()
        return self._reduced

    def _without_columns(self) -> Program:
        whole, kept = self.program, self.kept_columns
        right = whole.row_lower[self.rows]
        weight = self._weight
        linear = weight * right + whole.cost[self.columns] / self.pivot
        return Program.from_valid(
            cost=whole.cost[kept] - np.asarray(self.block.T @ linear),
            matrix=part_of(whole.matrix, self.kept_rows, kept),
            row_lower=whole.row_lower[self.kept_rows],
            row_upper=whole.row_upper[self.kept_rows],
            lower=whole.lower[kept],
            upper=whole.upper[kept],
            quadratic=_plus(quadratic_part(whole, kept), self.gram.value),
            integrality=None,
            constant=whole.constant
            + float(
                0.5 * right @ (weight * right) + right @ (whole.cost[self.columns] / self.pivot)
            ),
        )

    @property
    def gram(self) -> Gram:
        """``G'DG``."""
        if self._gram is None:
            done, value = 0, None
            if self._known is not None and self._known.is_start_of(self):
                done, value = self._known.columns.size, self._known.value
            added = _gram(self.block[done:], self._weight[done:])
            self._gram = Gram(self.columns, self.rows, self.kept_columns, _plus(value, added))
        return self._gram

    def restrict(self, point: Point) -> Point:
        """Return the part of a point that belongs to the reduced program."""
        return Point(point.x[self.kept_columns], point.row_duals[self.kept_rows])

    def expand(self, point: Point) -> Point:
        """Return the point of the whole program that a point of the reduced one stands for."""
        whole = self.program
        z = (whole.row_lower[self.rows] - np.asarray(self.block @ point.x)) / self.pivot
        x, duals = np.empty(whole.n_columns), np.empty(whole.n_rows)
        x[self.kept_columns], x[self.columns] = point.x, z
        duals[self.kept_rows] = point.row_duals
        duals[self.rows] = (self.curvature * z + whole.cost[self.columns]) / self.pivot
        return Point(x, duals)


def _diagonal(program: Program) -> Float64Array:
    """The diagonal of P, shape (n,)."""
    quadratic = program.quadratic
    if quadratic is None:
        return np.zeros(program.n_columns)
    return np.asarray(quadratic if quadratic.ndim == 1 else quadratic.diagonal())


def find_elimination(
    program: Program, entries: ColumnEntries | None = None, known: Gram | None = None
) -> Elimination | None:
    """Return every substitution that is possible, at most one per equation, or None.

    `entries` of the program's matrix and a `known` product save a caller that has them time.
    """
    if program.is_mip or not program.n_rows:
        return None
    is_free = np.isneginf(program.lower) & np.isposinf(program.upper)
    candidates = np.flatnonzero(is_free & _has_own_cost_only(program))
    if not candidates.size:
        return None
    if entries is None:
        entries = ColumnEntries.of(program.matrix)
    columns = candidates[entries.count[candidates] == 1]
    rows = entries.row[columns]
    is_equation = program.row_lower[rows] == program.row_upper[rows]
    rows, first = np.unique(rows[is_equation], return_index=True)
    columns = columns[is_equation][first]
    return Elimination(program, columns, rows, known) if columns.size else None


def _has_own_cost_only(program: Program) -> Any:
    quadratic = program.quadratic
    if quadratic is None or quadratic.ndim == 1:
        return np.ones(program.n_columns, dtype=bool)
    return np.asarray((quadratic != 0).sum(axis=0)).ravel() <= (quadratic.diagonal() != 0)


def part_of(matrix: Any, rows: IntArray, columns: IntArray) -> Any:
    """Return some rows and columns of a matrix, dense or sparse."""
    if not is_sparse(matrix):
        return matrix[np.ix_(rows, columns)]
    return matrix[rows][:, columns]


def _gram(block: Any, weight: Float64Array) -> Any:
    """Return ``block' diag(weight) block``, dense unless little can be nonzero; None for 0."""
    n = block.shape[1]
    if not n or not weight.any():  # BLAS complains of an empty product, on standard output
        return None
    if is_sparse(block):
        if float((np.diff(block.indptr).astype(float) ** 2).sum()) < DENSE_FILL * n * n:
            return sp.csc_array(block.T @ block.multiply(weight[:, None]))
        block = block.toarray()
    scaled = np.sqrt(weight)[:, None] * block
    upper = blas.dsyrk(1.0, scaled.T)  # half the work of a general product
    return upper + np.triu(upper, 1).T


def quadratic_part(program: Program, kept: IntArray) -> Any:
    """Return P for some of the columns, in its own form."""
    quadratic: Any = program.quadratic
    if quadratic is None:
        return None
    return quadratic[kept] if quadratic.ndim == 1 else part_of(quadratic, kept, kept)


def _plus(present: Any, added: Any) -> Any:
    """Return the sum of two forms of P: None, a diagonal, sparse or dense."""
    if present is None or added is None:
        return added if present is None else present
    if present.ndim == 1:
        if not present.any():
            return added
        present = sp.diags_array(present, format="csc")
    total = present + added
    return sp.csc_array(total) if is_sparse(total) else np.asarray(total)
