"""The look of the pictures: panels, colours, scales and labels. Knows nothing of models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, time
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import warn_caller
from cgboost.optional import require
from cgboost.tables.table_columns import legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#333333"
# Colours of Okabe and Ito, which readers with colour-blindness can tell apart. Beyond six names
# they come again with another hatch.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
DASHES = ("-", "--", ":", "-.")
HATCHES = ("", "///", "...", "xxx")
LOG_FROM = 100.0  # values that span more than this factor are drawn on a logarithmic scale
LONGEST_NAME = 32  # characters of a name that are drawn: some three inches in small print
MANY_POINTS = 60  # a curve with more points than this is drawn without markers


P = ParamSpec("P")


def on_ax(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A picture that is drawn on ``ax``, which may also be given by its earlier name ``axes``."""

    @wraps(draw)
    def drawn(*args: Any, **options: Any) -> Figure:
        if "axes" in options:
            warn_caller(
                "the parameter axes is now called ax; the old name will be removed", FutureWarning
            )
            options["ax"] = options.pop("axes")
        return draw(*args, **options)

    return drawn


def check_top(top: int) -> None:
    """Raise a ValueError unless at least one feature, centre or output may be drawn."""
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}")


def panels(
    ax: Iterable[Axes] | None, count: int, *, vertical: bool, width: float = 8.0
) -> tuple[Figure, list[Axes]]:
    """Return the figure and panels to draw on: the given ones, or those of a new figure.

    Panels on top of each other are ``width`` inches wide, together with their legends.

    Raises
    ------
    ValueError
        If the number of given axes is not ``count``, they are no axes, or belong to no figure.
    """
    if ax is not None:
        several = list(ax) if isinstance(ax, Iterable) else [ax]
        given = list(np.ravel(np.asarray(several, dtype=object)))  # also what plt.subplots returns
        if strange := [each for each in given if not hasattr(each, "get_figure")]:
            raise ValueError(f"ax must be axes of matplotlib, got {strange[0]!r}")
        if len(given) != count:
            raise ValueError(f"ax must hold {count} axes, one for each panel, got {len(given)}")
        figure = given[0].get_figure(root=True)
        if figure is None:
            raise ValueError("ax must belong to a figure")
        return figure, given
    require("matplotlib", "a picture")
    from matplotlib.figure import Figure

    size = (width, 3.0 * count) if vertical else (10.0, 4.0)
    figure = Figure(figsize=size, dpi=120)
    figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.1)
    if vertical:
        return figure, list(figure.subplots(count, 1, squeeze=False)[:, 0])
    return figure, list(figure.subplots(1, count, width_ratios=[3] + [2] * (count - 1)))


def panel(
    ax: Axes | None, size: tuple[float, float] | None = None, *, bars: int | None = None
) -> tuple[Figure, Axes]:
    """Return the figure and the one panel to draw on: the given one, or that of a new figure.

    A new figure has this size in inches, or room for horizontal bars with a name each.
    """
    figure, [axis] = panels(None if ax is None else [ax], 1, vertical=True)
    size = size if bars is None else (8.0, 1.4 + 0.26 * bars)
    if ax is None and size is not None:
        figure.set_size_inches(*size)
    return figure, axis


def grid(ax: Iterable[Axes] | None, count: int) -> tuple[Figure, list[Axes]]:
    """Return the given axes, or panels in rows of three."""
    if ax is not None:
        return panels(ax, count, vertical=True)
    require("matplotlib", "a picture")
    from matplotlib.figure import Figure

    columns = min(3, count)
    lines = -(-count // columns)
    figure = Figure(figsize=(3.6 * columns, 2.6 * lines + 0.3), dpi=120, layout="constrained")
    places = list(figure.subplots(lines, columns, squeeze=False).ravel())
    for spare in places[count:]:
        spare.remove()
    return figure, places[:count]


def colour(k: int) -> str:
    """Return the colour of the ``k``-th name."""
    return PALETTE[k % len(PALETTE)]


def area_style(k: int) -> dict[str, Any]:
    """Return colour and hatch of an area that stands for the ``k``-th name."""
    hatch = HATCHES[k // len(PALETTE) % len(HATCHES)]
    return {"facecolor": colour(k), "edgecolor": "white", "hatch": hatch}


def bars(axis: Axes, parts: Iterable[tuple[str | None, NDArray[Any]]], height: float) -> None:
    """Draw horizontal bars, each made of parts one after the other; a legend has their names."""
    left: Any = 0.0
    for k, (name, widths) in enumerate(parts):
        style = area_style(k) | ({} if name is None else {"label": name})
        axis.barh(range(len(widths)), widths, height, left=left, **style)
        left = left + widths
    if axis.get_legend_handles_labels()[1]:
        legend_beside(axis)


def thin_line(k: int) -> dict[str, Any]:
    """Return the style of the ``k``-th of many lines."""
    dashes = DASHES[k // len(PALETTE) % len(DASHES)]
    return {"color": colour(k), "linestyle": dashes, "linewidth": 1.0}


def curve_marker(points: int) -> str:
    """Return a dot for a curve of few points and nothing for one of many."""
    return "." if points <= MANY_POINTS else ""


def named(value: Any) -> str:
    """Return a name in the user's data as a label: one line, as it is, not longer than some."""
    from matplotlib import rcParams

    text = legible(value)
    if len(text) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$") if rcParams["text.parse_math"] else text


def values_named(values: Iterable[Any]) -> list[str]:
    """Return the values of a feature as labels; dates that are all at midnight are days."""
    found = list(values)
    if all(isinstance(value, datetime) and value.time() == time() for value in found):
        found = [value.date() for value in found]
    return list(map(named, found))


def log_if_wide(axis: Axes, values: NDArray[Any]) -> bool:
    """Choose a logarithmic scale where the positive values span more than two decades."""
    positive = values[np.isfinite(values) & (values > 0)]
    wide = len(positive) > 0 and bool(positive.max() > LOG_FROM * positive.min())
    if wide:
        axis.set_yscale("log")
    return wide


def keep_in_view(axis: Axes, values: NDArray[Any]) -> None:
    """Let what lies far below ``values`` leave the panel rather than flatten them."""
    low, high = np.nanmin(values), np.nanmax(values)
    floor = low / LOG_FROM if axis.get_yscale() == "log" else 2 * low - high
    if axis.get_ylim()[0] < floor < low:
        axis.set_ylim(bottom=floor)


def counted(axis: Axes, counts: NDArray[Any]) -> None:
    """Ticks of the lower axis at whole numbers; one count alone has room on both sides."""
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(set(np.asarray(counts).tolist())) == 1:
        axis.set_xlim(counts[0] - 0.5, counts[0] + 0.5)
        axis.set_xticks([counts[0]])


def logarithmic_counts(axis: Axes) -> None:
    """The lower axis in decades, with plain numbers at 1, 2, 5, 10, 20 and so on."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axis.minorticks_off()


def label(axis: Axes, title: str, x: str, y: str) -> None:
    """Set a title on the left and the names of both axes, and take away the frame."""
    axis.set_title(title, loc="left", fontweight="bold", fontsize="medium")
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.spines[["top", "right"]].set_visible(False)


def legend_beside(axis: Axes, *, reverse: bool = False) -> None:
    """Put the legend to the right of the panel, in columns of at most ten names."""
    names = len(axis.get_legend_handles_labels()[1])
    axis.legend(
        reverse=reverse,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        fontsize="small",
        ncols=1 + (names - 1) // 10,
    )
