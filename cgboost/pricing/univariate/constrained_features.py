"""Features with rows of linear constraints on their coefficients behind the training rows.

    h_j = ((x_j − m_j)/s_j, a_j)

The score of such a column at (r, −λ) is its reduced cost under constraints, h_j·r − a_j·λ, so that
whatever scans features prices them as it always does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from cgboost.arrays import Indices, Vector
from cgboost.forks import cached_property
from cgboost.pricing.univariate.feature_pricer import Feature, FeaturePool
from cgboost.pricing.univariate.matrices import FeatureStorage


class StackedFeatures(FeatureStorage):
    """Centred features, and rows below them.

    Parameters
    ----------
    matrix : FeatureStorage of shape (n_rows, n_features)
    centres : ndarray of shape (n_features,)
    below : sparse array of shape (n_below, n_features)
    """

    def __init__(self, matrix: FeatureStorage, centres: Vector, below: Any) -> None:
        self.matrix, self.centres = matrix, centres
        self.below = sparse.csc_array(below)
        self.shape = matrix.shape[0] + below.shape[0], matrix.shape[1]
        self.gathers = matrix.gathers

    def product(self, response: Vector, indices: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.product`."""
        n = self.matrix.shape[0]
        own, multipliers = response[:n], response[n:]
        centres = self.centres if indices is None else self.centres[indices]
        below = self.below if indices is None else self.below[:, indices]
        products = self.matrix.product(own, indices) + below.T @ multipliers
        if centres.any():
            products = products - np.multiply.outer(centres, own.sum(axis=0))
        return np.asarray(products, dtype=np.float64)

    def lengths(self, centres: Vector) -> Vector:
        """See :meth:`FeatureStorage.lengths`; of the features themselves, moved by more."""
        squares = self.below.multiply(self.below).sum(axis=0)
        own = self.matrix.lengths(self.centres + centres)
        return np.sqrt(own**2 + np.asarray(squares).ravel())

    def columns(self, indices: Sequence[int] | Indices, rows: Indices | None = None) -> Vector:
        """See :meth:`FeatureStorage.columns`."""
        wanted = np.asarray(indices, dtype=np.intp)
        own = np.asarray(self.matrix.columns(wanted), dtype=np.float64) - self.centres[wanted]
        values: Vector = np.vstack([own, self.below[:, wanted].toarray()])
        return values if rows is None else values[rows]

    @cached_property
    def extremes(self) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.extremes`."""
        least, most = (end - self.centres for end in self.matrix.extremes)
        sizes = np.zeros(self.shape[1])
        np.maximum.at(sizes, self.below.tocoo().coords[1], np.abs(self.below.tocoo().data))
        return np.minimum(least, -sizes), np.maximum(most, sizes)

    def moments(self, weights: Vector) -> tuple[Vector, Vector]:
        """See :meth:`FeatureStorage.moments`; of the training rows."""
        means, deviations = self.matrix.moments(weights)
        return means - self.centres, deviations


class ConstrainedFeaturePool(FeaturePool):
    """The features of a pool with rows of constraints.

    A limit of 0 on one coefficient alone is its sign. Its multiplier costs nothing, and may take
    all of a score of the sign that the coefficient must not have: such a score counts as 0.

    Parameters
    ----------
    pool : FeaturePool
        In the units of the master.
    below : sparse array of shape (n_below, n_features)
        What a unit of each column adds to each row.
    obeying : ndarray of int
        Features of a point that obeys; none where 0 does.
    limit : ndarray of shape (n_below,)
        Upper limits of the rows.
    """

    def __init__(self, pool: FeaturePool, below: Any, obeying: Indices, limit: Vector) -> None:
        scales = sparse.diags_array(pool.scales)
        stacked: Any = StackedFeatures(pool.matrix, pool.centres, below @ scales)
        super().__init__(stacked, scales=pool.scales)
        self._inner, self.obeying = pool, obeying
        rows = sparse.csr_array(below)
        self._signs = np.flatnonzero((np.diff(rows.indptr) == 1) & (limit == 0.0))
        self._signed = rows.indices[rows.indptr[self._signs]]
        self._slopes = rows.data[rows.indptr[self._signs]]
        self._least, self._most = np.full((2, rows.shape[1]), np.inf) * [[-1.0], [1.0]]
        self._most[self._signed[self._slopes > 0]] = 0.0  # coefficients of at most 0
        self._least[self._signed[self._slopes < 0]] = 0.0

    def _counting(self, indices: Indices, scores: Vector) -> Vector:
        """What scores count as once the multipliers of signs have taken their part."""
        return np.clip(scores, self._least[indices], self._most[indices])

    def multipliers(self, response: Vector, threshold: float) -> Vector:
        """Those of all rows, with what rows of signs take of scores above the threshold."""
        n_below = len(response) - self._inner.matrix.shape[0]
        found = -response[len(response) - n_below :]
        scores = self.all_scores(response)[self._signed] * np.sign(self._slopes)
        beyond = np.maximum(scores - threshold, 0.0) / np.abs(self._slopes)
        _, first = np.unique(self._signed, return_index=True)
        found[self._signs[first]] += beyond[first]
        return found

    def feature(self, index: int) -> Feature:
        """A feature as a function of new rows."""
        return self._inner.feature(index)
