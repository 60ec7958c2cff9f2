"""The odd/even study of Bi, Zhang, Bennett (KDD 2004), section 5: records, pictures, tables.

    python examples/reproduce/mnist --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                    [--studies free nonneg unscaled limits figure]

* ``free``, ``nonneg``, ``unscaled``: Table 1 with free α, with α ≥ 0, and with free α and unscaled
  kernels: every kernel, composite and mixture with both norms, C chosen on the validation set, on
  random splits of 1000/2000/10000 images;
* ``limits``: the mixture with a limit on columns, in all orders of priority;
* ``figure``: Figure 1, regular against stratified in two ways, and validation curves, on the first
  split.

What mnist.csv has already is not measured again: an interrupted run goes on where it was, and
without the file everything is measured anew. ``--studies`` with nothing behind it makes the tables
and the pictures from the records alone, without ``--data``.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from mnist_models import SETTINGS, figure_jobs, limit_jobs, table_jobs
from mnist_page import draw_curves, draw_table, tables
from page_tables import refresh
from study_jobs import Job, Measured, measure, study_options

from cgboost.studies.datasets import data_folder, odd_even_split

PACKAGES = ("numpy", "scipy", "highspy", "piqp")


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    given = study_options(__doc__, "mnist", (*SETTINGS, "limits", "figure"))
    docs, seeds = given.docs, given.seeds
    measured = Measured(docs / "mnist.csv")
    folder = data_folder(given.data) / "mnist" if given.studies else None
    split_of = cache(lambda seed: odd_even_split(folder, seed=seed))
    jobs: list[Job] = []
    for setting in SETTINGS:
        if setting in given.studies:
            jobs += table_jobs(setting, split_of, seeds)
    if "limits" in given.studies:
        jobs += limit_jobs(split_of, cache(lambda seed: odd_even_split(seed=seed)), seeds)
    if "figure" in given.studies:
        jobs += figure_jobs(split_of, seeds[0])
    measure(measured, jobs, PACKAGES)
    draw_table(measured, docs / "mnist_table.png")
    draw_curves(measured, seeds[0], docs / "mnist.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
