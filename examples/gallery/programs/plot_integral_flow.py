"""
Unsplittable flow
=================

Every message takes one way through a network, and no line carries more than its capacity. A column
is a message on a path, found as a shortest path. Where a message would be split, a branch closes
some of the lines that it may leave a node by, or the others: a closed line is simply not there for
the shortest path.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import Delaunay

from cgboost import BranchAndPrice, ColumnGeneration
from cgboost.generation import Column
from cgboost.inspection import plot_search
from cgboost.integer import SetBranching, VariableBound, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import shortest_walks

rng = np.random.default_rng(1)
grid = np.stack(np.meshgrid(range(0, 100, 25), range(0, 100, 25)), axis=-1).reshape(-1, 2)
places = grid + rng.uniform(-8, 8, size=grid.shape)
triangles = Delaunay(places).simplices
pairs = {(int(t[i]), int(t[j])) for t in triangles for i in range(3) for j in range(3) if i != j}
tails, heads = np.array(sorted(pairs)).T
costs = np.round(np.linalg.norm(places[tails] - places[heads], axis=1))
capacity = 6
ends = [rng.choice(len(places), 2, replace=False).tolist() for _ in range(12)]
demand = rng.integers(1, 5, size=len(ends))

n, n_arcs = len(ends), len(tails)
messages = [f"message {k}" for k in range(n)]
rows = [*messages, *(f"line {i} → {j}" for i, j in zip(tails, heads, strict=True))]
senses, rhs = ["=="] * n + ["<="] * n_arcs, [1.0] * n + [capacity] * n_arcs
master = LinearMaster(rows, senses, rhs, copies=dict.fromkeys(messages, 1))


@respects(VariableBound)
def price(duals):
    """The shortest path of every message, and its reduced cost."""
    lengths = np.outer(demand, costs - duals[n:])
    for decision in duals.restrictions:  # SetBranching makes bounds of 0 alone
        lengths[decision.variable] = np.inf
    columns, bound = [], {}
    for k, (source, target) in enumerate(ends):
        walks = shortest_walks(tails, heads, lengths[k], source, len(places))
        bound[messages[k]] = walks.length[target] - duals[k]
        if bound[messages[k]] < -1e-9:
            path = walks.to(target)
            values = np.zeros(n + n_arcs)
            values[k], values[[n + arc for arc in path]] = 1.0, demand[k]
            used = {(k, arc): 1.0 for arc in path}
            cost = demand[k] * costs[path].sum()
            column = Column(values, (k, *path), cost=cost, variables=used, block=messages[k])
            columns.append(column)
    return columns, bound


leaving = [np.flatnonzero(tails == node).tolist() for node in range(len(places))]
rule = SetBranching([(k, arc) for arc in own] for k in range(n) for own in leaving)
split = ColumnGeneration(master.with_rows([], [], []), price).run()
result = BranchAndPrice(master, price, branching=rule, objective_step=1.0).run()
print(f"split at will {split.objective:.1f}, one path each {result.objective:.0f}")

# %%
# The paths
# ---------
# Each colour is a message, as wide as its demand; grey lines are not used.

figure, axis = plt.subplots(figsize=(9, 6.6), layout="constrained")
colours = plt.get_cmap("tab20")(np.arange(n))
for i, j in pairs:
    axis.plot(*places[[i, j]].T, color="0.88", linewidth=1, zorder=0)
on = {}  # which messages a pair of nodes has, in either direction
for column in result.columns:
    k, *path = column.key
    for arc in path:
        on.setdefault(tuple(sorted((int(tails[arc]), int(heads[arc])))), []).append(k)
for (i, j), own in on.items():
    along = (places[j] - places[i]) / np.linalg.norm(places[j] - places[i])
    aside = np.array([-along[1], along[0]])
    middles = np.cumsum(demand[own]) - demand[own] / 2 - demand[own].sum() / 2
    for k, middle in zip(own, middles, strict=True):
        line = places[[i, j]] + 0.45 * middle * aside
        axis.plot(*line.T, color=colours[k], linewidth=2 * demand[k])
for k, (source, target) in enumerate(ends):
    label = f"{source} → {target}, demand {demand[k]}"
    axis.plot([], [], color=colours[k], linewidth=3, label=label)
axis.scatter(*places.T, s=200, c="white", edgecolors="black", zorder=3)
for node, place in enumerate(places):
    axis.text(*place, node, ha="center", va="center", fontsize=8, zorder=4)
axis.set_aspect("equal")
axis.set_axis_off()
figure.legend(loc="outside right center", frameon=False)

# %%
# The proof
# ---------

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
plot_search(result, ax=axes)
