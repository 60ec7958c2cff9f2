"""The classical boosters of the lecture notes, on data: records, pictures and tables of the page.

    python examples/reproduce/classical_boosters --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                                 [--studies adaboost digits support letter hardest]

* ``adaboost``: errors, bound and weights of AdaBoost on MNIST, odd against even;
* ``digits``: K-class gradient boosting on the ten digits, with importances of pixels;
* ``support``: OGA + HDIC, L2-Boosting and the lasso: which features matter?
* ``letter``: statements of the notes about greedy rules, in numbers;
* ``hardest``: the picture of the images that AdaBoost weights most.

What classical_boosters.csv has already is not measured again; ``--studies`` with nothing
behind it makes the tables and the pictures from the records alone, without ``--data``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

from booster_adaboost import adaboost
from booster_data import MNIST, SMALL, draw
from booster_digits import digits
from booster_letter import DATA, statements
from booster_pictures import draw_adaboost, draw_digits, draw_hardest, draw_support
from booster_support import cells, support
from booster_tables import tables
from page_tables import refresh
from study_jobs import Job, measure, study_options
from transform_regression.measured import Measured, Record

from cgboost.studies.datasets import data_folder

STUDIES = ("adaboost", "digits", "support", "letter", "hardest")
PACKAGES = ("numpy", "scipy", "scikit-learn")


def jobs(studies: Sequence[str], seeds: Sequence[int], folder: Path | None) -> list[Job]:
    """Everything that was asked for."""
    found = []
    for seed in seeds:
        if "adaboost" in studies:
            found.append(Job("adaboost", MNIST, seed, partial(boosted, folder, seed)))
        if "digits" in studies:
            for data in (SMALL, MNIST):
                found.append(Job("digits", data, seed, partial(grown, data, folder, seed)))
    for seed in seeds:
        if "support" in studies:
            found += [Job("support", name, seed, partial(support, name, seed)) for name in cells()]
        if "letter" in studies:
            found.append(Job("letter", DATA, seed, partial(statements, seed)))
    return found


def boosted(folder: Path | None, seed: int) -> Iterable[Record]:
    """AdaBoost on one draw."""
    return adaboost(draw(MNIST, folder, seed), seed)


def grown(data: str, folder: Path | None, seed: int) -> Iterable[Record]:
    """Gradient boosting on one draw."""
    return digits(data, draw(data, folder, seed), seed)


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    options = study_options(__doc__, "the MNIST files", "classical_boosters", STUDIES)
    docs = options.docs
    measured = Measured(docs / "classical_boosters.csv")
    images = {"adaboost", "digits", "hardest"} & set(options.studies)
    folder = data_folder(options.data) if images else None
    measure(measured, jobs(options.studies, options.seeds, folder), PACKAGES)
    draw_adaboost(measured, docs / "classical_adaboost.png")
    draw_digits(measured, docs / "classical_digits.png")
    draw_support(measured, docs / "classical_support.png")
    if "hardest" in options.studies:
        draw_hardest(draw(MNIST, folder, options.seeds[0]), docs / "classical_hardest.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
