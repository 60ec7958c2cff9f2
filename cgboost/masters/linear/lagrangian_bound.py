"""What columns can still take off the objective, at given row duals.

The least of Σ ρ_j x_j over Σ x_j ≤ n_k in every convexity row k. Of most columns nothing is known
but that ρ_j ≥ ρ_k. Columns in the master with an upper bound u_j may be cheaper than that (a pricer
may leave them out) or be the ones that ρ_k was found at; either way they use up part of n_k, and
nothing is counted twice.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.generation.columns import ReducedCost, least_of


@dataclass(frozen=True)
class Capped:
    """A column in the master with a finite upper bound, and the convexity row it belongs to."""

    row: Hashable | None
    upper: float
    reduced_cost: float


def deficit_of(
    copies: float | Mapping[Hashable, float],
    reduced_cost: ReducedCost,
    capped: Sequence[Capped] = (),
) -> float:
    """The least of Σ ρ_j x_j, at most 0; nan if a ρ_k is unknown."""
    if not isinstance(copies, Mapping):
        return _least_sum(copies, least_of(reduced_cost), capped)
    if isinstance(reduced_cost, Mapping):
        least = {row: reduced_cost.get(row, math.nan) for row in copies}
    else:
        least = dict.fromkeys(copies, reduced_cost)
    of_row: dict[Hashable | None, list[Capped]] = defaultdict(list)
    for column in capped:
        of_row[column.row].append(column)
    of_no_row = _least_sum(math.inf, 0.0, of_row[None])
    return of_no_row + sum(_least_sum(n, least[row], of_row[row]) for row, n in copies.items())


def _least_sum(count: float, least: float, capped: Iterable[Capped]) -> float:
    """The cheapest ``count`` columns: the capped ones cheaper than ``least``, then others."""
    floor = float(np.minimum(0.0, least))  # min() would drop a nan
    total, left = 0.0, count
    for column in sorted(capped, key=lambda each: each.reduced_cost):
        if left <= 0 or column.reduced_cost >= floor:
            break
        used = min(column.upper, left)
        total += used * column.reduced_cost
        left -= used
    return total + (left * floor if floor else 0.0)  # not inf · 0
