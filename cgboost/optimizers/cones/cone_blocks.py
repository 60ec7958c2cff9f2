"""Blocks of a group penalty: kernels, each with a limit for the norm of its dual functional.

A block is a positive semi-definite K = LLᵀ with a limit, and asks of the pseudo-response that
√(rᵀKr) ≤ limit. It is given by its Gram matrix or by a factor H with K = HHᵀ, and stands for
K/limit², so that every limit is 1. What an interior point method has in the space of a block is Lᵀρ
for some ρ (:class:`BlockVectors`).

A Gram matrix of low rank gets a factor by pivoted Cholesky. Products of Lᵀρ are then shorter, and
keep the digits that ρᵀ(Kρ) loses where ρ is large and nearly orthogonal to K, as it is to the
features of a linear kernel whose scale is large compared with its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dspmv

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.generation.packed import PackedMatrix

LOW_RANK = 64
"""Largest rank that is looked for: 86 % of the kernels of the SimpleMKL protocol on 537 rows have
it, half of them 8 or less, and to find a factor or that there is none takes 0.25 ms."""

LOW_RANK_SHARE = 0.25
"""The same as a share of the rows: factors of a higher rank are not shorter than a triangle."""

NOTHING_LEFT = 1e-15
"""A matrix is its factor where the trace of their difference is no more than this share of its own
trace: rounding of the entries alone leaves as much."""


@dataclass(frozen=True)
class GramBlock:
    """A kernel K by its Gram matrix, of shape (n_rows, n_rows), symmetric."""

    gram: PackedMatrix | Vector

    @cached_property
    def factor(self) -> Vector | None:
        """H of few columns with K = HHᵀ up to rounding, None where the rank is not low."""
        packed = PackedMatrix.of(self.gram)
        return low_rank_factor(packed, int(min(LOW_RANK, LOW_RANK_SHARE * self.gram.shape[0])))


@dataclass(frozen=True)
class FactorBlock:
    """A kernel K = HHᵀ by its factor H, of shape (n_rows, n_columns)."""

    columns: Vector


@dataclass(frozen=True)
class BlockVectors:
    """A vector Lᵀρ in the space of every block, where only products of two of them matter.

    Attributes
    ----------
    coef, image : ndarray of shape (n_grams, n_rows)
        ρ and Kρ of the blocks that have no factor.
    inner : ndarray of shape (n_factor_columns,)
        Hᵀρ of those that have one, one after the other.
    """

    coef: Vector
    image: Vector
    inner: Vector


class BlockStore:
    """The blocks on the training rows, numbered in the order in which they came.

    Grams are packed, one triangle each, and not copied: reading them is what takes the time. Those
    of low rank have a factor besides, which takes their place in all but sums of matrices.

    Parameters
    ----------
    n_rows : int

    Attributes
    ----------
    limits : ndarray of shape (n_blocks,)
    packed, alone : ndarray of int
        The blocks that were given by their Gram matrix, and by a factor.
    grams, factors : ndarray of int
        The blocks whose vectors are known by ρ and Kρ, and by Hᵀρ.
    columns : ndarray of shape (n_rows, n_factor_columns)
        H of all factors, side by side.
    alone_columns : ndarray of int
        Those of the blocks that were given by a factor.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self._matrices: list[PackedMatrix] = []  # not divided
        self._factors: list[Vector] = []
        self._limits: list[float] = []
        self._is_packed: list[bool] = []
        self._is_gram: list[bool] = []
        self._lay_out()

    def __len__(self) -> int:
        return len(self._limits)

    def _lay_out(self) -> None:
        """Where the blocks of either kind stand, and their limits."""
        self.limits = np.array(self._limits)
        is_gram = np.array(self._is_gram, dtype=bool)
        is_packed = np.array(self._is_packed, dtype=bool)
        self.grams: Indices = np.flatnonzero(is_gram)
        self.packed: Indices = np.flatnonzero(is_packed)
        self._triangles: Indices = np.searchsorted(self.packed, self.grams)
        self.factors: Indices = np.flatnonzero(~is_gram)
        widths = [H.shape[1] for H in self._factors]
        ends = np.cumsum(widths, dtype=np.intp)
        self.parts = [slice(end - w, end) for end, w in zip(ends, widths, strict=True)]
        self._of_column: Indices = np.repeat(np.arange(len(widths)), widths)
        self.block_of_column: Indices = self.factors[self._of_column]
        self.alone: Indices = np.flatnonzero(~is_packed)
        self.alone_columns: Indices = np.flatnonzero(~is_packed[self.block_of_column])
        columns = self._factors or [np.zeros((self.n_rows, 0))]
        self.columns = np.asfortranarray(np.hstack(columns))

    def add(self, block: GramBlock | FactorBlock, limit: float) -> None:
        """Put one block more into the store; see :meth:`add_all`."""
        self.add_all([block], [limit])

    def add_all(
        self, blocks: Sequence[GramBlock | FactorBlock], limits: Sequence[float] | Vector
    ) -> None:
        """Put more blocks into the store.

        Raises
        ------
        ValueError
            If the shape of one does not fit, its entries are not finite, or its limit is not
            positive.
        """
        for block, limit in zip(blocks, limits, strict=True):
            self._take(block, float(limit))
        self._lay_out()

    def _take(self, block: GramBlock | FactorBlock, limit: float) -> None:
        number = len(self)
        if not 0 < limit < np.inf:
            raise ValueError(f"limit of block {number} must be positive, got {limit!r}")
        if isinstance(block, GramBlock):
            packed, fits = PackedMatrix.of(block.gram), block.gram.shape == (self.n_rows,) * 2
            _check(packed.triangle, number, fits, f"{self.n_rows} rows and columns", block.gram)
            factor = block.factor
            self._matrices.append(packed)
        else:
            factor = block.columns
        if factor is not None:
            self._factors.append(self._scaled(factor, number, limit))
        self._limits.append(limit)
        self._is_packed.append(isinstance(block, GramBlock))
        self._is_gram.append(factor is None)

    def _scaled(self, columns: Vector, number: int, limit: float) -> Vector:
        fits = columns.ndim == 2 and len(columns) == self.n_rows
        _check(columns, number, fits, f"{self.n_rows} rows", columns)
        return np.asarray(columns, dtype=np.float64) / limit

    # ------------------------------------------------------------------ products

    def images(self, rho: Vector) -> BlockVectors:
        """Lᵀρ of one ρ for all blocks."""
        grams = np.empty((len(self.grams), self.n_rows))
        shares = 1.0 / self.limits[self.grams] ** 2
        for line, place, share in zip(grams, self._triangles, shares, strict=True):
            line[:] = dspmv(self.n_rows, share, self._matrices[place].triangle, rho)
        return BlockVectors(rho[None, :], grams, self.columns.T @ rho)

    def combined(self, weights: Vector) -> Vector:
        """The upper triangle of Σ weights_g K_g over the Gram matrices, packed by columns."""
        n = self.n_rows
        total = np.zeros(n * (n + 1) // 2)
        own = weights[self.packed] / self.limits[self.packed] ** 2
        for packed, weight in zip(self._matrices, own, strict=True):
            daxpy(packed.triangle, total, a=weight)
        return total

    def in_rows(self, vectors: BlockVectors) -> Vector:
        """Kρ of every block, shape (n_rows, n_blocks)."""
        values = np.empty((self.n_rows, len(self)), order="F")
        values[:, self.grams] = vectors.image.T
        for number, part in zip(self.factors, self.parts, strict=True):
            values[:, number] = self.columns[:, part] @ vectors.inner[part]
        return values

    def sum_in_rows(self, vectors: BlockVectors) -> Vector:
        """Σ Kρ over the blocks, shape (n_rows,)."""
        return vectors.image.sum(axis=0) + self.columns @ vectors.inner

    # ------------------------------------------------------------------ vectors

    def products(self, left: BlockVectors, right: BlockVectors) -> Vector:
        """The inner product of two vectors in every block."""
        values = np.empty(len(self))
        values[self.grams] = np.einsum("gi,gi->g", left.coef, right.image)
        values[self.factors] = np.bincount(
            self._of_column, weights=left.inner * right.inner, minlength=len(self.factors)
        )
        return values

    def combination(self, *terms: tuple[Vector | float, BlockVectors]) -> BlockVectors:
        """Σ factor·vector, where a factor is one number, or one a block."""
        coef: Any = 0.0
        image: Any = 0.0
        inner: Any = 0.0
        for factor, vectors in terms:
            of_lines: Any = factor
            of_columns: Any = factor
            if isinstance(factor, np.ndarray):
                of_lines, of_columns = factor[self.grams, None], factor[self.block_of_column]
            coef = coef + of_lines * vectors.coef
            image = image + of_lines * vectors.image
            inner = inner + of_columns * vectors.inner
        return BlockVectors(coef, image, inner)


def low_rank_factor(matrix: PackedMatrix, rank: int) -> Vector | None:
    """H with HHᵀ equal to a positive semi-definite matrix up to rounding, by pivoted Cholesky.

    Parameters
    ----------
    matrix : PackedMatrix
    rank : int
        Of how many columns at most.

    Returns
    -------
    ndarray of shape (n, at most ``rank``), or None if more columns are needed.
    """
    left = matrix.diagonal()
    allowed = NOTHING_LEFT * float(np.abs(left).sum())
    lines = np.empty((rank, len(left)))
    for count in range(rank + 1):
        if np.maximum(left, 0.0).sum() <= allowed:
            return lines[:count].T
        if count < rank:
            pivot = int(left.argmax())
            own = matrix.row(pivot) - lines[:count, pivot] @ lines[:count]
            lines[count] = own / np.sqrt(left[pivot])
            left -= lines[count] ** 2
            left[pivot] = 0.0
    return None


def _check(
    values: Vector, number: int, fits: bool | NDArray[np.bool_], wanted: str, given: Any
) -> None:
    if not fits:
        raise ValueError(f"block {number} must have {wanted}, got shape {given.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"block {number} has entries that are not finite")
