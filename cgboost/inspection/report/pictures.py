"""Pictures of a model as inline SVG, in the colours of the page.

The pictures are those of :mod:`cgboost.inspection`; slow imports happen here.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cgboost.arrays import Vector
from cgboost.inspection.drawing import INK, LOG_FROM
from cgboost.inspection.report.facts import Table, is_score, output_kind, runs_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(NamedTuple):
    """An SVG, and what it shows."""

    svg: str
    caption: str


PicturePlan = tuple[str, str, Callable[[], "Figure"]]
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

WIDTH, HEIGHT, EDGE = 220.0, 48.0, 6.0
"""Of a sparkline, in pixels."""

SPARKLINE_POINTS = 200
"""Points of a curve in a sparkline."""

SCORE_INK = "#D55E00"
"""Dark enough for white paper and light enough for a black one."""


@dataclass(frozen=True)
class Curve:
    """One line of a sparkline.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
        Those that are not finite are left out.
    ringed : int or None
        The point that makes the model.
    """

    values: Vector
    ink: str
    dashed: bool = False
    ringed: int | None = None


def drawn(figure: Figure, caption: str, number: int = 0) -> Picture:
    """A figure as an SVG element whose black is that of the page, and which has no ids but its own.

    Parameters
    ----------
    caption : str
        What it shows, also for those who do not see it.
    number : int
        Which picture of the page it is: names inside it must not be those of another.
    """
    _without_math(figure)
    file = io.StringIO()
    figure.savefig(
        file,
        format="svg",
        transparent=True,
        metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
    )
    text = file.getvalue()
    svg = text[text.index("<svg") :].rstrip()
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S)
    # matplotlib's style is meant for a file: in a page its "*" would be all there is
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.S)
    used = set(re.findall(r'(?:href="|url\()#([\w-]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)
    prefix = f"p{number}-{hashlib.sha1(svg.encode()).hexdigest()[:8]}-"
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\1{prefix}", svg)
    for ink, name in INKS.items():
        svg = svg.replace(ink, name)
    # what matplotlib leaves black by default
    root = (
        f'<svg role="img" aria-label="{html.escape(caption)}" fill="currentColor" '
        'stroke-linejoin="round" '
    )
    return Picture(svg.replace("<svg ", root, 1), caption)


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
    from matplotlib import rc_context

    for number, (section, caption, draw) in enumerate(_plans(model)):
        with rc_context(STYLE):
            yield section, drawn(draw(), caption, number)


def sparklines(
    history: Table, kept: Sequence[int], monitored: Collection[str] = ()
) -> list[Picture]:
    """Small pictures of a history: objective and bound; then each score on held-out rows.

    Parameters
    ----------
    history : mapping of str to ndarray
        As models keep it: one entry a round, of one run or of one for each class or quantile.
    kept : sequence of int
        For each run the round that makes the model.
    monitored : collection of str
        The columns that are scores, besides those that are called so.
    """
    from matplotlib import rc_context

    runs = runs_of(history)
    curves = [Curve(_numbers(run["objective"]), INK) for run in runs]
    caption = "objective by round"
    bounds = [np.fmax.accumulate(_numbers(run["bound"])) for run in runs if "bound" in run]
    if any(np.isfinite(bound).any() for bound in bounds):
        curves += [Curve(bound, INK, dashed=True) for bound in bounds]
        caption = "objective and (dashed) bound by round"
    plans = [(caption, curves)]
    for name in history:
        if is_score(name, monitored) and np.isfinite(_numbers(history[name])).any():
            scores = [
                Curve(_numbers(run[name]), SCORE_INK, ringed=place)
                for run, place in zip(runs, kept, strict=True)
            ]
            plans.append((f"{name.replace('_', ' ')} by round", scores))
    with rc_context(STYLE):
        return [drawn(sparkline(curves), words) for words, curves in plans]


def sparkline(curves: Sequence[Curve]) -> Figure:
    """Curves over a common scale, logarithmic where they span more than two decades.

    The scale is that of the undashed curves; what lies far below them leaves the picture.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 96, HEIGHT / 96))  # CSS has 96 pixels an inch
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    main = np.concatenate([curve.values for curve in curves if not curve.dashed])
    main = main[np.isfinite(main)]
    low, high = (float(main.min()), float(main.max())) if len(main) else (0.0, 0.0)
    log = low > 0 and high > LOG_FROM * low
    if log:
        axes.set_yscale("log")
    floor = low / LOG_FROM if log else 2 * low - high
    for curve in curves:
        count = len(curve.values)
        near = np.isfinite(curve.values) & (curve.values >= floor) & (curve.values <= high)
        values = np.where(near, curve.values, np.nan)
        places = np.unique(np.linspace(0, count - 1, min(count, SPARKLINE_POINTS)).astype(int))
        width = 0.75 if len(curves) > 2 else 1.2
        dashes: dict[str, Any] = {"linestyle": (0, (3, 2)), "alpha": 0.7} if curve.dashed else {}
        places = places[near[places]]
        axes.plot(places, values[places], color=curve.ink, linewidth=width, clip_on=False, **dashes)
        if curve.ringed is not None and curve.ringed < count and near[curve.ringed]:
            ring: dict[str, Any] = {"color": curve.ink, "mfc": "none", "markersize": 4.5}
            axes.plot(curve.ringed, values[curve.ringed], "o", clip_on=False, **ring)
    axes.margins(x=EDGE / (WIDTH - 2 * EDGE), y=EDGE / (HEIGHT - 2 * EDGE))  # of the data
    return figure


def _plans(model: Any) -> Iterator[PicturePlan]:
    columns = getattr(model, "columns_", {})
    if "kernel" in columns or "threshold" in columns or "estimator" in columns:
        from cgboost.inspection import plot_columns, plot_history

        yield "history", "The way to the model, column by column.", partial(plot_history, model)
        if model.n_columns_:
            yield "columns", "The columns of the model.", partial(plot_columns, model)
    elif columns:
        yield from _of_stages(model)
    yield from _of_features(model)


def _of_stages(model: Any) -> Iterator[PicturePlan]:
    from cgboost.inspection.learning_curves import plot_stages

    yield "history", "The loss, round by round.", partial(plot_stages, model)
    monitored = getattr(model, "_monitored", {})
    for name, values in model.history_.items():
        scored = name in monitored or name.startswith("validation_")
        if scored and np.isfinite(values).any():
            words = name.replace("_", " ")
            yield "history", f"The {words}, round by round.", partial(_plot_score, model, name)


def _of_features(model: Any) -> Iterator[PicturePlan]:
    from cgboost.inspection.importance import plot_importance
    from cgboost.inspection.model_pictures import plot_transformations

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
    found = getattr(model, "feature_importances_", None)
    return None if found is None else np.asarray(found)


def _plot_score(model: Any, name: str) -> Figure:
    """A score on held-out rows, the round that makes the model ringed."""
    from cgboost.inspection import drawing

    figure, [axis] = drawing.panels(None, 1, vertical=True)
    runs = runs_of(model.history_)
    for k, (run, kept) in enumerate(zip(runs, np.atleast_1d(model.best_round_), strict=True)):
        rounds, values = run["round"], np.asarray(run[name])
        kind = output_kind(run)
        label = None if kind is None else f"{kind} {run[kind][0]}"
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


def _numbers(values: Any) -> Vector:
    return np.asarray(values, dtype=np.float64)
