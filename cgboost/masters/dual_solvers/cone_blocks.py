"""Blocks of a group penalty: kernels, each with a limit for the norm of its dual functional.

A block is a positive semi-definite K = LLᵀ with a limit, and asks of the pseudo-response that
√(rᵀKr) ≤ limit. It is given by its Gram matrix or by a factor H with K = HHᵀ, and stands for
K/limit², so that every limit is 1. What an interior point method has in the space of a block is Lᵀρ
for some ρ (:class:`BlockVectors`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy, dspmv, dsyrk
from scipy.linalg.lapack import dtpttr

from cgboost.generation.packed import PackedMatrix
from cgboost.losses.dual.support_vector import Indices, Vector


@dataclass(frozen=True)
class GramBlock:
    """A kernel K by its Gram matrix, of shape (n_rows, n_rows), symmetric; one triangle is read."""

    gram: PackedMatrix | Vector


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
        ρ and Kρ of the blocks given by Gram matrices.
    inner : ndarray of shape (n_factor_columns,)
        Hᵀρ of those given by factors, one after the other.
    """

    coef: Vector
    image: Vector
    inner: Vector


class BlockStore:
    """The blocks on the training rows, numbered in the order in which they came.

    Grams are packed, one triangle each: reading them is what takes the time. They are not copied.

    Parameters
    ----------
    n_rows : int
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self._packed: list[PackedMatrix] = []  # not divided
        self._factors: list[Vector] = []
        self._limits: list[float] = []
        self._is_gram: list[bool] = []
        self._lay_out()

    def __len__(self) -> int:
        return len(self._limits)

    def _lay_out(self) -> None:
        """Where the blocks of either kind stand."""
        is_gram = np.array(self._is_gram, dtype=bool)
        self.grams: Indices = np.flatnonzero(is_gram)
        self.factors: Indices = np.flatnonzero(~is_gram)
        widths = [H.shape[1] for H in self._factors]
        ends = np.cumsum(widths, dtype=np.intp)
        self.parts = [slice(end - w, end) for end, w in zip(ends, widths, strict=True)]
        self._of_column: Indices = np.repeat(np.arange(len(widths)), widths)
        self.block_of_column: Indices = self.factors[self._of_column]
        columns = self._factors or [np.zeros((self.n_rows, 0))]
        self.columns = np.asfortranarray(np.hstack(columns))

    def add(self, block: GramBlock | FactorBlock, limit: float) -> None:
        """Put one block more into the store.

        Raises
        ------
        ValueError
            If its shape does not fit, its entries are not finite, or its limit is not positive.
        """
        number = len(self)
        if not 0 < limit < np.inf:
            raise ValueError(f"limit of block {number} must be positive, got {limit!r}")
        if isinstance(block, GramBlock):
            packed, fits = PackedMatrix.of(block.gram), block.gram.shape == (self.n_rows,) * 2
            _check(packed.triangle, number, fits, f"{self.n_rows} rows and columns", block.gram)
            self._packed.append(packed)
        else:
            self._factors.append(self._scaled(block.columns, number, limit))
        self._limits.append(limit)
        self._is_gram.append(isinstance(block, GramBlock))
        self._lay_out()

    def extend(self, number: int, columns: Vector) -> None:
        """Put more columns into the factor of a block."""
        place = np.flatnonzero(self.factors == number)
        if not place.size:
            raise ValueError(f"block {number} has no factor that could get more columns")
        old, new = self._factors[place[0]], self._scaled(columns, number, self._limits[number])
        self._factors[place[0]] = np.hstack([old, new])
        self._lay_out()

    def _scaled(self, columns: Vector, number: int, limit: float) -> Vector:
        fits = columns.ndim == 2 and len(columns) == self.n_rows
        _check(columns, number, fits, f"{self.n_rows} rows", columns)
        return np.asarray(columns, dtype=np.float64) / limit

    @property
    def limits(self) -> Vector:
        """The limit of every block."""
        return np.array(self._limits)

    @property
    def _shares(self) -> Vector:
        """1/limit² of the Gram matrices."""
        return 1.0 / self.limits[self.grams] ** 2

    # ------------------------------------------------------------------ products

    def images(self, rho: Vector) -> BlockVectors:
        """Lᵀρ of one ρ for all blocks."""
        grams = np.empty((len(self.grams), self.n_rows))
        for line, packed, share in zip(grams, self._packed, self._shares, strict=True):
            line[:] = dspmv(self.n_rows, share, packed.triangle, rho)
        return BlockVectors(rho[None, :], grams, self.columns.T @ rho)

    def combined(self, weights: Vector) -> Vector:
        """Σ weights_g K_g, of which the upper triangle counts."""
        n = self.n_rows
        total = np.zeros(n * (n + 1) // 2)
        for packed, weight in zip(self._packed, weights[self.grams] * self._shares, strict=True):
            daxpy(packed.triangle, total, a=weight)
        matrix = np.asarray(dtpttr(n, total, uplo="U")[0])
        if self.columns.size:
            roots = np.sqrt(weights[self.block_of_column])
            matrix += dsyrk(1.0, self.columns * roots, lower=0)
        return matrix

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
        lines, inner = [], []
        for factor, _ in terms:
            scalar = np.ndim(factor) == 0
            lines.append(factor if scalar else np.asarray(factor)[self.grams, None])
            inner.append(factor if scalar else np.asarray(factor)[self.block_of_column])

        def total(of: Callable[[BlockVectors], Vector], factors: list[Vector | float]) -> Vector:
            pairs = zip(factors, terms, strict=True)
            return np.asarray(sum(factor * of(vectors) for factor, (_, vectors) in pairs))

        return BlockVectors(
            total(lambda vectors: vectors.coef, lines),
            total(lambda vectors: vectors.image, lines),
            total(lambda vectors: vectors.inner, inner),
        )


def _check(
    values: Vector, number: int, fits: bool | NDArray[np.bool_], wanted: str, given: Any
) -> None:
    if not fits:
        raise ValueError(f"block {number} must have {wanted}, got shape {given.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"block {number} has entries that are not finite")
