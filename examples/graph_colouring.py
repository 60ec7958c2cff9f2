"""Graph colouring: cover the nodes with as few independent sets as possible.

    python examples/graph_colouring.py [FILE ...]

FILE is an edge list (two node names a line); without one a queens graph and a random graph are
coloured. A column is an independent set and costs 1. Pricing is a heaviest independent set: first
greedily, then exactly, as a heaviest clique of the complement (networkx). The bound is the
fractional chromatic number, rounded up (Mehrotra and Trick 1996).
"""

import math
import sys

import networkx as nx
import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import Column
from cgboost.masters import LinearMaster, solve_integer
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


def colour(graph):
    """Result of the linear relaxation, and of the integer step."""
    nodes, complement = list(graph), nx.complement(graph)
    place = {node: i for i, node in enumerate(nodes)}
    master = LinearMaster(nodes, ">=", 1.0, least_cost=1.0)

    def column(chosen):
        values = np.zeros(len(nodes))
        values[[place[node] for node in chosen]] = 1.0
        return Column(values, frozenset(chosen), cost=1.0)

    def greedy(duals):
        weight = {node: duals.of(node) for node in nodes}
        chosen, left = [], set(nodes)
        while left:
            best = max(left, key=lambda node: weight[node] / (1 + len(left & set(graph[node]))))
            chosen.append(best)
            left -= {best, *graph[best]}
        return [column(chosen)] if sum(weight[node] for node in chosen) > 1 + 1e-6 else []

    def exact(duals):
        unit = max(1.0, duals.max()) / SCALE
        weights = {node: math.ceil(duals.of(node) / unit) for node in nodes}  # rounded up: a bound
        nx.set_node_attributes(complement, weights, "weight")
        chosen, weight = nx.max_weight_clique(complement, "weight")
        value = sum(duals.of(node) for node in chosen)
        return ([column(chosen)] if value > 1 + 1e-6 else []), min(0.0, 1 - weight * unit)

    result = ColumnGeneration(master, PricerSequence([greedy, exact]), tol=1e-4).run()
    return result, solve_integer(master, result, time_limit=20.0)


if __name__ == "__main__":
    graphs = {name: nx.read_edgelist(name) for name in sys.argv[1:]} or {
        "queens 6 × 6": queens(6),
        "random, 40 nodes": nx.gnp_random_graph(40, 0.5, seed=0),
    }
    for name, graph in graphs.items():
        result, colours = colour(graph)
        print(
            f"{name}: {result.n_rounds} rounds, {result.stop_reason}, bound {result.bound:.4f} → "
            f"{math.ceil(result.bound - 1e-4)}, {colours.objective:.0f} colours"
        )
