"""Graph colouring: cover the nodes with as few independent sets as possible.

    python examples/graph_colouring.py [FILE ...]

FILE is in the DIMACS format (queen6_6.col, …); without one a graph without triangles and a random
one are coloured. A column is an independent set and costs 1. Each node needs a colour. Pricing is a
heaviest independent set: greedily, then exactly. Branches colour two nodes alike, which makes one
of them, or differently, which joins them (Mehrotra and Trick 1996): pricing sees that graph.
"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import Apart, Together, ZykovBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import (
    PricerSequence,
    few_colours,
    greedy_independent_set,
    heaviest_independent_set,
)


def colour(graph, **options):
    """The search for the fewest colours."""
    nodes, rule = list(graph), ZykovBranching(graph)
    sets, needed = few_colours(graph, time_limit=30.0)
    master = LinearMaster([*nodes, "colours"], ">=", [1.0] * len(nodes) + [needed], least_cost=1.0)

    def column(groups):
        colour = frozenset().union(*groups)
        return Column(np.array([*(float(node in colour) for node in nodes), 1.0]), colour, cost=1.0)

    def weighted(duals):
        groups, least = rule.groups(duals.restrictions), 1.0 - duals.of("colours")
        return groups, {group: sum(map(duals.of, group)) for group in groups}, least

    def greedy(duals):
        groups, weight, least = weighted(duals)
        columns = []
        while True:  # each set has no node of those before
            found, total = greedy_independent_set(groups, weight)
            if not found or total <= least + 1e-6:
                return columns
            columns.append(column(found))
            weight.update(dict.fromkeys(found, -1.0))

    def exact(duals):
        groups, weight, least = weighted(duals)
        found, total, bound = heaviest_independent_set(
            groups, weight, above=least, time_limit=duals.seconds_left
        )
        return [column(found)] if total > least + 1e-6 else [], min(0.0, least - bound)

    pricer = respects(Together, Apart)(PricerSequence([greedy, exact]))
    own = {"branching": rule, "objective_step": 1.0, "start": [column([found]) for found in sets]}
    own["start_duals"] = {"colours": 1.0}  # the first bound
    return BranchAndPrice(master, pricer, **{**own, **options})


def read(path):
    """The graph of a file: an edge is a line "e NODE NODE"."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return nx.Graph(line.split()[1:] for line in lines if line.startswith("e "))


if __name__ == "__main__":
    graphs = {name: read(name) for name in sys.argv[1:]} or {
        "Mycielski, 11 nodes": nx.mycielski_graph(4),
        "random, 40 nodes": nx.gnp_random_graph(40, 0.5, seed=0),
    }
    for name, graph in graphs.items():
        result = colour(graph).run(time_limit=60.0)
        colours, bound = f"{result.objective:.0f} colours", f"bound {result.bound:.0f}"
        print(f"{name}: {colours}, {bound}, {result.n_nodes} nodes: {result.stop_reason}")
