"""Pictures of the records, and of the images that AdaBoost weights most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from booster_adaboost import LORENZ, QUANTILES, ROUNDS
from booster_data import MNIST, SMALL, Digits
from booster_digits import LARGE, NOTES, SHRUNK, THEIRS
from booster_support import DESIGNS, FEATURES, METHODS, ROWS, cell
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from transform_regression.measured import Measured

from cgboost import AdaBoostClassifier
from cgboost.inspection import drawing
from cgboost.studies.datasets import odd_even_labels

Vector = NDArray[np.float64]

HARDEST_ROUNDS = (10, 100, 400)
IMAGES = 12


def values(measured: Measured, study: str, data: str, model: str) -> Vector:
    """A row of numbers for each seed."""
    return np.array([run.values for run in measured.chosen(study, data, model)])


def draw_band(axis: Axes, x: Vector, lines: Vector, k: int, label: str) -> None:
    """Mean and one standard deviation of the seeds."""
    mean, spread, colour = lines.mean(axis=0), lines.std(axis=0), drawing.colour(k)
    axis.plot(x, mean, color=colour, label=label)
    axis.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)


def draw_adaboost(measured: Measured, path: Path) -> None:
    """Errors and their bound; how the weights concentrate; their shares at some rounds."""
    figure = Figure(figsize=(12, 3.8), dpi=90, layout="constrained")
    errors, heavy, shares = figure.subplots(1, 3)
    for axis, names in (
        (errors, ("training error", "test error", "bound")),
        (heavy, ("heaviest 1%", "heaviest 10%", "effective rows")),
    ):
        for k, name in enumerate(names):
            lines = values(measured, "adaboost", MNIST, name)
            if len(lines):
                draw_band(axis, np.array(ROUNDS[: lines.shape[1]]), lines, k, name)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False, fontsize="small")
    for k, number in enumerate(LORENZ):
        lines = values(measured, "adaboost", MNIST, f"lorenz {number}")
        if len(lines):
            draw_band(shares, 100 * QUANTILES, lines, k, f"round {number}")
    shares.legend(frameon=False, fontsize="small")
    drawing.label(errors, "Errors, and the bound", "round", "%")
    drawing.label(heavy, "Where the weight is", "round", "%")
    drawing.label(shares, "Heaviest rows first", "share of the rows, %", "share of the weight, %")
    figure.savefig(path)


def draw_hardest(data: Digits, path: Path) -> None:
    """The training images with the largest weights after some rounds."""
    y = odd_even_labels(data.digit)
    model = AdaBoostClassifier(n_estimators=HARDEST_ROUNDS[-1]).fit(data.X, y)
    outputs = list(model.staged_decision_function(data.X))
    figure = Figure(figsize=(10, 3.2), dpi=90, layout="constrained")
    side = round(np.sqrt(data.X.shape[1]))
    rows = figure.subplots(len(HARDEST_ROUNDS), IMAGES)
    for panels, number in zip(rows, HARDEST_ROUNDS, strict=True):
        weights = np.exp(-y * outputs[min(number, len(outputs)) - 1])
        heaviest = np.argsort(-weights)[:IMAGES]
        for axis, row in zip(panels, heaviest, strict=True):
            axis.imshow(data.X[row].reshape(side, side), cmap="gray_r")
            times = weights[row] / weights.mean()
            axis.set_title(f"{data.digit[row]}: {times:.0f}×", fontsize="small")
            axis.set(xticks=[], yticks=[])
        panels[0].set_ylabel(f"round {number}", fontsize="small")
    figure.savefig(path)


def draw_digits(measured: Measured, path: Path) -> None:
    """Test errors by round above; importances of pixels below, of all classes and of each."""
    figure = Figure(figsize=(12, 6.4), dpi=90, layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1, 0.9])
    panels = upper.subplots(1, 2)
    for axis, data, names in (
        (panels[0], SMALL, (NOTES, SHRUNK, THEIRS)),
        (panels[1], MNIST, (LARGE,)),
    ):
        for k, name in enumerate(names):
            lines = values(measured, "digits", data, name)
            if len(lines):
                draw_draws(axis, lines, k, name)
        axis.set_ylim(0, 1.1 * np.median(lines[:, 0]))
        axis.legend(frameon=False, fontsize="small")
        drawing.label(axis, f"Test error, {data}", "round (ten trees each)", "%")
    grid = lower.subplots(2, 11)
    for row, data in zip(grid, (SMALL, MNIST), strict=True):
        for axis, part in zip(row, ["pixels", *(f"pixels of {k}" for k in range(10))], strict=True):
            draw_pixels(axis, values(measured, "digits", data, part))
            title = "all" if part == "pixels" else part.split()[-1]
            axis.set_title(title, fontsize="small")
        row[0].set_ylabel(data, fontsize="small")
    figure.savefig(path)


def draw_draws(axis: Axes, lines: Vector, k: int, name: str) -> None:
    """Every draw by itself, and their median: a single one may be far from all others."""
    rounds = np.arange(1, lines.shape[1] + 1)
    axis.plot(rounds, lines.T, color=drawing.colour(k), linewidth=0.6, alpha=0.5)
    axis.plot(rounds, np.median(lines, axis=0), color=drawing.colour(k), linewidth=2, label=name)


def draw_pixels(axis: Axes, shares: Vector) -> None:
    """The mean importance of each pixel, dark where it matters."""
    axis.set(xticks=[], yticks=[])
    if len(shares):
        mean = shares.mean(axis=0)
        side = round(np.sqrt(len(mean)))
        axis.imshow(np.sqrt(mean).reshape(side, side), cmap="magma_r")


def draw_support(measured: Measured, path: Path) -> None:
    """Share of draws with exactly the true features; a row of panels for each design."""
    figure = Figure(figsize=(10.5, 7.8), dpi=90, layout="constrained")
    panels = figure.subplots(len(DESIGNS), len(FEATURES), sharex=True, sharey=True)
    for row, design in zip(panels, DESIGNS, strict=True):
        for axis, p in zip(row, FEATURES, strict=True):
            for k, method in enumerate(METHODS):
                found = [values(measured, "support", cell(design, n, p), method) for n in ROWS]
                if not all(len(counts) for counts in found):
                    continue
                exact = [100 * np.mean(counts.sum(axis=1) == 0) for counts in found]
                nudged = np.arange(len(ROWS)) + 0.03 * (k - 2.5)
                style = {"color": drawing.colour(k), "marker": "os^vDX"[k], "markersize": 5}
                axis.plot(nudged, exact, label=method, linewidth=1.2, **style)
            axis.set_xticks(range(len(ROWS)), [str(n) for n in ROWS])
            axis.set_ylim(-5, 105)
            drawing.label(axis, f"{design}, {p} features", "", "")
    for axis in panels[-1]:
        axis.set_xlabel("rows")
    for row in panels:
        row[0].set_ylabel("exactly right, %")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path)
