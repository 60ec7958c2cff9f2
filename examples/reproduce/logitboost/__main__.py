"""LogitBoost over lines, the table and curve of the course notes: records, pictures, tables.

    python examples/reproduce/logitboost --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                         [--studies lines others letter classes]

* ``lines``: errors and loss of LogitBoost by round, on MNIST odd/even and on Dorothea;
* ``others``: logistic regression, trees, and no model at all;
* ``letter``: the algorithm of the notes, written out, against ours;
* ``classes``: ten digits together, and each against the rest.

What logitboost_study.csv has already is not measured again; ``--studies`` with nothing behind
it makes the pictures and the tables alone, without ``--data``.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from logit_classes import DIGITS, digits, several_classes
from logit_models import (
    DRAWN,
    MNIST,
    Source,
    against_the_letter,
    batches,
    lines_by_round,
    others,
)
from logit_page import draw_coefficients, draw_curves, tables
from page_tables import refresh
from study_jobs import Job, Measured, Record, measure, study_options

from cgboost.studies.datasets import data_folder

STUDIES = {"lines": lines_by_round, "others": others, "letter": against_the_letter}
CLASSES = "classes"
PACKAGES = ("numpy", "scipy", "scikit-learn", "xgboost")


def jobs(source: Source, studies: list[str], seeds: list[int]) -> list[Job]:
    """Everything that was asked for, one data set after the other."""
    found = []
    for where in batches(seeds):
        data, kind, seed = where
        for study in filter(STUDIES.get, studies):
            name = MNIST if study == "letter" else f"{data}, {kind}"
            if study != "letter" or (data, kind) == (MNIST, DRAWN):
                run = partial(measured_on, source, study, *where)
                found.append(Job(study, name, seed, run))
    if CLASSES in studies:
        found += [Job(CLASSES, DIGITS, seed, partial(of_digits, source, seed)) for seed in seeds]
    return found


def of_digits(source: Source, seed: int) -> list[Record]:
    """Records of the models of ten classes."""
    return several_classes(digits(*source.part(MNIST), seed), seed)


def measured_on(source: Source, study: str, *where: Any) -> list[Record]:
    """Records of these models on this split."""
    return STUDIES[study](source.case(*where), *where)


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    given = study_options(__doc__, "logitboost", (*STUDIES, CLASSES))
    docs = given.docs
    measured = Measured(docs / "logitboost_study.csv")
    if given.studies:
        source = Source(data_folder(given.data))
        measure(measured, jobs(source, given.studies, given.seeds), PACKAGES)
    draw_curves(measured, docs / "logitboost_study.png")
    draw_coefficients(measured, docs / "logitboost_study_pixels.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
