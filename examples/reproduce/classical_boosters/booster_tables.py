"""Tables of the study's page, made from its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from booster_adaboost import ROUNDS
from booster_data import MNIST, SMALL
from booster_digits import LARGE, NOTES, SHRUNK, THEIRS
from booster_letter import DATA
from booster_pictures import values
from booster_support import DESIGNS, FEATURES, METHODS, ROWS, cell
from numpy.typing import NDArray
from page_tables import plus_minus, table
from study_jobs import made
from transform_regression.measured import Measured

Vector = NDArray[np.float64]
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
        lines = values(measured, "adaboost", MNIST, name)
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
                runs = [values(measured, "support", cell(design, n, p), m) for m in METHODS]
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
        mean = values(measured, "digits", data, "pixels").mean(axis=0) / 10
        side = round(np.sqrt(len(mean)))
        ends = np.r_[:size, side - size : side]
        share = mean.reshape(side, side)[np.ix_(ends, ends)].sum()
        yield data.split()[-1], str(4 * size**2), f"{share:.2f}"


def statement_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """What the notes say, and what was found."""
    weights = values(measured, "adaboost", MNIST, "deviations")
    sums = values(measured, "digits", SMALL, "deviations")
    rules = values(measured, "letter", DATA, "greedy rules")
    orthogonal = values(measured, "letter", DATA, "deviations")
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
