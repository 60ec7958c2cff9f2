"""Products HᵀWH of columns under weights that change from step to step, of some rows perhaps.

Of the columns that were asked for before, the products are kept. New weights change them by
H_SᵀΔW_S H_S, where S are the rows whose weights differ: none for the squared error, few for the
squared hinge.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses.dual.support_vector import Indices, Vector
from cgboost.masters.dual_solvers.restricted_dual import ColumnStore

FEW_CHANGES = 0.4
"""Products are changed, not made anew, where the weights of at most this share of the rows differ.
A change costs the same for each row, and is made for columns that are no longer asked for, too."""


class WeightedProducts:
    """Products of columns, and with a column of ones, under weights of the rows.

    Parameters
    ----------
    columns : ColumnStore
    """

    def __init__(self, columns: ColumnStore) -> None:
        self.columns = columns
        self._place = np.zeros(0, dtype=np.intp)  # of each column among those that are kept
        self._kept = np.zeros(0, dtype=np.intp)
        self._weights = np.zeros(0)
        self._products = np.zeros((1, 1))  # the ones come first

    def of(self, places: Indices, weights: Vector) -> Vector:
        """HᵀWH of the columns ``places`` and, last, a column of ones.

        Parameters
        ----------
        places : ndarray of int, shape (k,)
        weights : ndarray of shape (n_rows,)
            The diagonal of W, at least 0.
        """
        changed = np.arange(len(weights))
        if len(self._weights):
            changed = np.flatnonzero(weights != self._weights)
        if len(changed) > FEW_CHANGES * len(weights):
            self._kept, self._place = places[:0], np.full(self.columns.count, -1)
            self._products = np.full((1, 1), weights.sum())
        elif len(changed):
            change = weights - self._weights
            self._products += self._product(self._kept, self._kept, changed, change)
        self._weights = weights.copy()
        self._take_in(places)
        wanted = np.append(1 + self._place[places], 0)
        return self._products[np.ix_(wanted, wanted)]

    def _take_in(self, places: Indices) -> None:
        """Keep the products of more columns."""
        missing = self.columns.count - len(self._place)
        self._place = np.append(self._place, np.full(missing, -1, dtype=np.intp))
        new = places[self._place[places] < 0]
        if not new.size:
            return
        rows = np.flatnonzero(self._weights)
        old = len(self._products)
        products = np.empty((old + len(new), old + len(new)))
        products[:old, :old] = self._products
        part = self._product(np.append(self._kept, new), new, rows, self._weights)
        products[:, old:] = part[:, 1:]
        products[old:, :old] = part[:old, 1:].T
        self._place[new] = len(self._kept) + np.arange(len(new))
        self._kept, self._products = np.append(self._kept, new), products

    def _product(self, left: Indices, right: Indices, rows: Indices, weights: Vector) -> Vector:
        """Products over some rows; ones first on both sides."""
        factors = self._with_ones(right, rows)
        weighted = factors * weights[rows, None]
        others = factors if left is right else self._with_ones(left, rows)
        product: Vector = others.T @ weighted
        return product

    def _with_ones(self, places: Indices, rows: Indices) -> Vector:
        found = np.ones((len(rows), len(places) + 1))
        found[:, 1:] = self.columns.scaled(places, rows)
        found[:, 1:] *= self.columns.scales[places]
        return found
