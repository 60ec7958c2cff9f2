"""Pictures of searches and of models with blocks: every node and every entry is there."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cgboost import decompose
from cgboost.generation.history import StopReason
from cgboost.inspection import plot_blocks, plot_search
from cgboost.integer.decomposition.blocks import MASTER, structure_of
from cgboost.integer.result import TREE, BranchAndPriceResult
from solvers import Program
from tests.integer.decomposition.test_decomposition import assignment


def result_of(nodes: list[tuple[int, int, int, str]]) -> BranchAndPriceResult:
    """A result of nodes (number, parent, depth, status), whose bounds are their places."""
    tree: dict[str, Any] = {name: np.zeros(len(nodes)) for name in TREE}
    numbers, parents, depths, statuses = zip(*nodes, strict=True) if nodes else ((),) * 4
    tree |= {"node": np.array(numbers, dtype=int), "parent": np.array(parents, dtype=int)}
    tree |= {"depth": np.array(depths, dtype=int), "status": np.array(statuses, dtype=str)}
    tree["global_bound"] = np.arange(len(nodes), dtype=float)
    tree["incumbent"] = np.array([np.inf, *[9.0] * (len(nodes) - 1)])[: len(nodes)]
    return BranchAndPriceResult(
        9.0, 9.0, 0.0, (), np.zeros(0), len(nodes), StopReason.OPTIMAL, "", tree
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
    solution, last, bound = above.lines[:3]
    assert np.asarray(solution.get_ydata()).tolist() == [9.0] * 4
    assert np.asarray(last.get_xydata()).tolist() == [[5.0, 9.0]]
    assert np.asarray(bound.get_ydata()).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_deep_trees_and_trees_without_their_root_are_drawn() -> None:
    """A dive of thousands of nodes needs no recursion; a parent that is not there has no line."""
    deep = [(k, k - 1, k, "branched") for k in range(3000)]
    assert plot_search(result_of(deep))
    _, below = plot_search(result_of([(5, 4, 3, "unfinished")])).axes
    assert not below.lines


def words_of(figure: Figure) -> list[list[str]]:
    """The texts and the names in the legends of the panels."""
    legends = [axis.get_legend() for axis in figure.axes]
    named = [[] if own is None else own.get_texts() for own in legends]
    panels = zip(figure.axes, named, strict=True)
    return [[text.get_text() for text in (*axis.texts, *own)] for axis, own in panels]


def test_what_is_not_known_is_not_drawn() -> None:
    """A search without nodes says why; one that was stopped in the root has no solution.

    A node that no rule divides has a sign of its own.
    """
    nothing = replace(result_of([]), stop_reason=StopReason.TIME)
    assert words_of(plot_search(nothing)) == [["no node is done: time"]] * 2
    stopped = result_of([(0, -1, 0, "unfinished")])
    assert words_of(plot_search(stopped)) == [["bound: no solution is better"], ["unfinished (1)"]]
    stopped.tree["global_bound"][0] = -np.inf
    assert words_of(plot_search(stopped)) == [[], ["unfinished (1)"]]
    undivided = words_of(plot_search(result_of([(0, -1, 0, "undivided")])))
    assert undivided[1] == ["divided by no rule (1)"]


def test_ticks_are_plain_numbers() -> None:
    """One node has one tick, at its number, and its depth is 0.

    Values that differ by rounding are drawn as equal: their axis has no offset.
    """
    above, below = plot_search(result_of([(0, -1, 0, "integral")])).axes
    assert above.get_xticks().tolist() == [1]
    assert below.get_yticks().tolist() == [0]
    result = result_of(NODES)
    result.tree["global_bound"] = 9.0 - 1e-9 * np.arange(len(NODES))
    figure = plot_search(result)
    FigureCanvasAgg(figure).draw()
    axis = figure.axes[0]
    assert np.ptp(axis.get_ylim()) == pytest.approx(2e-6 * 9.0, rel=0.01)
    assert axis.yaxis.get_offset_text().get_text() == ""


def test_a_decomposed_model_is_drawn_in_its_own_sense() -> None:
    """Of a model that is maximised the bound falls to the solution, with its constant."""
    model, blocks = assignment(9)
    result = decompose(model, blocks).solve(heuristics=[])
    solution, _, bound, _ = plot_search(result).axes[0].lines
    found, proven = (np.asarray(line.get_ydata()) for line in (solution, bound))
    assert found[-1] == pytest.approx(result.objective)
    assert proven[-1] == pytest.approx(result.bound)
    assert len(proven) > 1
    assert (np.diff(proven) <= 1e-9).all()


def test_every_entry_is_drawn_in_its_block_or_above() -> None:
    """Linking rows come first, and no block has a row or a variable of another."""
    model, blocks = assignment(0)
    structure = structure_of(model, blocks)
    [axis] = plot_blocks(structure).axes
    above, below = (np.asarray(own.get_offsets()) for own in axis.collections)
    assert len(above) + len(below) == model.matrix.nnz
    n_linking = len(structure.linking_rows)
    assert above[:, 1].max() == n_linking - 1
    assert below[:, 1].min() == n_linking
    boxes = [np.asarray(line.get_xydata()) for line in axis.lines[1:]]
    assert len(boxes) == structure.n_blocks
    for first, second in pairwise(boxes):
        assert first.max(axis=0).tolist() == second.min(axis=0).tolist()
    dense = np.zeros(model.matrix.shape, dtype=bool)
    points = np.r_[above, below].astype(int)
    dense[points[:, 1], points[:, 0]] = True
    rows = np.argsort(structure.block_of_row, kind="stable")
    last = np.where(structure.block_of_variable == MASTER, 99, structure.block_of_variable)
    expected = model.matrix.toarray()[rows][:, np.argsort(last, kind="stable")] != 0
    np.testing.assert_array_equal(dense, expected)


def test_blocks_that_are_not_decomposed_are_drawn_as_such() -> None:
    """The title says it: of a model in which bounds leave a variable no value."""
    upper = [0.8, 5, 5]
    program = Program([1, 1, 1], np.eye(3) + 1, 2, 9, [0.2, 0, 0], upper, None, [1, 0, 1])
    [axis] = plot_blocks(decompose(program, {"r0": None, "r1": 0})).axes
    assert axis.get_title(loc="left").endswith(", not decomposed")
    [axis] = plot_blocks(decompose(*assignment(0))).axes
    assert axis.get_title(loc="left").endswith("of its blocks")
