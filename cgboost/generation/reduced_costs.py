"""Bounds on reduced costs, as pricers give them: one number, or one per convexity row."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

ReducedCost = float | Mapping[Hashable, float]


def least_of(bound: ReducedCost) -> float:
    """The least reduced cost, nan if any is unknown."""
    values = list(bound.values()) if isinstance(bound, Mapping) else [bound]
    return float(np.min(values)) if values else math.nan


def combined(bounds: Sequence[ReducedCost]) -> ReducedCost:
    """One bound for the columns of all ``bounds``: per row if each is, else the least of all."""
    by_row: dict[Hashable, float] = {}
    for bound in bounds:
        if not isinstance(bound, Mapping):
            return float(np.min([least_of(each) for each in bounds]))
        for row, value in bound.items():
            by_row[row] = float(np.minimum(value, by_row.get(row, math.inf)))  # keeps a nan
    return by_row
