"""Columns of several outputs: each adds to one of them, and is 0 on the rows of all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import FloatArray
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.large_columns import LargeColumns


class JointColumns:
    """The columns of each output in its own :class:`ColumnStore`, numbered as they came.

    Where a ``ColumnStore`` may stand, for rows that are pairs (output, training row).

    Parameters
    ----------
    n_outputs, n_rows : int
        n_rows is the number of training rows.

    Attributes
    ----------
    owner, place : ndarray of int, shape (n_columns,)
        The output of each column, and its number in the store of it.
    scales : ndarray of shape (n_columns,)
    large, directions
        None.
    """

    def __init__(self, n_outputs: int, n_rows: int) -> None:
        self.n_outputs, self.n_rows = n_outputs, n_rows
        self.stores = [ColumnStore(n_rows, centred=True) for _ in range(n_outputs)]
        self.owner = self.place = np.zeros(0, dtype=np.intp)
        self.scales = np.zeros(0)
        self.large = LargeColumns(n_rows, np.inf)
        self.directions: Indices = np.zeros(0, dtype=np.intp)

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.owner)

    @property
    def largest(self) -> float:
        """The largest entry of all columns, centred."""
        return max(store.largest for store in self.stores)

    def append(self, values: Sequence[FloatArray], owner: Indices) -> None:
        """Append columns, each of shape (n_rows,), that add to these outputs."""
        place, scales = np.zeros(len(owner), dtype=np.intp), np.zeros(len(owner))
        for k, store in enumerate(self.stores):
            mine = np.flatnonzero(owner == k)
            place[mine] = store.count + np.arange(len(mine))
            store.append([values[j] for j in mine.tolist()])
            scales[mine] = store.scales[place[mine]]
        self.owner, self.place = np.append(self.owner, owner), np.append(self.place, place)
        self.scales = np.append(self.scales, scales)

    def of_columns(self, coef: Vector, columns: Indices) -> Vector:
        """Coefficients of all columns, from those of some scaled columns."""
        everything = np.zeros(self.count)
        everything[columns] = coef / self.scales[columns]
        return everything

    def combine(self, coef: Vector) -> Vector:
        """Hα on all pairs, shape (n_outputs · n_rows,)."""
        return np.concatenate(
            [store.combine(coef[self.owner == k]) for k, store in enumerate(self.stores)]
        )

    def shift(self, coef: Vector) -> Vector:
        """What centring took away from each output, shape (n_outputs,)."""
        return np.array([store.shift(coef[self.owner == k]) for k, store in enumerate(self.stores)])

    def scores(self, columns: Indices, response: Vector) -> Vector:
        """h·ρ of some columns, for a pseudo-response on the pairs."""
        scores = np.zeros(len(columns))
        owner, place = self.owner[columns], self.place[columns]
        for k, (store, own) in enumerate(zip(self.stores, self.split(response), strict=True)):
            mine = np.flatnonzero(owner == k)
            scores[mine] = store.scores(place[mine], own)
        return scores

    whole_scores = scores

    def scaled_on(self, columns: Indices, pairs: Indices) -> Vector:
        """Columns, scaled to entries of at most 1, on some pairs; shape (n_pairs, n_columns)."""
        values = np.zeros((len(pairs), len(columns)))
        (output, row), owner = np.divmod(pairs, self.n_rows), self.owner[columns]
        for k, store in enumerate(self.stores):
            mine, own = np.flatnonzero(output == k), np.flatnonzero(owner == k)
            if own.size:
                values[np.ix_(mine, own)] = store.scaled(self.place[columns[own]], row[mine])
        return values

    def ones_on(self, outputs: Indices, pairs: Indices) -> Vector:
        """1 on the pairs of each of some outputs, 0 elsewhere; shape (n_pairs, n_outputs)."""
        return (pairs[:, None] // self.n_rows == outputs).astype(np.float64)

    def split(self, values: Vector) -> Vector:
        """Values on the pairs, shape (n_outputs, n_rows)."""
        return values.reshape(self.n_outputs, self.n_rows)
