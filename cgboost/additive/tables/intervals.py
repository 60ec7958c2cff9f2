"""Groups of values of one feature: intervals of numbers, or categories; missing values apart.

A linear regression tree starts from many of these and merges them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Values = NDArray[np.floating[Any]]
Codes = NDArray[np.intp]

SAME = 1e-9
"""Computed values this close, relative to the range of all, are one value: no edge is between."""

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

    def codes(self, values: Values) -> Codes:
        """The group of every value."""
        codes = np.searchsorted(self.edges, values, side="right")
        missing = np.isnan(values)
        if missing.any():
            codes[missing] = self.n_groups - 1
        return codes

    def regressor(self, values: Values) -> Vector:
        """The values as a regressor: in the range, less the origin; 0 where missing."""
        inside = np.clip(values, self.low, self.high, dtype=np.float64) - self.origin
        return np.nan_to_num(inside, copy=False, nan=0.0)


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories, given as numbers 0, 1, …; the last group has missing and unknown ones.

    Attributes
    ----------
    count : int
    """

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

    def codes(self, values: Values) -> Codes:
        """The group of every value."""
        known = (values >= 0) & (values < self.count)  # false for nan
        return np.where(known, np.where(known, values, 0.0), self.count).astype(np.intp)

    def regressor(self, values: Values) -> Vector:
        """0 for every value."""
        return np.zeros(len(values))


Groups = Intervals | Categories


def intervals_of(values: Values, counts: Vector, most: int, *, same: float = 0.0) -> Intervals:
    """About ``most`` intervals with as many rows each.

    They do not depend on the order of the rows. Edges lie between different values, half way.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        A sample; nan for missing ones.
    counts : ndarray of shape (n_values,)
        Rows that each stands for.
    most : int
    same : float
        Values this close, relative to the range, are one value; ``SAME`` for computed ones.
    """
    there = ~np.isnan(values)
    values, counts = values[there].astype(np.float64), counts[there]
    if not len(values):
        return Intervals(np.zeros(0), 0.0, 0.0)
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    low, high = float(values[0]), float(values[-1])
    starts = np.append(True, np.diff(values) > same * (high - low))
    firsts = np.flatnonzero(starts)
    distinct = values[firsts]
    last = values[firsts[1:] - 1]
    sums = np.cumsum(np.add.reduceat(counts, firsts))
    if len(distinct) <= most:
        chosen = np.arange(len(distinct) - 1)
    else:
        wanted = sums[-1] * np.arange(1, most) / most
        chosen = np.unique(np.minimum(np.searchsorted(sums, wanted * (1.0 - SAME)), len(sums) - 2))
    below, above = last[chosen], distinct[chosen + 1]
    middle = 0.5 * below + 0.5 * above
    return Intervals(np.where(middle > below, middle, above), low, high)
