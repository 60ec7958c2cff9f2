"""The picture: how well, and how long to fit, for every entrant of the tasks that ask for both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fits import Fit, Summary, summarised
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from tasks import Task

OURS, PEERS = "#0072B2", "#E69F00"
SHOWN = ("digits", "adult", "boston", "diabetes")


def draw(tasks: Sequence[Task], fits: Sequence[Fit], path: Path) -> None:
    """Write the picture: a pair of panels for each task, the best entrant on top."""
    shown = [task for task in tasks if task.name in SHOWN]
    groups = [in_order(task, fits) for task in shown]
    heights = [len(group) + 1.5 for group in groups]
    canvas = Figure(figsize=(9, 0.26 * sum(heights) + 0.8), layout="constrained")
    panels = canvas.subplots(len(shown), 2, squeeze=False, height_ratios=heights)
    for axes in panels[1:, 1]:
        axes.sharex(panels[0, 1])  # so that times can be compared across the tasks
    for pair, task, group in zip(panels, shown, groups, strict=True):
        draw_scores(pair[0], task, group)
        draw_times(pair[1], task, group)
    for colour, label in ((OURS, "cgboost"), (PEERS, "others")):
        panels[0, 0].plot([], [], "o", color=colour, label=label)
    canvas.legend(loc="outside lower center", ncols=2, frameon=False)
    canvas.savefig(path, dpi=110)


def in_order(task: Task, fits: Sequence[Fit]) -> list[Summary]:
    """Those that were fitted, the best last, since axes count from below."""
    found = summarised(fits, task.name, task.higher_is_better).values()
    sign = 1 if task.higher_is_better else -1
    return sorted((own for own in found if own.fits), key=lambda own: sign * own.mean("test"))


def colour_of(task: Task, model: str) -> str:
    """One colour for cgboost, one for all others."""
    return OURS if any(e.name == model and e.is_ours for e in task.entrants) else PEERS


def draw_scores(axes: Axes, task: Task, group: Sequence[Summary]) -> None:
    """Mean and standard deviation on the test rows."""
    for place, own in enumerate(group):
        style = {"color": colour_of(task, own.model), "capsize": 2}
        axes.errorbar(own.mean("test"), place, xerr=own.spread("test"), fmt="o", **style)
    axes.set_yticks(range(len(group)), [own.model for own in group], fontsize="small")
    axes.set_title(task.title, loc="left", fontsize="medium", fontweight="bold")
    better = "higher" if task.higher_is_better else "lower"
    axes.xaxis.set_major_locator(MaxNLocator(6))
    finish(axes, f"{task.measure} ({better} is better)")


def draw_times(axes: Axes, task: Task, group: Sequence[Summary]) -> None:
    """Median CPU seconds of the chosen fit."""
    for place, own in enumerate(group):
        axes.plot(own.median("fit_seconds"), place, "o", color=colour_of(task, own.model))
    axes.set_yticks(range(len(group)), [""] * len(group))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    finish(axes, "seconds to fit (CPU, one thread)")


def finish(axes: Axes, label: str) -> None:
    """What both kinds of panels share."""
    axes.set_xlabel(label, fontsize="small")
    axes.tick_params(axis="x", labelsize="small")
    axes.set_ylim(-0.7, axes.get_ylim()[1])
    axes.margins(y=0.08)
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
