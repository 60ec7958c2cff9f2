"""Values of all rows in a temporary file, read and written by blocks.

The file has no name where the system allows that: it goes with the object, or with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.forks import Lock
from cgboost.tables.row_blocks import BLOCK

LARGEST_HELD = 2**23
"""Rows of a source beyond which outputs of stages are in files: each is 64 MB then. Ten stages of
3·10⁷ rows would be 2.4 GB in addition to the half that y and f are. Reading them back by blocks,
with f and the response made again, takes 6 % more CPU time (10⁶ × 10 float32, ten stages: 11.8 for
11.1 s)."""

ITEM = np.dtype(np.float64).itemsize


class Spilled:
    """One number for every row, in a file: by slices, or by numbers of rows in ascending order."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self._file = tempfile.TemporaryFile(prefix="cgboost-")  # noqa: SIM115 (it goes with self)
        self._lock = Lock()

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice | Indices) -> Vector:
        """Some of the values."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.n_rows)
            values = np.empty(max(0, stop - start))
            with self._lock:
                self._file.seek(ITEM * start)
                self._file.readinto(values.data.cast("B"))
            return values
        return by_blocks(self, rows)

    def __setitem__(self, rows: slice, values: Vector) -> None:
        """Write a slice."""
        with self._lock:
            self._file.seek(ITEM * rows.start)
            self._file.write(np.ascontiguousarray(values, dtype=np.float64).data.cast("B"))


class Made:
    """One number for every row, made when it is asked for: by slices.

    Parameters
    ----------
    make : callable
        Of a slice of rows.
    """

    def __init__(self, make: Callable[[slice], Vector], n_rows: int) -> None:
        self.make, self.n_rows = make, n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice) -> Vector:
        """Some of the values."""
        return self.make(rows)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Vector:
        """All of them, for those who need that."""
        return np.concatenate([self.make(rows) for rows in blocks_of(self.n_rows, BLOCK)])


def by_blocks(values: Spilled, rows: Indices) -> Vector:
    """Values of some rows, which are in ascending order."""
    chosen = np.empty(len(rows))
    for block in blocks_of(values.n_rows, BLOCK):
        first, last = np.searchsorted(rows, [block.start, block.stop])
        if last > first:
            chosen[first:last] = values[block][rows[first:last] - block.start]
    return chosen
