"""Graphs of blocks: networks, shortest paths and two-colourings, against others' answers."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.integer.decomposition.pricing.network import network_of, two_colouring
from cgboost.integer.decomposition.pricing.path_block import NegativeCycleError, Paths

from .blocks import flow


@pytest.mark.parametrize("ends", range(3))
def test_the_rows_are_those_of_the_network(ends: int) -> None:
    """Of all 0/1 points those meet the rows for which some slack gives the network's balances."""
    n_met = 0
    for seed in range(20):
        own = flow(seed, n=4, n_arcs=7, ends=ends)
        network = network_of(own)
        assert network is not None
        assert network.balance.sum() == 0
        n, n_nodes = len(own.variables), len(network.balance)
        incidence = np.zeros((n_nodes, n))
        incidence[network.tails[:n], np.arange(n)] += 1
        incidence[network.heads[:n], np.arange(n)] -= 1
        out, into = np.zeros((2, n_nodes), dtype=bool)
        out[network.tails[n:]] = into[network.heads[n:]] = True
        for point in product((0.0, 1.0), repeat=n):
            short = network.balance - incidence @ point
            met = ((short == 0) | ((short > 0) & out) | ((short < 0) & into))[:-1].all()
            rows = own.matrix @ np.array(point)
            assert met == ((rows >= own.row_lower).all() and (rows <= own.row_upper).all())
            n_met += met
    assert n_met


@given(seed=st.integers(0, 2**32 - 1), acyclic=st.booleans(), positive=st.booleans())
def test_lengths_are_those_of_networkx(seed: int, acyclic: bool, positive: bool) -> None:
    """The path has the shortest length; a negative cycle anywhere, or no path, is told."""
    rng = np.random.default_rng(seed)
    n, n_arcs = int(rng.integers(2, 12)), int(rng.integers(1, 40))
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(n_arcs)])
    if acyclic:
        ends.sort(axis=1)
    lengths = rng.integers(-1 if acyclic else 0, 4, n_arcs) + rng.integers(-1, 1, n_arcs) * (
        not positive
    )
    lengths = np.where(rng.random(n_arcs) < 0.1, np.inf, lengths)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for (a, b), length in zip(ends.tolist(), lengths.tolist(), strict=True):
        if length < np.inf:
            before = graph.get_edge_data(a, b, {"weight": np.inf})["weight"]
            graph.add_edge(a, b, weight=min(length, before))
    paths = Paths(n, *ends.T)
    assert paths.is_acyclic == nx.is_directed_acyclic_graph(nx.MultiDiGraph(ends.tolist()))
    if nx.negative_edge_cycle(graph):
        with pytest.raises(NegativeCycleError):
            paths.shortest(lengths, 0, n - 1)
        return
    found = paths.shortest(lengths, 0, n - 1)
    if found is None:
        assert not nx.has_path(graph, 0, n - 1)
        return
    assert [0, *ends[found, 1]] == [*ends[found, 0], n - 1]
    assert lengths[found].sum() == nx.bellman_ford_path_length(graph, 0, n - 1)


def test_cycles_apart_and_of_length_zero() -> None:
    """A negative cycle that no path reaches is seen, in a long graph too.

    Lengths whose sum is 0 but for rounding end in a path, or are told to be a negative cycle.
    """
    n = 100
    tails, heads = np.r_[np.arange(n - 1), n, n + 1], np.r_[np.arange(1, n), n + 1, n]
    paths, lengths = Paths(n + 2, tails, heads), np.r_[np.ones(n - 1), 2.0, -1.0]
    assert paths.shortest(lengths, 0, n - 1) == list(range(n - 1))
    with pytest.raises(NegativeCycleError):
        paths.shortest(np.r_[lengths[:-1], -3.0], 0, n - 1)
    rng = np.random.default_rng(0)
    around = Paths(5, np.array([0, 1, 2, 3, 1]), np.array([1, 2, 3, 1, 4]))
    for _ in range(200):
        a, b, c = rng.normal(size=3)
        lengths = np.array([a, b, c, -(b + c), 1.0])
        try:
            assert around.shortest(lengths, 0, 4) == [0, 4]
        except NegativeCycleError:
            assert abs(lengths[1:4].sum()) < 1e-12


def test_arcs_that_a_path_must_have() -> None:
    """They come in the order of the graph, whatever that of their numbers is."""
    paths = Paths(5, np.array([3, 1, 0, 2]), np.array([4, 2, 1, 3]))
    assert paths.ordered(np.array([0, 1, 3])) == [1, 3, 0]


EDGES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=9)


@given(edges=EDGES)
def test_colours(edges: list[tuple[int, int, bool]]) -> None:
    """A colouring keeps to every edge, and where none is found there is none."""
    first, second, different = (np.array([edge[k] for edge in edges], dtype=int) for k in range(3))
    found = two_colouring(5, first, second, different.astype(bool))

    def keeps(colours: tuple[bool, ...]) -> bool:
        return all((colours[a] != colours[b]) == other for a, b, other in edges)

    if found is None:
        assert not any(keeps(each) for each in product((False, True), repeat=5))
    else:
        assert keeps(tuple(found.tolist()))
