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

from cgboost.inspection import plot_search
from cgboost.routing import RoutingPricer

rng = np.random.default_rng(11)
n, capacity, service, day = 16, 40, 10, 400  # minutes
places = rng.integers(0, 100, size=(n + 2, 2))[:-1]
places[0] = 50  # the depot
demand = np.append(0, rng.integers(4, 16, size=n))
opens = np.append(0, rng.integers(30, 250, size=n))
closes = np.append(day, opens[1:] + rng.integers(40, 110, size=n))
distance = np.round(np.linalg.norm(places[:, None] - places, axis=2)) + 1

pricer = RoutingPricer(
    distance,
    demand=demand,
    capacity=capacity,
    windows=np.column_stack([opens, closes]),
    service=np.append(0, np.full(n, service)),
)
result = pricer.search().run()
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
plot_search(result, ax=axes)
