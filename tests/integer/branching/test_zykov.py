"""Zykov's branching: chromatic numbers, in smaller trees than by pairs alone."""

from typing import Any

import networkx as nx
import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.integer import Apart, NodeSolution, RyanFoster, Together, ZykovBranching, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import heaviest_independent_set

from ..tree_problems import ROUNDING, Problem, subsets


def search(graph: nx.Graph, branching: Any) -> BranchAndPrice:
    """Fewest colours, without heuristics."""
    nodes, zykov = list(graph), ZykovBranching(graph)

    @respects(Together, Apart)
    def price(duals: Any) -> Any:
        groups = zykov.groups(duals.restrictions)
        weights = {group: sum(duals.of(node) for node in group) for group in groups}
        found, total, bound = heaviest_independent_set(groups, weights)
        colour = frozenset().union(*found)
        column = Column(np.array([float(node in colour) for node in nodes]), colour, cost=1.0)
        return [column] if total > 1 + 1e-6 else [], min(0.0, 1 - bound)

    master = LinearMaster(nodes, ">=", 1.0, least_cost=1.0)
    return BranchAndPrice(master, price, branching=branching, objective_step=1.0, heuristics=[])


def chromatic_number(graph: nx.Graph) -> float:
    """Over all independent sets, by HiGHS."""
    places = {node: i for i, node in enumerate(graph)}
    columns = [
        Column(np.isin(range(len(graph)), own).astype(float), own, cost=1.0)
        for own in subsets(len(graph))
        if not graph.subgraph([node for node, i in places.items() if i in own]).edges
    ]
    return Problem(list(graph), ">=", np.ones(len(graph)), columns, least_cost=1.0).optimum()


@pytest.mark.parametrize("seed", range(15))
def test_chromatic_numbers(seed: int) -> None:
    """As HiGHS over all independent sets, with bounds below at every node; nodes are words."""
    graph = nx.gnp_random_graph(10, 0.2 + 0.05 * (seed % 8), seed=seed)
    graph = nx.relabel_nodes(graph, {i: f"node {i}" for i in graph})
    optimum = chromatic_number(graph)
    result = search(graph, ZykovBranching(graph)).run()
    assert result.objective == result.bound == pytest.approx(optimum)
    assert (result.tree["global_bound"] <= optimum + ROUNDING).all()
    for column in result.columns:
        assert not graph.subgraph(column.key).edges


@pytest.mark.slow
def test_mycielskis_graphs_need_small_trees() -> None:
    """Four and five colours without triangles: a fifth of the nodes that pairs alone need."""
    for n, colours in ((4, 4), (5, 5)):
        graph = nx.mycielski_graph(n)
        result = search(graph, ZykovBranching(graph)).run()
        assert result.objective == result.bound == colours
        pairs = RyanFoster(subset_closed=True)
        others = search(graph, pairs).run(max_nodes=5 * result.n_nodes if n == 5 else None)
        assert n == 4 or others.gap > 0
        assert others.bound is not None
        assert others.bound <= colours


def test_dominated_nodes_are_decided_at_once() -> None:
    """Of a path all is decided at the root; of a cycle of seven by one pair: a triangle is left."""
    assert len(ZykovBranching(nx.path_graph(7)).groups(())) == 2
    rule = ZykovBranching(nx.cycle_graph(7))
    columns = [Column(np.array([1.0, 0, 1, 0, 1, 0, 0]), "odd"), Column(np.eye(7)[1], "one")]
    rows = {node: node for node in range(7)}
    solution = NodeSolution(
        columns, np.array([0.5, 0.5]), rows, np.full(7, ">="), np.ones(7), (), frozenset(), 0,
        frozenset(), np.zeros(7, dtype=np.bool_),
    )  # fmt: skip
    (branch,) = rule.branches(solution, 1)
    assert len(rule.groups(branch.children[0])) == 3
    assert nx.is_frozen(rule.groups(()))


def test_a_clique_has_nothing_to_divide() -> None:
    """All its nodes are joined."""
    graph = nx.complete_graph(4)
    assert chromatic_number(graph) == search(graph, ZykovBranching(graph)).run().objective == 4
    assert len(ZykovBranching(graph).groups(())) == 4
