"""Few colours for the nodes of a graph, and a lower bound on their number.

Both are found before any column is generated. A tree search that begins with a colouring and a
bound that meet has nothing to do; the linear program alone is weak where cliques are small.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Hashable
from itertools import takewhile
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from cgboost.pricing.independent_set import bits_of, members

if TYPE_CHECKING:
    import networkx as nx

MOST_SUBGRAPHS = 30
"""Subgraphs that are tried for each clique: which node is added next matters to those after it. The
bounds of 26 graphs (Mycielskians, queens, random ones) are 161 in all, with 10 subgraphs 159, with
100 of them 162 in twice the time."""

IDLE_STEPS = 100
"""Steps for each node in which the tabu search finds no fewer conflicts than ever before, and gives
up: with 100 it has 15 colours for le450_15b (450 nodes) from ten seeds of ten, with 44 from two of
six, in steps of some 40 µs."""


def few_colours(
    graph: nx.Graph, *, time_limit: float | None = None, random_state: Any = 0
) -> tuple[list[set[Hashable]], int]:
    """Independent sets that cover a graph, few of them, and how many are needed at least.

    The sets are those of DSATUR, and then of a tabu search, which takes one colour away as long as
    it finds a colouring without a conflict: a step gives another colour to a node in conflict, such
    that the fewest edges have two ends of one colour, and forbids the old one for a while (Hertz,
    de Werra, *Using Tabu Search Techniques for Graph Coloring*, Computing 39, 1987; Galinier, Hao,
    J. of Combinatorial Optimization 3, 1999).

    A clique needs a colour for each of its nodes, and a Mycielskian one more than its graph: let
    the edges of a subgraph H need k colours. For each node v of H let S(v) be the nodes of the
    graph that are joined to all neighbours which v has in H. If a node w has a neighbour u(v) in
    each S(v), then H, all u(v) and w need k + 1: where k are enough, a v of the colour of w can
    have that of u(v), so that H has one colour fewer. Such nodes are added as long as there are any
    (Hebrard, Katsirelos, *Clause Learning and New Bounds for Graph Coloring*, CP 2018), beginning
    with each of the largest cliques that are found greedily.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, without loops.
    time_limit : float or None, default=None
        Seconds, after which the best sets and the best bound so far are returned; DSATUR is not
        cut short. Without a limit the search ends as well: it gives up a colour after 1000 steps in
        a row without fewer conflicts than ever before.
    random_state : int, numpy.random.RandomState or None, default=0
        Of the tabu search; None for another one in each call.

    Returns
    -------
    sets : list of sets of nodes
        Each node is in one of them, and no two nodes of a set are joined.
    bound : int
        No colouring has fewer colours; 0 of a graph without nodes, or where no time was left.

    Examples
    --------
    >>> import networkx as nx
    >>> from cgboost.pricing import few_colours
    >>> sets, bound = few_colours(nx.mycielski_graph(5))
    >>> len(sets), bound
    (5, 5)
    """
    import networkx as nx

    end = math.inf if time_limit is None else time.perf_counter() + time_limit
    nodes, joined = bits_of(graph)
    first = nx.greedy_color(graph, "DSATUR")
    colour = [first[node] for node in nodes]
    n_colours = max(colour, default=-1) + 1
    bound = _bound(joined, n_colours, end)
    neighbours = [list(members(bits)) for bits in joined]
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**31)
    rng = random.Random(int(random_state))
    while n_colours > bound:
        begun = [k % (n_colours - 1) for k in colour]
        fewer = _without_conflicts(neighbours, begun, n_colours - 1, rng, end)
        if fewer is None:
            break
        colour, n_colours = fewer, n_colours - 1
    sets: list[set[Hashable]] = [
        {node for node, own in zip(nodes, colour, strict=True) if own == k}
        for k in sorted(set(colour))
    ]
    return sets, bound


def _bound(joined: list[int], enough: int, end: float) -> int:
    """Colours that are needed at least; known to be at most ``enough``."""
    in_time = takewhile(lambda _: time.perf_counter() < end, range(len(joined)))
    cliques = sorted({_clique(joined, v) for v in in_time})
    bound = largest = max((clique.bit_count() for clique in cliques), default=0)
    for clique in cliques:
        if bound == enough:
            break
        if clique.bit_count() == largest:
            bound = max(bound, _with_mycielskians(joined, clique, enough, end))
    return bound


def _clique(joined: list[int], v: int) -> int:
    """A clique with a node: the next is that with the most neighbours among those that are left."""
    clique, left = 1 << v, joined[v]
    while left:
        v = max(
            members(left), key=lambda u: ((left & joined[u]).bit_count(), joined[u].bit_count())
        )
        clique |= 1 << v
        left &= joined[v]
    return clique


def _with_mycielskians(joined: list[int], clique: int, enough: int, end: float) -> int:
    """Colours that a clique and what is added to it need: depth first, over the nodes w."""
    degree = [each.bit_count() for each in joined]
    first = {v: clique & ~(1 << v) for v in members(clique)}  # neighbours in H
    stack, most = [(first, len(first))], 0
    for _ in range(MOST_SUBGRAPHS):
        if not stack or most == enough or time.perf_counter() >= end:
            break
        within, needed = stack.pop()
        most = max(most, needed)
        twins, ends = {}, (1 << len(joined)) - 1
        for v, neighbours in within.items():
            twins[v] = _common(joined, neighbours)
            reached = 0
            for u in members(twins[v]):
                reached |= joined[u]
            ends &= reached
            if not ends:
                break
        for w in sorted(members(ends), key=degree.__getitem__):
            larger = dict(within)
            for v, neighbours in within.items():
                possible = twins[v] & joined[w]
                u = v if possible >> v & 1 else max(members(possible), key=degree.__getitem__)
                for x in (*members(neighbours), w):
                    larger[u] = larger.get(u, 0) | 1 << x
                    larger[x] = larger.get(x, 0) | 1 << u
            stack.append((larger, needed + 1))
    return most


def _common(joined: list[int], nodes: int) -> int:
    """Nodes that are joined to all of some."""
    found = (1 << len(joined)) - 1
    for x in members(nodes):
        found &= joined[x]
    return found


def _without_conflicts(
    joined: list[list[int]], colour: list[int], n_colours: int, rng: random.Random, end: float
) -> list[int] | None:
    """A colouring with no edge between nodes of one colour, from one that may have some."""
    near = [[0] * n_colours for _ in joined]  # neighbours of each colour
    for v, neighbours in enumerate(joined):
        for u in neighbours:
            near[v][colour[u]] += 1
    forbidden_until = [[0] * n_colours for _ in joined]
    bad = {v for v, own in enumerate(colour) if near[v][own]}
    conflicts = fewest = sum(near[v][colour[v]] for v in bad) // 2
    step = last = 0
    while conflicts and time.perf_counter() < end and step - last < IDLE_STEPS * len(joined):
        step += 1
        least = len(joined)
        moves: list[tuple[int, int]] = []
        for v in bad:
            own, until, of = colour[v], forbidden_until[v], near[v]
            for k in range(n_colours):
                change = of[k] - of[own]
                if change > least or k == own:
                    continue
                if until[k] >= step and conflicts + change >= fewest:
                    continue
                if change < least:
                    least, moves = change, []
                moves.append((v, k))
        if not moves:
            continue
        v, new = rng.choice(moves)
        old, colour[v] = colour[v], new
        forbidden_until[v][old] = step + 6 * len(bad) // 10 + rng.randrange(10)
        for u in joined[v]:
            near[u][old] -= 1
            near[u][new] += 1
        for u in (v, *joined[v]):
            (bad.add if near[u][colour[u]] else bad.discard)(u)
        conflicts += least
        if conflicts < fewest:
            fewest, last = conflicts, step
    return None if conflicts else colour
