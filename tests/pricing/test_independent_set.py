"""Independent sets: independent, none heavier than the bound, by enumeration."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from cgboost.pricing import greedy_independent_set, heaviest_independent_set


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
