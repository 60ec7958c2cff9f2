"""Normal equations of an interior-point step: (HᵀWH + D) x = b, with W and D diagonal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dgeqrf, dpotrf, dpotrs

from cgboost.arrays import Vector
from cgboost.parallel.threads import LARGE, available, blas_threads
from cgboost.tolerances import SMALLEST

FACTOR_RIDGE = 1e-13
"""Added to the diagonal, relative to it, where the factorisation fails; then more and more. It
begins at some hundred units of rounding, which is what made the matrix indefinite."""

CONJUGATE_STEPS = 10
"""Steps of conjugate gradients, preconditioned with the factorisation, that make a solution more
exact where columns are nearly dependent."""


class FactoredEquations(ABC):
    """A symmetric system, factorised again and again with other weights.

    Its one large product may have the BLAS threads that there are when this object is made. All
    else is to run on one: the threads of a factorisation wait for each other at each of its many
    small steps, which on a machine that is busy takes ten to a hundred times as long.

    Parameters
    ----------
    refined : bool
        Whether solutions are refined even where the factorisation has not failed.
    """

    def __init__(self, *, refined: bool) -> None:
        self._factor = np.zeros((0, 0))
        self._weights: Any = np.zeros(0)
        self._diagonal = np.zeros(0)
        self._threads = available()
        self._always = self._refined = refined

    def factor(self, weights: Any, diagonal: Vector) -> None:
        """Factorise with the weights of the rows (positive) and a diagonal D (at least 0)."""
        if not len(diagonal):
            return
        self._weights, self._diagonal = weights, diagonal
        self._refined = self._factorise() > 0 or self._always

    @abstractmethod
    def _factorise(self) -> float:
        """Prepare :meth:`_rough`; by how much the matrix had to be raised for it."""

    def _rough(self, right: Vector) -> Vector:
        return _back(self._factor, right)

    def solve(self, right: Vector) -> Vector:
        """x, shape (n_columns,)."""
        x = self._rough(right)
        if not (self._refined and right.size):
            return x
        left = right - self._times(x)
        direction = z = self._rough(left)
        worth = float(left @ z)
        for _ in range(CONJUGATE_STEPS):
            image = self._times(direction)
            curvature = float(direction @ image)
            if not (worth > 0 and curvature > 0):  # what is left is rounding
                break
            step = worth / curvature
            x, left = x + step * direction, left - step * image
            z = self._rough(left)
            before, worth = worth, float(left @ z)
            direction = z + worth / before * direction
        return x

    def _product(self, A: Vector) -> Vector:
        """The lower half of AᵀA; above the diagonal 0."""
        large = float(A.size) * A.shape[1] > LARGE
        with blas_threads(self._threads if large else 1):
            return np.asarray(dsyrk(1.0, A.T, lower=1))

    @abstractmethod
    def _times(self, x: Vector) -> Vector:
        """The product of the matrix with x."""


class NormalEquations(FactoredEquations):
    """HᵀWH + D.

    Parameters
    ----------
    H : ndarray of shape (n_rows, n_columns)
    refined : bool
        As in :class:`FactoredEquations`.
    """

    def __init__(self, H: Vector, *, refined: bool = False) -> None:
        super().__init__(refined=refined)
        self._H, self._weighted = H, np.empty(H.shape)

    def _factorise(self) -> float:
        if not self._H.size:
            return 0.0
        np.multiply(self._H, np.sqrt(self._weights)[:, None], out=self._weighted)
        matrix = self._product(self._weighted)
        _diagonal_of(matrix)[:] += self._diagonal
        self._factor, ridge = cholesky(matrix)
        if ridge and self._always:
            below = np.diag(np.sqrt(self._diagonal))
            self._factor = _triangle(np.vstack([self._weighted, below]))
        return ridge

    def _times(self, x: Vector) -> Vector:
        return (self._weights * (self._H @ x)) @ self._H + self._diagonal * x


class RowEquations(NormalEquations):
    """The same through a system of the size of the rows, where most of D is positive.

    With S the columns of positive D and F the others, x follows from y = WHx:

        (W⁻¹ + SD⁻¹Sᵀ)y = F x_F + SD⁻¹b_S,    Fᵀy = b_F,    x_S = D⁻¹(b_S − Sᵀy)

    Parameters
    ----------
    H : ndarray of shape (n_rows, n_columns)
    soft : ndarray of bool, shape (n_columns,)
        Where D is positive. It stays as it is.
    products : ndarray of shape (n_rows, n_rows)
        SD⁻¹Sᵀ.
    """

    def __init__(self, H: Vector, soft: NDArray[np.bool_], products: Vector) -> None:
        super().__init__(H, refined=True)
        self._products, self._soft, self._free = products, soft, H[:, ~soft]
        self._by_free = self._border = np.zeros((0, 0))

    def _factorise(self) -> float:
        matrix = self._products.copy(order="F")
        _diagonal_of(matrix)[:] += 1.0 / self._weights
        self._factor, ridge = cholesky(matrix)
        self._by_free = _back(self._factor, self._free)
        self._border, raised = cholesky(self._free.T @ self._by_free)
        return max(ridge, raised)

    def _rough(self, right: Vector) -> Vector:
        soft, x = self._soft, right.copy()
        x[soft] /= self._diagonal[soft]
        x[~soft] = 0.0
        y = _back(self._factor, self._H @ x)
        free = _back(self._border, right[~soft] - self._free.T @ y)
        y += self._by_free @ free
        x[soft] -= (y @ self._H)[soft] / self._diagonal[soft]
        x[~soft] = free
        return x


def _diagonal_of(matrix: Vector) -> Vector:
    return np.einsum("ii->i", matrix)


def cholesky(matrix: Vector, *, lower: bool = True) -> tuple[Vector, float]:
    """A factor; the diagonal is raised a little where rounding has made it indefinite.

    Returns
    -------
    ndarray, float
        Of one triangle, and by how much of itself the diagonal was raised.
    """
    ridge = 0.0
    while True:
        raised = matrix.copy(order="F")
        _diagonal_of(raised)[:] *= 1.0 + ridge
        factor, failed = dpotrf(raised, lower=lower, overwrite_a=1, clean=0)
        if not failed or ridge > 1.0 or not np.isfinite(_diagonal_of(matrix)).all():
            return np.asarray(factor), ridge
        ridge = max(FACTOR_RIDGE, 100.0 * ridge)


def _triangle(A: Vector) -> Vector:
    """Lower factor of AᵀA, without forming it: that would leave half of the digits.

    Rows of very different size keep their digits if the large ones come first (Cox, Higham,
    *Stability of Householder QR factorization for weighted least squares problems*, 1998).
    """
    order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
    factored, *_ = dgeqrf(np.asfortranarray(A[order]), overwrite_a=1)
    factor = np.asfortranarray(np.tril(factored[: A.shape[1]].T))
    diagonal = _diagonal_of(factor)
    diagonal[diagonal == 0.0] = SMALLEST
    return factor


def _back(factor: Vector, right: Vector) -> Vector:
    if not right.size:
        return right
    return np.asarray(dpotrs(factor, right, lower=1)[0])
