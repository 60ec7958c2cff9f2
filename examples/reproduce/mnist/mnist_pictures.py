"""The pictures of the study, made of its records."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mnist_curves import BAD_C, GOOD_C, ORDERS, PRIORITIES, VALIDATION
from mnist_fits import CERTIFIED, STOPPED, Figures, figures_of
from mnist_printed import PRINTED
from transform_regression.measured import Measured

NORMS = {"l2": "2-norm", "l1": "1-norm"}
ENDS = {CERTIFIED: ("C0", "certified optimum"), STOPPED: ("C1", "stopped on validation")}


def draw_table(measured: Measured, path: Path) -> None:
    """Test error and prediction time of every row of Table 1, the paper's beside them."""
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    axes = figure.subplots(2, 2, sharey=True)
    for (left, right), (penalty, title) in zip(axes, NORMS.items(), strict=True):
        dots(left, measured, penalty, "test_error")
        dots(right, measured, penalty, "test_seconds")
        left.set_title(f"{title}: test error (%)")
        right.set_title(f"{title}: prediction time, the mixture = 1")
        right.set_xscale("log")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=90)


def dots(axes: Axes, measured: Measured, penalty: str, field: str) -> None:
    """A row of dots for every kernel; times relative to those of the mixture."""
    names = list(PRINTED[penalty])
    places = np.arange(len(names))[::-1]
    printed = np.array([getattr(PRINTED[penalty][name], field) for name in names])
    relative = field == "test_seconds"
    axes.plot(printed / (printed[-1] if relative else 1), places, "s", color="0.6", label="paper")
    for shift, (end, (colour, label)) in zip((0.12, -0.12), ENDS.items(), strict=True):
        runs = [figures_of(measured, penalty, name, end) for name in names]
        mean = np.array([mean_of(own, field) for own in runs])
        spread = np.array([np.std([getattr(row, field) for row in own]) for own in runs])
        scale = mean[-1] if relative else 1.0
        axes.errorbar(
            mean / scale, places + shift, xerr=spread / scale, fmt="o", ms=5, color=colour,
            label=label,
        )  # fmt: skip
    axes.set_yticks(places, names)
    axes.axhspan(-0.5, 0.5, color="0.93", zorder=0)
    axes.grid(axis="x", color="0.9")


def mean_of(rows: list[Figures], field: str) -> float:
    """Mean of a figure over the seeds."""
    return statistics.mean(getattr(row, field) for row in rows)


def draw_curves(measured: Measured, seed: int, path: Path) -> None:
    """Figure 1 of the paper: objectives by columns and by scores; validation errors."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for colour, order in zip(("C1", "C0"), ORDERS, strict=True):
        objective, columns, scored = (
            curve(measured, PRIORITIES, order, name, seed)
            for name in ("objective", "columns", "scored")
        )
        left.plot(columns, objective, colour, label=order)
        middle.plot(scored, objective, colour, label=order)
    left.set(title="Objective against columns", xlabel="columns generated", ylabel="objective")
    middle.set(title="Objective against work", xlabel="columns scored", ylabel="objective")
    for axes in (left, middle):
        axes.set_yscale("log")
        axes.legend(frameon=False)
    middle.set_xscale("log")
    draw_validation(right, measured, seed)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=90)


def draw_validation(axes: Axes, measured: Measured, seed: int) -> None:
    """A good and a bad C; ringed the round that early stopping keeps, dashed where it ends."""
    for C, colour in ((GOOD_C, "C0"), (BAD_C, "C3")):
        columns, error, stopped = (
            curve(measured, VALIDATION, f"{C:g}", name, seed)
            for name in ("columns", "error", "stopped")
        )
        axes.plot(columns, error, colour, label=f"C = {C:g}")
        kept, end = stopped
        place = int(np.searchsorted(columns, kept))
        axes.plot(kept, error[place], "o", ms=9, color=colour, markerfacecolor="none")
        axes.axvline(end, color=colour, linestyle="--", linewidth=1)
    axes.set_title("Validation error by columns")
    axes.set(xlabel="columns generated", ylabel="validation error (%)", ylim=(5, 20))
    axes.legend(frameon=False)


def curve(measured: Measured, study: str, data: str, model: str, seed: int) -> np.ndarray:
    """The values of one record."""
    record = next(r for r in measured.chosen(study, data, model) if r.seed == seed)
    return np.array(record.values)
