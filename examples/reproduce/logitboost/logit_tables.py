"""Tables of the study's page, made from its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from logit_data import DOROTHEA, DRAWN, MNIST, OFFICIAL
from logit_models import LINES, MODELS, ROUNDS, SHOWN
from page_tables import plus_minus, table
from study_jobs import made
from transform_regression.measured import Measured

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
    }


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
                    seconds = sum(run.seconds for run in runs) / len(runs)
                    yield name, model, *(plus_minus(column) for column in columns), f"{seconds:.1f}"
