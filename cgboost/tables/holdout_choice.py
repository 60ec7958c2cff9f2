"""Choice of rows by their hashes: which are held out, and which make intervals.

A class of which no row of positive weight would be left to train on is not held out at all: all its
rows train. Without classes all rows are one. Counts by class say so, wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Mask, Vector
from cgboost.tables.row_hashes import Hashes, held_out, numbered

Values = NDArray[Any]


Counts = NDArray[np.intp]
"""Training and holdout rows of positive weight of every class, shape (n_classes, 2)."""

NUMBERED_AT_ONCE = 2**22
"""Hashes that are numbered at a time: of 10⁸ rows all at once would take several GB."""

SAMPLE = 100_000
"""Rows that intervals are made from: all, or those with the smallest hashes."""


@dataclass(frozen=True)
class HoldoutChoice:
    """Rows that are held out, and rows that intervals are made from; of all rows together.

    Attributes
    ----------
    held : ndarray of bool, shape (n_rows,)
        Before the classes are looked at.
    sample : ndarray of int
    """

    held: Mask
    sample: Indices


def chosen(hashes: Hashes, weights: Vector, share: float) -> HoldoutChoice:
    """Choose by the content hashes of all rows.

    Parameters
    ----------
    hashes : ndarray of int64, shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    share : float
    """
    if len(hashes) > NUMBERED_AT_ONCE:
        hashes = _numbered_in_parts(hashes, weights)
    else:
        hashes = numbered(hashes, weights)
    held, counting = np.empty(len(hashes), dtype=np.bool_), weights > 0
    for start in range(0, len(hashes), NUMBERED_AT_ONCE):
        rows = slice(start, start + NUMBERED_AT_ONCE)
        held[rows] = held_out(hashes[rows], share)
    held &= counting
    return HoldoutChoice(held, _sample(hashes, counting))


def counts_by_class(y: Values, weights: Vector, held: Mask, n_classes: int) -> Counts:
    """Training and holdout rows of every class.

    Parameters
    ----------
    y, weights : ndarray of shape (n_rows,)
    held : ndarray of bool, shape (n_rows,)
    n_classes : int
        Classes that y numbers; 1: y are responses, and all rows are one class.
    """
    counts = np.zeros(2 * n_classes, dtype=np.intp)
    for start in range(0, len(y), NUMBERED_AT_ONCE):
        rows = slice(start, start + NUMBERED_AT_ONCE)
        there = weights[rows] > 0
        numbers = 2 * _numbers(y[rows], n_classes)[there] + held[rows][there]
        counts += np.bincount(numbers, minlength=2 * n_classes)
    return counts.reshape(n_classes, 2)


def training_only(training: NDArray[Any]) -> list[int]:
    """Classes that are not held out: those without a row left to train on.

    Parameters
    ----------
    training : ndarray of shape (n_classes,)
        Number or weight of the rows that are not held out.
    """
    found: list[int] = np.flatnonzero(training <= 0).tolist()
    return found


def without_classes(held: Mask, y: Values, classes: Sequence[int], n_classes: int) -> Mask:
    """The holdout rows but for those of some classes; y as in :func:`counts_by_class`."""
    return held & ~np.isin(_numbers(y, n_classes), classes) if len(classes) else held


def _numbers(y: Values, n_classes: int) -> Indices:
    return np.zeros(len(y), dtype=np.intp) if n_classes == 1 else y.astype(np.intp)


def _numbered_in_parts(hashes: Hashes, weights: Vector) -> Hashes:
    """As :func:`numbered`, which knows copies by their hash: those with the same remainder each."""
    n_parts = -(-len(hashes) // NUMBERED_AT_ONCE)
    parts, found = np.empty(len(hashes), dtype=np.int16), np.empty_like(hashes)
    for start in range(0, len(hashes), NUMBERED_AT_ONCE):
        rows = slice(start, start + NUMBERED_AT_ONCE)
        parts[rows] = hashes[rows] % n_parts
    for part in range(n_parts):
        chosen = np.flatnonzero(parts == part)
        if len(chosen):
            found[chosen] = numbered(hashes[chosen], weights[chosen])
    return found


def _sample(hashes: Hashes, counting: Mask) -> Indices:
    """Rows that count: all of them, or those with the smallest hashes."""
    if np.count_nonzero(counting) <= SAMPLE:
        return np.flatnonzero(counting)
    most = np.partition(hashes if counting.all() else hashes[counting], SAMPLE)[SAMPLE]
    return np.flatnonzero(counting & (hashes <= most))
