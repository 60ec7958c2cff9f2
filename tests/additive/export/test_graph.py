"""The graph of stages has an edge for everything that a stage uses."""

import networkx as nx
import numpy as np

from cgboost.additive.export.curve import stage_graph
from cgboost.additive.stage import Stage
from tests.additive.test_stage import chain, line


def test_edges_are_what_the_stages_use() -> None:
    """Inputs with weights and leaves; regressors of leaves with the inputs of these leaves."""
    graph = stage_graph(chain().stages, [1.0, 0.5, 2.0], ["p", "q"])
    assert nx.is_directed_acyclic_graph(graph)
    assert dict(graph.nodes(data="kind")) == {
        "p": "feature",
        "q": "feature",
        0: "stage",
        1: "stage",
        2: "stage",
    }
    assert [graph.nodes[k]["coefficient"] for k in range(3)] == [1.0, 0.5, 2.0]
    assert [graph.nodes[k]["intercept"] for k in range(3)] == [1.0, 0.0, -1.0]
    assert set(graph.edges) == {("p", 0), ("q", 1), (0, 1), (1, 2)}
    assert graph.edges["p", 0] == {"kind": "input", "weight": 2.0, "leaves": 2}
    both = {"kind": "input", "weight": -1.0, "leaves": 2, "leaves_of": ["q"]}
    assert graph.edges[0, 1] == both


def test_a_regressor_alone_is_an_edge_too() -> None:
    """With the inputs in whose leaves it is."""
    stages = [
        Stage(0.0, [(1.0, line(0, 1.0))]),
        Stage(0.0, [(1.0, line(0, 1.0, coef=[2.0])), (1.0, line(1, 1.0, coef=[1.0]))]),
    ]
    graph = stage_graph(stages, np.ones(2).tolist(), ["p", "q"])
    assert graph.edges[0, 1] == {"kind": "regressor", "leaves_of": ["p", "q"]}
    assert not stage_graph([], [], ["p"]).edges
