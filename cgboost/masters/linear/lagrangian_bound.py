"""Lagrangian lower bound, and checks of the bounds that pricers report.

What columns can still take off the objective, at given row duals.

The least of Σ ρ_j x_j over Σ x_j ≤ n_k in every convexity row k. Of most columns nothing is known
but that ρ_j ≥ ρ_k. Columns in the master with an upper bound u_j may be cheaper than that (a pricer
may leave them out) or be the ones that ρ_k was found at; either way they use up part of n_k, and
nothing is counted twice.

What a bound rests on, checked against what can be seen.

A Lagrangian bound believes the pricer (no column has a smaller reduced cost than it says) and the
user (no solution uses more columns than ``copies``). Neither can be proved, but a column of the
pricer's own, or the solution of the restricted master, may show that it is not so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column, ReducedCost, least_of
from cgboost.generation.protocols import MasterState, Priced
from cgboost.tolerances import LP_FEASIBILITY


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


USED = 1e-6
"""A solution may use more columns than ``copies`` by this, relative to it. Solvers miss each row by
up to 1e-7 (`LP_FEASIBILITY`), and a sum may miss it by several of these."""

RowOf = Callable[[Column], Hashable | None]
"""The convexity row of a column."""


def check_reduced_costs(state: MasterState, priced: Priced, row_of: RowOf) -> None:
    """Raise a BoundError if a new column of the answer is cheaper than the answer's bound."""
    for column in priced.columns:
        claimed = priced.reduced_cost
        if isinstance(claimed, Mapping):
            claimed = claimed.get(row_of(column), -math.inf)
        terms = column.values * state.pseudo_response
        reduced = column.cost - float(terms.sum())
        allowed = LP_FEASIBILITY * max(1.0, abs(column.cost), float(np.abs(terms).sum()))
        if reduced < claimed - allowed and column.key not in {own.key for own in state.columns}:
            raise BoundError(
                f"the pricer says that no reduced cost is below {claimed:.6g}, but its column "
                f"{column.key!r} has the reduced cost {reduced:.6g}"
            )


def check_rows(copies: Mapping[Hashable, float], priced: Priced) -> None:
    """Raise a BoundError unless a bound per row names every convexity row."""
    if isinstance(priced.reduced_cost, Mapping):
        missing = [row for row in copies if row not in priced.reduced_cost]
        if missing:
            raise BoundError(
                f"the pricer's bound leaves out the convexity rows {missing[:5]}: give a number "
                "for each"
            )


def check_names(rows: Collection[Hashable], priced: Priced) -> None:
    """Raise a BoundError if a bound per row names what is no row of the master."""
    if not isinstance(priced.reduced_cost, Mapping):
        return
    strange = sorted(set(priced.reduced_cost) - set(rows), key=str)
    if strange:
        raise BoundError(
            f"the pricer's bound names {strange[:5]}, which are no rows of the master: give one "
            "number for all columns, or one for each convexity row"
        )


def check_counted(copies: Mapping[Hashable, float], priced: Priced, row_of: RowOf) -> None:
    """Raise a BoundError for a priced column that no bound per convexity row counts."""
    for column in priced.columns:
        if math.isinf(column.upper) and row_of(column) is None:
            raise BoundError(
                f"the pricer returned the column {column.key!r}, which is in none of the rows of "
                f"copies ({list(copies)[:5]}), so that no bound counts it: give it a 1 in the row "
                "of its block, or an upper bound (Column.upper)"
            )


def check_copies(
    state: MasterState, copies: float | Mapping[Hashable, float], row_of: RowOf
) -> None:
    """Raise a BoundError if the restricted solution uses more columns than ``copies`` says."""
    if not math.isfinite(state.objective):
        return
    active: Sequence[int] = np.flatnonzero(state.coef).tolist()
    used: dict[Hashable | None, float] = {}
    for j in active:
        row = row_of(state.columns[j]) if isinstance(copies, Mapping) else None
        used[row] = used.get(row, 0.0) + float(state.coef[j])
    limits = copies if isinstance(copies, Mapping) else {None: copies}
    for row, limit in limits.items():
        if used.get(row, 0.0) > limit + USED * max(1.0, limit):
            where = "" if row is None else f" in row {row!r}"
            raise BoundError(
                f"the restricted solution uses {used[row]:.6g} columns{where}, more than the "
                f"{limit:g} of copies"
            )
