"""Cutting stock, or bin packing: the fewest rolls of one width that give all pieces ordered.

    python examples/cutting_stock.py [FILE ...]

FILE is in the OR-Library's format for bin packing (binpack1.txt, …); without one a small order of
five widths is cut. A column is a cutting pattern; the pattern that helps most is an integer
knapsack, solved by dynamic programming over the capacity (Gilmore and Gomory 1961).
"""

import math
import sys
from pathlib import Path

import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import Column
from cgboost.masters import LinearMaster, solve_integer
from cgboost.pricing import solve_knapsack


def pattern(counts):
    """A column: how many pieces of each width one roll gives. It costs one roll."""
    return Column(np.array(counts, dtype=float), key=tuple(counts), cost=1.0)


def cut(widths, demand, capacity, smoothing=None):
    """Result of the linear relaxation, and of the integer step over its patterns."""
    copies = np.minimum(demand, capacity // widths)
    master = LinearMaster(len(widths), ">=", demand, least_cost=1.0)
    master.add([pattern(row) for row in np.diag(copies).tolist()])

    def price(duals):
        counts, value = solve_knapsack(duals, widths, capacity, copies)
        found = [pattern(counts.tolist())] if value > 1.0 + 1e-9 else []
        return found, 1.0 - value

    result = ColumnGeneration(master, price, tol=1e-6, smoothing=smoothing).run()
    return result, solve_integer(master, result, time_limit=10.0)


def instances(path):
    """Name, widths, demand, capacity and the best known number of rolls of every instance."""
    words = iter(Path(path).read_text(encoding="utf-8").split())
    for _ in range(int(next(words))):
        name, capacity, count, best = next(words), next(words), next(words), next(words)
        pieces = [float(next(words)) for _ in range(int(count))]
        widths, demand = np.unique(np.array(pieces).astype(int), return_counts=True)
        yield name, widths, demand, int(capacity), int(best)


SMALL = [("small", np.array([20, 34, 41, 52, 63]), np.array([44, 27, 35, 18, 12]), 150, None)]

if __name__ == "__main__":
    for name, widths, demand, capacity, best in [
        i for f in sys.argv[1:] for i in instances(f)
    ] or SMALL:
        result, rolls = cut(widths, demand, capacity)
        print(
            f"{name}: {result.n_rounds} rounds, {len(result.coef)} patterns, "
            f"bound {result.bound:.4f} → {math.ceil(result.bound - 1e-6)} rolls, "
            f"integer {rolls.objective:.0f}, best known {best}"
        )
