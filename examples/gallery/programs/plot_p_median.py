"""
Capacitated p-medians
=====================

Four of thirty customers become depots that serve all of them, none more than it has room for, over
the shortest distances. A column is a depot with its customers; the best one of a depot is a
knapsack. Branches decide who is a depot first, then who is served by whom.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column, Wentges
from cgboost.inspection import plot_search
from cgboost.integer import VariableBound, VariableBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack

rng = np.random.default_rng(1)
n, p, capacity = 30, 4, 95
places, demand = rng.integers(0, 100, size=(n, 2)), rng.integers(2, 21, size=n)
distance = np.floor(np.linalg.norm(places[:, None] - places, axis=2))
print(f"demand {demand.sum()}, room {p * capacity}")

depots = [f"depot {i}" for i in range(n)]
rows = [*(f"customer {j}" for j in range(n)), "number of depots", *depots]
senses, rhs = [">="] * n + ["<="] + ["=="] * n, [1.0] * n + [p] + [1.0] * n
master = LinearMaster(rows, senses, rhs, copies=dict.fromkeys(depots, 1))


def cluster(depot, served):
    """A column: a depot with customers, or with none."""
    values = np.zeros(2 * n + 1)
    values[[*served, n + 1 + depot]] = 1.0
    values[n] = len(served) > 0
    cost, who = distance[depot, served].sum(), {(depot, customer): 1.0 for customer in served}
    return Column(values, (depot, *served), cost=cost, variables=who, block=depots[depot])


@respects(VariableBound)
def price(duals):
    """The best customers of every depot, and their reduced cost; a depot serves itself."""
    must, may = np.eye(n, dtype=bool), np.ones((n, n), dtype=bool)
    needed = np.zeros(n, dtype=bool)
    for decision in duals.restrictions:
        must[decision.variable] |= decision.lower > 0
        needed[decision.variable[0]] |= decision.lower > 0
        may[decision.variable] &= decision.upper > 0
    columns, bound = [], {}
    for i, depot in enumerate(depots):
        bound[depot] = np.inf if needed[i] else -duals[n + 1 + i]  # without customers
        left = capacity - demand[must[i]].sum()
        if left >= 0 and not (must[i] & ~may[i]).any():
            profit = duals[:n] - distance[i]
            amounts, value = solve_knapsack(np.where(may[i] & ~must[i], profit, 0), demand, left)
            reduced = -value - profit[must[i]].sum() - duals[n] - duals[n + 1 + i]
            bound[depot] = min(bound[depot], reduced)
            columns.append(cluster(i, np.flatnonzero(must[i] | (amounts > 0)).tolist()))
    return columns, bound


master.add([cluster(i, []) for i in range(n)])
first = VariableBranching(first=[(i, i) for i in range(n)], rows=False)
options = {"objective_step": 1.0, "smoothing": Wentges(0.9, decay=1.0)}
result = BranchAndPrice(master, price, branching=first, **options).run()
print(result.summary())

# %%
# Depots and their customers
# --------------------------
# A circle is a customer, as large as its demand; a square is a depot, with what it serves.

figure, axis = plt.subplots(figsize=(7, 6.6), layout="constrained")
used = [column for column in result.columns if len(column.key) > 1]
for number, column in enumerate(used):
    colour, (depot, *served) = f"C{number}", column.key
    for customer in served:
        axis.plot(*places[[depot, customer]].T, color=colour, linewidth=1, zorder=1)
    axis.scatter(*places[served].T, s=12 * demand[served], c=colour, edgecolors="white", zorder=2)
    label = f"serves {demand[served].sum()} of {capacity}"
    axis.scatter(*places[depot], s=180, c=colour, marker="s", ec="black", zorder=3, label=label)
axis.set(aspect="equal", title=f"Sum of distances {result.objective:.0f}")
figure.legend(loc="outside lower center", ncols=p, frameon=False)

# %%
# The proof
# ---------

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
plot_search(result, ax=axes)
