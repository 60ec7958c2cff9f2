"""Binning of a table for a fit of sums: groups of values of every feature, and rows held out.

Groups are intervals of numbers, or categories; missing values apart. A linear regression tree
starts from many of them and merges them. A table takes one look; a source of blocks is read twice:
for its columns, categories and responses, and again for what is in its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from cgboost.arrays import Indices, Mask, Matrix, Vector
from cgboost.parallel.threads import Mapped
from cgboost.tables.holdout_choice import (
    Hashes,
    chosen,
    content_hash,
    counts_by_class,
    training_only,
    without_classes,
)
from cgboost.tables.row_blocks import RowBlock, SourceRows, TableRows
from cgboost.tables.table_encoding import LARGEST_NUMBER, Schema, SchemaMaker

SAME = 1e-9
"""Computed values this close, relative to the range of all, are one value: no edge is between. Sums
in another order differ in their last digits, and blocks must not decide where edges are."""

MANY = 4096
"""Values that are looked up all at once: of 30 000 in 63 edges that takes a quarter of the time of
``np.searchsorted``, of 1000 three times as long."""

FAR_FROM_ZERO = 2.0
"""A range further from 0 than this, in units of its length, is measured from its middle."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of a numeric feature; the last group has the missing values.

    Attributes
    ----------
    edges : ndarray of shape (n_groups - 2,)
        Ascending; a value on an edge belongs to the interval above it.
    low, high : float
        Values are brought to this range before they are used.
    """

    edges: Vector
    low: float
    high: float
    ordered = True

    @property
    def n_groups(self) -> int:
        """Number of intervals, and one for missing values."""
        return len(self.edges) + 2

    @property
    def origin(self) -> float:
        """What regressors are measured from: 0, or the middle of a range that is far from 0.

        So much of a large offset would be lost in intercept + slope·x.
        """
        middle = 0.5 * self.low + 0.5 * self.high
        return middle if abs(middle) > FAR_FROM_ZERO * (self.high - self.low) else 0.0

    @property
    def centres(self) -> Vector:
        """A value in the middle of each group, shape (n_groups,); nan for missing values."""
        bounds = np.concatenate([[self.low], self.edges, [self.high]])
        return np.append(0.5 * bounds[:-1] + 0.5 * bounds[1:], np.nan)

    def codes(self, values: Matrix) -> Indices:
        """The group of every value."""
        codes = _places(self.edges, values)
        missing = np.isnan(values)
        if missing.any():
            codes[missing] = self.n_groups - 1
        return codes

    def regressor(self, values: Matrix) -> Vector:
        """The values as a regressor: in the range, less the origin; 0 where missing."""
        inside = np.clip(values, self.low, self.high, dtype=np.float64)
        if self.origin:
            inside -= self.origin
        missing = np.isnan(inside)
        if missing.any():
            inside[missing] = 0.0
        return inside


def _places(edges: Vector, values: Matrix) -> Indices:
    """How many edges are at or below each value; nan has any number.

    Bisection of all values at once, step by step, which no wrong guess of a branch holds up.
    """
    if len(values) < MANY:
        return np.searchsorted(edges, values, side="right")
    step = 1 << len(edges).bit_length()
    padded = np.full(step, np.inf)
    padded[: len(edges)] = edges
    values = np.ascontiguousarray(values, dtype=np.float64)
    places = np.zeros(len(values), dtype=np.intp)
    while step := step // 2:
        places += step * (values >= padded[step - 1 :].take(places)).view(np.int8).astype(np.intp)
    return places


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories, given as numbers 0, 1, …; the last group has missing and unknown ones."""

    count: int
    ordered = False

    @property
    def n_groups(self) -> int:
        """Number of categories, and one for missing values."""
        return self.count + 1

    @property
    def centres(self) -> Vector:
        """0 for every group: categories are no regressors."""
        return np.zeros(self.n_groups)

    def codes(self, values: Matrix) -> Indices:
        """The group of every value."""
        known = (values >= 0) & (values < self.count)  # false for nan
        return np.where(known, np.where(known, values, 0.0), self.count).astype(np.intp)

    def regressor(self, values: Matrix) -> Vector:
        """0 for every value."""
        return np.zeros(len(values))


FeatureGroups = Intervals | Categories


