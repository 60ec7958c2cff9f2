"""The dense system of an interior point step: (HᵀWH + D) x = b, with W and D diagonal."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from cgboost.losses.dual.dual_box import Vector

RIDGE = 1e-13
"""Added to the diagonal, relative to it, where the factorisation fails; then more and more."""


class NormalEquations:
    """A factorisation of HᵀWH + D.

    Parameters
    ----------
    H : ndarray of shape (n_rows, n_columns)
    weights : ndarray of shape (n_rows,)
        The diagonal of W, positive.
    diagonal : ndarray of shape (n_columns,)
        The diagonal of D, at least 0.
    """

    def __init__(self, H: Vector, weights: Vector, diagonal: Vector) -> None:
        self._factor = np.zeros((0, 0))
        if not H.size:
            return
        weighted = H * np.sqrt(weights)[:, None]
        matrix = dsyrk(1.0, weighted.T, lower=1)
        _diagonal_of(matrix)[:] += diagonal
        self._factor = _cholesky(matrix)

    def solve(self, right: Vector) -> Vector:
        """x, shape (n_columns,)."""
        return _back(self._factor, right)


def _diagonal_of(matrix: Vector) -> Vector:
    """A view of the diagonal."""
    return np.einsum("ii->i", matrix)


def _cholesky(matrix: Vector) -> Vector:
    """Lower factor; the diagonal is raised a little where rounding has made it indefinite."""
    ridge = 0.0
    while True:
        raised = matrix.copy(order="F")
        _diagonal_of(raised)[:] *= 1.0 + ridge
        factor, failed = dpotrf(raised, lower=1, overwrite_a=1)
        if not failed or ridge > 1.0 or not np.isfinite(raised).all():
            return np.asarray(factor)
        ridge = max(RIDGE, 100.0 * ridge)


def _back(factor: Vector, right: Vector) -> Vector:
    if not right.size:
        return right
    return np.asarray(dpotrs(factor, right, lower=1)[0])
