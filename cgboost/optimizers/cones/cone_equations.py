"""Newton systems of the cone interior point method, with as many rows as there are, or columns.

    (W⁻¹ + Σ h_gK_g)Δr + Σ d_g K_gω_g + Fφ = a       −(K_gω_g)·Δr + d_g/2h_g = c_g
    −FᵀΔr + Eφ = e                                    W, E diagonal; F has a few columns

The K_g are those of a :class:`BlockStore`, h_g > 0, and ω_g stands for the vector Lᵀω of a block.
Either of two forms solves it:

* by rows, through W⁻¹ + ΣhK of the size of the rows, those of each output by themselves, and a
  system in d and φ;
* by columns, where all blocks have factors H, through h⁻¹ + HᵀWH of the size of all columns and
  the same system in d and φ: the Woodbury identity for the other form.

Rows of weight 0 in W have Δr = 0.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import block_diag
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from cgboost.arrays import Vector
from cgboost.optimizers.cones.cone_blocks import BlockStore, BlockVectors

CONE_RIDGE = 1e-14
"""Added to a diagonal, relative to it, where the factorisation fails, and then a hundred times as
much: some ten units of rounding, which is what makes such a matrix indefinite."""


CONE_REFINEMENTS = 1
"""Solutions by columns are refined so often. Rows well inside their box have weights that leave
half of the digits, and the first refinement brings most of them back."""


class ConeStep(NamedTuple):
    """A solution of the Newton system: Δr by row, d by block, φ by column of F."""

    response: Vector
    along: Vector
    free: Vector


class ConeEquations(Protocol):
    """A factorised Newton system."""

    def solve(self, rows: Vector, blocks: Vector, free: Vector) -> ConeStep:
        """The solution for right-hand sides a, c and e."""
        ...


class EquationsByRows:
    """The system in Δr.

    Parameters
    ----------
    store : BlockStore
    h : ndarray of shape (n_blocks,)
    omega : BlockVectors
    weights : ndarray of shape (n_rows,)
        The diagonal of W.
    free : ndarray of shape (n_rows, n_free)
        F.
    diagonal : ndarray of shape (n_free,)
        Of E.
    """

    def __init__(
        self,
        store: BlockStore,
        h: Vector,
        omega: BlockVectors,
        weights: Vector,
        free: Vector,
        diagonal: Vector,
    ) -> None:
        self._count, self._rows = len(h), store.rows
        self._root = root = np.sqrt(weights)
        self._factors = []
        for rows, matrix in zip(store.rows, store.combined(h), strict=True):
            matrix *= root[rows]
            matrix *= root[rows, None]
            np.einsum("ii->i", matrix)[:] += 1.0
            self._factors.append(cholesky(matrix))
        border = np.hstack([store.in_rows(omega), free])
        self._border = self._forward(border * root[:, None])
        small = products_of_columns(self._border)
        np.einsum("ii->i", small)[:] += np.concatenate([0.5 / h, diagonal])
        self._small = cholesky(small)

    def _forward(self, right: Vector) -> Vector:
        return self._through(right, trans=1) if right.size else right

    def _through(self, right: Vector, *, trans: int) -> Vector:
        """The solution of the triangular systems of all outputs."""
        parts = zip(self._factors, self._rows, strict=True)
        own = [dtrtrs(factor, right[rows], lower=0, trans=trans)[0] for factor, rows in parts]
        return np.concatenate(own)

    def solve(self, rows: Vector, blocks: Vector, free: Vector) -> ConeStep:
        """The solution for right-hand sides a, c and e."""
        own = self._forward(self._root * rows)
        along = back(self._small, np.concatenate([blocks, free]) + self._border.T @ own)
        response = self._through(own - self._border @ along, trans=0)
        return ConeStep(self._root * response, along[: self._count], along[self._count :])


class EquationsByColumns:
    """The system in the columns of the blocks' factors; parameters as of the other form.

    With Q = h⁻¹ + HᵀWH, the inverse of M = W⁻¹ + HhHᵀ is W − WHQ⁻¹HᵀW. For Hω it is taken as
    M⁻¹Hω = WHQ⁻¹(ω/h), which loses no digits where W is large.
    """

    def __init__(
        self,
        store: BlockStore,
        h: Vector,
        omega: BlockVectors,
        weights: Vector,
        free: Vector,
        diagonal: Vector,
    ) -> None:
        (H,) = store.columns if len(store.columns) == 1 else [block_diag(*store.columns)]
        self._count, self._weights, self._H = len(h), weights, H
        self._h = h[store.block_of_column]
        matrix = products_of_columns(self._H * np.sqrt(weights)[:, None])
        np.einsum("ii->i", matrix)[:] += 1.0 / self._h
        self._factor = cholesky(matrix)
        directions = np.zeros((self._H.shape[1], self._count))
        directions[np.arange(len(directions)), store.block_of_column] = omega.inner
        inside = self._H @ back(self._factor, directions / self._h[:, None])
        self._border = np.hstack([self._H @ directions, free])
        self._behind = np.hstack([weights[:, None] * inside, self._inverse(free)])
        self._diagonal = np.concatenate([0.5 / h, diagonal])
        small = self._border.T @ self._behind
        np.einsum("ii->i", small)[:] += self._diagonal
        self._small = cholesky(small)

    def _inverse(self, right: Vector) -> Vector:
        """M⁻¹ times a vector, or several."""
        weighted = (self._weights * right.T).T
        behind = self._H @ back(self._factor, self._H.T @ weighted)
        return weighted - (self._weights * behind.T).T

    def solve(self, rows: Vector, blocks: Vector, free: Vector) -> ConeStep:
        """The solution for right-hand sides a, c and e."""
        response, along = self._solved(rows, given := np.concatenate([blocks, free]))
        positive = self._weights > 0
        for _ in range(CONE_REFINEMENTS):
            left = rows - self._H @ (self._h * (self._H.T @ response)) - self._border @ along
            left[positive] -= response[positive] / self._weights[positive]
            missing = given + self._border.T @ response - self._diagonal * along
            more = self._solved(left, missing)
            response, along = response + more[0], along + more[1]
        return ConeStep(response, along[: self._count], along[self._count :])

    def _solved(self, rows: Vector, given: Vector) -> tuple[Vector, Vector]:
        own = self._inverse(rows)
        along = back(self._small, given + self._border.T @ own)
        return own - self._behind @ along, along


def products_of_columns(values: Vector) -> Vector:
    """The upper triangle of AᵀA; without columns an empty matrix, which BLAS would complain of."""
    if not values.shape[1]:
        return np.zeros((0, 0))
    return np.asarray(dsyrk(1.0, values, trans=1, lower=0))


def cholesky(matrix: Vector) -> Vector:
    """Upper factor of a positive definite matrix, raised a little where rounding asks for it."""
    if not matrix.size:
        return matrix
    ridge = 0.0
    while True:
        raised = matrix.copy(order="F")
        np.einsum("ii->i", raised)[:] *= 1.0 + ridge
        factor, failed = dpotrf(raised, lower=0, overwrite_a=1, clean=0)
        if not failed or ridge > 1.0 or not np.isfinite(np.einsum("ii->i", matrix)).all():
            return np.asarray(factor)
        ridge = max(CONE_RIDGE, 100.0 * ridge)


def back(factor: Vector, right: Vector) -> Vector:
    """The solution of a system with this upper factor."""
    return np.asarray(dpotrs(factor, right, lower=0)[0]) if right.size else right
