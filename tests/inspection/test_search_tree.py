"""Pictures of branch-and-price searches: every node is there, and bound and solution are true."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost.generation.history import StopReason
from cgboost.inspection import plot_search
from cgboost.integer.result import TREE, BranchAndPriceResult


def result_of(nodes: list[tuple[int, int, int, str]]) -> BranchAndPriceResult:
    """A result of nodes (number, parent, depth, status), whose bounds are their places."""
    tree: dict[str, Any] = {name: np.zeros(len(nodes)) for name in TREE}
    numbers, parents, depths, statuses = zip(*nodes, strict=True) if nodes else ((),) * 4
    tree |= {"node": np.array(numbers, dtype=int), "parent": np.array(parents, dtype=int)}
    tree |= {"depth": np.array(depths, dtype=int), "status": np.array(statuses, dtype=str)}
    tree["global_bound"] = np.arange(len(nodes), dtype=float)
    tree["incumbent"] = np.array([np.inf, *[9.0] * (len(nodes) - 1)])[: len(nodes)]
    return BranchAndPriceResult(
        9.0, 9.0, 0.0, (), np.zeros(0), len(nodes), 0, StopReason.OPTIMAL, "", tree
    )


NODES = [(0, -1, 0, "branched"), (2, 0, 1, "branched"), (1, 0, 1, "integral")]
NODES += [(3, 2, 2, "infeasible"), (4, 2, 2, "cut_off")]


def test_every_node_has_a_place_of_its_own_between_its_children() -> None:
    """In the order of their numbers from left to right, one line to each parent."""
    above, below = plot_search(result_of(NODES)).axes
    places = np.concatenate([np.asarray(own.get_offsets()) for own in below.collections])
    assert len({tuple(place) for place in places.tolist()}) == len(NODES)
    assert len(below.lines) == len(NODES) - 1
    branched = np.asarray(below.collections[0].get_offsets())
    assert branched.tolist() == [[0.75, 0.0], [1.5, -1.0]]
    assert [text.get_text() for text in below.get_legend().get_texts()] == [
        "divided (2)",
        "integer solution (1)",
        "cut off by the best solution (1)",
        "infeasible (1)",
    ]
    solution, bound = above.lines[:2]
    assert np.asarray(solution.get_ydata()).tolist() == [9.0] * 4
    assert np.asarray(bound.get_ydata()).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_deep_trees_and_trees_without_their_root_are_drawn() -> None:
    """A dive of thousands of nodes needs no recursion; a parent that is not there has no line."""
    deep = [(k, k - 1, k, "branched") for k in range(3000)]
    assert plot_search(result_of(deep))
    _, below = plot_search(result_of([(5, 4, 3, "unfinished")])).axes
    assert not below.lines


def test_a_search_without_nodes_is_refused() -> None:
    """The error says why it ended."""
    nothing = replace(result_of([]), stop_reason=StopReason.TIME)
    with pytest.raises(ValueError, match=r"done no node \(time\)"):
        plot_search(nothing)
