"""Rows that come in blocks: a table in memory, or any source that can be read again and again.

A source yields blocks (X, y) or (X, y, weights), the same ones in the same order each time. What a
model learns does not depend on how rows are divided into blocks, nor on their order: which rows are
held out, and which are sampled for intervals, is decided by what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.schema import Schema

Vector = NDArray[np.float64]
Matrix = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]

BLOCK = 2**16
"""Rows worked on at a time."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True)
class Block:
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

    def __iter__(self) -> Iterator[Block]:
        for start in range(0, self.n_rows, BLOCK):
            rows = slice(start, min(start + BLOCK, self.n_rows))
            yield Block(rows, self.X[rows])


class SourceRows:
    """Rows of a source of blocks, encoded as they are read.

    Parameters
    ----------
    source : iterable
    schema : Schema
    y : ndarray of shape (n_rows,)
        Responses it had when it was first read.
    """

    def __init__(self, source: Any, schema: Schema, y: NDArray[Any]) -> None:
        self.source, self.schema, self.y, self.n_rows = source, schema, y, len(y)

    def __iter__(self) -> Iterator[Block]:
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
                yield Block(slice(first, first + len(piece)), piece)
                first += len(piece)
        if first != self.n_rows:
            raise self._changed(f"has yielded {first} rows, and {self.n_rows}")

    @staticmethod
    def _changed(what: str) -> ValueError:
        return ValueError(
            f"the source of blocks {what} when it was first read: it must yield the same rows in "
            "the same order each time"
        )


def content_hash(X: Matrix, y: Vector, seed: int) -> NDArray[np.uint64]:
    """A number for every row that depends on its entries alone, evenly spread over 64 bits."""
    start = np.array([seed], dtype=np.uint64) * _GOLDEN + np.uint64(1)  # wraps around
    state = np.repeat(start, len(X))
    for column in (*X.T, y):
        values = np.ascontiguousarray(column, dtype=np.float64) + 0.0  # −0 is 0
        bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
        state = _mixed(state ^ (bits + _GOLDEN + (state << np.uint64(6)) + (state >> np.uint64(2))))
    return state


def held_out(hashes: NDArray[np.uint64], share: float) -> Mask:
    """Which rows are held out: a share of all, equal rows together."""
    return _mixed(hashes) < np.uint64(min(share, 1.0 - 1e-12) * 2.0**64)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        state = (state ^ (state >> np.uint64(30))) * _MIX[0]
        state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    return np.asarray(state ^ (state >> np.uint64(31)))
