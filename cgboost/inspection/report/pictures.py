"""Pictures of a model as inline SVG, in the colours of the page.

The pictures are those of :mod:`cgboost.inspection`; slow imports happen here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cgboost.inspection.report.facts import runs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Picture = tuple[str, str]
"""An SVG, and what it shows."""

Plan = tuple[str, str, Callable[[], "Figure"]]
"""Section and caption of a picture, and how to draw it."""

STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud and searched
    "svg.hashsalt": "cgboost",
    "text.parse_math": False,  # names come from users: a $ is a $
    "font.family": ["DejaVu Sans"],
}

INKS = {
    "#333333": "currentColor",
    "#000000": "currentColor",
    "#0072b2": "var(--blue)",
    "#ffffff": "var(--card)",
}
"""Colours that the page sets, so that they suit light and dark paper."""

MOST_STAGES = 3
"""Stages whose functions are drawn."""


def drawn(draw: Callable[[], Figure], number: int) -> str:
    """The picture as an SVG element whose black is that of the page.

    Parameters
    ----------
    draw : callable
        Returns a figure.
    number : int
        Which picture of the page it is: names inside it must not be those of another.
    """
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure = draw()
        _without_math(figure)
        file = io.StringIO()
        figure.savefig(
            file,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
        )
    text = file.getvalue()
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\1p{number}-", svg)
    for ink, name in INKS.items():
        svg = svg.replace(ink, name)
    # what matplotlib leaves black by default
    return svg.replace("<svg ", '<svg fill="currentColor" ', 1).rstrip()


def _without_math(figure: Figure) -> None:
    """Write 0.001 at logarithmic scales, whose labels would be formulas."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), LogFormatter):
                axis.set_major_formatter(Plain())
                axis.set_minor_formatter(Plain(minor_thresholds=(1, 0.4)))


def pictures(model: Any) -> Iterator[tuple[str, Picture]]:
    """All pictures of a model, each with the section that it belongs to.

    Sections are "history", "columns" and "features".
    """
    for number, (section, caption, draw) in enumerate(_plans(model)):
        yield section, (drawn(draw, number), caption)


def _plans(model: Any) -> Iterator[Plan]:
    columns = getattr(model, "columns_", {})
    if "kernel" in columns or "threshold" in columns or "estimator" in columns:
        from cgboost.inspection import plot_columns, plot_history

        yield "history", "The way to the model, column by column.", partial(plot_history, model)
        if model.n_columns_:
            yield "columns", "The columns of the model.", partial(plot_columns, model)
    elif columns:
        yield from _of_stages(model)
    yield from _of_features(model)


def _of_stages(model: Any) -> Iterator[Plan]:
    from cgboost.inspection.learning_curves import plot_stages

    yield "history", "The loss, round by round.", partial(plot_stages, model)
    for name, values in model.history_.items():
        if name.startswith("validation_") and np.isfinite(values).any():
            words = name.replace("_", " ")
            yield "history", f"The {words}, round by round.", partial(_plot_score, model, name)


def _of_features(model: Any) -> Iterator[Plan]:
    from cgboost.inspection.importance import plot_importance
    from cgboost.inspection.transform_pictures import plot_transformations

    found = importances(model)
    if found is not None and np.any(found):
        caption = "How much each feature matters; the most important ones."
        yield "features", caption, partial(plot_importance, model)
    stages = getattr(model, "stages_", [])
    one_output = bool(stages) and not isinstance(stages[0], list)
    for stage in range(min(MOST_STAGES, len(stages)) if one_output else 0):
        caption = f"The functions that stage {stage} adds up."
        yield "features", caption, partial(plot_transformations, model, stage)


def importances(model: Any) -> Any:
    """Shares of the features, or None where a model's learners have none."""
    try:
        return np.asarray(model.feature_importances_)
    except (AttributeError, TypeError, NotImplementedError):
        return None


def _plot_score(model: Any, name: str) -> Figure:
    """A score on held-out rows, the round that makes the model ringed."""
    from cgboost.inspection import drawing

    figure, [axis] = drawing.panels(None, 1, vertical=True)
    runs = runs_of(model.history_)
    for k, (run, kept) in enumerate(zip(runs, np.atleast_1d(model.best_round_), strict=True)):
        rounds, values = run["round"], np.asarray(run[name])
        label = f"class {run['class'][0]}" if "class" in run else None
        marker = drawing.curve_marker(len(rounds))
        axis.plot(rounds, values, color=drawing.colour(k), marker=marker, label=label)
        ring: dict[str, Any] = {"color": drawing.colour(k), "mfc": "none", "markersize": 10}
        axis.plot(rounds[kept], values[kept], "o", **ring)
    axis.locator_params(axis="x", integer=True)
    if len(runs) > 1:
        drawing.legend_beside(axis)
    words = name.removeprefix("validation_").replace("_", " ")
    drawing.label(axis, f"Validation {words}, the model ringed", "round", words)
    return figure
