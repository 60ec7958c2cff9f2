"""Products HᵀWH of columns under weights that change from step to step, of some rows perhaps.

Of the columns that were asked for before, the products are kept. New weights change them by
H_SᵀΔW_S H_S, where S are the rows whose weights differ: none for the squared error, few for the
squared hinge. Where the weights of most rows differ, as those of the log loss do after every step,
the products may be kept as they are for as long as steps that rest on them are good ones.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses.dual.support_vector import Indices, Vector
from cgboost.optimizers.column_store import ColumnStore

FEW_CHANGES = 0.4
"""Products are changed, not made anew, where the weights of at most this share of the rows differ.
A change costs the same for each row, and is made for columns that are no longer asked for, too.
Where those of more differ, earlier products may do …"""

LITTLE = 0.015
"""… while they differ by this share of their sum at most. Along a path of the log loss (3000 × 300,
100 prices), 0.005 to 0.03 took 1.4 to 1.5 s, 0.1 took 1.7, and products anew in every step 2.1."""

SAME_WEIGHT = 1e-12
"""Weights that differ by no more than this share are the same but for the rounding of a price, by
which all of them are multiplied."""


class WeightedProducts:
    """Products of columns, and with a column of ones, under weights of the rows.

    Parameters
    ----------
    columns : ColumnStore

    Attributes
    ----------
    exact : bool
        Whether the last products were under the weights that were asked for.
    """

    def __init__(self, columns: ColumnStore) -> None:
        self.columns, self.exact = columns, True
        self._place = np.zeros(0, dtype=np.intp)  # of each column among those that are kept
        self._kept = np.zeros(0, dtype=np.intp)
        self._weights = np.zeros(0)
        self._products = np.zeros((1, 1))  # the ones come first

    def scale(self, factor: float) -> None:
        """Multiply all weights by a factor, as another price of the loss does."""
        self._weights, self._products = factor * self._weights, factor * self._products

    def of(self, places: Indices, weights: Vector, *, nearly: bool = False) -> Vector:
        """HᵀWH of the columns ``places`` and, last, a column of ones.

        Parameters
        ----------
        places : ndarray of int, shape (k,)
        weights : ndarray of shape (n_rows,)
            The diagonal of W, at least 0.
        nearly : bool, default=False
            Whether earlier weights will do where most have changed.
        """
        changed = np.arange(len(weights))
        if len(self._weights):
            apart = np.abs(weights - self._weights) > SAME_WEIGHT * weights
            changed = np.flatnonzero(apart)
        self.exact = True
        if len(changed) <= FEW_CHANGES * len(weights):
            if len(changed):
                change = weights - self._weights
                self._products += self._product(self._kept, self._kept, changed, change)
                self._weights = self._weights.copy()
                self._weights[changed] = weights[changed]
        elif nearly and self._is_near(weights):
            self.exact = False
        else:
            self._kept, self._place = places[:0], np.full(self.columns.count, -1)
            self._products = np.full((1, 1), weights.sum())
            self._weights = weights.copy()
        self._take_in(places)
        wanted = np.append(1 + self._place[places], 0)
        return self._products[np.ix_(wanted, wanted)]

    def _is_near(self, weights: Vector) -> bool:
        """Whether the weights of the products are, but for a little, those."""
        if not len(self._weights):
            return False
        change = float(np.abs(weights - self._weights).sum())
        return change <= LITTLE * float(weights.sum())

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
        left = np.append(self._kept, new) if len(self._kept) else new
        part = self._product(left, new, rows, self._weights)
        products[:, old:] = part[:, 1:]
        products[old:, :old] = part[:old, 1:].T
        self._place[new] = len(self._kept) + np.arange(len(new))
        self._kept, self._products = np.append(self._kept, new), products

    def _product(self, left: Indices, right: Indices, rows: Indices, weights: Vector) -> Vector:
        """Products over some rows; ones first on both sides."""
        factors, own = self._with_ones(right, rows), weights[rows]
        if left is right and own.min(initial=0.0) >= 0.0:  # of one factor: half the work
            factors *= np.sqrt(own)[:, None]
            others = weighted = factors
        else:
            others = factors if left is right else self._with_ones(left, rows)
            weighted = factors * own[:, None]
        product: Vector = others.T @ weighted
        return product

    def _with_ones(self, places: Indices, rows: Indices) -> Vector:
        found = np.empty((len(rows), len(places) + 1))
        found[:, 0] = 1.0
        scales = self.columns.scales[places]
        np.multiply(self.columns.scaled(places, rows), scales, out=found[:, 1:])
        return found
