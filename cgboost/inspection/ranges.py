"""Pictures of ranges over all near-optimal models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from cgboost.inspection import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cgboost.proofs.near_optimal import NearOptimal


WORDS = {"coef": "coefficient", "importance": "importance, Σ|α|"}
"""What the axis is called."""


@drawing.on_ax
def plot_ranges(
    near: NearOptimal,
    *,
    kind: Literal["coef", "importance"] | None = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Figure:
    """Draw what all near-optimal models say of each feature, as intervals, the widest on top.

    The dot is the model's own value. A coefficient whose interval is on one side of 0 has that sign
    in every model of the set.

    Parameters
    ----------
    near : NearOptimal
        Of :func:`cgboost.near_optimal`.
    kind : {"coef", "importance"} or None
        None: the coefficients of linear models, else importances.
    top : int, default=20
        Maximum number of features.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1.
    CertificateError
        If the model has no values of this kind.
    """
    drawing.check_top(top)
    table = near.table(kind)
    low, high, value = (np.array(table[name]) for name in ("low", "high", "value"))
    order = np.argsort(low - high, kind="stable")[:top]
    figure, axis = drawing.panel(ax, bars=len(order))
    places = np.arange(len(order))
    sure = (low[order] > 0) | (high[order] < 0)
    signed = (kind or near.kind_of_table) == "coef"
    for chosen, colour, name in (
        (sure, drawing.PALETTE[0], "of one sign" if signed else "above 0"),
        (~sure, drawing.PALETTE[1], "0 is inside"),
    ):
        if chosen.any():
            axis.hlines(
                places[chosen], low[order][chosen], high[order][chosen], colour, lw=4, label=name
            )
    axis.plot(value[order], places, "o", color=drawing.INK, ms=4, label="the model")
    axis.axvline(0.0, color=drawing.INK, lw=0.8)
    axis.set_yticks(places, [drawing.named(table["feature"][j]) for j in order])
    axis.set_ylim(len(order) - 0.4, -0.6)
    drawing.legend_beside(axis)
    title = f"All models within {100.0 * near.epsilon:.3g} % of the objective"
    drawing.label(axis, title, WORDS[kind or near.kind_of_table], "feature")
    return figure
