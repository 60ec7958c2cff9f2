"""The page of the study: its tables, made of the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from logit_data import DOROTHEA, DRAWN, MNIST, OFFICIAL
from logit_found import at, found
from logit_models import LINES, MODELS, SHOWN
from logit_words import PAGE
from page_form import made, table, worded
from transform_regression.measured import Measured

COMMAND = "python examples/reproduce/logitboost --data DATA"
FILE = "logitboost_study.csv"


def write_page(measured: Measured, path: Path) -> None:
    """Write docs/logitboost_study.md."""
    page = PAGE.format(
        made=made(measured, COMMAND, FILE),
        rounds=table(round_rows(measured), "data | rounds | training | test | loss | features"),
        others=table(
            other_rows(measured), "data | model | training | test | both classes alike | CPU s"
        ),
        **found(measured),
    )
    path.write_text(page, encoding="utf-8")


def round_rows(measured: Measured) -> Iterator[Sequence[str]]:
    """Errors, loss and number of features after 10, 30, 100 and 300 rounds."""
    for data in (MNIST, DOROTHEA):
        for kind in (OFFICIAL, DRAWN):
            name = f"{data}, {kind}"
            for number in SHOWN:
                cells = [
                    worded(at(measured, name, part, number), digits)
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
                    yield name, model, *(worded(column) for column in columns), f"{seconds:.1f}"
