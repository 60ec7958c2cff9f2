"""Pictures of contributions: from the base value to one prediction, and their mean sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.estimators.common.class_outputs import output_place
from cgboost.inspection import drawing
from cgboost.inspection.shapley.contributions import Contributions
from cgboost.tables.table_columns import legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RAISES, LOWERS, REST = "#D55E00", "#0072B2", "#bbbbbb"
"""Colours of contributions above and below 0, and of features together."""


@drawing.on_ax
def plot_contributions(
    found: Contributions,
    row: int | None = None,
    *,
    output: Any = None,
    top: int = 10,
    ax: Axes | None = None,
) -> Figure:
    """Draw what features contribute to one prediction, or their mean size over all rows.

    One row is a waterfall: from the base value at the bottom to the output of the model at the top,
    with the value of each feature next to its name. Features beyond ``top`` are one bar. For the
    other pictures of shap there is ``found.to_shap()``.

    Parameters
    ----------
    found : Contributions
        From :func:`contributions`.
    row : int, optional
        Without it, bars are mean sizes over the rows.
    output : class label, quantile or int, optional
        Of several outputs, by its name or number; by default the last.
    top : int, default=10
        Maximum number of features with a separate bar.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If ``top`` is less than 1.
    IndexError
        If there is no such row or output.
    """
    drawing.check_top(top)
    if row is not None and not -len(found) <= row < len(found):
        raise IndexError(f"row must be below {len(found)}, the number of rows, got {row!r}")
    values, base, name = found.values, found.base_values, ""
    if found.output_names is not None:
        called = str(output) if str(output) in found.output_names else output
        place = output_place(called, found.output_names, default=-1)
        name = f" of {drawing.named(found.output_names[place])}"
        values, base = values[..., place], base[..., place]
    figure, axis = drawing.panel(ax, (8.0, 1.4 + 0.32 * (min(top, values.shape[1]) + 1)))
    if row is None:
        _draw_sizes(axis, found, np.abs(values).mean(axis=0), top)
        drawing.label(axis, "Mean size of contributions", f"mean |contribution to f{name}|", "")
    else:
        _draw_row(axis, found, row, values[row], float(base[row]), top)
        drawing.label(axis, f"Contributions to row {row}", f"f{name}", "")
    return figure


def _shown(values: Vector, top: int) -> tuple[list[int], list[int]]:
    """The features with a bar, the largest first, and the others that are not 0."""
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[: int(np.count_nonzero(values))]
    return order[:top].tolist(), order[top:].tolist()


def _draw_sizes(axis: Axes, found: Contributions, sizes: Vector, top: int) -> None:
    shown, rest = _shown(sizes, top)
    names = [drawing.named(found.feature_names[j]) for j in shown]
    axis.barh(range(len(shown)), sizes[shown], 0.7, color=drawing.colour(0))
    if rest:
        axis.barh(len(shown), sizes[rest].sum(), 0.7, color=REST)
        names.append(f"sum of {len(rest)} more")
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(max(len(names), 1) - 0.4, -0.6)


def _draw_row(
    axis: Axes, found: Contributions, row: int, values: Vector, base: float, top: int
) -> None:
    shown, rest = _shown(values, top)
    steps = values[shown].tolist() + ([float(values[rest].sum())] if rest else [])
    names = [f"{drawing.named(found.feature_names[j])} = {_value(found, row, j)}" for j in shown]
    if rest:
        names.append(f"{len(rest)} more")
    ends = base + np.cumsum(steps[::-1])[::-1] if steps else np.array([base])
    starts = [*ends[1:].tolist(), base]
    for place, (start, step) in enumerate(zip(starts, steps, strict=False)):
        grey = bool(rest) and place == len(steps) - 1
        axis.barh(
            place, step, 0.7, left=start, color=REST if grey else RAISES if step > 0 else LOWERS
        )
        axis.annotate(
            f"{step:+.3g}".replace("-", "−"),
            (max(start, start + step), place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
        axis.plot([start, start], [place - 0.35, place + 1.35], color="#999999", linewidth=0.7)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(steps) + 0.6, -0.8)
    axis.annotate(
        f"base {base:.4g}", (base, len(steps) + 0.4), ha="center", va="center", fontsize=8
    )
    axis.annotate(f"f = {ends[0]:.4g}", (ends[0], -0.6), ha="center", va="center", fontsize=8)
    axis.use_sticky_edges = False
    axis.margins(x=0.12)


def _value(found: Contributions, row: int, feature: int) -> str:
    data = found.data[row]
    value: Any = data[0, feature] if np.ndim(data) > 1 else data[feature]
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return f"{value:.4g}" if number else drawing.named(legible(value))
