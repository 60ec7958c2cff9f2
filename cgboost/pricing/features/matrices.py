"""Matrices of features by what pricing asks of them: dense, sparse, or read in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.tolerances import UNIT_ROUNDOFF

Vector = NDArray[np.float64]

Indices = NDArray[np.intp]

CONVERTED_AT_ONCE = 2**20
"""Entries of X that are converted, or gathered, at once: 8 MB in float64."""


class FeatureStorage(Protocol):
    """A matrix X of shape (n_rows, n_features) that may be read, but is not held in another form.

    Attributes
    ----------
    shape : (int, int)
    """

    shape: tuple[int, int]

    def product(self, response: Vector) -> Vector:
        """Xᵀr, added up in float64, for r of shape (n_rows,) or (n_rows, n_responses)."""
        ...

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """Some columns on some rows (None: all), dense: shape (n_rows, n_indices)."""
        ...

    def extremes(self) -> tuple[Vector, Vector]:
        """The least and the largest entry of every column; nan where there is one among them."""
        ...

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """Weighted mean and standard deviation of every column.

        A column that is constant up to rounding has the standard deviation 0.
        """
        ...


def matrix_of(X: Any) -> FeatureStorage:
    """X by its form; float32 and float64 stay what they are, all else becomes float64.

    Raises
    ------
    ValueError
        If X is not two-dimensional.
    """
    if isinstance(X, (DenseMatrix, SparseMatrix, BlockMatrix)):
        return X
    kept = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    if kept.dtype not in (np.float32, np.float64):
        kept = kept.astype(np.float64)
    if kept.ndim != 2:
        raise ValueError(f"X must be a two-dimensional array, got shape {kept.shape}")
    return SparseMatrix(kept) if sparse.issparse(kept) else DenseMatrix(kept)


class DenseMatrix:
    """An array in memory, or mapped from a file; blocks of rows are converted as they are read.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        float32 or float64.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        self.X, self.shape = X, (X.shape[0], X.shape[1])

    def product(self, response: Vector) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        if self.X.dtype == np.float64:
            return np.asarray(self.X.T @ response)
        return _product(self, response)

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        X = self.X if rows is None else self.X[rows]
        return np.asarray(X[:, list(indices)])

    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`."""
        return _extremes(self)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`."""
        return _moments(self, weights)

    def __iter__(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        step = max(1, CONVERTED_AT_ONCE // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step)
            yield rows, self.X[rows]


class BlockMatrix:
    """Rows that are read in blocks, again for every pass, and never held together.

    Parameters
    ----------
    blocks : iterable of (rows, X)
        The same blocks each time: their place among all rows, a slice, and an array.
    shape : (int, int)
    """

    def __init__(self, blocks: Iterable[tuple[slice, Any]], shape: tuple[int, int]) -> None:
        self.blocks, self.shape = blocks, shape

    def product(self, response: Vector) -> Vector:
        """See :meth:`FeatureStorage.product`; one pass."""
        return _product(self, response)

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`; one pass."""
        values = np.empty((self.shape[0], len(indices)))
        for place, block in self:
            values[place] = block[:, list(indices)]
        return values if rows is None else values[rows]

    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`; one pass."""
        return _extremes(self)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`; two passes."""
        return _moments(self, weights)

    def __iter__(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        yield from self.blocks


class SparseMatrix:
    """A sparse matrix by columns, which is never made dense.

    Parameters
    ----------
    X : CSC matrix or array of shape (n_rows, n_features)
    """

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, (X.shape[0], X.shape[1])

    def product(self, response: Vector) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        X = self.X if self.X.dtype == np.float64 else self.X.astype(np.float64)
        return np.asarray(X.T @ response)

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        values: Vector = self.X[:, list(indices)].toarray()
        return values if rows is None else values[rows]

    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`."""
        least, most = self.X.min(axis=0).toarray(), self.X.max(axis=0).toarray()
        return least.ravel().astype(np.float64), most.ravel().astype(np.float64)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`."""
        shares, count = weights / weights.sum(), self.shape[1]
        means = self.product(shares)
        columns = np.repeat(np.arange(count), np.diff(self.X.indptr))
        entries, share = self.X.data.astype(np.float64), shares[self.X.indices]
        squares = np.bincount(columns, share * (entries - means[columns]) ** 2, count)
        held = np.bincount(columns, share, count)
        variances = squares + np.maximum(1.0 - held, 0.0) * means**2  # of the entries that are 0
        return means, _deviations(means, variances, len(weights))


def _product(matrix: Iterable[tuple[slice, Any]], response: Vector) -> Vector:
    total = np.zeros(1)
    for rows, block in matrix:
        total = total + block.astype(np.float64, copy=False).T @ response[rows]
    return total


def _extremes(matrix: Iterable[tuple[slice, Any]]) -> tuple[Vector, Vector]:
    least, most = np.full(1, np.inf), np.full(1, -np.inf)
    for _, block in matrix:
        least = np.minimum(least, block.min(axis=0))
        most = np.maximum(most, block.max(axis=0))
    return least.astype(np.float64), most.astype(np.float64)


def _moments(matrix: Any, weights: Vector) -> tuple[Vector, Vector]:
    shares = weights / weights.sum()
    means, variances = matrix.product(shares), np.zeros(matrix.shape[1])
    for rows, block in matrix:
        moved = block.astype(np.float64) - means
        variances += shares[rows] @ np.square(moved, out=moved)
    return means, _deviations(means, variances, len(weights))


def _deviations(means: Vector, variances: Vector, n_rows: int) -> Vector:
    """Standard deviations, 0 where they are what rounding leaves of the means."""
    deviations = np.sqrt(variances)
    rounding = 10.0 * UNIT_ROUNDOFF * np.sqrt(n_rows) * np.abs(means)
    return np.where(deviations <= rounding, 0.0, deviations)
