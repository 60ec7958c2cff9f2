"""Where centres start: weighted k-means of the rows that ask for more, and of those for less.

The pseudo-response r tells them apart: r > 0 asks for a larger output, r < 0 for a smaller one. At
the best constant these are the two classes of a classifier, and the rows above and below the
constant of a regressor; later, the rows that are still wrong in either direction.
"""

from __future__ import annotations

import warnings

import numpy as np

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.kernels import Kernel

MEANS_ROWS = 50
"""Rows that k-means sees for each centre, at most: means of more change little."""

LIKE_NONE = 0.05
"""A mean whose values with all rows are below this, where they can be 1, is out of reach."""

MEANS_ITERATIONS = 10
"""Iterations of k-means: the centres move on anyway."""


def means(X: Matrix, response: Vector, n_centres: int, random: np.random.RandomState) -> Matrix:
    """Starting centres, shape (at most n_centres, n_features), in float64.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    response : ndarray of shape (n_rows,)
        Pseudo-response: its sign makes the two groups, its size weighs the rows.
    n_centres : int
    random : RandomState
    """
    up, down = np.flatnonzero(response > 0), np.flatnonzero(response < 0)
    share = _shares(up, down, n_centres)
    parts = [
        _means_of(X, response, rows, count, random)
        for rows, count in zip((up, down), share, strict=True)
        if count
    ]
    if not parts:
        return np.zeros((0, X.shape[1]))
    return np.concatenate(parts)


def within_reach(kernel: Kernel, X: Matrix, centres: Matrix) -> Matrix:
    """The centres, those that no row is like replaced by the row nearest to them.

    Of a narrow kernel a mean may be far from all rows: its column is 0 then, and so is its
    gradient.
    """
    if not len(centres):
        return centres
    Z = centres.astype(X.dtype)
    lengths = np.sqrt(np.abs(kernel.diagonal(Z)))
    largest = np.abs(kernel(X, Z)).max(axis=0)
    row = float(np.sqrt(np.abs(kernel.diagonal(X)).max()))
    lost = np.flatnonzero(largest < LIKE_NONE * row * lengths)
    if len(lost):
        from scipy.spatial.distance import cdist

        centres = centres.copy()
        centres[lost] = X[cdist(centres[lost], X).argmin(axis=1)]
    return centres


def _shares(up: Indices, down: Indices, n_centres: int) -> tuple[int, int]:
    """Half the centres each, but no group gets more than it has rows."""
    first = min(len(up), n_centres - min(len(down), n_centres // 2))
    return first, min(len(down), n_centres - first)


def _means_of(
    X: Matrix, response: Vector, rows: Indices, count: int, random: np.random.RandomState
) -> Matrix:
    most = MEANS_ROWS * count
    if len(rows) > most:
        rows = np.sort(random.permutation(rows)[:most])
    part, weights = X[rows], np.abs(response[rows])
    if len(rows) <= count:
        return part.astype(np.float64)
    from sklearn.cluster import KMeans  # with half of scikit-learn behind it
    from sklearn.exceptions import ConvergenceWarning

    search = KMeans(count, n_init=1, max_iter=MEANS_ITERATIONS, random_state=random)
    with warnings.catch_warnings():  # equal rows make fewer means
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(part, sample_weight=weights / weights.mean())
    return np.asarray(search.cluster_centers_, dtype=np.float64)
