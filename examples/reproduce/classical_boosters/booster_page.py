"""The page of the study: its tables, made of the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from booster_adaboost import ROUNDS
from booster_data import MNIST, SMALL
from booster_digits import LARGE, NOTES, SHRUNK, THEIRS
from booster_found import deviations, exactly, found, together
from booster_pictures import values
from booster_support import DESIGNS, FEATURES, METHODS, ROWS, cell
from booster_words import PAGE, STATEMENTS
from page_form import made, table, worded
from transform_regression.measured import Measured

COMMAND = "python examples/reproduce/classical_boosters --data DATA"
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


def write_page(measured: Measured, path: Path) -> None:
    """Write docs/classical_boosters.md."""
    page = PAGE.format(
        made=made(measured, COMMAND, FILE),
        adaboost=table(adaboost_rows(measured), "% | " + " | ".join(map(str, near(SHOWN)))),
        digits=table(
            digit_rows(measured), "data | model | " + " | ".join(map(str, SHOWN_TREES)) + " | CPU s"
        ),
        support=table(support_rows(measured), "design | rows | features | " + " | ".join(METHODS)),
        totals=table(
            total_rows(measured), "design | method | exact | missed | others chosen | CPU s a fit"
        ),
        statements=table(statement_rows(measured), "statement | what was found"),
        **found(measured),
    )
    path.write_text(page, encoding="utf-8")


def near(rounds: Sequence[int]) -> list[int]:
    """The rounds of the records that are nearest to these."""
    return [min(ROUNDS, key=lambda known: abs(known - number)) for number in rounds]


def adaboost_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Every curve at some rounds."""
    for name in CURVES:
        lines = values(measured, "adaboost", MNIST, name)
        places = [ROUNDS.index(number) for number in near(SHOWN)]
        if len(lines):
            yield name, *(worded(lines[:, k]) for k in places if k < lines.shape[1])


def digit_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Test errors after some rounds."""
    for data, model in ((SMALL, NOTES), (SMALL, SHRUNK), (SMALL, THEIRS), (MNIST, LARGE)):
        runs = measured.chosen("digits", data, model)
        if runs:
            errors = [[run.values[number - 1] for run in runs] for number in SHOWN_TREES]
            seconds = worded([run.seconds for run in runs], 1)
            yield data, model, *map(worded, errors), seconds


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
                    worded(counts[:, 0], 1),
                    worded(counts[:, 1], 1),
                    f"{np.mean(seconds):.3f}",
                )


def statement_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """What the notes say, and what was found."""
    numbers = deviations(measured)
    for statement, words in STATEMENTS:
        yield statement, words.format(**numbers)
