"""A branch-and-price search as a picture: bound and best solution, and the tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cgboost.inspection.drawing import INK, PALETTE, panels
from cgboost.inspection.drawing import label as named_axes
from cgboost.integer.result import BranchAndPriceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector = NDArray[np.float64]

LOOKS = {
    "branched": ("o", INK, "divided"),
    "integral": ("s", PALETTE[2], "integer solution"),
    "cut_off": ("v", PALETTE[4], "cut off by the best solution"),
    "infeasible": ("x", PALETTE[5], "infeasible"),
    "unfinished": ("d", PALETTE[1], "unfinished"),
}
"""Marker, colour and words of what became of a node."""

LARGE_TREE = 200
"""Trees with more nodes are drawn with small markers."""


def plot_search(result: BranchAndPriceResult, *, axes: Iterable[Axes] | None = None) -> Figure:
    """Draw how bound and best solution meet, and the tree below.

    Parameters
    ----------
    result : BranchAndPriceResult
    axes : two Axes or None
        To draw on; None: a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the search has done no node, or there are not two axes.
    """
    from matplotlib.ticker import MaxNLocator

    tree = result.tree
    if not len(tree["node"]):
        raise ValueError(f"the search has done no node ({result.stop_reason}): nothing to draw")
    figure, (above, below) = panels(axes, 2, vertical=True)
    done = np.arange(1, len(tree["node"]) + 1)
    marker = "" if len(done) > LARGE_TREE else "."
    known = np.isfinite(tree["incumbent"])
    above.step(done[known], tree["incumbent"][known], where="post", color=PALETTE[1], marker=marker)
    above.step(done, tree["global_bound"], where="post", color=PALETTE[0], marker=marker)
    above.plot([], [], color=PALETTE[1], label="best solution")
    above.plot([], [], color=PALETTE[0], label="bound: no solution costs less")
    named_axes(above, "Bound and best solution", "nodes done", "cost")
    above.xaxis.set_major_locator(MaxNLocator(integer=True))
    above.legend(frameon=False)
    _draw_tree(below, result)
    return figure


def _draw_tree(axis: Axes, result: BranchAndPriceResult) -> None:
    from matplotlib.ticker import MaxNLocator

    tree = result.tree
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
    axis.yaxis.set_major_formatter(lambda depth, _: f"{abs(depth):g}")
    axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3)


def _places(nodes: NDArray[np.intp], parents: NDArray[np.intp]) -> Vector:
    """Places from left to right: leaves one after another, parents in the middle of their own."""
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
