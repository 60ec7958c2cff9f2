"""Cutting stock, or bin packing: the fewest rolls of one width that give all pieces ordered.

    python examples/cutting_stock.py [FILE ...]

FILE is in the OR-Library's format for bin packing (binpack1.txt, …); without one a small order of
five widths is cut. A column is a cutting pattern; the pattern that helps most is an integer
knapsack (Gilmore and Gomory 1961). Branches: at least so many pieces of some widths or not.
"""

import sys
from itertools import islice
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import ComponentRow, Residual, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack


def pattern(counts):
    """A column: how many pieces of each width one roll gives. It costs one roll."""
    return Column(np.array(counts, dtype=float), key=tuple(counts), cost=1.0)


def model(widths, demand, capacity):
    """Master and pricer."""
    proper = np.minimum(demand, capacity // widths)
    master = LinearMaster(len(widths), ">=", demand, least_cost=1.0)
    master.add([pattern(row) for row in np.diag(proper).tolist()])

    def best(duals, least, most, rows):
        """Value and pieces of the best pattern within bounds; a row is what branches add."""
        room = capacity - widths @ least
        if room < 0 or (least > most).any():
            return -np.inf, least.tolist()
        if not rows:
            more, value = solve_knapsack(duals, widths, room, most - least)
            return value + duals @ least, (least + more).tolist()
        (row, dual), *others = rows
        enough, found = least.copy(), []
        for width, count in row.least:  # the pattern has too few of it, or enough of all
            enough[width], fewer = max(least[width], count), most.copy()
            fewer[width] = min(most[width], count - 1)
            found.append(best(duals, least, fewer, others))
        value, pieces = best(duals, enough, most, others)
        return max([*found, (value + dual, pieces)])

    @respects(Residual, ComponentRow)
    def price(duals):
        most = np.clip(demand if duals.rhs is None else duals.rhs, 0, proper).astype(int)
        value, pieces = best(duals, 0 * most, most, list(duals.extra.items()))
        return [pattern(pieces)] if value > 1 + 1e-9 else [], 1 - value

    return master, price


def cut(widths, demand, capacity, **options):
    """The search for the fewest rolls."""
    return BranchAndPrice(*model(widths, demand, capacity), objective_step=1.0, **options)


def instances(path):
    """Name, widths, demand, capacity and the best known number of rolls of every instance."""
    words = iter(Path(path).read_text(encoding="utf-8").split())
    for _ in range(int(next(words))):
        name, capacity, count, best = islice(words, 4)
        pieces = np.array(list(islice(words, int(count))), dtype=float).astype(int)
        yield name, *np.unique(pieces, return_counts=True), int(capacity), int(best)


SMALL = ("small", np.array([20, 34, 41, 52, 63]), np.array([44, 27, 35, 18, 12]), 150, "?")

if __name__ == "__main__":
    for name, *order, best in [i for path in sys.argv[1:] for i in instances(path)] or [SMALL]:
        result = cut(*order).run(time_limit=60)
        rolls = f"{result.objective:g} rolls, bound {result.bound:g}"
        print(f"{name}: {rolls}, {result.n_nodes} nodes, best known {best}")