def intervals_of(values: Matrix, counts: Vector, most: int, *, same: float = 0.0) -> Intervals:
    """About ``most`` intervals with as many rows each, but for values that have more.

    A value counts as one interval at most (:func:`size_of_intervals`): of incomes that are mostly 0
    the others have the intervals that 0 would take. They do not depend on the order of the rows.
    Edges lie between different values, half way.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        A sample; nan for missing ones.
    counts : ndarray of shape (n_values,)
        Rows that each stands for.
    same : float
        Values this close, relative to the range, are one value; ``SAME`` for computed ones.
    """
    there = ~np.isnan(values)
    values, counts = values[there].astype(np.float64), counts[there]
    if not len(values):
        return Intervals(np.zeros(0), 0.0, 0.0)
    order = np.argsort(values)  # of equal values any order will do
    values, counts = values[order], counts[order]
    low, high = float(values[0]), float(values[-1])
    starts = np.append(True, np.diff(values) > same * (high - low))
    firsts = np.flatnonzero(starts)
    distinct = values[firsts]
    last = values[firsts[1:] - 1]
    if len(distinct) <= most:
        chosen = np.arange(len(distinct) - 1)
    else:
        rows = np.add.reduceat(counts, firsts)
        size = size_of_intervals(rows, most)
        sums = np.cumsum(np.minimum(rows, size))
        wanted = size * np.arange(1, most)
        chosen = np.unique(np.minimum(np.searchsorted(sums, wanted * (1.0 - SAME)), len(sums) - 2))
    below, above = last[chosen], distinct[chosen + 1]
    middle = 0.5 * below + 0.5 * above
    return Intervals(np.where(middle > below, middle, above), low, high)


def size_of_intervals(counts: Vector, most: int) -> float:
    """Rows s of each of ``most`` intervals, of which a value has s at most: Σ min(c, s) = most·s.

    Where the k most frequent values have more than s, the others make s = rest_k/(most − k). That
    falls as long as the next value has more, and rises from there on: s is the least of them.
    """
    frequent = np.sort(counts)[::-1]
    rest = np.cumsum(frequent[::-1])[::-1][:most]
    return float((rest / (most - np.arange(len(rest)))).min())


@dataclass(frozen=True)
class Prepared:
    """The data of a fit.

    Attributes
    ----------
    held : ndarray of bool, shape (n_rows,)
        None of a class that would have no row left to train on; without classes all rows are one.
    groups : list of Intervals or Categories
        Of every feature.
    sample : ndarray of int
        Rows that intervals of outputs are made from.
    """

    rows: TableRows | SourceRows
    held: Mask
    groups: list[FeatureGroups]
    sample: Indices


@dataclass(frozen=True)
class SourceSummary:
    """What the first reading of a source tells.

    Attributes
    ----------
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
        If there are no rows, the source can be read only once, a block is no pair, its parts differ
        in length, or weights are negative, not finite or all 0.
    """
    try:
        once = iter(source) is source
    except TypeError as error:
        raise ValueError(
            "X must be an array, a data frame or a source of blocks (X, y) together with no y; a "
            f"{type(source).__name__} is none of them"
        ) from error
    if once:
        raise ValueError(
            f"the source of blocks, a {type(source).__name__}, can be read only once, and a fit "
            "reads it again and again: give a list of blocks, or an object whose __iter__ starts "
            "from the beginning"
        )
    read = read_blocks(source, categorical)
    schema, y = read.maker.schema(), read.y
    if not len(y):
        raise ValueError("the source of blocks has no rows")
    weights = np.broadcast_to(1.0, len(y)) if read.weights is None else read.weights
    check_weights("the weights in the blocks", weights)
    return SourceSummary(schema, y, weights)


@dataclass(frozen=True)
class BlocksRead:
    """What some blocks tell: columns, responses and weights.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
        None where no block has any.
    """

    maker: SchemaMaker
    y: NDArray[Any]
    weights: Vector | None


