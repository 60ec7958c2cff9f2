"""Kernels of strings, sets and graphs by their definitions."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import Jaccard, KernelLibrary, Spectrum, Tanimoto, WeisfeilerLehman
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, kernel_values
from cgboost.pricing import KernelPool
from tests.effort import examples

STRINGS = st.lists(st.text("acgt", max_size=8), min_size=1, max_size=6)
SETS = st.lists(st.frozensets(st.integers(0, 6)), min_size=1, max_size=6)


def column(objects: Any) -> np.ndarray:
    """Objects as an array."""
    made = np.empty(len(objects), dtype=object)
    made[:] = objects
    return made


@settings(max_examples=examples(60))
@given(STRINGS, STRINGS, st.integers(1, 4))
def test_the_spectrum_counts_common_words(rows: list[str], centres: list[str], length: int) -> None:
    """Σ over words of the products of their counts, as counted one by one, overlapping."""

    def count(word: str, text: str) -> int:
        return sum(text.startswith(word, place) for place in range(len(text)))

    words = {text[i : i + length] for text in rows for i in range(len(text) - length + 1)}
    expected = [[sum(count(w, a) * count(w, b) for w in words) for b in centres] for a in rows]
    np.testing.assert_array_equal(Spectrum(length)(column(rows), column(centres)), expected)


@settings(max_examples=examples(60))
@given(SETS, SETS)
def test_jaccard_is_the_share_of_common_elements(rows: list, centres: list) -> None:
    """|a ∩ b| / |a ∪ b|, of sets, of lists of elements and of rows of zeros and ones.

    No eigenvalue is negative.
    """
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in centres] for a in rows]
    kernel = Jaccard()
    np.testing.assert_allclose(kernel(column(rows), column(centres)), expected)
    listed = kernel(column(list(map(list, rows))), column(list(map(sorted, centres))))
    np.testing.assert_allclose(listed, expected)
    ones = [np.array([[float(j in own) for j in range(7)] for own in s]) for s in (rows, centres)]
    for own in (kernel, Tanimoto()):
        np.testing.assert_allclose(own(*ones), expected)
    np.testing.assert_array_equal(kernel.diagonal(column(rows)), 1.0)
    assert np.linalg.eigvalsh(kernel(column(rows), column(rows))).min() > -1e-12


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_scores_have_the_digits_of_the_rows(dtype: type, off: float) -> None:
    """Values are ratios of whole numbers; scores are exact up to the precision of the rows."""
    X = (np.random.default_rng(0).random((20, 9)) < 0.4).astype(dtype)
    response = np.random.default_rng(1).normal(size=20)
    for kernel in (Jaccard(), Tanimoto()):
        pool = KernelPool(KernelLibrary({"sets": kernel}), X)
        expected = kernel(X.astype(float), X.astype(float)) @ response
        np.testing.assert_allclose(pool.scores(0, None, response), expected, atol=off)


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
def test_common_colours_are_those_of_networkx(
    depth: int, node: str | None, edge: str | None
) -> None:
    """The common colours of two graphs are those that networkx gives equal hashes.

    Isomorphic graphs have the same values.
    """
    X = graphs()
    counted = [by_networkx(graph, depth, node, edge) for graph in X]
    expected = [[sum(a[c] * b[c] for c in a) for b in counted] for a in counted]
    kernel = WeisfeilerLehman(depth, node_label=node, edge_label=edge)
    np.testing.assert_array_equal(kernel(X, X), expected)
    np.testing.assert_array_equal(kernel.diagonal(X), np.diag(expected))
    renamed = column([nx.relabel_nodes(g, {v: f"n{8 - v}" for v in g}) for g in X])
    np.testing.assert_array_equal(kernel(renamed, X), expected)


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


@pytest.mark.parametrize(
    ("kernel", "objects", "words"),
    [
        (Spectrum(2), ["acgt", 3], "'own' failed.*takes strings, got 3 .int"),
        (Jaccard(), [{1}, "word"], "Jaccard takes sets, got"),
        (Jaccard(), [{1}, 3], "Jaccard takes sets, got"),
        (WeisfeilerLehman(), ["CCO"], "takes networkx graphs, got 'CCO' .str"),
    ],
)
def test_other_objects_are_named(kernel: Kernel, objects: list[Any], words: str) -> None:
    """The message shows the value and its type."""
    with pytest.raises(KernelError, match=words):
        kernel_values("own", kernel, column(objects), column(objects))


def test_a_matrix_has_zeros_and_ones_or_is_for_tanimoto() -> None:
    """Shares are no members of a set."""
    with pytest.raises(KernelError, match=r"zeros and ones, got .*0.5.*Tanimoto"):
        kernel_values("own", Jaccard(), np.array([[0.5]]), np.array([[1.0]]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        *((lambda n=n: Spectrum(n), "length must be a whole number ≥ 1") for n in (0, 2.5, "3")),
        *(
            (lambda n=n: WeisfeilerLehman(n), "depth must be a whole number ≥ 0")
            for n in (-1, 0.5, None)
        ),
    ],
)
def test_lengths_and_depths_are_whole_numbers(make: Callable[[], Kernel], words: str) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match=words):
        make()
