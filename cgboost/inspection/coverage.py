"""A picture of how many rows lie in their prediction intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.inspection import drawing
from cgboost.inspection.pipelines import last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_coverage(
    model: Any,
    X: Any,
    y: ArrayLike,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the measured coverage of intervals, of all rows and of each group, with its limits.

    A line marks what it should be; behind each group stand its rows and the mean length of their
    intervals.

    Parameters
    ----------
    model : fitted IntervalRegressor, or Pipeline that ends with one
    X, y, groups, sample_weight
        As in :meth:`~cgboost.IntervalRegressor.coverage_report`: rows that were not trained on.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the model has no intervals, and as ``coverage_report``.
    """
    model, (X,), _ = last_step(model, X)
    if not hasattr(model, "coverage_report"):
        raise ValueError(f"model must be an IntervalRegressor, got a {type(model).__name__}")
    report = model.coverage_report(X, y, groups, sample_weight)
    table = report.table
    figure, axis = drawing.panel(ax)
    places, coverage = np.arange(len(table["group"])), table["coverage"]
    limits = np.abs(np.stack([table["low"], table["high"]]) - coverage)
    axis.errorbar(coverage, places, xerr=limits, fmt="o", color=drawing.colour(0), capsize=3)
    nominal = f"nominal: {report.nominal:g}"
    axis.axvline(report.nominal, color=drawing.INK, linestyle="--", linewidth=1.0, label=nominal)
    names = [
        f"{drawing.named(name)}\n{rows:g} rows, length {length:.3g}"
        for name, rows, length in zip(table["group"], table["rows"], table["length"], strict=True)
    ]
    axis.set_yticks(places, names, fontsize=8)
    axis.set_ylim(len(places) - 0.5, -0.5)
    drawing.label(axis, "Rows inside their interval", "share, with 95 % limits", "")
    drawing.legend_beside(axis)
    return figure
