"""Sums of products of variables by group, of which many groupings of the same rows share most.

Sums over rows, Σ w a aᵀ with a = (1, x, v₁, …, v_m): x is the variable that makes the groups, the
v are the same for all groupings, and so are their products. All are measured from a place near
their means, so that the statistics that follow lose no digits; where this place stays the same,
sums of parts of the data add up.

Of v₁, v₂, … in a fixed order, the sums for v₁, …, v_m begin with those for v₁, …, v_{m−1}: the
outputs of stages come one after another, and only products with the newest have to be summed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from cgboost.additive.statistics.moments import Codes, Moments, membership
from cgboost.arrays import Vector

ONE, X = 0, 1
"""Numbers of 1 and of the variable that makes the groups; others follow."""


def n_products(n_variables: int) -> int:
    """How many products the variables and 1 have, squares included."""
    return (n_variables + 1) * (n_variables + 2) // 2


def weighted_means(columns: Iterable[Vector], weights: Vector) -> Vector:
    """Of each column, shape (n_columns,); 0 without weight."""
    total = float(weights.sum())
    return np.array([weights @ values / total if total > 0 else 0.0 for values in columns])


def origins(centres: Vector, origin: Vector) -> Vector:
    """What (x, v…) are measured from in each group, shape (n_groups, 1 + n_variables)."""
    return np.column_stack([centres, np.tile(origin, (len(centres), 1))])


class SharedGroupProducts:
    """Products of variables that many groupings of the same rows have in common.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_variables)
        The variables v.
    weights : ndarray of shape (n_rows,)
    origin : ndarray of shape (n_variables,) or None
        What they are measured from; None: their means.
    known : int or None
        The sums of products of 1, x and the first ``known`` variables with one another are known:
        they are left out. None: nothing is known.
    """

    def __init__(
        self,
        values: Vector,
        weights: Vector,
        *,
        origin: Vector | None = None,
        known: int | None = None,
    ) -> None:
        self.origin = weighted_means(values.T, weights) if origin is None else origin
        centred = np.subtract(values.T, self.origin[:, None], order="C")
        self._weighted = [weights, *(centred * weights)]
        self._members: dict[int, tuple[sparse.csc_array, Vector]] = {}
        first = 0 if known is None else 2 + known
        # numbers in (1, x, v…), as the sums have them
        pairs = [(i, j) for j in range(first, 2 + len(centred)) for i in range(j + 1)]
        self._shared = [k for k, pair in enumerate(pairs) if X not in pair]
        self._squares = [k for k, pair in enumerate(pairs) if pair == (X, X)]
        beside = {k: i + j - X for k, (i, j) in enumerate(pairs) if (i == X) != (j == X)}
        self._own = list(beside)
        self._beside = np.empty((len(weights), len(beside)))
        for column, j in zip(self._beside.T, beside.values(), strict=True):
            column[:] = self._of(j)
        self._products = np.empty((len(weights), len(self._shared)))
        for column, k in zip(self._products.T, self._shared, strict=True):
            i, j = pairs[k]
            if i == ONE:
                column[:] = self._of(j)
            else:
                np.multiply(centred[i - 2], self._of(j), out=column)

    def grouped(self, codes: Codes, n_groups: int) -> Moments:
        """Statistics of the variables in groups of rows; nothing may be known."""
        return Moments.from_sums(membership(codes, n_groups) @ self._products, self.origin)

    def grouped_with(self, own: Vector, codes: Codes, n_groups: int, centres: Vector) -> Moments:
        """The same with one more variable, in front.

        Parameters
        ----------
        own : ndarray of shape (n_rows,)
        codes : ndarray of int, shape (n_rows,)
        centres : ndarray of shape (n_groups,)
            Near the values of ``own`` in each group.
        """
        sums = self.sums(own - centres.take(codes), codes, n_groups)
        return Moments.from_sums(sums, origins(centres, self.origin))

    def sums(self, x: Vector | None, codes: Codes, n_groups: int) -> Vector:
        """Sums of the products of (1, x, v…) that are not known, by group.

        Parameters
        ----------
        x : ndarray of shape (n_rows,) or None
            The variable that makes the groups, near 0; None: it is 0.
        codes : ndarray of int, shape (n_rows,)

        Returns
        -------
        ndarray of shape (n_groups, n_sums)
            As :meth:`Moments.from_sums` has them; those that are known belong in front.
        """
        n_sums = len(self._shared) + len(self._own) + len(self._squares)
        total = np.zeros((n_groups, n_sums))
        members = self._membership(codes, n_groups)
        total[:, self._shared] = members @ self._products
        if x is not None:
            members.data = np.ascontiguousarray(x)  # from here on each row counts x times
            total[:, self._own] = members @ self._beside
            for k in self._squares:
                total[:, k] = members @ (x * self._weighted[ONE])
        return total

    def _membership(self, codes: Codes, n_groups: int) -> sparse.csc_array:
        """:func:`membership`, of which groupings with as many groups share what is the same.

        To make it anew takes a seventh of the time of a grouping, and holds up other threads.
        """
        if n_groups not in self._members:
            made = membership(codes, n_groups)
            self._members[n_groups] = made, made.data
        members, ones = self._members[n_groups]
        members.indices, members.data = codes.astype(np.int32, copy=False), ones
        return members

    def _of(self, j: int) -> Vector:
        """A variable of (1, v…), weighted."""
        return self._weighted[max(0, j - 1)]
