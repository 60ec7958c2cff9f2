"""Rows that come in blocks: a table in memory, or any source that can be read again and again.

A source yields blocks (X, y) or (X, y, weights), the same ones in the same order each time. What a
model learns does not depend on how rows are divided into blocks, nor on their order: which rows are
held out, and which are sampled for intervals, follows from a hash of what is in them
(:mod:`cgboost.tables.holdout_choice`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix, blocks_of
from cgboost.tables.table_encoding import Schema

BLOCK = 2**15
"""Rows worked on at a time. A fit of 400 000 rows takes 13 % more time with twice as many, whose
columns leave the cache, and 14 % more with a quarter of them."""


class RowsElsewhere:
    """Rows that stay where they are, in a database or on workers, while a model is fitted to them.

    Attributes
    ----------
    instead : str
        What to do where one table is needed.
    """

    instead: ClassVar[str]


@dataclass(frozen=True)
class RowBlock:
    """Some rows: their place among all, and their features as numbers."""

    rows: slice
    X: Matrix


class TableRows:
    """Rows in memory.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Encoded: categories as numbers, nan where missing.
    """

    def __init__(self, X: Matrix) -> None:
        self.X, self.n_rows = X, len(X)

    def __iter__(self) -> Iterator[RowBlock]:
        """Blocks of at most ``BLOCK`` rows, as equal as possible: threads take them in turn."""
        size = -(-self.n_rows // max(1, -(-self.n_rows // BLOCK)))
        for rows in blocks_of(self.n_rows, max(1, size)):
            yield RowBlock(rows, self.X[rows])


class SourceRows:
    """Rows of a source of blocks, encoded as they are read.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Responses it had when it was first read.
    """

    def __init__(self, source: Any, schema: Schema, y: NDArray[Any]) -> None:
        self.source, self.schema, self.y, self.n_rows = source, schema, y, len(y)

    def __iter__(self) -> Iterator[RowBlock]:
        """Blocks of at most ``BLOCK`` rows.

        Raises
        ------
        ValueError
            If the source has other rows, or other responses, than when it was first read.
        """
        first = 0
        for part in self.source:
            X, y = self.schema.encode(part[0]), np.asarray(part[1])
            if not len(X) == len(y) or not np.array_equal(y, self.y[first : first + len(y)]):
                raise self._changed(f"has other responses, from row {first} on, than")
            for start in range(0, len(X), BLOCK):
                piece = X[start : start + BLOCK]
                yield RowBlock(slice(first, first + len(piece)), piece)
                first += len(piece)
        if first != self.n_rows:
            raise self._changed(f"has yielded {first} rows, and {self.n_rows}")

    @staticmethod
    def _changed(what: str) -> ValueError:
        return ValueError(
            f"the source of blocks {what} when it was first read: it must yield the same rows in "
            "the same order each time"
        )
