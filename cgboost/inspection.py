"""Pictures of a fitted model: its path to the optimum, and its columns.

Both functions read only the tables ``history_`` and ``columns_``. They draw on a figure of their
own, without pyplot and so without a display, unless axes are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from cgboost import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]


class FittedModel(Protocol):
    """What the pictures need: two tables, each a mapping from a name to an array."""

    @property
    def history_(self) -> Mapping[str, Any]:
        """One entry per round."""

    @property
    def columns_(self) -> Mapping[str, Any]:
        """One entry per column."""


def plot_history(model: FittedModel, *, axes: Iterable[Axes] | None = None) -> Figure:
    """Draw objective and bound, validation scores and columns per kernel, column by column.

    The restricted objective and the best bound so far enclose the optimum; the shaded area between
    them is the certified gap. Of each validation score (an error: lower is better) the best round
    is ringed. A model of several classes has one curve per class, and the last panel counts its
    columns class by class.

    Parameters
    ----------
    model : fitted estimator
        With ``history_`` and ``columns_``.
    axes : iterable of matplotlib Axes, optional
        One for each panel: three, or two when the history has no validation score.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model has no history.
    ValueError
        If the number of axes is not the number of panels.
    """
    history, columns = _table(model, "history_"), _table(model, "columns_")
    history.setdefault("bound", np.full(len(history["objective"]), np.nan))
    validation = {name: v for name, v in history.items() if name.startswith("validation_")}
    scores = [name for name, values in validation.items() if np.isfinite(values).any()]
    per_class = "class" in history
    figure, panels = drawing.panels(axes, 3 if scores else 2, vertical=True)
    if axes is None:
        for panel in panels[1 : -1 if per_class else None]:
            panel.sharex(panels[0])
    _draw_objective(panels[0], history)
    if scores:
        _draw_scores(panels[1], history, scores)
    if per_class:
        _draw_classes(panels[-1], columns, _kernels(model, columns))
    else:
        _draw_growth(panels[-1], history, columns, _kernels(model, columns))
    return figure


def plot_columns(model: FittedModel, *, axes: Iterable[Axes] | None = None) -> Figure:
    """Draw the sizes of the coefficients, largest first, and the number of columns per kernel.

    Columns whose coefficient is zero are left out of both panels.

    Parameters
    ----------
    model : fitted estimator
        With ``columns_``.
    axes : iterable of two matplotlib Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model has no columns table.
    ValueError
        If there are not two axes.
    """
    columns = _table(model, "columns_")
    kernels = _kernels(model, columns)
    figure, (left, right) = drawing.panels(axes, 2, vertical=False)
    size = np.abs(columns["coefficient"])
    order = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
    size, owner, edges = size[order], columns["kernel"][order], np.arange(len(order) + 1) + 0.5
    foot = size.min() / 2 if drawing.log_if_wide(left, size) else 0.0
    for k, kernel in enumerate(kernels):
        mine = owner == kernel
        style = drawing.area_style(k)
        steps = np.where(mine, size, np.nan)
        left.stairs(
            steps, edges, baseline=foot, fill=True, label=kernel, **style | {"linewidth": 0}
        )
        right.bar_label(right.barh(k, np.sum(mine), **style), padding=4)
    left.set_ylim(bottom=foot)
    title = f"{len(order)} non-zero coefficients, coloured by kernel"
    drawing.label(left, title, "column, largest |coefficient| first", "|coefficient|")
    right.set_yticks(range(len(kernels)), kernels)
    right.set_ylim(max(len(kernels), 3) - 0.5, -0.5)
    right.margins(x=0.15)
    drawing.label(right, "Columns per kernel", "columns with a non-zero coefficient", "")
    return figure


def _draw_objective(axis: Axes, history: Table) -> None:
    title = "Objective, without a bound"
    for name, colour, rows in _curves(history):
        x, objective = history["columns"][rows], history["objective"][rows]
        bound = np.fmax.accumulate(history["bound"][rows])
        style: dict[str, Any] = {"color": colour, "drawstyle": "steps-post"}
        style["marker"] = drawing.curve_marker(len(rows))
        axis.plot(x, objective, label=name or "objective", **style)
        if not np.isfinite(bound).any():
            continue
        bound_label = None if name else "bound, best so far"
        axis.plot(x, bound, linestyle="--", markersize=3, label=bound_label, **style)
        title = "Objective (solid) and bound, best so far (dashed)"
        if not name:
            shade: dict[str, Any] = {"color": colour, "alpha": 0.15, "linewidth": 0}
            axis.fill_between(x, bound, objective, step="post", label="certified gap", **shade)
            gap = (objective[-1] - bound[-1]) / max(1.0, abs(objective[-1]))
            title = f"Objective and bound: relative gap {gap:.1e} at the end"
    drawing.log_if_wide(axis, np.concatenate([history["objective"], history["bound"]]))
    drawing.keep_in_view(axis, history["objective"])
    drawing.label(axis, title, "columns generated", "objective")
    if "class" in history:
        drawing.legend_beside(axis)
    else:
        axis.legend(frameon=False, loc="upper right")


def _draw_scores(axis: Axes, history: Table, scores: list[str]) -> None:
    names = [score.removeprefix("validation_").replace("_", " ") for score in scores]
    for k, score in enumerate(scores):
        for name, class_colour, rounds in _curves(history):
            rows = rounds[np.isfinite(history[score][rounds])]
            if not len(rows):
                continue
            x, y = history["columns"][rows], history[score][rows]
            best = int(np.argmin(y))
            colour = class_colour if name else drawing.colour(k)
            style: dict[str, Any] = {"color": colour, "linestyle": ("-", "--", ":")[k % 3]}
            axis.plot(x, y, marker=drawing.curve_marker(len(rows)), **style)
            label = None if name else f"{names[k]}: best {y[best]:.4g} with {x[best]} columns"
            ring: dict[str, Any] = {"fillstyle": "none", "markersize": 9, "markeredgewidth": 2}
            axis.plot(x[best], y[best], "o", color=colour, label=label, zorder=3, **ring)
    title = "Validation score, best round ringed"
    drawing.label(axis, title, "columns generated", "validation " + ", ".join(names))
    if "class" not in history:
        axis.legend(frameon=False)


def _draw_growth(axis: Axes, history: Table, columns: Table, kernels: list[str]) -> None:
    """Stack the columns of each kernel, placed at the round that generated them."""
    below = np.zeros(len(history["round"]))
    for k, kernel in enumerate(kernels):
        generated = np.sort(columns["round"][columns["kernel"] == kernel])
        above = below + np.searchsorted(generated, history["round"], "right")
        label = f"{kernel} ({len(generated)})"
        axis.fill_between(history["columns"], below, above, label=label, **drawing.area_style(k))
        below = above
    title = "Columns of the model per kernel, where they were generated"
    drawing.label(axis, title, "columns generated", "columns")
    if kernels:
        axis.legend(reverse=True, frameon=False, loc="upper left")


def _draw_classes(axis: Axes, columns: Table, kernels: list[str]) -> None:
    """Stack the number of columns of each kernel, class by class."""
    classes = np.unique(columns["class"])
    ticks = [str(label) for label in classes]
    bottom = np.zeros(len(classes))
    for k, kernel in enumerate(kernels):
        mine = columns["class"][columns["kernel"] == kernel]
        height = np.sum(mine[:, None] == classes, axis=0)
        label = f"{kernel} ({len(mine)})"
        axis.bar(ticks, height, bottom=bottom, label=label, **drawing.area_style(k))
        bottom += height
    drawing.label(axis, "Columns of the model per class and kernel", "class", "columns")
    if kernels:
        drawing.legend_beside(axis, reverse=True)


def _table(model: object, name: str) -> Table:
    table = getattr(model, name, None)
    if table is None:
        raise NotFittedError(f"{type(model).__name__} has no {name}: call fit first")
    return {key: np.asarray(values) for key, values in table.items()}


def _kernels(model: object, columns: Table) -> list[str]:
    """Name the kernels that have columns, in library order where the model tells it."""
    found = list(dict.fromkeys(columns["kernel"].tolist()))
    known = [name for name in getattr(model, "columns_per_kernel_", ()) if name in found]
    return known + [name for name in found if name not in known]


def _curves(history: Table) -> Iterator[tuple[str, Any, NDArray[np.intp]]]:
    """Yield the name, colour and rounds of each curve: one a class, or one without a name."""
    if "class" not in history:
        yield "", drawing.INK, np.arange(len(history["columns"]))
        return
    from matplotlib import colormaps

    classes = np.unique(history["class"])
    shades = colormaps["viridis"](np.linspace(0, 0.9, len(classes)))
    for label, shade in zip(classes, shades, strict=True):
        yield f"class {label}", shade, np.flatnonzero(history["class"] == label)
