"""Pictures and tables of the study's page, made from its records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from logit_classes import DIGITS, TOGETHER
from logit_classes import MODELS as OF_CLASSES
from logit_models import DOROTHEA, DRAWN, LINES, MNIST, MODELS, OFFICIAL, ROUNDS, SHOWN
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from page_tables import plus_minus, table
from study_jobs import Measured, draw_band, made

from cgboost.inspection import drawing

TITLES = {MNIST: "MNIST, odd against even", DOROTHEA: "Dorothea"}


def draw_curves(measured: Measured, path: Path) -> None:
    """A row for each data set: the training loss on the left, the errors on the right."""
    figure = Figure(figsize=(9.5, 6.4), dpi=90, layout="constrained")
    for panels, (data, title) in zip(
        figure.subplots(2, 2, sharex=True), TITLES.items(), strict=True
    ):
        curve(panels[0], measured, data, "loss", 0)
        for k, part in enumerate(("train", "test")):
            curve(panels[1], measured, data, part, k)
        drawing.label(panels[0], f"{title}: training loss", "rounds", "loss of a row")
        drawing.label(panels[1], f"{title}: errors", "rounds", "wrong labels, %")
        if data == MNIST:  # the colours are the same below
            panels[1].legend(frameon=False)
        for axis in panels:
            axis.set_xscale("log")
            axis.set_xticks([1, 3, *SHOWN], [str(number) for number in (1, 3, *SHOWN)])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
    figure.savefig(path)


def curve(axis: Axes, measured: Measured, data: str, part: str, k: int) -> None:
    """Mean and spread of the drawn splits; dots for the split that the data come with."""
    colour, names = drawing.colour(k), {"train": "training", "test": "test", "loss": "loss"}
    lines = measured.values("lines", f"{data}, {DRAWN}", part)
    if len(lines):
        draw_band(axis, ROUNDS[: lines.shape[1]], lines, colour, f"{names[part]}, drawn splits")
    for run in measured.chosen("lines", f"{data}, {OFFICIAL}", part):
        at = [ROUNDS.index(number) for number in SHOWN if number <= ROUNDS[len(run.values) - 1]]
        label = f"{names[part]}, as it comes"
        axis.plot(SHOWN[: len(at)], np.array(run.values)[at], "o", color=colour, label=label)


def draw_coefficients(measured: Measured, path: Path) -> None:
    """The coefficients of the pixels: blue speaks for an even digit, red for an odd one."""
    figure = Figure(figsize=(4.2, 3.4), dpi=90, layout="constrained")
    axis = figure.subplots()
    for run in measured.chosen("lines", f"{MNIST}, {OFFICIAL}", "coefficients"):
        side = round(np.sqrt(len(run.values)))
        image = np.array(run.values).reshape(side, side)
        most = float(np.quantile(np.abs(image), 0.99)) or 1.0
        shown = axis.imshow(image, cmap="RdBu_r", vmin=-most, vmax=most)
        figure.colorbar(shown, ax=axis, label="coefficient")
    axis.set(xticks=[], yticks=[])
    axis.set_title("300 lines, added up", loc="left", fontweight="bold", fontsize="medium")
    figure.savefig(path)


FILE = "logitboost_study.csv"


def tables(folder: Path) -> dict[str, str]:
    """All tables, made from the records in a folder."""
    measured = Measured(folder / FILE)
    return {
        "made": made(measured),
        "rounds": table(round_rows(measured), "data | rounds | training | test | loss | features"),
        "others": table(
            other_rows(measured), "data | model | training | test | both classes alike | CPU s"
        ),
        "classes": table(
            class_rows(measured), "learners | steps | classes | training | test | log loss | CPU s"
        ),
    }


def class_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Errors and log loss of the models of ten classes."""
    for learner, rate, way in OF_CLASSES:
        runs = measured.chosen("classes", DIGITS, f"{learner}, {rate}, {TOGETHER[way]}")
        if runs:
            train, test, loss, _ = zip(*(run.values for run in runs), strict=True)
            seconds = math.fsum(run.seconds for run in runs) / len(runs)
            cells = plus_minus(train), plus_minus(test), plus_minus(loss, 3), f"{seconds:.0f}"
            yield learner, rate, TOGETHER[way], *cells


def at(measured: Measured, data: str, part: str, number: int) -> list[float]:
    """What every seed has after so many rounds."""
    place = ROUNDS.index(number)
    runs = measured.chosen("lines", data, part)
    return [run.values[place] for run in runs if place < len(run.values)]


def round_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Errors, loss and number of features after 10, 30, 100 and 300 rounds."""
    for data in (MNIST, DOROTHEA):
        for kind in (OFFICIAL, DRAWN):
            name = f"{data}, {kind}"
            for number in SHOWN:
                cells = [
                    plus_minus(at(measured, name, part, number), digits)
                    for part, digits in (("train", 2), ("test", 2), ("loss", 4), ("features", 0))
                    if at(measured, name, part, number)
                ]
                if cells:
                    yield name, str(number), *cells


def other_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Every model after its last round."""
    for data in (MNIST, DOROTHEA):
        for kind in (OFFICIAL, DRAWN):
            name = f"{data}, {kind}"
            for model in MODELS:
                study = "lines" if model == LINES else "others"
                runs = measured.chosen(study, name, model)
                if runs:
                    columns = zip(*(run.values[:3] for run in runs), strict=True)
                    seconds = math.fsum(run.seconds for run in runs) / len(runs)
                    yield name, model, *(plus_minus(column) for column in columns), f"{seconds:.1f}"
