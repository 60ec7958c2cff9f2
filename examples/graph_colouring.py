"""Graph colouring: cover the nodes with as few independent sets as possible.

    python examples/graph_colouring.py [FILE ...]

FILE is an edge list (two node names a line); without one a queens graph and a random graph are
coloured. A column is an independent set and costs 1. Pricing is a heaviest independent set: first
greedily, then exactly, as a heaviest clique of the complement (networkx). Branches colour two nodes
alike, which makes one of them, or differently, which joins them (Mehrotra and Trick 1996).
"""

import math
import sys

import networkx as nx
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import Apart, RyanFoster, Together, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import PricerSequence

SCALE = 10**6  # weights of the exact search are integers


def queens(n):
    """Squares of an n × n board, joined where a queen can go from one to the other."""
    squares = [(row, column) for row in range(n) for column in range(n)]
    graph = nx.Graph()
    graph.add_nodes_from(squares)
    for i, (r, c) in enumerate(squares):
        for s, d in squares[i + 1 :]:
            if r == s or c == d or abs(r - s) == abs(c - d):
                graph.add_edge((r, c), (s, d))
    return graph


def quotient(graph, restrictions):
    """The graph whose nodes are sets of nodes that are coloured alike; edges: must differ."""
    alike, apart = nx.Graph(), nx.Graph(graph)
    alike.add_nodes_from(graph)
    for decision in restrictions:
        kind = alike if isinstance(decision, Together) else apart
        kind.add_edge(decision.first, decision.second)
    groups = [frozenset(group) for group in nx.connected_components(alike)]
    of = {node: group for group in groups for node in group}
    result = nx.Graph()
    result.add_nodes_from(groups)
    result.add_edges_from((of[a], of[b]) for a, b in apart.edges)
    result.remove_nodes_from([group for group in groups if result.has_edge(group, group)])
    return result


def colour(graph, **options):
    """The search for the fewest colours."""
    nodes = list(graph)
    place = {node: i for i, node in enumerate(nodes)}
    master = LinearMaster(nodes, ">=", 1.0, least_cost=1.0)

    def column(groups):
        values = np.zeros(len(nodes))
        values[[place[node] for group in groups for node in group]] = 1.0
        return Column(values, frozenset().union(*groups), cost=1.0)

    def weights(groups, duals):
        return {group: sum(duals.of(node) for node in group) for group in groups}

    def greedy(duals):
        graph_now = quotient(graph, duals.restrictions)
        weight = weights(graph_now, duals)
        chosen, left = [], set(graph_now)
        while left:
            best = max(
                left, key=lambda g: (weight[g] / (1 + len(left & set(graph_now[g]))), sorted(g))
            )
            chosen.append(best)
            left -= {best, *graph_now[best]}
        return [column(chosen)] if sum(weight[group] for group in chosen) > 1 + 1e-6 else []

    def exact(duals):
        complement = nx.complement(quotient(graph, duals.restrictions))
        weight = weights(complement, duals)
        unit = max(1.0, duals.max()) / SCALE  # rounded up: a bound
        units = {group: math.ceil(w / unit) for group, w in weight.items()}
        nx.set_node_attributes(complement, units, "weight")
        chosen, total = nx.max_weight_clique(complement, "weight")
        value = sum(weight[group] for group in chosen)
        return ([column(chosen)] if value > 1 + 1e-6 else []), min(0.0, 1 - total * unit)

    pricer = respects(Together, Apart)(PricerSequence([greedy, exact]))
    rule = RyanFoster(subset_closed=True)  # part of an independent set is one too
    return BranchAndPrice(master, pricer, branching=rule, objective_step=1.0, **options)


if __name__ == "__main__":
    graphs = {name: nx.read_edgelist(name) for name in sys.argv[1:]} or {
        "queens 6 × 6": queens(6),
        "random, 40 nodes": nx.gnp_random_graph(40, 0.5, seed=0),
    }
    for name, graph in graphs.items():
        result = colour(graph).run(time_limit=60.0)
        print(
            f"{name}: {result.objective:.0f} colours, bound {result.bound:.0f}, "
            f"{result.n_nodes} nodes: {result.stop_reason}"
        )
