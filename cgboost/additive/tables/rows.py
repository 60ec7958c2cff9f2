"""Rows that come in blocks: a table in memory, or any source that can be read again and again.

A source yields blocks (X, y) or (X, y, weights), the same ones in the same order each time. What a
model learns does not depend on how rows are divided into blocks, nor on their order: which rows are
held out, and which are sampled for intervals, follows from a hash of what is in them, and equal
rows are numbered, so that each has a hash of its own.

The loss on the holdout rows decides how many stages are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.tables.schema import Schema
from cgboost.generation.history import Round, StopReason
from cgboost.losses.base import DifferentiableLoss

Vector = NDArray[np.float64]

Matrix = NDArray[np.floating[Any]]

Mask = NDArray[np.bool_]

BLOCK = 2**15
"""Rows worked on at a time. A fit of 400 000 rows takes 13 % more time with twice as many, whose
columns leave the cache, and 14 % more with a quarter of them."""

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
        """Blocks of at most ``BLOCK`` rows, as equal as possible: threads take them in turn."""
        size = -(-self.n_rows // max(1, -(-self.n_rows // BLOCK)))
        for start in range(0, self.n_rows, max(1, size)):
            rows = slice(start, min(start + size, self.n_rows))
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
    """A number for every row that depends on its entries alone, evenly spread over 64 bits.

    Equal rows have equal numbers; :func:`numbered` tells them apart.
    """
    start = np.array([seed], dtype=np.uint64) * _GOLDEN + np.uint64(1)  # wraps around
    state = np.repeat(start, len(X))
    for column in (*X.T, y):
        values = np.ascontiguousarray(column, dtype=np.float64) + 0.0  # −0 is 0
        bits = np.where(np.isnan(values), np.nan, values).view(np.uint64)
        state = _mixed(state ^ (bits + _GOLDEN + (state << np.uint64(6)) + (state >> np.uint64(2))))
    return state


def numbered(hashes: NDArray[np.uint64], weights: Vector) -> NDArray[np.uint64]:
    """Hashes in which equal rows differ: the k-th copy, k = 0, 1, …, has ``hash + k·golden``.

    These are the states of a splitmix64 generator that starts at the hash, so that its finaliser,
    in :func:`held_out`, makes independent numbers of them. Without it all copies of a row would be
    held out or none, and y would have another distribution in each part.

    Copies are numbered from the largest weight to the smallest. Those that are left are equal in
    all, and interchangeable; so neither order nor blocks matter, nor a factor of all weights, nor
    rows of weight 0.

    Parameters
    ----------
    hashes : ndarray of uint64, shape (n_rows,)
        Equal where X and y are.
    weights : ndarray of shape (n_rows,)
    """
    ascending = np.sort(hashes)
    first = np.append(True, ascending[1:] != ascending[:-1])
    if first.all():
        return hashes
    equal = weights.min() == weights.max()
    order = np.argsort(hashes) if equal else np.lexsort((-weights, hashes))
    starts = np.flatnonzero(first)
    copies = np.arange(len(hashes))
    copies -= np.repeat(starts, np.diff(starts, append=len(hashes)))
    ascending += copies.view(np.uint64) * _GOLDEN  # wraps around
    result = np.empty_like(hashes)
    result[order] = ascending
    return result


def held_out(hashes: NDArray[np.uint64], share: float) -> Mask:
    """Which rows are held out: each with the probability ``share``, independently of the others.

    Rows with equal hashes stay together: see :func:`numbered`.
    """
    return _mixed(hashes) < np.uint64(min(share, 1.0 - 1e-12) * 2.0**64)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        state = (state ^ (state >> np.uint64(30))) * _MIX[0]
        state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    return np.asarray(state ^ (state >> np.uint64(31)))


def mean_loss(loss: DifferentiableLoss, held: Mask, output: Vector) -> float:
    """Mean loss of the rows held out, on which the loss is; 0 without any.

    Parameters
    ----------
    loss : DifferentiableLoss
    held : ndarray of bool, shape (n_rows,)
    output : ndarray of shape (n_rows,)
        f of all rows.
    """
    total = float(loss.weights.sum())
    return loss.value(output[held]) / total if total > 0 else 0.0


class HoldoutLoss:
    """A callback that writes the mean loss of the holdout rows into every round.

    Parameters
    ----------
    mean : callable
        That loss, for an output f of all rows.
    """

    def __init__(self, mean: Callable[[Vector], float]) -> None:
        self.mean = mean

    def __call__(self, turn: Round) -> None:
        """Add the score."""
        turn.scores["holdout_loss"] = self.mean(turn.state.output)


class SmallGain:
    """A callback that ends a run when a stage has lowered the training loss by too little.

    Parameters
    ----------
    tol : float
        Smallest decrease, relative to the loss of the constant.
    """

    stop_reason = StopReason.GAP

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._first = self._last = np.inf

    def __call__(self, turn: Round) -> bool:
        """Whether the last stage has gained next to nothing."""
        if turn.number == 0:
            self._first, self._last = turn.objective, np.inf
        gain, self._last = self._last - turn.objective, turn.objective
        return turn.number > 0 and gain < self.tol * max(self._first, np.finfo(float).tiny)
