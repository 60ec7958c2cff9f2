"""The generated columns, side by side.

With a free offset Σ r = 0, so that columns may be centred without changing the problem: a column's
mean moves into the offset. Features with a large mean would otherwise leave the solver a
difference of large numbers.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses.sides import Indices, Vector


class ColumnStore:
    """Columns side by side in one array that grows without copying each time."""

    def __init__(self, n_rows: int, *, centred: bool) -> None:
        self._centred = centred
        self._means = np.zeros(0)
        self._buffer = np.empty((n_rows, 16), order="F")
        self.scales = np.zeros(0)
        self.count = 0

    def append(self, values: Vector) -> None:
        """Append columns given as the rows of ``values``."""
        means = values.mean(axis=1) if self._centred else np.zeros(len(values))
        values = values - means[:, None]
        self._means = np.append(self._means, means)
        needed = self.count + len(values)
        if needed > self._buffer.shape[1]:
            grown = np.empty((self._buffer.shape[0], 2 * needed), order="F")
            grown[:, : self.count] = self._buffer[:, : self.count]
            self._buffer = grown
        self._buffer[:, self.count : needed] = values.T
        self.count = needed
        largest = np.abs(values).max(axis=1)
        self.scales = np.append(self.scales, np.where(largest > 0, largest, 1.0))

    def combine(self, coef: Vector) -> Vector:
        """Hα, from the nonzero coefficients alone."""
        active = np.flatnonzero(coef)
        return self._buffer[:, active] @ coef[active]

    def shift(self, coef: Vector) -> float:
        """What centring took away from the output: Σ α_j mean(h_j)."""
        return float(self._means @ coef)

    def scores(self, columns: Indices, response: Vector) -> Vector:
        """h·r of some columns."""
        return self._buffer[:, columns].T @ response

    def scaled(self, columns: Indices, rows: Indices) -> Vector:
        """Columns, scaled to entries of at most 1, on some rows; shape (n_columns, n_rows)."""
        return self._buffer[np.ix_(rows, columns)].T / self.scales[columns][:, None]
