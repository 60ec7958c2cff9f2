"""
Graph colouring
===============

Neighbours get different colours, with as few colours as possible. A column is an independent set:
the nodes of one colour. Pricing is a heaviest independent set. Branches colour two nodes alike,
which makes one node of them, or differently, which joins them (Zykov's branching): on the graph
that comes out of it pricing is the same problem again.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.inspection import plot_search
from cgboost.integer import Apart, Together, ZykovBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import heaviest_independent_set


def colour(graph, **options):
    """The fewest colours, proven."""
    nodes, rule = list(graph), ZykovBranching(graph)
    master = LinearMaster(nodes, ">=", 1.0, least_cost=1.0)

    @respects(Together, Apart)
    def price(duals):
        groups = rule.groups(duals.restrictions)
        weights = {group: sum(duals.of(node) for node in group) for group in groups}
        found, weight, bound = heaviest_independent_set(groups, weights)
        own = frozenset().union(*found)
        column = Column(np.array([float(node in own) for node in nodes]), own, cost=1.0)
        return [column] if weight > 1 + 1e-6 else [], 1 - bound

    return BranchAndPrice(master, price, branching=rule, objective_step=1.0, **options).run()


def draw(graph, places, result, axis):
    """The graph in the colours of a solution; a node in several sets takes the first."""
    numbers = {node: i for i, own in reversed([*enumerate(result.columns)]) for node in own.key}
    shades = [plt.get_cmap("Set2")(numbers[node]) for node in graph]
    nx.draw_networkx(
        graph,
        places,
        ax=axis,
        node_color=shades,
        edgecolors="0.3",
        edge_color="0.6",
        node_size=220,
        font_size=8,
    )
    axis.set_title(f"{result.objective:.0f} colours, nodes of the tree: {result.n_nodes}")
    axis.set_axis_off()
    axis.set_aspect("equal")


# %%
# Two graphs
# ----------
# Left, points of which those that are near are joined: the relaxation already says how many colours
# it takes, and the tree is a root. Right, Mycielski's graph on eleven nodes: no three of them are
# all joined, and still three colours are not enough.

rng = np.random.default_rng(2)
grid = np.stack(np.meshgrid(range(7), range(7)), axis=-1).reshape(-1, 2)
points = dict(enumerate((grid + rng.uniform(-0.33, 0.33, size=grid.shape)).tolist()))
near = nx.random_geometric_graph(points, 1.45, pos=points)
mycielski = nx.mycielski_graph(4)
ring = dict(zip([0, 1, 2, 4, 3], np.exp(2j * np.pi * (np.arange(5) / 5 + 0.05)), strict=True))
star = ring | {v + 5: 0.5 * z for v, z in ring.items()} | {10: 0j}

results = [colour(near), colour(mycielski)]
figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
draw(near, points, results[0], axes[0])
draw(mycielski, {v: (z.real, z.imag) for v, z in star.items()}, results[1], axes[1])

# %%
# The tree of the second graph
# ----------------------------
# Without heuristics, the search has to find the colouring itself.

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
plot_search(colour(mycielski, heuristics=[]), ax=axes)
