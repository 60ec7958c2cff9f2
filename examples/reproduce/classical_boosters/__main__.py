"""The classical boosters of the lecture notes, on data: records, pictures and tables of the page.

    python examples/reproduce/classical_boosters --data LETTER [--docs FOLDER] [--seeds 0 1 2 3 4]
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

import sys
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from booster_models import (
    LETTER,
    MNIST,
    SMALL,
    adaboost,
    cells,
    digits,
    draw,
    statements,
    support,
)
from booster_page import draw_adaboost, draw_digits, draw_hardest, draw_support, tables
from page_tables import refresh
from study_jobs import Job, Measured, measure, study_options

from cgboost.studies.datasets import data_folder

STUDIES = ("adaboost", "digits", "support", "letter", "hardest")
PACKAGES = ("numpy", "scipy", "scikit-learn")


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    given = study_options(__doc__, "classical_boosters", STUDIES)
    docs, seeds = given.docs, given.seeds
    measured = Measured(docs / "classical_boosters.csv")
    images = {"adaboost", "digits", "hardest"} & set(given.studies)
    folder = data_folder(given.data) if images else None
    jobs = []
    for seed in seeds:
        own = {
            "adaboost": [(MNIST, lambda s=seed: adaboost(draw(MNIST, folder, s), s))],
            "digits": [
                (data, lambda d=data, s=seed: digits(d, draw(d, folder, s), s))
                for data in (SMALL, MNIST)
            ],
            "support": [(name, partial(support, name, seed)) for name in cells()],
            "letter": [(LETTER, partial(statements, seed))],
        }
        for study in set(own) & set(given.studies):
            jobs += [Job(study, data, seed, run) for data, run in own[study]]
    measure(measured, jobs, PACKAGES)
    draw_adaboost(measured, docs / "classical_adaboost.png")
    draw_digits(measured, docs / "classical_digits.png")
    draw_support(measured, docs / "classical_support.png")
    if "hardest" in given.studies:
        draw_hardest(draw(MNIST, folder, seeds[0]), docs / "classical_hardest.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
