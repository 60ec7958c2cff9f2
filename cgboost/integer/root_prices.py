"""Optimal duals of the root: of its last restricted master, or those that prove its bound."""

from __future__ import annotations

import numpy as np

from cgboost.integer.pool import NO_ROW
from cgboost.integer.search_state import Near, Relaxation, Search

PRICE_ROUNDING = 1e-6
"""Share of the scale of gaps by which reduced costs may be below 0, and duals earn too little."""


def root_prices(search: Search, relaxation: Relaxation) -> Near | None:
    """Duals at which no column of the pool has a negative reduced cost, where there are some.

    Where smoothing proves the bound before the restricted master has such duals, they are those of
    the bound. That rests on the least reduced cost ρ_k of each block, Σ_k n_k ρ_k, which belongs to
    the dual of the block's row; or on Farley's multiple of them. If neither earns what the
    relaxation costs, they are the duals of the restricted master as they are.
    """
    own = relaxation.duals
    if own is None or relaxation.near is None or _are_optimal(search, relaxation, own):
        return own
    known = _proving(search, relaxation.near)
    return known if _are_optimal(search, relaxation, known) else own


def _proving(search: Search, near: Near) -> Near:
    """Duals of a bound, moved to where no reduced cost is negative."""
    pool, (duals, extra) = search.pool, near
    reduced, rows, duals = pool.reduced_costs(duals, extra), pool.convexity, duals.copy()
    inside = rows != NO_ROW
    if inside.any():
        least = np.full(len(duals), np.inf)
        np.minimum.at(least, rows[inside], reduced[inside])
        duals += np.where(np.isfinite(least), least, 0.0)
        return search.master.constraints.signed(duals), extra
    over = reduced < 0
    costs = pool.costs()[over]
    share = float((costs / (costs - reduced[over])).min(initial=1.0))
    return share * duals, {row: share * dual for row, dual in extra.items()}


def _are_optimal(search: Search, relaxation: Relaxation, near: Near) -> bool:
    """Whether duals are feasible for all columns of the pool, and earn what the relaxation costs.

    A column with an upper bound earns what its reduced cost is below 0.
    """
    duals, extra = near
    reduced = search.pool.reduced_costs(duals, extra)
    upper = np.array([column.upper for column in search.pool.columns])
    capped, room = np.isfinite(upper), PRICE_ROUNDING * search.scale(relaxation.objective)
    earned = float(duals @ search.master.constraints.rhs)
    earned += sum(dual * row.rhs for row, dual in extra.items())
    earned += float(upper[capped] @ np.minimum(0.0, reduced[capped]))
    feasible = bool((reduced[~capped] >= -room).all())
    return feasible and earned >= relaxation.objective - room
