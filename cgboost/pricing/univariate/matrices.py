"""Matrices of features by what pricing asks of them: dense, sparse, or read in blocks of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.forks import cached_property
from cgboost.tolerances import UNIT_ROUNDOFF

GATHERED_BY_ROWS = 0.04
"""Share of the columns of a matrix stored by rows that takes less time to gather than a product
with all. Measured with 2·10⁷ entries: 2 % take 0.4 of it, 5 % take 0.9, 10 % take 1.2 …"""

GATHERED_BY_COLUMNS = 0.25
"""… and by columns: 10 % take 0.2 to 0.3 of it, 20 % 0.5 to 0.7, 30 % up to 2.4. Of sparse ones
20 % take 0.4."""

CONVERTED_AT_ONCE = 2**20
"""Entries of X that are converted, or gathered, at once: 8 MB in float64."""


class FeatureStorage(ABC):
    """A matrix X of shape (n_rows, n_features) that may be read, but is not held in another form.

    Attributes
    ----------
    gathers : float
        Up to this share of the columns a product with them alone takes less time than with all; 0
        where it never does.
    """

    shape: tuple[int, int]
    gathers: float

    @abstractmethod
    def product(self, response: Vector, indices: Indices | None = None) -> Vector:
        """Xᵀr, or of some columns, added up in float64; r of shape (n_rows,) or (n_rows, k)."""

    @abstractmethod
    def lengths(self, centres: Vector) -> Vector:
        """‖x_j − m_j‖ of every column, for m of shape (n_features,)."""

    @abstractmethod
    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """Some columns on some rows (None: all), as a new array of shape (n_rows, n_indices)."""

    @cached_property
    @abstractmethod
    def extremes(self) -> tuple[Vector, Vector]:
        """The least and the largest entry of every column; nan where there is one among them."""

    @abstractmethod
    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """Weighted mean and standard deviation of every column.

        A column that is constant up to rounding has the standard deviation 0.
        """


def matrix_of(X: Any) -> FeatureStorage:
    """X by its form; float32 and float64 stay what they are, all else becomes float64.

    Raises
    ------
    ValueError
        If X is not two-dimensional.
    """
    if isinstance(X, FeatureStorage):
        return X
    kept = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    if kept.dtype not in (np.float32, np.float64):
        kept = kept.astype(np.float64)
    if kept.ndim != 2:
        raise ValueError(f"X must be a two-dimensional array, got shape {kept.shape}")
    return SparseFeatures(kept) if sparse.issparse(kept) else DenseFeatures(kept)


class _ReadByRows(FeatureStorage):
    """Passes over blocks of rows, in which sums are added up."""

    @abstractmethod
    def __iter__(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The blocks: their place among all rows, and an array."""

    def product(self, response: Vector, indices: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        total = np.zeros(1)
        for rows, block in self:
            wanted = block if indices is None else block[:, indices]
            total = total + wanted.astype(np.float64, copy=False).T @ response[rows]
        return total

    def lengths(self, centres: Vector) -> Vector:
        """See :meth:`FeatureStorage.lengths`."""
        squares = np.zeros(len(centres))
        for _, block in self:
            moved = block.astype(np.float64, copy=False)
            moved = moved - centres if centres.any() else moved
            squares += np.einsum("ij,ij->j", moved, moved)
        return np.sqrt(squares)

    @cached_property
    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`."""
        least, most = np.full(1, np.inf), np.full(1, -np.inf)
        for _, block in self:
            least = np.minimum(least, block.min(axis=0))
            most = np.maximum(most, block.max(axis=0))
        return least.astype(np.float64), most.astype(np.float64)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`."""
        shares = weights / weights.sum()
        means, variances = self.product(shares), np.zeros(self.shape[1])
        for rows, block in self:
            moved = block.astype(np.float64, copy=False) - means
            variances += shares[rows] @ np.square(moved, out=moved)
        return means, _deviations(means, variances, len(weights))


class DenseFeatures(_ReadByRows):
    """An array in memory, or mapped from a file; blocks of rows are converted as they are read.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        float32 or float64.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        self.X, self.shape = X, (X.shape[0], X.shape[1])
        self._by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
        self.gathers = GATHERED_BY_COLUMNS if self._by_columns else GATHERED_BY_ROWS

    def product(self, response: Vector, indices: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        if indices is None and self.X.dtype == np.float64:
            return np.asarray((response.T @ self.X).T)  # several responses by rows, as X is
        if indices is None or not self._by_columns:
            return super().product(response, indices)
        step = max(1, CONVERTED_AT_ONCE // max(1, self.shape[0]))
        parts = [
            self.X.T[indices[some]].astype(np.float64, copy=False) @ response
            for some in blocks_of(len(indices), step)
        ]
        return np.concatenate(parts)

    def lengths(self, centres: Vector) -> Vector:
        """See :meth:`FeatureStorage.lengths`."""
        if not self._by_columns:
            return super().lengths(centres)
        step = max(1, CONVERTED_AT_ONCE // max(1, self.shape[0]))
        parts = []
        for some in blocks_of(self.shape[1], step):
            moved = self.X.T[some].astype(np.float64, copy=False)
            moved = moved - centres[some, None] if centres.any() else moved
            parts.append(np.einsum("ij,ij->i", moved, moved))
        return np.sqrt(np.concatenate(parts))

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        X = self.X if rows is None else self.X[rows]
        return np.asarray(X[:, list(indices)])

    def __iter__(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        step = max(1, CONVERTED_AT_ONCE // max(1, self.shape[1]))
        for rows in blocks_of(self.shape[0], step):
            yield rows, self.X[rows]


class BlockFeatures(_ReadByRows):
    """Rows that are read in blocks, again for every pass, and never held together.

    Parameters
    ----------
    blocks : iterable of (rows, X)
        The same blocks each time: their place among all rows, a slice, and an array.
    """

    def __init__(self, blocks: Iterable[tuple[slice, Any]], shape: tuple[int, int]) -> None:
        self.blocks, self.shape = blocks, shape
        self.gathers = 0.0

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        values = np.empty((self.shape[0], len(indices)))
        for place, block in self:
            values[place] = block[:, list(indices)]
        return values if rows is None else values[rows]

    def __iter__(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        yield from self.blocks


class SparseFeatures(FeatureStorage):
    """A sparse matrix by columns, which is never made dense.

    Parameters
    ----------
    X : CSC matrix or array of shape (n_rows, n_features)
    """

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, (X.shape[0], X.shape[1])
        self.gathers = GATHERED_BY_COLUMNS

    def product(self, response: Vector, indices: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        X = self.X if indices is None else self.X[:, indices]
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        return np.asarray(X.T @ response)

    def lengths(self, centres: Vector) -> Vector:
        """See :meth:`FeatureStorage.lengths`."""
        counts = np.diff(self.X.indptr)
        columns = np.repeat(np.arange(len(counts)), counts)
        entries = self.X.data.astype(np.float64) - centres[columns]
        squares = np.bincount(columns, entries**2, len(counts))
        return np.sqrt(squares + (self.shape[0] - counts) * centres**2)

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        values: Vector = self.X[:, list(indices)].toarray()
        return values if rows is None else values[rows]

    @cached_property
    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`."""
        least, most = self.X.min(axis=0).toarray(), self.X.max(axis=0).toarray()
        return least.ravel().astype(np.float64), most.ravel().astype(np.float64)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`."""
        shares, count = weights / weights.sum(), self.shape[1]
        means = self.product(shares)
        counts = np.diff(self.X.indptr)
        columns = np.repeat(np.arange(count), counts)
        entries, share = self.X.data.astype(np.float64), shares[self.X.indices]
        squares = np.bincount(columns, share * (entries - means[columns]) ** 2, count)
        held = np.bincount(columns, share, count)
        absent = np.where(counts < len(weights), np.maximum(1.0 - held, 0.0), 0.0)
        variances = squares + absent * means**2
        return means, _deviations(means, variances, len(weights))


def _deviations(means: Vector, variances: Vector, n_rows: int) -> Vector:
    """Standard deviations, 0 where they are what rounding leaves of the means."""
    deviations = np.sqrt(variances)
    rounding = 10.0 * UNIT_ROUNDOFF * np.sqrt(n_rows) * np.abs(means)
    return np.where(deviations <= rounding, 0.0, deviations)
