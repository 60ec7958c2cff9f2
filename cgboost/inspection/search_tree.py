"""A branch-and-price search as a picture: bound and best solution, and the tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.inspection.drawing import INK, PALETTE, counted, on_ax, panels
from cgboost.inspection.drawing import label as named_axes
from cgboost.integer.decomposition.decomposition import DecompositionResult
from cgboost.integer.result import BranchAndPriceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LOOKS = {
    "branched": ("o", INK, "divided"),
    "integral": ("s", PALETTE[2], "integer solution"),
    "cut_off": ("v", PALETTE[4], "cut off by the best solution"),
    "infeasible": ("x", PALETTE[5], "infeasible"),
    "undivided": ("P", PALETTE[3], "divided by no rule"),
    "unfinished": ("d", PALETTE[1], "unfinished"),
}
"""Marker, colour and words of what became of a node."""

LARGE_TREE = 200
"""Trees with more nodes are drawn with small markers."""


LEAST_SPAN = 1e-6
"""Bounds and costs that differ by less than this, relative to their size, are drawn as equal."""


@on_ax
def plot_search(
    result: BranchAndPriceResult | DecompositionResult, *, ax: Iterable[Axes] | None = None
) -> Figure:
    """Draw the convergence of bound and best solution, and the tree below.

    Parameters
    ----------
    result : BranchAndPriceResult or DecompositionResult
        A ``DecompositionResult`` is drawn in the sense (minimise or maximise) of the model.
    ax : two Axes or None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        If the search was stopped before its first node, the axes are empty, with a note.

    Raises
    ------
    ValueError
        If there was no tree search, or there are not two axes.
    """
    tree = _table(result)
    figure, (above, below) = panels(ax, 2, vertical=True)
    named_axes(above, "Bound and best solution", "nodes done", "objective")
    if len(tree["node"]):
        _draw_values(above, tree)
        _draw_tree(below, tree)
        return figure
    named_axes(below, "The tree", "", "depth")
    for axis in (above, below):
        words = f"no node is done: {result.stop_reason}"
        axis.text(0.5, 0.5, words, ha="center", va="center", transform=axis.transAxes)
        axis.set_xticks([])
        axis.set_yticks([])
    return figure


def _table(result: BranchAndPriceResult | DecompositionResult) -> dict[str, NDArray[Any]]:
    """The table of the tree, with objectives and bounds in the sense of the model."""
    if isinstance(result, BranchAndPriceResult):
        return result.tree
    if not isinstance(result, DecompositionResult):
        raise ValueError(
            f"plot_search draws the result of a tree search, got a {type(result).__name__}: "
            "plot_history draws that of ColumnGeneration, and models"
        )
    if result.tree is None:
        raise ValueError(f"there was no tree search, so nothing to draw: {result.message}")
    sign, tree = -1.0 if result.maximize else 1.0, result.tree.tree
    own = {name: sign * (tree[name] + result.constant) for name in ("incumbent", "global_bound")}
    return {**tree, **own}


def _draw_values(axis: Axes, tree: Mapping[str, NDArray[Any]]) -> None:
    done = np.arange(1, len(tree["node"]) + 1)
    marker = "" if len(done) > LARGE_TREE else "."
    for name, colour, size, words in (  # the last point of both is seen where they meet
        ("incumbent", PALETTE[1], 9.0, "best solution"),
        ("global_bound", PALETTE[0], 4.0, "bound: no solution is better"),
    ):
        known = np.isfinite(tree[name])
        if known.any():
            x, y = done[known], tree[name][known]
            axis.step(x, y, where="post", color=colour, marker=marker, label=words)
            axis.plot(x[-1:], y[-1:], color=colour, marker="o", markersize=size)
    counted(axis, done)
    axis.ticklabel_format(axis="y", useOffset=False)
    low, high = axis.get_ylim()
    least = LEAST_SPAN * max(1.0, abs(low))
    if high - low < least:
        axis.set_ylim(0.5 * (low + high) - least, 0.5 * (low + high) + least)
    if axis.lines:
        axis.legend(frameon=False)


def _draw_tree(axis: Axes, tree: Mapping[str, NDArray[Any]]) -> None:
    from matplotlib.ticker import MaxNLocator

    x, y = _places(tree["node"], tree["parent"]), -tree["depth"].astype(np.float64)
    at = {int(node): place for place, node in enumerate(tree["node"])}
    for place, parent in enumerate(tree["parent"].tolist()):
        if parent in at:
            ends = [at[parent], place]
            axis.plot(x[ends], y[ends], color=INK, linewidth=0.6, zorder=1)
    size = 40.0 if len(x) <= LARGE_TREE else 6.0
    for status, (marker, colour, words) in LOOKS.items():
        own = tree["status"] == status
        if own.any():
            label = f"{words} ({int(own.sum())})"
            axis.scatter(x[own], y[own], size, colour, marker=marker, label=label, zorder=2)
    named_axes(axis, "The tree", "", "depth")
    axis.set_xticks([])
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    if not tree["depth"].any():
        axis.set_ylim(-0.5, 0.5)
        axis.set_yticks([0])
    axis.yaxis.set_major_formatter(lambda depth, _: f"{abs(depth):g}")
    axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3)


def _places(nodes: NDArray[np.intp], parents: NDArray[np.intp]) -> Vector:
    """Places from left to right: leaves one after another, parents in their own middle."""
    children: dict[int, list[int]] = defaultdict(list)
    known = set(nodes.tolist())
    for node, parent in zip(nodes.tolist(), parents.tolist(), strict=True):
        children[parent if parent in known else -1].append(node)
    place: dict[int, float] = {}
    stack, n_leaves = [(node, False) for node in sorted(children[-1], reverse=True)], 0
    while stack:
        node, seen = stack.pop()
        own = sorted(children.get(node, []))
        if not own:
            place[node], n_leaves = float(n_leaves), n_leaves + 1
        elif seen:
            place[node] = 0.5 * (place[own[0]] + place[own[-1]])
        else:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(own)]
    return np.array([place[node] for node in nodes.tolist()])
