"""Independent sets of large weight: the pricing problem of colourings.

A heaviest independent set is a heaviest clique of the complement. At a node of a tree nodes that
are coloured alike are one, and nodes that differ are joined: Mehrotra and Trick, *A Column
Generation Approach for Graph Coloring*, INFORMS J. on Computing 8, 1996.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

WEIGHT_STEPS = 10**6
"""The exact search has weights in whole multiples of the largest, divided by this."""


def greedy_independent_set(
    graph: nx.Graph, weights: Mapping[Hashable, float]
) -> tuple[list[Hashable], float]:
    """Independent set of large weight: the next node has the most for itself and its neighbours.

    Parameters
    ----------
    graph : networkx.Graph
    weights : mapping of node to float
        Nodes of a negative weight are left out.

    Returns
    -------
    nodes : list
        No two of them are joined, in the order in which they were taken.
    weight : float
        Of all of them.
    """
    left = {node for node in graph if weights[node] >= 0}
    chosen: list[Hashable] = []
    while left:
        share = {v: weights[v] / (1 + len(left & set(graph[v]))) for v in graph if v in left}
        best = max(share, key=share.__getitem__)
        chosen.append(best)
        left -= {best, *graph[best]}
    return chosen, sum(weights[node] for node in chosen)


def heaviest_independent_set(
    graph: nx.Graph, weights: Mapping[Hashable, float]
) -> tuple[list[Hashable], float, float]:
    """Heaviest independent set, and an upper bound on the weight of all of them.

    Parameters
    ----------
    graph : networkx.Graph
    weights : mapping of node to float
        Nodes of a negative weight are left out.

    Returns
    -------
    nodes : list
        No two of them are joined.
    weight : float
        Of all of them.
    bound : float
        No independent set weighs more: the search (branch-and-bound of networkx, for cliques of the
        complement) has whole numbers, and weights are rounded up to millionths of the largest.

    Examples
    --------
    >>> import networkx as nx
    >>> from cgboost.pricing import heaviest_independent_set
    >>> weights = {0: 2.0, 1: 3.0, 2: 1.0, 3: 2.0}
    >>> nodes, weight, bound = heaviest_independent_set(nx.path_graph(4), weights)
    >>> sorted(nodes), weight, round(bound, 4)
    ([1, 3], 5.0, 5.0)
    """
    import networkx as nx

    useful = [node for node in graph if weights[node] >= 0]
    unit = max((weights[node] for node in useful), default=0.0) / WEIGHT_STEPS or 1.0
    complement = nx.complement(graph.subgraph(useful))
    units = {node: math.ceil(weights[node] / unit) for node in useful}
    nx.set_node_attributes(complement, units, "units")
    chosen, total = nx.max_weight_clique(complement, "units")
    return list(chosen), sum(weights[node] for node in chosen), total * unit


def contracted_graph(
    graph: nx.Graph,
    alike: Iterable[tuple[Hashable, Hashable]] = (),
    differ: Iterable[tuple[Hashable, Hashable]] = (),
) -> nx.Graph:
    """Graph of the groups of nodes that are coloured alike.

    Parameters
    ----------
    graph : networkx.Graph
    alike, differ : iterable of pairs of nodes
        The nodes of a pair get one colour, or two.

    Returns
    -------
    networkx.Graph
        Its nodes are frozensets of nodes. Groups with an edge or a pair that differs between them
        are joined; a group with one inside itself cannot be coloured and is left out.
    """
    import networkx as nx

    same, apart = nx.empty_graph(graph), nx.Graph(graph)
    same.add_edges_from(alike)
    apart.add_edges_from(differ)
    groups = [frozenset(group) for group in nx.connected_components(same)]
    of = {node: group for group in groups for node in group}
    result = nx.empty_graph(groups)
    result.add_edges_from((of[a], of[b]) for a, b in apart.edges)
    result.remove_nodes_from([group for group in groups if result.has_edge(group, group)])
    return result


def dominated_nodes(graph: nx.Graph) -> list[tuple[Any, Any]]:
    """Pairs (a, b) of nodes of which a can have the colour of b, whatever that is.

    All neighbours of a are neighbours of b among the nodes that are left when those before a in the
    list are taken out. No colouring needs more colours if all pairs are coloured alike.
    """
    joined = {node: set(graph[node]) for node in graph}
    found: list[tuple[Any, Any]] = []
    is_new = True
    while is_new:
        is_new = False
        for a in list(joined):
            b = next(
                (b for b in joined if a != b and b not in joined[a] and joined[a] <= joined[b]),
                None,
            )
            if b is not None:
                found.append((a, b))
                for other in joined.pop(a):
                    joined[other].discard(a)
                is_new = True
    return found
