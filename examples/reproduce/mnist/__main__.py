"""The odd/even study of Bi, Zhang, Bennett (KDD 2004), section 5: records, pictures, tables.

    python examples/reproduce/mnist --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                    [--studies table figure]

* ``table``: Table 1, every kernel, composite and mixture with both norms, C chosen on the
  validation set, on random splits of 1000/2000/10000 images;
* ``figure``: Figure 1, regular against stratified, and validation curves, on the first split.

What mnist.csv has already is not measured again: an interrupted run goes on where it was, and
without the file everything is measured anew. ``--studies`` with nothing behind it makes the tables
and the pictures from the records alone, without ``--data``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

from mnist_curves import (
    BAD_C,
    GOOD_C,
    ORDERS,
    PRIORITIES,
    VALIDATION,
    priority_records,
    validation_records,
)
from mnist_fits import STUDY, experiments, name_of, table_record
from mnist_pictures import draw_curves, draw_table
from mnist_tables import tables
from page_tables import refresh
from study_jobs import Job, measure, study_options
from transform_regression.measured import Measured

from cgboost.studies.datasets import Split, data_folder, odd_even_split

STUDIES = ("table", "figure")
PACKAGES = ("numpy", "scipy", "highspy", "piqp")
Source = Callable[[int], Split]


def table_jobs(split_of: Source, seeds: Iterable[int]) -> Iterable[Job]:
    """Table 1, one split after the other."""
    for seed in seeds:
        for row in experiments():
            yield Job(
                STUDY,
                name_of(*row),
                seed,
                lambda seed=seed, row=row: [table_record(split_of(seed), *row, seed)],
            )


def figure_jobs(split_of: Source, seed: int) -> Iterable[Job]:
    """Figure 1 on one split."""
    for order in ORDERS:
        yield Job(
            PRIORITIES, order, seed, lambda own=order: priority_records(split_of(seed), own, seed)
        )
    for C in (GOOD_C, BAD_C):
        yield Job(
            VALIDATION, f"{C:g}", seed, lambda own=C: validation_records(split_of(seed), own, seed)
        )


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    options = study_options(__doc__, "mnist/", "mnist", STUDIES)
    docs, seeds = options.docs, options.seeds
    measured = Measured(docs / "mnist.csv")
    folder = data_folder(options.data) / "mnist" if options.studies else None

    @cache
    def split_of(seed: int) -> Split:
        return odd_even_split(folder, seed=seed)

    jobs: list[Job] = []
    if "table" in options.studies:
        jobs += table_jobs(split_of, seeds)
    if "figure" in options.studies:
        jobs += figure_jobs(split_of, seeds[0])
    measure(measured, jobs, PACKAGES)
    draw_table(measured, docs / "mnist_table.png")
    draw_curves(measured, seeds[0], docs / "mnist.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
