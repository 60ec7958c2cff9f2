"""Choice of rows by their hashes: which are held out, and which make intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.tables.row_hashes import Hashes, held_out, numbered

Vector = NDArray[np.float64]

Mask = NDArray[np.bool_]

Indices = NDArray[np.intp]

NUMBERED_AT_ONCE = 2**22
"""Hashes that are numbered at a time: of 10⁸ rows all at once would take several GB."""

SAMPLE = 100_000
"""Rows that intervals are made from: all, or those with the smallest hashes."""


@dataclass(frozen=True)
class Choice:
    """Rows that are held out, and rows that intervals are made from; of all rows together.

    Attributes
    ----------
    held : ndarray of bool, shape (n_rows,)
    sample : ndarray of int
    """

    held: Mask
    sample: Indices


def chosen(hashes: Hashes, weights: Vector, share: float) -> Choice:
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
    if not (counting & ~held).any():
        held = np.zeros_like(held)
    return Choice(held, _sample(hashes, counting))


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
