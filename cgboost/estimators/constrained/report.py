"""What a fitted model's constraints come to: values, limits and prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.fitted_runs import Table
from cgboost.estimators.constrained.data import Declarations, MeasuredModel
from cgboost.estimators.constrained.problem import ConstrainedProblem

NO_PRICE = 1e-7
"""Multipliers below this, relative to the largest, are rounding of the solver."""

OWN = "own"
"""The part of a constraint that is a function of the user's."""


def prices_of(problem: ConstrainedProblem, round_number: int) -> dict[tuple[int, str], float]:
    """The price of every part: what the objective falls by for one more unit of its limit.

    Both ends of an interval may have a multiplier where it has no width: the price is then the
    difference, as large equal parts of the two cancel.
    """
    declared, multipliers = problem.declared(problem.target), problem.multipliers
    found = {place: abs(price) * problem.total for place, price in problem.rate_prices.items()}
    if multipliers is None or round_number not in multipliers.of_round:
        return found
    of_rows = multipliers.of_round[round_number]
    net: dict[tuple[int, str], float] = {}
    for row, price in zip(declared.rows, of_rows.tolist(), strict=False):
        place = row.owner, row.part
        net[place] = net.get(place, 0.0) + (-price if row.from_below else price)
    noise = NO_PRICE * max((abs(price) for price in of_rows.tolist()), default=0.0)
    found |= {place: abs(price) if abs(price) > noise else 0.0 for place, price in net.items()}
    for budget, price in zip(declared.budgets, of_rows[len(declared.rows) :].tolist(), strict=True):
        # of a limit of 0 every multiplier above the least one is right
        found[budget.owner, budget.part] = price if budget.limit > 0 else np.nan
    convex = multipliers.convex.get(round_number, ([], []))[0]
    parts = _convex_parts(declared)
    for place, price in zip(parts, convex, strict=False):
        found[place] = found.get(place, 0.0) + price
    if len(declared.own) == 1:  # of several functions nobody knows which has how many
        found[declared.own[0][0], OWN] = sum(convex[len(parts) :])
    return found


def _convex_parts(declared: Declarations) -> list[tuple[int, str]]:
    """What the convex limits of a problem belong to, in their order, but for own functions."""
    worst = [
        (owner, grouping.part(k))
        for owner, grouping in declared.minimax
        for k in range(len(grouping.labels))
    ]
    return worst + [(limit.owner, limit.part) for limit in declared.convex]


def table_of(
    problem: ConstrainedProblem,
    prices: Mapping[tuple[int, str], float],
    seen: MeasuredModel,
    held: MeasuredModel | None,
) -> Table:
    """One entry for each part of each constraint."""
    names: list[str] = []
    parts: list[str] = []
    numbers: list[tuple[float, float, float, float]] = []
    for number, constraint in enumerate(problem.constraints):
        measures = constraint.measured(seen)
        others = [np.nan] * len(measures)
        if held is not None and constraint.groups_of in (None, *held.groups):
            others = [measure.value for measure in constraint.measured(held)]
        for measure, other in zip(measures, others, strict=True):
            names.append(repr(constraint))
            parts.append(measure.part)
            price = prices.get((number, measure.part), np.nan)
            numbers.append((measure.value, other, measure.limit, price))
        if not measures:
            names.append(repr(constraint))
            parts.append(OWN)
            numbers.append((np.nan, np.nan, np.nan, prices.get((number, OWN), np.nan)))
    columns: NDArray[np.float64] = np.array(numbers, dtype=np.float64).reshape(-1, 4)
    return {
        "constraint": np.array(names, dtype=object),
        "part": np.array(parts, dtype=object),
        "value": columns[:, 0],
        "held_out": columns[:, 1],
        "limit": columns[:, 2],
        "price": columns[:, 3],
    }


def as_text(table: Mapping[str, Any]) -> str:
    """The table in words, a line for each part."""
    lines = ["constraint | part | training | held out | limit | price"]
    for k in range(len(table["part"])):
        numbers = [table[name][k] for name in ("value", "held_out", "limit", "price")]
        words = ["" if np.isnan(number) else f"{number:.4g}" for number in numbers]
        lines.append(" | ".join([str(table["constraint"][k]), str(table["part"][k]), *words]))
    return "\n".join(line.rstrip() for line in lines)
