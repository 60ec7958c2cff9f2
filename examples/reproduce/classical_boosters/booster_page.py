"""Pictures and tables of the study's page, made from its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from booster_models import (
    DESIGNS,
    FEATURES,
    LARGE,
    LETTER,
    LORENZ,
    METHODS,
    MNIST,
    NOTES,
    QUANTILES,
    ROUNDS,
    ROWS,
    SHRUNK,
    SMALL,
    THEIRS,
    cell,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from page_tables import plus_minus, table
from study_data import Case
from study_jobs import Measured, draw_band, made

from cgboost import AdaBoostClassifier
from cgboost.inspection import drawing
from cgboost.studies.datasets import odd_even_labels

Vector = NDArray[np.float64]

HARDEST_ROUNDS = (10, 100, 400)
IMAGES = 12


def draw_adaboost(measured: Measured, path: Path) -> None:
    """Errors and their bound; how the weights concentrate; their shares at some rounds."""
    figure = Figure(figsize=(12, 3.8), dpi=90, layout="constrained")
    errors, heavy, shares = figure.subplots(1, 3)
    for axis, names in (
        (errors, ("training error", "test error", "bound")),
        (heavy, ("heaviest 1%", "heaviest 10%", "effective rows")),
    ):
        for k, name in enumerate(names):
            lines = measured.values("adaboost", MNIST, name)
            if len(lines):
                draw_band(axis, ROUNDS[: lines.shape[1]], lines, drawing.colour(k), name)
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False, fontsize="small")
    for k, number in enumerate(LORENZ):
        lines = measured.values("adaboost", MNIST, f"lorenz {number}")
        if len(lines):
            draw_band(shares, 100 * QUANTILES, lines, drawing.colour(k), f"round {number}")
    shares.legend(frameon=False, fontsize="small")
    drawing.label(errors, "Errors, and the bound", "round", "%")
    drawing.label(heavy, "Where the weight is", "round", "%")
    drawing.label(shares, "Heaviest rows first", "share of the rows, %", "share of the weight, %")
    figure.savefig(path)


def draw_hardest(data: Case, path: Path) -> None:
    """The training images with the largest weights after some rounds."""
    y = odd_even_labels(data.y)
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
            axis.set_title(f"{data.y[row]}: {times:.0f}×", fontsize="small")
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
            lines = measured.values("digits", data, name)
            if len(lines):
                draw_draws(axis, lines, k, name)
        axis.set_ylim(0, 1.1 * np.median(lines[:, 0]))
        axis.legend(frameon=False, fontsize="small")
        drawing.label(axis, f"Test error, {data}", "round (ten trees each)", "%")
    grid = lower.subplots(2, 11)
    for row, data in zip(grid, (SMALL, MNIST), strict=True):
        for axis, part in zip(row, ["pixels", *(f"pixels of {k}" for k in range(10))], strict=True):
            draw_pixels(axis, measured.values("digits", data, part))
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
                found = [measured.values("support", cell(design, n, p), method) for n in ROWS]
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


FILE = "classical_boosters.csv"
SHOWN = (1, 10, 100, 400)
SHOWN_TREES = (1, 3, 10, 30, 100)
CURVES = (
    "training error",
    "bound",
    "test error",
    "heaviest 1%",
    "heaviest 10%",
    "effective rows",
)


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    measured = Measured(folder / FILE)
    rounds = " | ".join(map(str, near(SHOWN)))
    trees = " | ".join(map(str, SHOWN_TREES))
    found = {
        "adaboost": (adaboost_rows, f"% | {rounds}"),
        "digits": (digit_rows, f"data | model | {trees} | CPU s"),
        "corners": (corner_rows, "images | pixels in the corners | share of the importances, %"),
        "support": (support_rows, "design | rows | features | " + " | ".join(METHODS)),
        "totals": (total_rows, "design | method | exact | missed | others chosen | CPU s a fit"),
        "statements": (statement_rows, "statement | measured | found"),
    }
    made_of = {name: table(rows(measured), head) for name, (rows, head) in found.items()}
    return {"made": made(measured)} | made_of


def near(rounds: Sequence[int]) -> list[int]:
    """The rounds of the records that are nearest to these."""
    return [min(ROUNDS, key=lambda known: abs(known - number)) for number in rounds]


def adaboost_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Every curve at some rounds."""
    for name in CURVES:
        lines = measured.values("adaboost", MNIST, name)
        places = [ROUNDS.index(number) for number in near(SHOWN)]
        if len(lines):
            yield name, *(plus_minus(lines[:, k]) for k in places if k < lines.shape[1])


