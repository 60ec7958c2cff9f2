"""Where centres start: weighted k-means of the rows that ask for more, and of those for less.

The pseudo-response r tells them apart: r > 0 asks for a larger output, r < 0 for a smaller one. At
the best constant these are the two classes of a classifier, and the rows above and below the
constant of a regressor; later, the rows that are still wrong in either direction.
"""

from __future__ import annotations

import numpy as np

from cgboost.kernels import Matrix
from cgboost.kernels.expansions import Vector
from cgboost.pricing.centres.smoothing import Indices

MEANS_ROWS = 50
"""Rows that k-means sees for each centre, at most: means of more change little."""

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

    search = KMeans(count, n_init=1, max_iter=MEANS_ITERATIONS, random_state=random)
    search.fit(part, sample_weight=weights / weights.mean())
    return np.asarray(search.cluster_centers_, dtype=np.float64)
