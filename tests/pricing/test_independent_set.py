"""Independent sets: independent, none heavier than the bound, by enumeration."""

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from cgboost.pricing import (
    contracted_graph,
    dominated_nodes,
    greedy_independent_set,
    heaviest_independent_set,
)


def independent(graph: nx.Graph, nodes: object) -> bool:
    """Whether no two of the nodes are joined."""
    return graph.subgraph(nodes).number_of_edges() == 0


@pytest.mark.parametrize("seed", range(20))
def test_no_other_independent_set_is_heavier(seed: int) -> None:
    """Of all sets of nodes, of positive and negative weights; the greedy one is no heavier."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(9, rng.uniform(0.1, 0.9), seed=seed)
    weights = dict(enumerate(rng.uniform(-1, 3, size=9).tolist()))
    every = (nodes for n in range(10) for nodes in combinations(graph, n))
    best = max(sum(weights[v] for v in nodes) for nodes in every if independent(graph, nodes))
    nodes, weight, bound = heaviest_independent_set(graph, weights)
    assert independent(graph, nodes)
    assert best <= bound <= best + 9 * 3e-6
    assert weight == pytest.approx(sum(weights[v] for v in nodes))
    assert weight == pytest.approx(best, abs=9 * 3e-6)
    quick, quick_weight = greedy_independent_set(graph, weights)
    assert independent(graph, quick)
    assert quick_weight == pytest.approx(sum(weights[v] for v in quick))
    assert quick_weight <= bound


def test_the_greedy_set_cannot_be_extended() -> None:
    """Each node that is left out has a neighbour in it, if all weights are positive."""
    graph = nx.gnp_random_graph(30, 0.2, seed=1)
    chosen, _ = greedy_independent_set(graph, dict.fromkeys(graph, 1.0))
    assert nx.is_dominating_set(graph, chosen)


@pytest.mark.parametrize("weight", [0.0, -1.0])
def test_nothing_of_worth_weighs_nothing(weight: float) -> None:
    """Without nodes, or without a positive weight; nodes of negative weight are left out."""
    for graph in (nx.Graph(), nx.path_graph(3)):
        weights = dict.fromkeys(graph, weight)
        assert heaviest_independent_set(graph, weights)[1:] == (0.0, 0.0)
        assert greedy_independent_set(graph, weights)[1] == 0.0


def n_colours(graph: nx.Graph) -> int:
    """The chromatic number, by trying all colourings with one colour more each time."""
    nodes = list(graph)
    for n in range(len(nodes) + 1):
        first = [c for c in product(range(n), repeat=len(nodes)) if c[:1] in ((), (0,))]
        for colours in first:
            of = dict(zip(nodes, colours, strict=True))
            if all(of[a] != of[b] for a, b in graph.edges):
                return n
    raise AssertionError("a colour for each node is enough")


@pytest.mark.parametrize("seed", range(10))
def test_contracting_and_joining_a_pair_cover_all_colourings(seed: int) -> None:
    """The fewer colours of the two graphs are those of the graph."""
    graph = nx.gnp_random_graph(6, 0.5, seed=seed)
    for pair in list(nx.non_edges(graph))[:3]:
        alike, differ = contracted_graph(graph, [pair]), contracted_graph(graph, differ=[pair])
        assert frozenset(pair) in alike
        assert len(differ) == 6
        assert min(n_colours(alike), n_colours(differ)) == n_colours(graph)


def test_a_group_with_an_edge_inside_is_left_out() -> None:
    """It has no independent set."""
    graph = nx.path_graph(3)
    assert set(contracted_graph(graph, [(0, 1)])) == {frozenset({2})}
    assert set(contracted_graph(graph, [(0, 2)], [(0, 2)])) == {frozenset({1})}


@pytest.mark.parametrize("seed", range(20))
def test_dominated_nodes_cost_no_colour(seed: int) -> None:
    """All pairs alike leave the chromatic number; what is left has no dominated node."""
    graph = nx.gnp_random_graph(6, 0.4, seed=seed)
    pairs = dominated_nodes(graph)
    reduced = contracted_graph(graph, pairs)
    assert len(reduced) == 6 - len(pairs)
    assert n_colours(reduced) == n_colours(graph)
    assert not dominated_nodes(graph.subgraph(set(graph) - {a for a, _ in pairs}))
