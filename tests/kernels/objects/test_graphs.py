"""The Weisfeiler–Lehman kernel of graphs."""

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cgboost import WeisfeilerLehman
from cgboost.exceptions import KernelError
from cgboost.kernels import kernel_values


def column(graphs: Any) -> np.ndarray:
    """Graphs as an array of objects."""
    objects = np.empty(len(graphs), dtype=object)
    objects[:] = graphs
    return objects


def graphs() -> np.ndarray:
    """Random graphs with labels of nodes and edges."""
    rng = np.random.default_rng(0)
    made = []
    for seed in range(12):
        graph = nx.gnp_random_graph(9, 0.3, seed=seed)
        nx.set_node_attributes(graph, {v: str(rng.choice(["C", "N", "O"])) for v in graph}, "atom")
        nx.set_edge_attributes(graph, {e: str(rng.integers(1, 3)) for e in graph.edges}, "bond")
        made.append(graph)
    return column(made)


def by_networkx(graph: nx.Graph, depth: int, node: str | None, edge: str | None) -> Counter:
    """Colours after every round as networkx hashes them, and the labels before the first."""
    if node is None:
        graph, node = graph.copy(), "degree"
        nx.set_node_attributes(graph, dict(graph.degree), node)
    total = Counter(("label", label) for label in nx.get_node_attributes(graph, node).values())
    if depth:
        hashes = nx.weisfeiler_lehman_subgraph_hashes(
            graph, node_attr=node, edge_attr=edge, iterations=depth, digest_size=16
        )
        total.update((t, own[t]) for own in hashes.values() for t in range(depth))
    return total


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize(("node", "edge"), [(None, None), ("atom", None), ("atom", "bond")])
def test_values_are_those_of_networkx_colours(
    depth: int, node: str | None, edge: str | None
) -> None:
    """The common colours of two graphs are those that networkx gives equal hashes."""
    X = graphs()
    counted = [by_networkx(graph, depth, node, edge) for graph in X]
    expected = [[sum(a[c] * b[c] for c in a) for b in counted] for a in counted]
    kernel = WeisfeilerLehman(depth, node_label=node, edge_label=edge)
    np.testing.assert_array_equal(kernel(X, X), expected)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diag(expected))


def test_names_of_nodes_do_not_matter() -> None:
    """Isomorphic graphs have the same values."""
    X = graphs()
    renamed = column([nx.relabel_nodes(g, {v: f"n{8 - v}" for v in g}) for g in X])
    kernel = WeisfeilerLehman(node_label="atom")
    np.testing.assert_array_equal(kernel(renamed, X), kernel(X, X))


@pytest.mark.parametrize("edge", ["bond", None])
def test_each_edge_of_a_multigraph_counts(edge: str | None) -> None:
    """Without parallel edges it is the graph of the same edges; with one it is another graph."""
    X = graphs()
    many = column([nx.MultiGraph(graph) for graph in X])
    kernel = WeisfeilerLehman(1, node_label="atom", edge_label=edge)
    np.testing.assert_array_equal(kernel(many, X), kernel(X, X))
    v, w = next(iter(X[0].edges))
    many[0].add_edge(v, w, bond="3")
    assert (kernel(many, X)[0] != kernel(X, X)[0]).any()


def test_a_graph_that_changes_is_another_one() -> None:
    """Counts are kept by what a graph is, so that an edge or a label more is seen."""
    X = graphs()
    kernel = WeisfeilerLehman(2, node_label="atom", edge_label="bond")
    before = kernel(X, X)
    X[0].add_edge(*next(iter(nx.non_edges(X[0]))), bond="2")
    changed = kernel(X, X)
    assert (changed[0] != before[0]).any()
    np.testing.assert_array_equal(changed[1:, 1:], before[1:, 1:])
    X[1].nodes[0]["atom"] = "S"
    assert (kernel(X, X)[1] != changed[1]).any()


def test_other_things_than_graphs_are_named() -> None:
    """The message shows the value and its type."""
    with pytest.raises(KernelError, match="takes networkx graphs, got 'CCO' .str"):
        kernel_values("wl", WeisfeilerLehman(), column(["CCO"]), column(["CCO"]))


@pytest.mark.parametrize("depth", [-1, 0.5, None])
def test_the_depth_is_a_whole_number(depth: object) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="depth must be a whole number ≥ 0"):
        WeisfeilerLehman(depth)  # type: ignore[arg-type]
