"""The frontier: test error against number of columns, each method chosen on validation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from numpy.typing import NDArray
from results import Record, best, mean_and_spread

COLOURS = {
    "2-norm, greedy from means, refitted": "#004C80",
    "2-norm, greedy, refitted": "#0072B2",
    "2-norm, greedy": "#56B4E9",
    "1-norm, refitted": "#009E73",
    "1-norm path": "#8FD3B6",
    "Nyström, class means": "#D55E00",
    "Nyström, means": "#E69F00",
    "Nyström, random rows": "#F0C27B",
    "SVC on fewer rows": "#999999",
    "SVC": "#333333",
}
CURVES = tuple(COLOURS)[:-1]
OURS = CURVES[:5]
TITLES = {
    "rbf": "RBF of raw pixels",
    "cosine": "normalised polynomials",
    "jittered": "jittered polynomials",
}
GRID = (25, 50, 75, 100, 150, 200, 300, 400, 500, 600)


def frontier(records: Sequence[Record], likeness: str, method: str, size: int) -> list[Record]:
    """For each seed the model of a method that validation prefers, of at most ``size`` columns."""
    return best(
        records,
        lambda record: (
            (record.likeness, record.method) == (likeness, method) and record.columns <= size
        ),
    )


def draw(records: Sequence[Record], path: Path) -> None:
    """Write the picture: errors above, the gap of the greedy sequence below."""
    curves = {r.likeness for r in records if r.method in CURVES}
    likenesses = [name for name in TITLES if name in curves]
    canvas = Figure(figsize=(4.7 * len(likenesses) + 0.4, 7.5), layout="constrained")
    panels = canvas.subplots(
        2, len(likenesses), squeeze=False, sharex=True, sharey="row", height_ratios=[3, 1]
    )
    for (errors, gaps), likeness in zip(panels.T, likenesses, strict=True):
        for method in CURVES:
            draw_curve(errors, records, likeness, method)
        draw_machine(errors, records, likeness)
        draw_gap(gaps, records, likeness)
        errors.set_title(TITLES[likeness], loc="left", fontsize="medium", fontweight="bold")
        errors.set(yscale="log", yticks=[2, 3, 4, 5, 6, 8, 10, 15], ylim=(2, 20))
        errors.yaxis.set_major_formatter(ScalarFormatter())
        errors.minorticks_off()
        errors.grid(axis="y", color="#eeeeee")
        gaps.set(ylim=(0, 1.05), xlabel="columns (centres, support vectors)")
        for panel in (errors, gaps):
            panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel("test error (%)")
    panels[1, 0].set_ylabel("certified gap,\ngreedy 2-norm")
    handles = panels[0, 0].get_legend_handles_labels()
    canvas.legend(*handles, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    canvas.savefig(path, dpi=110)


def draw_curve(axes: Axes, records: Sequence[Record], likeness: str, method: str) -> None:
    """Mean test error over the seeds, and a band of one standard deviation."""
    n_seeds = len({record.seed for record in records if record.likeness == likeness})
    chosen = {size: frontier(records, likeness, method, size) for size in GRID}
    sizes = [size for size, models in chosen.items() if len(models) == n_seeds]
    if not sizes:
        return
    mean, spread = statistics_of([[r.test for r in chosen[size]] for size in sizes])
    style = "-" if method in OURS else "--"
    axes.plot(sizes, mean, style, color=COLOURS[method], label=method, linewidth=1.8)
    axes.fill_between(
        sizes, mean - spread, mean + spread, color=COLOURS[method], alpha=0.15, linewidth=0
    )


def draw_machine(axes: Axes, records: Sequence[Record], likeness: str) -> None:
    """The SVC as a point: its support vectors are what they are."""
    models = best(records, lambda r: (r.likeness, r.method) == (likeness, "SVC"))
    columns, columns_spread = mean_and_spread([model.columns for model in models])
    test, test_spread = mean_and_spread([model.test for model in models])
    axes.errorbar(
        columns, test, test_spread, columns_spread, "o", color=COLOURS["SVC"], label="SVC"
    )


def draw_gap(axes: Axes, records: Sequence[Record], likeness: str) -> None:
    """The gap of the greedy models drawn above: their proven distance to the optimum."""
    for size in GRID:
        gaps = [r.gap for r in frontier(records, likeness, "2-norm, greedy", size)]
        axes.plot([size] * len(gaps), gaps, ".", color=COLOURS["2-norm, greedy"], markersize=4)


def statistics_of(
    groups: Sequence[Sequence[float]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and standard deviations of groups of numbers."""
    mean, spread = zip(*map(mean_and_spread, groups), strict=True)
    return np.array(mean), np.array(spread)
