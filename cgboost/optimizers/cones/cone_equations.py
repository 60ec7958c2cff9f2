"""Newton system of the cone interior point method, as large as there are rows.

    (W⁻¹ + Σ h_gK_g)Δr + Σ d_g K_gω_g + Fφ = a       −(K_gω_g)·Δr + d_g/2h_g = c_g
    −FᵀΔr + Eφ = e                                    W, E diagonal; F has a few columns

The K_g are those of a :class:`BlockStore`, h_g > 0, and ω_g stands for the vector Lᵀω of a block.
Where K_g is given by its Gram matrix, d_g is eliminated: h_g(K_g + 2 K_gω_g(K_gω_g)ᵀ) takes the
place of h_gK_g. A block K_g = HHᵀ that is given by H, as that of an offset, adds columns to F: its
H with 1/h_g in E, and K_gω_g with 1/2h_g. With several outputs d_g would couple their rows: K_gω_g
is a column of F there, too, and ΣhK is factorised output by output.

Rows of weight 0 in W have Δr = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dspmv, dsyrk
from scipy.linalg.lapack import dpotrs, dtpttr, dtrtrs

from cgboost.arrays import Vector
from cgboost.optimizers.cones.cone_blocks import BlockStore, BlockVectors
from cgboost.optimizers.interior_point.normal_equations import cholesky

CONE_REFINEMENTS = 1
"""Solutions are refined so often. Weights of rows well inside their box, and directions ω of cones
near their boundary, leave half of the digits; the first refinement brings most of them back."""


class ConeStep(NamedTuple):
    """A solution of the Newton system: Δr by row, d by block, φ by column of F."""

    response: Vector
    along: Vector
    free: Vector


class ConeEquations:
    """The factorised system.

    Parameters
    ----------
    h : ndarray of shape (n_blocks,)
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
        self._rows, several = store.rows, len(store.rows) > 1
        self._eliminated = store.packed[:0] if several else store.packed
        self._beside = np.setdiff1d(np.arange(len(h)), self._eliminated)
        images, (columns, block_of_column) = store.in_rows(omega), store.columns_alone()
        self._n_columns = columns.shape[1]
        self._images, self._stiffness = images[:, self._eliminated], 2.0 * h[self._eliminated]
        self._border = np.hstack([columns, images[:, self._beside], free])
        of_columns = 1.0 / h[block_of_column]
        self._diagonal = np.concatenate([of_columns, 0.5 / h[self._beside], diagonal])
        self._root, there = np.sqrt(weights), weights > 0
        self._there, self._inverse = there.astype(np.float64), there / np.where(there, weights, 1.0)
        self._sums: list[Vector] = []  # of the Gram matrices, for each output
        if len(store.packed):
            self._sums = store.combined(h)
            parts = zip(self._sums, self._rows, strict=True)
            self._factors = [self._factor(total, rows) for total, rows in parts]
        self._behind = self._forward(self._border * self._root[:, None])
        small = products_of_columns(self._behind)
        np.einsum("ii->i", small)[:] += self._diagonal
        self._small = upper_factor(small)

    def _factor(self, total: Vector, rows: slice) -> Vector:
        """Of W^½(Σ h_gK_g + what is eliminated)W^½ + 1 for the rows of an output."""
        root = self._root[rows]
        matrix = dtpttr(len(root), total)[0]
        if len(self._eliminated):
            images = self._images * np.sqrt(self._stiffness)
            matrix = dsyrk(1.0, images, beta=1.0, c=matrix, overwrite_c=1, lower=0)
        matrix *= root
        matrix *= root[:, None]
        np.einsum("ii->i", matrix)[:] += 1.0
        return upper_factor(matrix)

    def solve(
        self, rows: Vector, blocks: Vector, free: Vector, refinements: int = CONE_REFINEMENTS
    ) -> ConeStep:
        """The solution for right-hand sides a, c and e."""
        given = blocks[self._eliminated]
        beside = np.concatenate([np.zeros(self._n_columns), blocks[self._beside], free])
        r, d, phi = self._solved(rows, given, beside)
        for _ in range(refinements):
            left = rows - self._images @ d - self._border @ phi
            for total, own in zip(self._sums, self._rows, strict=bool(self._sums)):
                left[own] -= dspmv(len(r[own]), 1.0, total, r[own])
            left = self._there * left - self._inverse * r
            missed = given + self._images.T @ r - d / self._stiffness
            more = self._solved(left, missed, beside + self._border.T @ r - self._diagonal * phi)
            r, d, phi = r + more[0], d + more[1], phi + more[2]
        along, first = np.empty(len(blocks)), self._n_columns + len(self._beside)
        along[self._eliminated], along[self._beside] = d, phi[self._n_columns : first]
        return ConeStep(r, along, phi[first:])

    def _solved(self, rows: Vector, given: Vector, beside: Vector) -> tuple[Vector, Vector, Vector]:
        pull = self._forward(self._root * (rows - self._images @ (self._stiffness * given)))
        phi = back(self._small, beside + self._behind.T @ pull)
        r = self._root * self._through(pull - self._behind @ phi, trans=0)
        return r, self._stiffness * (given + self._images.T @ r), phi

    def _forward(self, right: Vector) -> Vector:
        """The first half of a solution; without Gram matrices the system is diagonal."""
        return self._through(right, trans=1) if right.size else right

    def _through(self, right: Vector, *, trans: int) -> Vector:
        """The solution of the triangular systems of all outputs."""
        if not self._sums:
            return right
        parts = zip(self._factors, self._rows, strict=True)
        own = [dtrtrs(factor, right[rows], lower=0, trans=trans)[0] for factor, rows in parts]
        return np.concatenate(own)


def products_of_columns(values: Vector) -> Vector:
    """The upper triangle of AᵀA; without columns an empty matrix, which BLAS would complain of."""
    if not values.shape[1]:
        return np.zeros((0, 0))
    return np.asarray(dsyrk(1.0, values, trans=1, lower=0))


def upper_factor(matrix: Vector) -> Vector:
    """Upper factor of a positive definite matrix, raised a little where rounding asks for it."""
    return cholesky(matrix, lower=False)[0] if matrix.size else matrix


def back(factor: Vector, right: Vector) -> Vector:
    """The solution of a system with this upper factor."""
    return np.asarray(dpotrs(factor, right, lower=0)[0]) if right.size else right