def read_blocks(blocks: Iterable[Any], categorical: Any) -> BlocksRead:
    """Columns, categories, responses and weights of blocks; perhaps of no rows.

    Raises
    ------
    ValueError
        If a block is no pair, or its parts differ in length.
    """
    maker = SchemaMaker(categorical)
    responses: list[NDArray[Any]] = []
    weights: list[Vector] = []
    weighted = False
    for number, part in enumerate(blocks):
        if not isinstance(part, (tuple, list)) or len(part) not in (2, 3):
            raise ValueError(
                f"block {number} of the source must be (X, y) or (X, y, weights), got "
                f"{type(part).__name__}"
            )
        maker.see(part[0])
        y = column_or_1d(part[1], warn=True)
        own: Vector = (
            np.broadcast_to(1.0, len(y))
            if len(part) == 2
            else np.asarray(part[2], dtype=np.float64)
        )
        n_rows = part[0].shape[0] if hasattr(part[0], "shape") else len(part[0])
        if not n_rows == len(y) == len(own):
            raise ValueError(
                f"block {number} of the source has {n_rows} rows, {len(y)} responses and "
                f"{len(own)} weights"
            )
        responses.append(y)
        weights.append(own)
        weighted = weighted or len(part) == 3
    together = np.concatenate(responses) if responses else np.zeros(0)
    return BlocksRead(maker, together, np.concatenate(weights) if weighted else None)


def numbers_of(y: Any) -> Vector:
    """The responses of a regression.

    Raises
    ------
    ValueError
        If they are no numbers, or not finite.
    """
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers ({error})") from error
    if not np.isfinite(values).all():
        raise ValueError("y must be finite, it has nan or infinity")
    return values


def check_weights(name: str, weights: Vector) -> None:
    """Raise a ValueError for weights that are negative, not finite, too large or all 0."""
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"{name} must be finite, not negative and not all 0, got values "
            f"from {weights.min():g} to {weights.max():g}"
        )
    check_weight_size(name, weights)


def check_weight_size(name: str, weights: Vector) -> None:
    """Raise a ValueError for weights that squares cannot be multiplied with."""
    largest = float(weights.max())
    if largest > LARGEST_NUMBER:
        raise ValueError(f"{name} must be at most {LARGEST_NUMBER:g} in size, got {largest:g}")


def prepared(
    rows: TableRows | SourceRows,
    schema: Schema,
    y: Matrix,
    weights: Vector,
    *,
    n_classes: int = 1,
    max_bins: int,
    share: float,
    seed: int,
    mapped: Mapped = map,
) -> Prepared:
    """Hold rows out, and divide the range of every feature into intervals.

    Parameters
    ----------
    y, weights : ndarray of shape (n_rows,)
        Rows of weight 0 make no intervals.
    n_classes : int
        Classes that y numbers; 1: y are responses.
    max_bins : int
        Intervals of a numeric feature.
    share : float
        Of the rows to be held out.
    seed : int
        Chooses among the ways to hold rows out.
    mapped : callable
        ``map``, or the same on threads.
    """
    choice = chosen(row_hashes(rows, y, seed, mapped), weights, share)
    counts = counts_by_class(y, weights, choice.held, n_classes)
    held = without_classes(choice.held, y, training_only(counts[:, 0]), n_classes)
    values = sampled(rows, schema.n_features, choice.sample)
    groups = groups_of(values, weights[choice.sample], schema.categories, max_bins)
    return Prepared(rows, held, groups, choice.sample)


def row_hashes(rows: TableRows | SourceRows, y: Matrix, seed: int, mapped: Mapped = map) -> Hashes:
    """The content hash of every row; those of equal rows are equal."""
    hashes = np.empty(rows.n_rows, dtype=np.int64)

    def work(block: RowBlock) -> None:
        own = np.asarray(y[block.rows], dtype=np.float64)
        hashes[block.rows] = content_hash(block.X, own, seed)

    for _ in mapped(work, rows):
        pass
    return hashes


def sampled(rows: TableRows | SourceRows, n_features: int, sample: Indices) -> Vector:
    """Some rows, in ascending order, shape (n_chosen, n_features)."""
    values = np.empty((len(sample), n_features), order="F")
    for block in rows:
        first, last = np.searchsorted(sample, [block.rows.start, block.rows.stop])
        values[first:last] = block.X[sample[first:last] - block.rows.start]
    return values


def groups_of(
    values: Vector, counts: Vector, categories: Sequence[Any], max_bins: int
) -> list[FeatureGroups]:
    """Intervals of numeric features, and categories.

    Parameters
    ----------
    values : ndarray of shape (n_chosen, n_features)
        A sample of rows.
    counts : ndarray of shape (n_chosen,)
        Their weights.
    categories : sequence of (dict or None)
        Of the features: None for numbers.
    """
    return [
        intervals_of(values[:, j], counts, max_bins) if known is None else Categories(len(known))
        for j, known in enumerate(categories)
    ]
