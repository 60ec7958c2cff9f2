"""Independent sets of large weight: the pricing problem of colourings.

At a node of a tree nodes that are coloured alike are one, and nodes that differ are joined:
Mehrotra and Trick, *A Column Generation Approach for Graph Coloring*, INFORMS J. on Computing 8,
1996. Sets of nodes are the bits of whole numbers: neighbours of all nodes of a set are joined or
taken out by one operation of the processor for every 64 nodes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

ROUNDING = 1e-12
"""Share of the sum of all weights by which sums of some of them may be off."""


def greedy_independent_set(
    graph: nx.Graph, weights: Mapping[Hashable, float]
) -> tuple[list[Hashable], float]:
    """Independent set of large weight: the next node has the most for itself and its neighbours.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, without loops.
    weights : mapping of node to float
        Of each node; those of a negative weight are left out.

    Returns
    -------
    nodes : list
        No two of them are joined, in the order in which they were taken.
    weight : float
        Of all of them.
    """
    nodes, joined = bits_of(graph)
    own = _weights_of(nodes, weights)
    left = sum(1 << v for v, weight in enumerate(own) if weight >= 0)
    chosen: list[Hashable] = []
    while left:
        best = max(members(left), key=lambda v: own[v] / (1 + (left & joined[v]).bit_count()))
        chosen.append(nodes[best])
        left &= ~(joined[best] | 1 << best)
    return chosen, sum(weights[node] for node in chosen)


def _weights_of(nodes: list[Any], weights: Mapping[Hashable, float]) -> list[float]:
    """Those of nodes, in their order; a sum with nan or inf would be no bound."""
    own = []
    for node in nodes:
        try:
            weight = float(weights[node])
        except (KeyError, IndexError, TypeError, ValueError):
            weight = math.nan
        if math.isnan(weight) or weight == math.inf:
            raise ValueError(
                "weights must map each node of the graph to a number that is not nan or inf; that "
                f"of node {node!r} is missing or is not one"
            )
        own.append(weight)
    return own


def heaviest_independent_set(
    graph: nx.Graph,
    weights: Mapping[Hashable, float],
    *,
    above: float = 0.0,
    time_limit: float | None = None,
) -> tuple[list[Hashable], float, float]:
    """Heaviest independent set, and an upper bound on the weight of all of them.

    Branch-and-bound: an independent set has one node of a clique at most, so that cliques that
    cover some nodes bound the weight of the sets among these (Held, Cook, Sewell, *Maximum-Weight
    Stable Sets and Safe Lower Bounds for Graph Coloring*, Math. Prog. Computation 4, 2012).

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, without loops.
    weights : mapping of node to float
        Of each node; those of a negative weight are left out.
    above : float, default=0.0
        Only a heavier set is looked for, which takes less time: a column prices out if the set
        weighs more than the column costs.
    time_limit : float or None, default=None
        Seconds; the heaviest set that was found until then is returned, with a larger bound.

    Returns
    -------
    nodes : list
        No two of them are joined; empty where no set weighs more than ``above``, or none was found.
    weight : float
        Of all of them.
    bound : float
        No independent set weighs more: the weight or ``above``, and what sums may be off by
        rounding. When the time is up, what cliques cover in the branches that are left.

    Examples
    --------
    >>> import networkx as nx
    >>> from cgboost.pricing import heaviest_independent_set
    >>> weights = {0: 2.0, 1: 3.0, 2: 1.0, 3: 2.0}
    >>> nodes, weight, bound = heaviest_independent_set(nx.path_graph(4), weights)
    >>> sorted(nodes), weight, round(bound, 4)
    ([1, 3], 5.0, 5.0)
    """
    nodes, joined = bits_of(graph)
    every = _weights_of(nodes, weights)
    useful = [v for v, weight in enumerate(every) if weight > 0]
    useful.sort(key=lambda v: -every[v])
    place = {v: k for k, v in enumerate(useful)}
    inside = [sum(1 << place[u] for u in members(joined[v]) if u in place) for v in useful]
    own = [every[v] for v in useful]
    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    chosen, least = _heaviest(inside, own, above, end)
    weight = sum(weights[nodes[useful[k]]] for k in chosen)
    bound = max(weight, above, least) + 2 * ROUNDING * sum(own)
    return [nodes[useful[k]] for k in chosen], weight, bound


def _heaviest(
    joined: list[int], weights: list[float], above: float, end: float
) -> tuple[list[int], float]:
    """The heaviest independent set of nodes 0, 1, … of falling weights, and what is left to bound.

    The latter is 0 unless the clock has come to its end.
    """
    allowed = ROUNDING * sum(weights)
    best, best_set = above, 0
    stack = [((1 << len(weights)) - 1, 0.0, 0)]
    while stack:
        left, weight, taken = stack.pop()
        if weight > best:
            best, best_set = weight, taken
        if time.perf_counter() > end:
            stack.append((left, weight, taken))
            break
        covered, loose, _ = _covered(left, joined, weights, best - weight + allowed)
        below = []
        for v in loose:
            below.append((covered & ~joined[v], weight + weights[v], taken | 1 << v))
            covered |= 1 << v
        stack += below
    every = 2.0 * sum(weights)  # room for all
    ends = [weight + every - _covered(left, joined, weights, every)[2] for left, weight, _ in stack]
    return list(members(best_set)), max(ends, default=0.0)


def _covered(
    left: int, joined: list[int], weights: list[float], room: float
) -> tuple[int, list[int], float]:
    """Nodes whose independent sets weigh no more than ``room``, the others, and the room left.

    Cliques cover them; one counts as much as its heaviest node.
    """
    covered = 0
    while left:
        v = (left & -left).bit_length() - 1  # the heaviest
        if weights[v] > room:
            break
        room -= weights[v]
        left ^= 1 << v
        covered |= 1 << v
        clique = left & joined[v]
        while clique:
            v = (clique & -clique).bit_length() - 1
            left ^= 1 << v
            covered |= 1 << v
            clique &= joined[v]
    return covered, list(members(left)), room


def members(bits: int) -> Iterator[int]:
    """The places of the ones of a number, the lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def bits_of(graph: nx.Graph) -> tuple[list[Any], list[int]]:
    """Nodes, and the neighbours of each as bits; a frozen graph keeps them."""
    known: tuple[list[Any], list[int]] | None = getattr(graph, "_bits", None)
    if known is not None:
        return known
    check_graph(graph)
    nodes = list(graph)
    places = {node: k for k, node in enumerate(nodes)}
    joined = [sum(1 << places[other] for other in graph[node]) for node in nodes]
    if getattr(graph, "frozen", False):
        graph._bits = nodes, joined
    return nodes, joined


