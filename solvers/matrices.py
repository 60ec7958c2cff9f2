"""The forms of P, A and the bounds that solvers want."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.arrays import BoolArray, FloatArray, Matrix, is_sparse
from solvers.program import Program


def upper_triangle(program: Program) -> sp.csc_matrix:
    """Return the upper triangle of P in CSC form (what Clarabel and OSQP read)."""
    n, quadratic = program.n_columns, program.quadratic
    if quadratic is None:
        return sp.csc_matrix((n, n))
    if quadratic.ndim == 1:
        return sp.csc_matrix(sp.diags_array(quadratic, format="csc"))
    if is_sparse(quadratic):
        return sp.csc_matrix(sp.triu(quadratic, format="csc"))
    return sp.csc_matrix(np.triu(quadratic))


def full_sparse(program: Program) -> sp.csc_matrix:
    """Return the whole of P in CSC form."""
    n, quadratic = program.n_columns, program.quadratic
    if quadratic is None:
        return sp.csc_matrix((n, n))
    if quadratic.ndim == 1:
        return sp.csc_matrix(sp.diags_array(quadratic, format="csc"))
    return sp.csc_matrix(quadratic)


def full_dense(program: Program) -> FloatArray:
    """Return the whole of P as a dense array."""
    n, quadratic = program.n_columns, program.quadratic
    if quadratic is None:
        return np.zeros((n, n))
    if quadratic.ndim == 1:
        return np.diag(quadratic)
    return quadratic.toarray() if is_sparse(quadratic) else np.asarray(quadratic)


def fill(program: Program) -> float:
    """Return which part of P and A together is nonzero (stored, for sparse ones)."""
    n, m = program.n_columns, program.n_rows
    return (_nonzeros(program.quadratic) + _nonzeros(program.matrix)) / max(1, n * (n + m))


def _nonzeros(matrix: object) -> int:
    if matrix is None:
        return 0
    return int(matrix.nnz if is_sparse(matrix) else np.count_nonzero(matrix))  # type: ignore


class Sides:
    """Two-sided constraints taken apart: equations, then ``a x <= u``, then ``-a x <= -l``.

    Parameters
    ----------
    lower, upper : ndarray, shape (m,)
        The two sides; those that are infinite are left out.
    """

    def __init__(self, lower: FloatArray, upper: FloatArray) -> None:
        self.equal: BoolArray = lower == upper
        self.above: BoolArray = np.isfinite(upper) & ~self.equal
        self.below: BoolArray = np.isfinite(lower) & ~self.equal

    def one_sided_rows(self, matrix: Matrix) -> Matrix:
        """Return the rows of the inequalities."""
        stack = sp.vstack if is_sparse(matrix) else np.vstack
        return stack([matrix[self.above], -matrix[self.below]])

    def one_sided_right(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return the right-hand sides of the inequalities."""
        return np.concatenate([upper[self.above], -lower[self.below]])

    def duals(self, equations: FloatArray, inequalities: FloatArray) -> FloatArray:
        """Return the duals of the constraints from multipliers with ``Px + c + A'z = 0``."""
        duals = np.zeros(self.equal.size)
        duals[self.equal] = -equations
        n_above = int(self.above.sum())
        duals[self.above] -= inequalities[:n_above]
        duals[self.below] += inequalities[n_above:]
        return duals
