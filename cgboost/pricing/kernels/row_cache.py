"""Rows of kernel values that are kept in memory, and sums over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from cgboost.arrays import Indices, Matrix, Vector

CHUNK = 2**16
"""Numbers read at a time, so that a processor's cache holds them."""

FEWEST = 16
"""Rows read at a time at least, however long they are."""

DENSE = 1.5
"""Rows are read together, with weights of 0 for others, where one in so many is wanted, or more."""

TILE = 128
"""Rows and columns of a matrix that are transposed at a time, within a processor's cache."""


class RowCache:
    """Some of the rows of a matrix with ``n_rows`` rows.

    Parameters
    ----------
    capacity : int
        Most rows kept.
    n_rows, width : int
        Shape of the matrix.
    store : ndarray of shape (capacity, width), optional
        Zeros where rows shall be kept.

    Attributes
    ----------
    sizes : tuple of two ndarray of shape (width,), or None
        The largest and the summed size of the values of each column, where all rows are kept for
        good; otherwise None.
    """

    def __init__(
        self, *, capacity: int, n_rows: int, width: int, dtype: Any, store: Matrix | None = None
    ) -> None:
        # the pages of an array of zeros cost nothing until they are written
        if store is None:
            store = np.zeros((min(capacity, n_rows), width), dtype=dtype)
        self.store: Matrix = store
        self.sizes: tuple[Vector, Vector] | None = None
        self._slot_of = np.full(n_rows if len(self.store) else 0, -1, dtype=np.intp)
        self._row_in = np.full(len(self.store), -1, dtype=np.intp)
        self._used = np.zeros(len(self.store), dtype=np.intp)
        self._time = 0

    def slots(self, rows: Indices) -> Indices:
        """Where rows are kept, −1 for those that are not; counts as a use of them."""
        if not len(self.store):
            return np.full(len(rows), -1, dtype=np.intp)
        slots = self._slot_of[rows]
        self._time += 1
        self._used[slots[slots >= 0]] = self._time
        return slots

    def kept(self, rows: Indices, columns: Indices | None = None) -> Matrix | None:
        """Some rows as they are, None unless all of them are kept; no use of them."""
        slots = self._slot_of[rows] if len(self.store) else np.full(1, -1)
        if (slots < 0).any():
            return None
        return self.store[slots] if columns is None else self.store[np.ix_(slots, columns)]

    def kept_columns(self, columns: Indices) -> Matrix | None:
        """Some columns, as the rows of an array; None unless all rows of the matrix are kept."""
        whole = len(self.store) and (self._slot_of >= 0).all()
        return self.store[self._slot_of[:, None], columns].T if whole else None

    def places(self, count: int) -> Indices:
        """At most ``count`` slots that may be overwritten, those used least recently.

        Nothing that was used in the last call of ``slots`` is among them. What is in them is
        forgotten at once.
        """
        idle = np.flatnonzero(self._used < max(1, self._time))
        if len(idle) > count:
            idle = idle[np.argsort(self._used[idle], kind="stable")[:count]]
        owners = self._row_in[idle]
        self._slot_of[owners[owners >= 0]] = -1
        self._row_in[idle] = -1
        return idle

    def keep(self, rows: Indices, slots: Indices) -> None:
        """Take note that the values of ``rows`` have been put into ``slots`` of the store."""
        self._slot_of[rows] = slots
        self._row_in[slots] = rows
        self._used[slots] = self._time

    def keep_all(self, *, with_sizes: bool) -> None:
        """Take note that every row has been put into its own slot number."""
        self._slot_of[:] = self._row_in[:] = np.arange(len(self.store))
        self._used[:] = self._time
        if not with_sizes:
            return
        largest, total = np.zeros(self.store.shape[1]), np.zeros(self.store.shape[1])
        for start in range(0, len(self.store), FEWEST):
            sizes = np.abs(self.store[start : start + FEWEST])
            np.maximum(largest, sizes.max(axis=0), out=largest)
            total += sizes.sum(axis=0, dtype=np.float64)
        self.sizes = largest, total


def weighted_rows(
    store: Matrix, slots: Indices, weights: Vector, columns: Indices | None, *, absolute: bool
) -> tuple[Vector, Vector]:
    """Σ weights·rows over the wanted columns (None: all) of an array, added up in float64.

    With ``absolute`` also Σ |weights|·|rows|; otherwise that is 0.
    """
    width = store.shape[1] if columns is None else len(columns)
    sums, sizes = np.zeros(width), np.zeros(width)
    order = np.argsort(slots)
    slots, weights = slots[order], weights[order]
    step = max(FEWEST, CHUNK // max(1, width))
    widened = np.empty((min(step, len(slots)), width) if store.dtype != np.float64 else (0, 0))
    rows: Matrix
    first = 0
    while first < len(slots):
        start = int(slots[first])
        last = int(np.searchsorted(slots, start + step))
        own, factors = slots[first:last], weights[first:last]
        if columns is not None:
            rows = store[np.ix_(own, columns)].astype(np.float64, copy=False)
        elif len(widened):
            last = min(len(slots), first + step)
            own, factors = slots[first:last], weights[first:last]
            rows = widened[: len(own)]
            for row, slot in zip(rows, own, strict=True):
                row[:] = store[slot]
        elif DENSE * len(own) > (stretch := int(own[-1]) - start + 1):
            rows = store[start : start + stretch]  # where it stands, others with weight 0
            factors = np.zeros(stretch)
            factors[own - start] = weights[first:last]
        elif absolute:
            rows = store[own]
        else:  # one by one, with no copy of them
            for slot, factor in zip(own, factors, strict=True):
                sums = daxpy(store[slot], sums, a=factor)
            first = last
            continue
        sums += factors @ rows
        if absolute:
            sizes += np.abs(factors) @ np.abs(rows)
        first = last
    return sums, sizes


def transpose(values: Matrix, out: Matrix) -> None:
    """Put the transpose of a matrix into ``out``."""
    n_rows, n_columns = values.shape
    for i in range(0, n_rows, TILE):
        for j in range(0, n_columns, TILE):
            out[j : j + TILE, i : i + TILE] = values[i : i + TILE, j : j + TILE].T