def check_graph(graph: nx.Graph) -> None:
    """An undirected graph of networkx without loops; raises what else was given."""
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise TypeError(
            f"graph must be a networkx.Graph, got {type(graph).__name__}; networkx.Graph(…) makes "
            "one of a list of edges or a dict of neighbours"
        )
    if graph.is_directed():
        raise ValueError(
            f"graph must be undirected, got {type(graph).__name__}: give graph.to_undirected()"
        )
    loop = next((node for node in graph if node in graph[node]), None)
    if loop is not None:
        raise ValueError(
            f"graph must have no loops, but node {loop!r} is joined to itself, so that no "
            "independent set has it: remove the loop, or the node"
        )


def contracted_graph(
    graph: nx.Graph,
    alike: Iterable[tuple[Hashable, Hashable]] = (),
    differ: Iterable[tuple[Hashable, Hashable]] = (),
) -> nx.Graph:
    """Graph of the groups of nodes that are coloured alike.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, without loops.
    alike, differ : iterable of pairs of nodes
        The nodes of a pair get one colour, or two.

    Returns
    -------
    networkx.Graph
        Its nodes are frozensets of nodes. Groups with an edge or a pair that differs between them
        are joined; a group with one inside itself cannot be coloured and is left out. The graph is
        frozen (``networkx.freeze``): a copy can be changed.
    """
    import networkx as nx

    check_graph(graph)
    same, apart = nx.empty_graph(graph), nx.Graph(graph)
    same.add_edges_from(alike)
    apart.add_edges_from(differ)
    groups = [frozenset(group) for group in nx.connected_components(same)]
    of = {node: group for group in groups for node in group}
    result = nx.empty_graph(groups)
    result.add_edges_from((of[a], of[b]) for a, b in apart.edges)
    result.remove_nodes_from([group for group in groups if result.has_edge(group, group)])
    return nx.freeze(result)


def dominated_nodes(graph: nx.Graph) -> list[tuple[Any, Any]]:
    """Pairs (a, b) of nodes of which a can have the colour of b, whatever that is.

    All neighbours of a are neighbours of b among the nodes that are left when those before a in the
    list are taken out. No colouring needs more colours if all pairs are coloured alike.
    """
    nodes, neighbours = bits_of(graph)
    joined, left = list(neighbours), (1 << len(nodes)) - 1
    found: list[tuple[Any, Any]] = []
    is_new = True
    while is_new:
        is_new = False
        for a in members(left):
            others = left & ~(joined[a] | 1 << a)
            for c in members(joined[a]):  # b has to be a neighbour of each
                others &= joined[c]
            if others:
                found.append((nodes[a], nodes[(others & -others).bit_length() - 1]))
                left ^= 1 << a
                for c in members(joined[a]):
                    joined[c] ^= 1 << a
                is_new = True
    return found
