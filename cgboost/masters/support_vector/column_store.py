"""The generated columns, side by side.

With a free offset Σ r = 0, so that columns may be centred without changing the problem: a column's
mean moves into the offset. Features with a large mean would otherwise leave the solver a
difference of large numbers. Columns are kept scaled to entries of at most 1; what goes in and what
comes out is in the columns' own units, except where a name says "scaled".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.generation.columns import FloatArray
from cgboost.losses.dual.dual_box import Indices, Vector

TOGETHER = 128
"""Columns that are taken in at a time."""


class ColumnStore:
    """Columns side by side in one array that grows without copying each time.

    A row of the array is a training row, so that the few rows that matter at a time can be
    gathered fast.
    """

    def __init__(self, n_rows: int, *, centred: bool) -> None:
        self._centred = centred
        self._means = np.zeros(0)
        self._buffer = np.empty((n_rows, 16))
        self.scales = np.zeros(0)
        self.count = 0

    def append(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Append columns, each of shape (n_rows,).

        They are centred and scaled a few at a time: thousands at once would want fresh memory for
        every intermediate result.
        """
        self._make_room(self.count + len(values))
        for start in range(0, len(values), TOGETHER):
            some = np.array(values[start : start + TOGETHER], dtype=np.float64)
            means = some.mean(axis=1) if self._centred else np.zeros(len(some))
            some -= means[:, None]
            largest = np.maximum(some.max(axis=1), -some.min(axis=1))
            scales = np.where(largest > 0, largest, 1.0)
            some /= scales[:, None]
            place = slice(self.count, self.count + len(some))
            self._buffer[:, place] = some.T
            self._means = np.append(self._means, means)
            self.scales = np.append(self.scales, scales)
            self.count += len(some)

    def _make_room(self, count: int) -> None:
        if count > self._buffer.shape[1]:
            grown = np.empty((self._buffer.shape[0], 2 * count))
            grown[:, : self.count] = self._buffer[:, : self.count]
            self._buffer = grown

    def combine(self, coef: Vector) -> Vector:
        """Hα, shape (n_rows,)."""
        active = np.flatnonzero(coef)
        weights = coef * self.scales
        if 2 * len(active) > self.count:  # gathering columns costs more than multiplying by 0
            return self._buffer[:, : self.count] @ weights
        return self._buffer[:, active] @ weights[active]

    def shift(self, coef: Vector) -> float:
        """What centring took away from the output: Σ α_j mean(h_j)."""
        return float(self._means @ coef)

    def scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns."""
        support = np.flatnonzero(response)
        if 2 * len(columns) < self.count:
            return (response[support] @ self.scaled(columns, support)) * self.scales[columns]
        rows = self._buffer if 2 * len(support) > len(response) else self._buffer[support]
        weights = response if len(rows) == len(response) else response[support]
        return ((weights @ rows[:, : self.count]) * self.scales)[columns]

    def scaled(self, columns: Indices, rows: Indices) -> Vector:
        """Columns, scaled to entries of at most 1, on some rows; shape (n_rows, n_columns).

        All columns on all rows, both in order, are shown as they are kept: they must not be written
        to.
        """
        if len(columns) < self.count or not _in_order(columns):
            return self._buffer[np.ix_(rows, columns)]
        if len(rows) == len(self._buffer) and _in_order(rows):
            return self._buffer[:, : self.count]
        return self._buffer[rows, : self.count]


def _in_order(numbers: Indices) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
