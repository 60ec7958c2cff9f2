"""
Vehicle routing with time windows
=================================

Vans bring goods to customers, each within the hours at which somebody is there, on the shortest
routes. A column is a route. The best one is a shortest path that keeps to hours and capacity, found
by labelling. Branches decide the number of vans, then whether one customer follows another.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.inspection import plot_search
from cgboost.integer import CountRow, VariableBound, VariableRow, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import ElementaryPaths

rng = np.random.default_rng(11)
n, capacity, service, day = 16, 40, 10, 400  # minutes
depot = n + 1  # at the end of a route; 0 at its beginning
places = rng.integers(0, 100, size=(n + 2, 2))
places[[0, depot]] = 50
demand = np.concatenate([[0], rng.integers(4, 16, size=n), [0]])
opens = np.concatenate([[0], rng.integers(30, 250, size=n), [0]])
closes = np.concatenate([[day], opens[1:-1] + rng.integers(40, 110, size=n), [day]])
distance = np.round(np.linalg.norm(places[:, None] - places, axis=2)) + 1

load, empty = np.broadcast_to(demand, distance.shape), np.zeros(n + 2)
paths = ElementaryPaths(
    consumption=[distance + service, load],
    lower=[opens, empty],
    upper=[closes, empty + capacity],
    source=0,
    sink=depot,
)


def route(path):
    """A column: the customers of a path from the depot back to it."""
    length = float(sum(distance[arc] for arc in pairwise(path)))
    values = np.isin(range(1, depot), path).astype(float)
    return Column(values, path, cost=length, variables=dict.fromkeys(pairwise(path), 1.0))


@respects(CountRow, VariableRow, VariableBound)
def price(duals):
    """Routes of negative reduced cost, and the least there is."""
    cost = distance.copy()
    cost[1:depot] -= np.asarray(duals)[:, None]
    cost[0] -= duals.constant()
    for arc, dual in duals.prices.items():
        cost[arc] -= dual
    for decision in duals.restrictions:
        cost[decision.variable] = np.inf
    cost[0, depot] = np.inf
    found = paths.shortest(cost, 20, below=-1e-6)
    return [route(path) for path in found.paths], found.bound


master = LinearMaster(range(1, depot), "==", 1.0, copies=n)
result = BranchAndPrice(master, price, objective_step=1.0).run()
print(result.summary())

# %%
# Where the vans go, and when
# ---------------------------
# Left, the map. Right, the hours: a van serves a customer (dark) within its window (light), and
# waits where it comes too early.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
order = [customer for column in result.columns for customer in column.key[1:-1]]
for number, column in enumerate(result.columns):
    colour, time = f"C{number}", 0.0
    left.plot(*places[list(column.key)].T, "o-", color=colour, markersize=15)
    for before, customer in pairwise(column.key[:-1]):
        time = max(time + service * (before > 0) + distance[before, customer], opens[customer])
        window, lane = closes[customer] - opens[customer] + service, order.index(customer)
        right.barh(lane, window, left=opens[customer], color=colour, alpha=0.25)
        right.barh(lane, service, left=time, color=colour)
for customer in order:
    left.text(*places[customer], customer, color="white", ha="center", va="center", fontsize=8)
left.plot(*places[0], "ks", markersize=12)
left.set(aspect="equal", title=f"{len(result.columns)} vans, length {result.objective:.0f}")
right.set_yticks(range(n), order)
right.invert_yaxis()
right.set(
    xlim=(0, None),
    xlabel="minutes",
    ylabel="customer",
    title="Windows, and when customers are served",
)

# %%
# The proof
# ---------

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
plot_search(result, axes=axes)
