"""The pool of parked columns: generated, idle for long, and out of the live session for now."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import ZERO_REDUCED_COST

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


class ParkedColumns:
    """Columns side by side, so that one sparse product prices all of them."""

    def __init__(self, n_rows: int) -> None:
        self._numbers = np.zeros(0, dtype=np.intp)
        self._costs = np.zeros(0)
        self._matrix = sp.csc_array((n_rows, 0))

    def __len__(self) -> int:
        return len(self._numbers)

    def park(self, numbers: Indices, columns: Sequence[Column]) -> None:
        """Take in ``columns``, which are known by ``numbers``."""
        self._numbers = np.concatenate([self._numbers, numbers])
        self._costs = np.concatenate([self._costs, costs_of(columns)])
        self._matrix = sp.hstack([self._matrix, matrix_of(columns)], format="csc")

    def take_improving(self, duals: Vector, *, with_costs: bool) -> Indices:
        """Take out the columns of negative reduced cost; their numbers.

        Without costs (in phase one) the reduced cost of a column h is −r·h.
        """
        if not len(self):
            return self._numbers
        costs = self._costs if with_costs else np.zeros(len(self))
        reduced = costs - self._matrix.T @ duals
        improving = reduced < -ZERO_REDUCED_COST * np.maximum(1.0, np.abs(costs))
        taken, kept = self._numbers[improving], np.flatnonzero(~improving)
        if taken.size:
            self._numbers, self._costs = self._numbers[kept], self._costs[kept]
            self._matrix = self._matrix[:, kept]
        return taken


def costs_of(columns: Sequence[Column]) -> Vector:
    """Costs as a vector."""
    return np.array([column.cost for column in columns], dtype=np.float64)


def matrix_of(columns: Sequence[Column]) -> sp.csc_array:
    """Columns side by side, shape (n_rows, n_columns)."""
    return sp.csc_array(np.column_stack([column.values for column in columns]).astype(np.float64))
