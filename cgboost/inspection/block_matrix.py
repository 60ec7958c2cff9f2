"""The matrix of a model with its rows and variables in the order of the blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cgboost.inspection.drawing import INK, PALETTE, on_ax, panel
from cgboost.inspection.drawing import label as named_axes
from cgboost.integer.decomposition.blocks import MASTER, Structure
from cgboost.integer.decomposition.decomposition import Decomposition, DecompositionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGE_MATRIX = 5_000
"""Matrices with more entries are drawn with small markers."""


@on_ax
def plot_blocks(
    model: Decomposition | DecompositionResult | Structure, *, ax: Axes | None = None
) -> Figure:
    """Draw the nonzero entries of the matrix of a model: linking rows above, the blocks below.

    Parameters
    ----------
    model : Decomposition, DecompositionResult or Structure
        The result of ``decompose`` or of its ``solve``.
    ax : Axes or None
        Axes to draw on; None creates a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For a model without blocks.
    """
    structure = model if isinstance(model, Structure) else model.structure
    if structure is None:
        why = model.why if isinstance(model, Decomposition) else getattr(model, "message", "")
        raise ValueError(f"the model has no blocks ({why}): nothing to draw")
    figure, axis = panel(ax)
    rows, columns = structure.block_of_row, structure.block_of_variable
    row_order = np.argsort(rows, kind="stable")  # the linking rows, MASTER, come first
    column_order = np.argsort(np.where(columns == MASTER, len(columns), columns), kind="stable")
    place_of_row, place_of_column = np.argsort(row_order), np.argsort(column_order)
    entries = structure.model.matrix.tocoo()
    linking = rows[entries.row] == MASTER
    size = 1.0 if entries.nnz > LARGE_MATRIX else 9.0
    for own, colour, words in (
        (linking, PALETTE[1], f"linking rows ({len(structure.linking_rows)})"),
        (~linking, PALETTE[0], f"blocks ({structure.n_blocks}, {_n_different(structure)})"),
    ):
        x, y = place_of_column[entries.col[own]], place_of_row[entries.row[own]]
        axis.scatter(x, y, size, colour, marker="s", linewidths=0, label=words)
    n_first = len(structure.linking_rows)
    axis.axhline(n_first - 0.5, color=INK, linewidth=0.6)
    for block in range(structure.n_blocks):
        inside = place_of_row[structure.rows(block)], place_of_column[structure.variables(block)]
        if all(len(own) for own in inside):
            (top, bottom), (left, right) = ((own.min() - 0.5, own.max() + 0.5) for own in inside)
            corners = ([left, right, right, left, left], [top, top, bottom, bottom, top])
            axis.plot(*corners, color=INK, linewidth=0.6)
    n_rows, n_columns = structure.model.matrix.shape
    axis.set_xlim(-0.5, n_columns - 0.5)
    axis.set_ylim(n_rows - 0.5, -0.5)
    undone = isinstance(model, Decomposition) and model.obstacle
    title = "The matrix in the order of its blocks" + (", not decomposed" if undone else "")
    named_axes(axis, title, "variable", "row")
    axis.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2, markerscale=2
    )
    return figure


def _n_different(structure: Structure) -> str:
    n_groups = len(structure.groups())
    if n_groups in (1, structure.n_blocks):
        return "all equal" if n_groups == 1 else "all different"
    return f"{n_groups} of them different"
