"""Words of the page that depend on what was measured."""

from __future__ import annotations

import numpy as np
from logit_data import DOROTHEA, DRAWN, MNIST, OFFICIAL
from logit_models import COMMONER, FULL_TREES, LINES, LOGISTIC, MODELS, ROUNDS, SHOWN, TREES
from numpy.typing import NDArray
from page_form import worded
from transform_regression.measured import Measured

Vector = NDArray[np.float64]


def found(measured: Measured) -> dict[str, str]:
    """Everything that the page says in words."""
    images, compounds = f"{MNIST}, {OFFICIAL}", f"{DOROTHEA}, {OFFICIAL}"
    return {
        "falls": falls(measured),
        "shown": f"{', '.join(map(str, SHOWN[:-1]))} and {SHOWN[-1]}",
        "test": at_rounds(measured, images, "test"),
        "last": last(measured, images),
        "last_drawn": last(measured, f"{MNIST}, {DRAWN}"),
        "logistic": outcome(measured, images, LOGISTIC, 1),
        "features": worded(at(measured, images, "features", SHOWN[-1]), 0),
        "separated": separated(measured),
        "dorothea": at_rounds(measured, compounds, "test"),
        "dorothea_drawn": at_rounds(measured, f"{DOROTHEA}, {DRAWN}", "test"),
        "one_line": worded(at(measured, compounds, "test", 1)),
        "one_line_drawn": worded(at(measured, f"{DOROTHEA}, {DRAWN}", "test", 1)),
        "best_images": best(measured, f"{MNIST}, {DRAWN}", 1),
        "best_wrong": best(measured, f"{DOROTHEA}, {DRAWN}", 1),
        "best_alike": best(measured, f"{DOROTHEA}, {DRAWN}", 2),
        "nothing": outcome(measured, f"{DOROTHEA}, {DRAWN}", COMMONER, 1),
        "full_trees": trees(measured, FULL_TREES),
        "shrunk_trees": trees(measured, TREES),
        "letter": letter(measured),
    }


def at(measured: Measured, data: str, part: str, number: int) -> list[float]:
    """What every seed has after so many rounds."""
    place = ROUNDS.index(number)
    runs = measured.chosen("lines", data, part)
    return [run.values[place] for run in runs if place < len(run.values)]


def at_rounds(measured: Measured, data: str, part: str) -> str:
    """The numbers of the table in a row of words."""
    means = [worded(at(measured, data, part, number)) for number in SHOWN]
    return f"{', '.join(means[:-1])} and {means[-1]} %"


def last(measured: Measured, data: str) -> str:
    """Training and test error after the last round."""
    wrong, tested = (worded(at(measured, data, part, SHOWN[-1])) for part in ("train", "test"))
    return f"{wrong} and {tested} %"


def falls(measured: Measured) -> str:
    """In how many of the fits the training loss falls from each point of the curve to the next."""
    runs = [run.values for run in measured.records if (run.study, run.model) == ("lines", "loss")]
    return f"{sum(bool(np.all(np.diff(values) <= 0)) for values in runs)} of {len(runs)} fits"


def outcome(measured: Measured, data: str, model: str, place: int) -> str:
    """One number of a model: its training error, test error, or that of both classes alike."""
    study = "lines" if model == LINES else "others"
    return worded([run.values[place] for run in measured.chosen(study, data, model)])


def best(measured: Measured, data: str, place: int) -> str:
    """The model with the lowest mean, and that."""
    means = {
        model: float(np.mean([run.values[place] for run in runs]))
        for model in MODELS
        if (runs := measured.chosen("lines" if model == LINES else "others", data, model))
    }
    lowest = min(means, key=means.__getitem__)
    return f"{lowest} ({means[lowest]:.1f} %)"


def trees(measured: Measured, model: str) -> str:
    """How many trees the drawn splits have."""
    words = []
    for data in (MNIST, DOROTHEA):
        counts = [run.values[3] for run in measured.chosen("others", f"{data}, {DRAWN}", model)]
        least, most = (f"{count:.0f}" for count in (min(counts), max(counts)))
        words.append(f"{least if least == most else f'{least} to {most}'} on {data}")
    return " and ".join(words)


def separated(measured: Measured) -> str:
    """From which round on no training row of Dorothea is wrong."""
    ends = [
        next((ROUNDS[k] for k, error in enumerate(run.values) if error == 0), None)
        for kind in (OFFICIAL, DRAWN)
        for run in measured.chosen("lines", f"{DOROTHEA}, {kind}", "train")
    ]
    reached = [end for end in ends if end is not None]
    if not reached:
        return "never"
    return f"after {min(reached)} to {max(reached)} rounds in {len(reached)} of {len(ends)} fits"


def letter(measured: Measured) -> str:
    """The largest relative differences of all seeds, as powers of ten."""
    runs = measured.chosen("letter", MNIST, "difference")
    loss, coef = (max(column) for column in zip(*(run.values for run in runs), strict=True))
    return (
        f"10^{np.ceil(loss):.0f} (losses) and 10^{np.ceil(coef):.0f} (coefficients), the largest "
        f"of {len(runs)} draws"
    )
