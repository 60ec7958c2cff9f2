"""The stages of a model as a graph: what each is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cgboost.additive.stage import Stage

if TYPE_CHECKING:
    from networkx import DiGraph


def stage_graph(stages: Sequence[Stage], coef: Sequence[float], names: Sequence[str]) -> DiGraph:
    """An edge from everything that a stage uses to the stage.

    Parameters
    ----------
    stages : sequence of Stage
    coef : sequence of float
        Of the stages in the model.
    names : sequence of str
        Of the features.

    Returns
    -------
    networkx.DiGraph
        Nodes are features, by their names, and stages, by their numbers; attribute kind, of stages
        also coefficient and intercept. An edge has kind "input", with the weight λ and the number
        of leaves of the transformation, or kind "regressor" where an earlier stage is used in the
        leaves of other inputs alone; "leaves_of" has the inputs in whose leaves it is used.
    """
    from networkx import DiGraph

    graph = DiGraph()
    graph.add_nodes_from(names, kind="feature")
    for number, (stage, share) in enumerate(zip(stages, coef, strict=True)):
        graph.add_node(
            number, kind="stage", coefficient=float(share), intercept=float(stage.intercept)
        )
        nodes = [*names, *range(number)]
        used: dict[int, list[str | int]] = {}
        for weight, term in stage.terms:
            own = nodes[term.feature]
            graph.add_edge(own, number, kind="input", weight=weight, leaves=term.n_leaves)
            for k in map(int, np.flatnonzero(term.coef.any(axis=0))):
                used.setdefault(k, []).append(own)
        for k, inputs in used.items():
            if not graph.has_edge(k, number):
                graph.add_edge(k, number, kind="regressor")
            graph.edges[k, number]["leaves_of"] = inputs
    return graph
