"""Features cut into bins, once, and sums over the rows of each bin, which score cuts between them.

Where a feature has at most ``max_bins`` distinct values, these are all cuts there are.

The sums are a product with the sparse 0/1 matrix (bin, row), whose columns are the rows' bins: each
row adds what it has to few sums, which stay in the cache. On 15000 rows, 10 features and 255 bins
the sums of one number take 0.13 ms, those of two numbers over half of the rows 0.24 ms; a loop
compiled by numba takes 0.18 ms for the latter, ``np.bincount`` 0.32 ms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from cgboost.arrays import Matrix, ShortIndices, Vector, blocks_of

Indices = NDArray[np.integer[Any]]

ROWS_SUMMED = 2**15
"""Rows summed at a time: what they have stays in the cache, and entries of a matrix are few."""


def ones_for(n_rows: int, n_features: int) -> Vector:
    """The entries of a matrix (bin, row); one array serves all matrices of no more entries."""
    return np.ones(n_rows * n_features)


def bin_matrix(numbers: ShortIndices, n_bins: int, ones: Vector) -> csc_array:
    """The matrix (bin, row): its product with columns has their sums over the rows of each bin.

    Parameters
    ----------
    numbers : ndarray of int32, shape (n_rows, n_features)
        Of the bins of every row, over all features.
    ones : ndarray
        See :func:`ones_for`.
    """
    n_rows, width = numbers.shape
    ends = np.arange(0, n_rows * width + 1, width, dtype=np.int32)
    return csc_array((ones[: numbers.size], numbers.ravel(), ends), shape=(n_bins, n_rows))


class RowBins:
    """Rows and the bins that they are in, for sums of ever other numbers.

    Parameters
    ----------
    numbers : ndarray of int32, shape (n_rows, n_features)
        Of the bins of every row, over all features.
    """

    def __init__(self, numbers: ShortIndices, n_bins: int) -> None:
        self.numbers, self.n_bins = numbers, n_bins
        self._ones = ones_for(min(len(numbers), ROWS_SUMMED), numbers.shape[1])
        parts = [numbers[block] for block in blocks_of(len(numbers), ROWS_SUMMED)]
        self._matrices = [bin_matrix(part, n_bins, self._ones) for part in parts]  # no copies

    def sums(self, columns: Vector) -> Vector:
        """Sums over all rows: shape (n_bins,) or, of several columns, (n_bins, n_columns)."""
        blocks = zip(self._matrices, blocks_of(len(columns), ROWS_SUMMED), strict=True)
        return np.asarray(sum(matrix @ columns[block] for matrix, block in blocks))

    def sums_by_part(
        self, rows: Indices, part: ShortIndices, n_parts: int, columns: Vector
    ) -> Vector:
        """Sums over parts of some rows, shape (n_parts, n_bins, n_columns).

        Parameters
        ----------
        rows, part : ndarray of int, shape (n_chosen,)
            Rows, and the part that each is in.
        columns : ndarray of shape (n_chosen, n_columns)
        """
        total = np.zeros((n_parts * self.n_bins, columns.shape[1]))
        for block in blocks_of(len(rows), ROWS_SUMMED):
            numbers = self.numbers.take(rows[block], axis=0)
            if n_parts > 1:
                numbers += (part[block] * np.int32(self.n_bins))[:, None]
            total += bin_matrix(numbers, n_parts * self.n_bins, self._ones) @ columns[block]
        return total.reshape(n_parts, self.n_bins, -1)


LARGEST_CODE = np.iinfo(np.int32).max


def midpoints(below: NDArray[Any], above: NDArray[Any]) -> Vector:
    """Thresholds t with below ≤ t < above, in the middle unless it rounds to one of the two."""
    middle = below / 2 + above / 2
    between = (below <= middle) & (middle < above)
    return np.where(between, middle, below).astype(np.float64)


def cut_values(
    values: Matrix, max_bins: int, weights: Vector | None = None
) -> tuple[Vector, Vector]:
    """The values below and above each cut: between all values, or bins of about equal weight."""
    distinct, group = np.unique(values, return_inverse=True)
    places = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        below = np.cumsum(np.bincount(group, weights)[:-1])
        wanted = np.arange(1, max_bins) * (_total(weights, len(values)) / max_bins)
        places = np.unique(np.minimum(np.searchsorted(below, wanted), len(places) - 1))
    return distinct[places].astype(np.float64), distinct[places + 1].astype(np.float64)


def _total(weights: Vector | None, n_rows: int) -> float:
    return float(n_rows if weights is None else weights.sum())


def thresholds(values: Matrix, max_bins: int, weights: Vector | None = None) -> Vector:
    """Where a feature is cut: between all its values, or into bins of about equal weight."""
    return midpoints(*cut_values(values, max_bins, weights))


class BinnedFeatures:
    """Features cut into bins, for sums over the rows of each bin.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite features, in any dtype.
    max_bins : int
        At least 2. A feature with more distinct values gets bins of about equally many rows.
    groups : ndarray of int, shape (n_rows,), or None
        Sums are kept apart by these numbers; None: all rows are in one group.
    n_groups : int, default=1
    weights : ndarray of shape (n_rows,), optional
        A row of weight w counts as w rows of its bins.

    Attributes
    ----------
    thresholds : ndarray of shape (n_features, n_bins)
        Upper ends of the bins; inf for the last bin of a feature, and beyond.
    highest, lowest : ndarray of shape (n_features, n_bins)
        The largest value of a bin, and the smallest of the bin after it; inf as above.
    rows : RowBins
        The rows, by their bins.
    """

    def __init__(
        self,
        X: NDArray[Any],
        max_bins: int,
        *,
        groups: NDArray[np.intp] | None = None,
        n_groups: int = 1,
        weights: Vector | None = None,
    ) -> None:
        if max_bins < 2:
            raise ValueError(f"max_bins must be at least 2, got {max_bins}")
        if X.ndim != 2 or not X.size or not np.isfinite(X).all():
            raise ValueError(f"X must be a finite, non-empty matrix, got shape {X.shape}")
        n_features = X.shape[1]
        cuts = [cut_values(X[:, feature], max_bins, weights) for feature in range(n_features)]
        width = 1 + max(len(below) for below, _ in cuts)
        self.highest, self.lowest = np.full((2, n_features, width), np.inf)
        self.thresholds = np.full((n_features, width), np.inf)
        self.n_groups = n_groups
        n_sums = n_features * width * n_groups
        if n_sums > LARGEST_CODE:
            raise ValueError(f"X of shape {X.shape} is too large for {width} bins a feature")
        codes = np.empty(X.shape, dtype=np.int32)
        for feature, (below, above) in enumerate(cuts):
            cut = midpoints(below, above)
            for kept, values in (
                (self.thresholds, cut),
                (self.highest, below),
                (self.lowest, above),
            ):
                kept[feature, : len(cut)] = values
            bins = np.searchsorted(cut, X[:, feature]) + feature * width
            codes[:, feature] = bins if groups is None else bins * n_groups + groups
        self.rows = RowBins(codes, n_sums)

    def sums_below(self, response: Vector) -> Vector:
        """Sums of r over the rows with x_f ≤ t; shape (n_features, n_bins, n_groups)."""
        n_rows = len(self.rows.numbers)
        if len(response) != n_rows:
            raise ValueError(f"X has {n_rows} rows, the master has {len(response)}")
        sums = self.rows.sums(response)
        return sums.reshape(*self.thresholds.shape, self.n_groups).cumsum(axis=1)
