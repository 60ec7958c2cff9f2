"""LogitBoost over lines, the table and curve of the course notes: records, pictures, tables.

    python examples/reproduce/logitboost --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                         [--studies lines others letter]

* ``lines``: errors and loss of LogitBoost by round, on MNIST odd/even and on Dorothea;
* ``others``: logistic regression, trees, and no model at all;
* ``letter``: the algorithm of the notes, written out, against ours.

What logitboost_study.csv has already is not measured again; ``--studies`` with nothing behind
it makes the pictures and the tables alone, without ``--data``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "latent_factors"))

from logit_data import DRAWN, MNIST, Case, Source, batches
from logit_models import against_the_letter, lines_by_round, others
from logit_pictures import draw_coefficients, draw_curves
from logit_tables import tables
from page_tables import refresh
from study_jobs import Job, measure, study_options
from transform_regression.measured import Measured, Record

from cgboost.studies.datasets import data_folder

STUDIES = ("lines", "others", "letter")
Models = Callable[[Case, str, str, int], list[Record]]
PACKAGES = ("numpy", "scipy", "scikit-learn", "xgboost")


def jobs(source: Source, studies: Sequence[str], seeds: list[int]) -> list[Job]:
    """Everything that was asked for, one data set after the other."""
    found = []
    for data, kind, seed in batches(seeds):
        for study, models in (("lines", lines_by_round), ("others", others)):
            if study in studies:
                job = partial(measured_on, source, models, data, kind, seed)
                found.append(Job(study, f"{data}, {kind}", seed, job))
        if "letter" in studies and (data, kind) == (MNIST, DRAWN):
            job = partial(against, source, seed)
            found.append(Job("letter", MNIST, seed, job))
    return found


def measured_on(source: Source, models: Models, data: str, kind: str, seed: int) -> list[Record]:
    """Records of these models on this split."""
    return models(source.case(data, kind, seed), data, kind, seed)


def against(source: Source, seed: int) -> list[Record]:
    """Records of the comparison with the notes."""
    return against_the_letter(source.case(MNIST, DRAWN, seed), seed)


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    options = study_options(__doc__, "mnist/ and dorothea/", "logitboost", STUDIES)
    measured = Measured(options.docs / "logitboost_study.csv")
    if options.studies:
        source = Source(data_folder(options.data))
        measure(measured, jobs(source, options.studies, options.seeds), PACKAGES)
    draw_curves(measured, options.docs / "logitboost_study.png")
    draw_coefficients(measured, options.docs / "logitboost_study_pixels.png")
    refresh(options.docs / "page.md", tables(options.docs))


if __name__ == "__main__":
    main()
