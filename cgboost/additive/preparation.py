"""What a fit knows before its first stage: rows, which are held out, intervals of the features.

A table takes one look; a source of blocks is read twice: for its columns, categories and responses,
and again for what is in its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.intervals import Categories, Groups, intervals_of
from cgboost.additive.rows import SourceRows, TableRows, content_hash, held_out
from cgboost.additive.schema import Schema, SchemaMaker

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

SAMPLE = 100_000
"""Rows that intervals are made from: all, or those with the smallest hashes."""


@dataclass(frozen=True)
class Prepared:
    """The data of a fit.

    Attributes
    ----------
    rows : TableRows or SourceRows
    held : ndarray of bool, shape (n_rows,)
    groups : list of Intervals or Categories
        Of every feature.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    """

    rows: TableRows | SourceRows
    held: Mask
    groups: list[Groups]
    sample: Indices


@dataclass(frozen=True)
class SourceSummary:
    """What the first reading of a source tells.

    Attributes
    ----------
    schema : Schema
    y, weights : ndarray of shape (n_rows,)
    """

    schema: Schema
    y: NDArray[Any]
    weights: Vector


def read_source(source: Any, categorical: Any) -> SourceSummary:
    """Columns, categories, responses and weights of all blocks.

    Raises
    ------
    ValueError
        If there are no rows, a block is no pair, or its parts differ in length.
    """
    maker = SchemaMaker(categorical)
    responses, weights = [], []
    for number, part in enumerate(source):
        if not isinstance(part, (tuple, list)) or len(part) not in (2, 3):
            raise ValueError(
                f"block {number} of the source must be (X, y) or (X, y, weights), got "
                f"{type(part).__name__}"
            )
        maker.see(part[0])
        y = np.asarray(part[1])
        own = np.ones(len(y)) if len(part) == 2 else np.asarray(part[2], dtype=np.float64)
        if not len(part[0]) == len(y) == len(own):
            raise ValueError(
                f"block {number} of the source has {len(part[0])} rows, {len(y)} responses and "
                f"{len(own)} weights"
            )
        responses.append(y)
        weights.append(own)
    schema = maker.schema()
    return SourceSummary(schema, np.concatenate(responses), np.concatenate(weights))


def prepared(
    rows: TableRows | SourceRows,
    schema: Schema,
    y: Vector,
    weights: Vector,
    *,
    max_bins: int,
    share: float,
    seed: int,
) -> Prepared:
    """Hold rows out, and divide the range of every feature into intervals.

    Parameters
    ----------
    rows : TableRows or SourceRows
    schema : Schema
    y, weights : ndarray of shape (n_rows,)
        Rows of weight 0 make no intervals.
    max_bins : int
        Intervals of a numeric feature.
    share : float
        Of the rows to be held out.
    seed : int
        Chooses among the ways to hold rows out.
    """
    hashes = np.empty(rows.n_rows, dtype=np.uint64)
    for block in rows:
        hashes[block.rows] = content_hash(block.X, y[block.rows], seed)
    held = held_out(hashes, share)
    sample = _sample(hashes, weights)
    values = np.empty((len(sample), schema.n_features), order="F")
    for block in rows:
        first, last = np.searchsorted(sample, [block.rows.start, block.rows.stop])
        values[first:last] = block.X[sample[first:last] - block.rows.start]
    counts = weights[sample]
    groups: list[Groups] = [
        intervals_of(values[:, j], counts, max_bins) if known is None else Categories(len(known))
        for j, known in enumerate(schema.categories)
    ]
    return Prepared(rows, held, groups, sample)


def _sample(hashes: NDArray[np.uint64], weights: Vector) -> Indices:
    """Rows of positive weight: all of them, or those with the smallest hashes."""
    there = np.flatnonzero(weights > 0)
    if len(there) <= SAMPLE:
        return there
    most = np.partition(hashes[there], SAMPLE)[SAMPLE]
    return there[hashes[there] <= most]
