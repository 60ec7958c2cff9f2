"""Blocks of a group penalty: kernels, each with a limit for the norm of its dual functional.

A block is a positive semi-definite K = LLᵀ with a limit, and asks of the pseudo-response that
√(rᵀKr) ≤ limit. It is given by its Gram matrix or by a factor H with K = HHᵀ, and stands for
K/limit², so that every limit is 1. What an interior point method has in the space of a block is Lᵀρ
for some ρ (:class:`BlockVectors`).

Where the rows are those of several outputs, one after the other, K is block diagonal, with a matrix
for the rows of each output (:class:`OutputsBlock`), and its cone is one for all outputs.

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
from scipy.linalg import block_diag
from scipy.linalg.blas import daxpy, dspmv

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.generation.packed import PackedMatrix
from cgboost.losses.dual.side_by_side import slices

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
class OutputsBlock:
    """A kernel on the rows of several outputs: a block for each, of one kind."""

    parts: Sequence[GramBlock] | Sequence[FactorBlock]


Block = GramBlock | FactorBlock | OutputsBlock


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
    *sizes : int
        Rows of each output; of most problems there is one.

    Attributes
    ----------
    limits : ndarray of shape (n_blocks,)
    rows : list of slice
        Where the rows of each output stand.
    packed : ndarray of int
        The blocks that were given by their Gram matrix.
    grams, factors : ndarray of int
        The blocks whose vectors are known by ρ and Kρ, and by Hᵀρ.
    columns : list of ndarray of shape (n_rows, n_factor_columns)
        For each output H of all factors, side by side.
    """

    def __init__(self, *sizes: int) -> None:
        self.sizes, self.rows, self.n_rows = sizes, slices(sizes), sum(sizes)
        self._matrices: list[list[PackedMatrix]] = []  # not divided; one for each output
        self._factors: list[list[Vector]] = []
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
        self.columns, self.parts, self._alone = [], [], []
        of_column = []
        for output, n_rows in enumerate(self.sizes):
            own = [H[output] for H in self._factors]
            widths = [H.shape[1] for H in own]
            self.parts.append(slices(widths))
            of_column.append(np.repeat(np.arange(len(widths)), widths))
            self.columns.append(np.asfortranarray(np.hstack([np.zeros((n_rows, 0)), *own])))
            self._alone.append(np.flatnonzero(~is_packed[self.factors[of_column[-1]]]))
        self._inner = slices(H.shape[1] for H in self.columns)
        self._of_column: Indices = np.concatenate(of_column)
        self.block_of_column: Indices = self.factors[self._of_column]

    columns: list[Vector]
    parts: list[list[slice]]
    _alone: list[Indices]

    def add(self, block: Block, limit: float) -> None:
        """Put one block more into the store; see :meth:`add_all`."""
        self.add_all([block], [limit])

    def add_all(self, blocks: Sequence[Block], limits: Sequence[float] | Vector) -> None:
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

    def _take(self, block: Block, limit: float) -> None:
        number, parts = len(self), block.parts if isinstance(block, OutputsBlock) else [block]
        if not 0 < limit < np.inf:
            raise ValueError(f"limit of block {number} must be positive, got {limit!r}")
        factors: list[Vector | None] = []
        matrices: list[PackedMatrix] = []
        for part, n_rows in zip(parts, self.sizes, strict=True):
            if isinstance(part, GramBlock):
                packed, fits = PackedMatrix.of(part.gram), part.gram.shape == (n_rows, n_rows)
                _check(packed.triangle, number, fits, f"{n_rows} rows and columns", part.gram)
                matrices.append(packed)
                factors.append(part.factor)
            else:
                factors.append(part.columns)
        if matrices:
            self._matrices.append(matrices)
        own = [factor for factor in factors if factor is not None]
        if len(own) == len(factors):
            self._factors.append(self._scaled(own, number, limit))
        self._limits.append(limit)
        self._is_packed.append(bool(matrices))
        self._is_gram.append(len(own) < len(factors))

    def _scaled(self, factors: Sequence[Vector], number: int, limit: float) -> list[Vector]:
        for columns, n_rows in zip(factors, self.sizes, strict=True):
            fits = columns.ndim == 2 and len(columns) == n_rows
            _check(columns, number, fits, f"{n_rows} rows", columns)
        return [np.asarray(columns, dtype=np.float64) / limit for columns in factors]

    # ------------------------------------------------------------------ products

    def images(self, rho: Vector) -> BlockVectors:
        """Lᵀρ of one ρ for all blocks."""
        grams = np.empty((len(self.grams), self.n_rows))
        shares = 1.0 / self.limits[self.grams] ** 2
        for line, place, share in zip(grams, self._triangles, shares, strict=True):
            for rows, matrix in zip(self.rows, self._matrices[place], strict=True):
                line[rows] = dspmv(matrix.n_rows, share, matrix.triangle, rho[rows])
        return BlockVectors(rho[None, :], grams, self.inner(rho))

    def inner(self, rho: Vector) -> Vector:
        """Hᵀρ of all factors, one output after the other."""
        return np.concatenate(
            [H.T @ rho[rows] for H, rows in zip(self.columns, self.rows, strict=True)]
        )

    def combined(self, weights: Vector) -> list[Vector]:
        """For each output the upper triangle of Σ weights_g K_g over the Gram matrices, packed."""
        own = weights[self.packed] / self.limits[self.packed] ** 2
        found = []
        for output, n_rows in enumerate(self.sizes):
            total = np.zeros(n_rows * (n_rows + 1) // 2)
            for matrices, weight in zip(self._matrices, own, strict=True):
                daxpy(matrices[output].triangle, total, a=weight)
            found.append(total)
        return found

    def columns_alone(self) -> tuple[Vector, Indices]:
        """H of the blocks that were given by a factor, and which block each column is of."""
        own = [H[:, alone] for H, alone in zip(self.columns, self._alone, strict=True)]
        block = [
            self.block_of_column[inner][alone]
            for inner, alone in zip(self._inner, self._alone, strict=True)
        ]
        return block_diag(*own) if len(own) > 1 else own[0], np.concatenate(block)

    def in_rows(self, vectors: BlockVectors) -> Vector:
        """Kρ of every block, shape (n_rows, n_blocks)."""
        values = np.empty((self.n_rows, len(self)), order="F")
        values[:, self.grams] = vectors.image.T
        for output, rows in enumerate(self.rows):
            inner, columns = vectors.inner[self._inner[output]], self.columns[output]
            for number, part in zip(self.factors, self.parts[output], strict=True):
                values[rows, number] = columns[:, part] @ inner[part]
        return values

    def sum_in_rows(self, vectors: BlockVectors) -> Vector:
        """Σ Kρ over the blocks, shape (n_rows,)."""
        parts = zip(self.columns, self._inner, strict=True)
        return vectors.image.sum(axis=0) + np.concatenate(
            [H @ vectors.inner[own] for H, own in parts]
        )

    # ------------------------------------------------------------------ offsets

    def spread(self, offsets: Vector) -> Vector:
        """A number for each output, as one for each row."""
        return np.repeat(offsets, self.sizes)

    def sums(self, values: Vector) -> Vector:
        """Sums over the rows of each output, shape (n_outputs,)."""
        return np.array([values[rows].sum() for rows in self.rows])

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