def digit_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Test errors after some rounds."""
    for data, model in ((SMALL, NOTES), (SMALL, SHRUNK), (SMALL, THEIRS), (MNIST, LARGE)):
        runs = measured.chosen("digits", data, model)
        if runs:
            errors = [[run.values[number - 1] for run in runs] for number in SHOWN_TREES]
            seconds = plus_minus([run.seconds for run in runs], 1)
            yield data, model, *map(plus_minus, errors), seconds


def support_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """How many draws every method got exactly right."""
    for design in DESIGNS:
        for n in ROWS:
            for p in FEATURES:
                runs = [measured.values("support", cell(design, n, p), m) for m in METHODS]
                if all(len(counts) for counts in runs):
                    exact = [int(np.sum(counts.sum(axis=1) == 0)) for counts in runs]
                    most = max(exact)
                    cells = (f"**{k}**" if k == most and most else str(k) for k in exact)
                    yield design, str(n), str(p), *cells


def total_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Of all sizes of a design: exact recoveries, misses and others chosen, mean ± spread."""
    for design in DESIGNS:
        for method in METHODS:
            counts, seconds = together(measured, design, method)
            if len(counts):
                yield (
                    design,
                    method,
                    exactly(counts),
                    plus_minus(counts[:, 0], 1),
                    plus_minus(counts[:, 1], 1),
                    f"{np.mean(seconds):.3f}",
                )


def corner_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """What the corners share of the importances."""
    for data, size in ((SMALL, 1), (MNIST, 4)):
        mean = measured.values("digits", data, "pixels").mean(axis=0) / 10
        side = round(np.sqrt(len(mean)))
        ends = np.r_[:size, side - size : side]
        share = mean.reshape(side, side)[np.ix_(ends, ends)].sum()
        yield data.split()[-1], str(4 * size**2), f"{share:.2f}"


def statement_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """What the notes say, and what was found."""
    weights = measured.values("adaboost", MNIST, "deviations")
    sums = measured.values("digits", SMALL, "deviations")
    rules = measured.values("letter", LETTER, "greedy rules")
    orthogonal = measured.values("letter", LETTER, "deviations")
    weight = "AdaBoost's weights by step 2(d), w·e^α on wrong rows, are e^(−y f) up to a factor"
    loss = "with the best step, the exponential loss is the product of 2√(err(1 − err))"
    sum_to_0 = "the K scores may be kept at Σ f_k = 0"
    full = "L2-Boosting with full steps on orthogonal features is least squares"
    rule = "OGA takes arg max of x_j·u/‖x_j‖ (derivation) or of x_j·u/‖x_j‖² (listing)"
    difference, hits = "largest relative difference", "true features among the first ten"
    yield weight, difference, power(weights[:, 0])
    yield loss, difference, power(weights[:, 1])
    yield sum_to_0, "largest sum in our models", power(sums[:, 0])
    yield sum_to_0, "largest sum of the trees as they come", f"{10 ** sums[:, 1].max():.1f}"
    yield full, "largest difference", power(orthogonal[:, 0])
    yield full, "features that come twice", f"{int(rules[:, 3].sum())}"
    yield rule, f"{hits}, first rule", plus_minus(rules[:, 0], 1)
    yield rule, f"{hits}, second rule", plus_minus(rules[:, 1], 1)
    same = f"{int(rules[:, 2].sum())} of {len(rules)}"
    yield "OGA by a QR decomposition that grows", "draws with our path, written out", same


def together(measured: Measured, design: str, method: str) -> tuple[Vector, list[float]]:
    """Counts of all sizes, and the seconds of the fits."""
    runs = [
        run
        for n in ROWS
        for p in FEATURES
        for run in measured.chosen("support", cell(design, n, p), method)
    ]
    return np.array([run.values for run in runs]), [run.seconds for run in runs]


def exactly(counts: Vector) -> str:
    """Exact recoveries, in per cent."""
    return f"{np.mean(counts.sum(axis=1) == 0):.0%}"


def power(logarithms: Vector) -> str:
    """The largest of all seeds as a power of ten."""
    return f"10^{np.ceil(logarithms.max()):.0f}"
