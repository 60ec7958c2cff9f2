"""Graph colouring: cover the nodes with as few independent sets as possible.

    python examples/graph_colouring.py [FILE ...]

FILE is in the DIMACS format (queen6_6.col, …); without one a graph without triangles and a random
one are coloured. A column is an independent set and costs 1. Pricing is a heaviest independent
set: first greedily, then exactly. Branches colour two nodes alike, which makes one of them, or
differently, which joins them (Mehrotra and Trick 1996): pricing sees the graph that results.
"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import Apart, Together, ZykovBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import PricerSequence, greedy_independent_set, heaviest_independent_set


def colour(graph, **options):
    """The search for the fewest colours."""
    nodes, rule = list(graph), ZykovBranching(graph)
    master = LinearMaster(nodes, ">=", 1.0, least_cost=1.0)

    def column(groups):
        colour = frozenset().union(*groups)
        return Column(np.array([float(node in colour) for node in nodes]), colour, cost=1.0)

    def weighted(duals):
        groups = rule.groups(duals.restrictions)
        return groups, {group: sum(duals.of(node) for node in group) for group in groups}

    def greedy(duals):
        groups, weight = weighted(duals)
        columns = []
        while True:  # each set has no node of those before
            found, total = greedy_independent_set(groups, weight)
            if total <= 1 + 1e-6:
                return columns
            columns.append(column(found))
            weight.update(dict.fromkeys(found, -1.0))

    def exact(duals):
        groups, weight = weighted(duals)
        found, total, bound = heaviest_independent_set(
            groups, weight, above=1.0, time_limit=duals.seconds_left
        )
        return [column(found)] if total > 1 + 1e-6 else [], min(0.0, 1 - bound)

    clique, _ = greedy_independent_set(nx.complement(graph), dict.fromkeys(nodes, 1.0))
    colour_of = nx.greedy_color(graph, "DSATUR")
    start = [
        column([{node for node in nodes if colour_of[node] == number}])
        for number in sorted(set(colour_of.values()))
    ]
    pricer = respects(Together, Apart)(PricerSequence([greedy, exact]))
    own = {"branching": rule, "objective_step": 1.0, "start": start}
    own["start_duals"] = dict.fromkeys(clique, 1.0)  # as many colours as it has nodes
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
