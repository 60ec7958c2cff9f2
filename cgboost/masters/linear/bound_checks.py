"""What a bound rests on, checked against what can be seen.

A Lagrangian bound believes the pricer (no column has a smaller reduced cost than it says) and the
user (no solution uses more columns than ``copies``). Neither can be proved, but a column of the
pricer's own, or the solution of the restricted master, may show that it is not so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.tolerances import LP_FEASIBILITY

USED = 1e-6
"""A solution may use more columns than ``copies`` by this, relative to it."""

RowOf = Callable[[Column], Hashable | None]
"""The convexity row of a column."""


def check_reduced_costs(state: MasterState, priced: Priced, row_of: RowOf) -> None:
    """Raise a BoundError if a new column of the answer is cheaper than the answer's bound."""
    held = {column.key for column in state.columns}
    for column in priced.columns:
        claimed = priced.reduced_cost
        if isinstance(claimed, Mapping):
            claimed = claimed.get(row_of(column), -math.inf)
        terms = column.values * state.pseudo_response
        reduced = column.cost - float(terms.sum())
        allowed = LP_FEASIBILITY * max(1.0, abs(column.cost), float(np.abs(terms).sum()))
        if column.key not in held and reduced < claimed - allowed:
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
