"""Capacitated p-median: p customers become depots that serve all within their capacity, cheapest.

    python examples/p_median.py FILE ...

FILE is in the OR-Library's format (pmedcap: number and value; customers, p, capacity; and for each
customer its number, place and demand). A column is a depot with its customers; the best one of a
depot is a knapsack. A branch decides whether a customer is a depot, then who serves it.
"""

import sys
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column, Wentges
from cgboost.integer import VariableBound, VariableBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack


def cluster(depot, served, distance):
    """A column: a depot with customers, or with none. Rows: customers, number of depots, depot."""
    n = len(distance)
    values = np.zeros(2 * n + 1)
    values[served] = values[n + 1 + depot] = 1.0
    values[n] = len(served) > 0
    cost = float(distance[depot, served].sum())
    who = {(depot, customer): 1.0 for customer in served}
    key = (depot, tuple(served))
    return Column(values, key, cost=cost, variables=who, block=("depot", depot))


def locate(distance, demand, p, capacity, **options):
    """The search for the least sum of distances, shape (n, n); demand has shape (n,)."""
    n = len(distance)
    depots = [("depot", i) for i in range(n)]
    rows = [*(("customer", j) for j in range(n)), "number of depots", *depots]
    senses, rhs = [">="] * n + ["<="] + ["=="] * n, np.array([1.0] * n + [p] + [1.0] * n)
    master = LinearMaster(rows, senses, rhs, copies=dict.fromkeys(depots, 1))
    master.add([cluster(i, [], distance) for i in range(n)])

    @respects(VariableBound)
    def price(duals):
        least, most = np.zeros((n, n)), np.ones((n, n))
        for decision in duals.restrictions:
            place = decision.variable
            least[place] = max(least[place], decision.lower)
            most[place] = min(most[place], decision.upper)
        columns, bound = [], {}
        for i, depot in enumerate(depots):
            bound[depot] = np.inf if least[i].any() else -duals[n + 1 + i]  # without customers
            must = (least[i] == 1) | (np.arange(n) == i)
            left = int(capacity - demand[must].sum())
            if left < 0 or (most[i, must] == 0).any():
                continue
            profit = np.where(most[i] == 0, 0.0, duals[:n] - distance[i])
            amounts, value = solve_knapsack(np.where(must, 0.0, profit), demand, left)
            reduced = -value - profit[must].sum() - duals[n] - duals[n + 1 + i]
            bound[depot] = min(bound[depot], reduced)
            if reduced < -1e-9:
                columns.append(cluster(i, np.flatnonzero(must | (amounts > 0)).tolist(), distance))
        return columns, bound

    first = VariableBranching(first=[(i, i) for i in range(n)], rows=False)
    options = {"branching": first, "smoothing": Wentges(0.9, decay=1.0), **options}
    return BranchAndPrice(master, price, objective_step=1.0, **options)


def instance(path):
    """Distances rounded down, demands, p and the capacity."""
    _, _, n, p, capacity, *rest = (int(word) for word in Path(path).read_text("utf-8").split())
    _, x, y, demand = np.array(rest[: 4 * n]).reshape(n, 4).T
    return np.floor(np.hypot(x[:, None] - x, y[:, None] - y)), demand, p, capacity


if __name__ == "__main__":
    for path in sys.argv[1:]:
        found = locate(*instance(path)).run(time_limit=300)
        print(path, f"{found.objective:g}, bound {found.bound:g}", found.stop_reason)
