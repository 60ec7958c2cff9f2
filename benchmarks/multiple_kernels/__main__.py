"""The SimpleMKL study: 13 (d + 1) kernels on four sets of UCI, and ways to combine them.

    python -m pip install -r benchmarks/multiple_kernels/requirements.txt
    python benchmarks/multiple_kernels --data DATA [--splits 20] [--first 20] [--only liver …]
        [--methods NAME …] [--docs FOLDER]
    python benchmarks/multiple_kernels --page

What simple_mkl.csv has is not measured again: an interrupted run goes on where it was, and without
the file everything is measured anew. ``--page`` only makes the pictures and the tables of page.md.
MKLpy (EasyMKL) and torch, which it needs, are for this alone; without them EasyMKL is left out, and
a later run with them adds it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from argparse import Namespace
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from mkl_data import FILES, read, split
from mkl_fits import Measured, cost_of, measured
from mkl_methods import EASY, GROUP, METHODS, SIMPLE, SIMPLE_PAPER
from mkl_page import draw, of_method_page, tables
from page_tables import refresh
from study_jobs import Store, study_options

from cgboost import CGBoostClassifier
from cgboost.inspection import plot_kernel_weights
from cgboost.inspection.report.page import made_with
from cgboost.studies.datasets import data_folder

PACKAGES = "numpy", "scipy", "scikit-learn", "MKLpy", "torch"
METHOD_PAGE = Path("../../methods/multiple_kernel_learning")
"""Seen from the study's folder: the page of the method, and its picture."""

EVERY = (*METHODS, SIMPLE, SIMPLE_PAPER)
"""Methods, in the order in which they are measured."""

SPLITS = 20
"""As in the paper."""

FIRST = 20
"""Seed of the first split: what is chosen here was chosen with splits 0 to 3 in sight."""


def main() -> None:
    """Measure what is missing, then make pictures and tables."""
    given = study_options(
        __doc__,
        "simple_mkl",
        only=tuple(FILES),
        methods=EVERY,
        splits=SPLITS,
        first=FIRST,
        page=False,
    )
    store = Store(given.docs / "simple_mkl.csv", Measured)
    if not given.page:
        measure(store, given)
        versions = made_with(*(name for name in PACKAGES if importlib.util.find_spec(name)))
        (given.docs / "simple_mkl.txt").write_text(versions + "\n", encoding="utf-8")
        draw_weights(store, given)
    draw(store.rows, given.docs / "simple_mkl.png")
    found = tables(given.docs)
    refresh(given.docs / "page.md", found)
    refresh(given.docs / METHOD_PAGE.with_suffix(".md"), of_method_page(found))


def draw_weights(store: Store[Measured], given: Namespace) -> None:
    """Kernel weights of the model that was chosen on the first split of the Pima data."""
    model = next((row for row in store.rows if (row.data, row.method) == ("pima", GROUP)), None)
    if model is not None:
        rows = split(*read(data_folder(given.data), model.data), model.seed)
        fitted = CGBoostClassifier(rows.library, penalty="group", C=cost_of(model))
        figure = plot_kernel_weights(fitted.fit(rows.X, rows.y))
        figure.savefig(given.docs / METHOD_PAGE.with_suffix(".png"), dpi=100)


def measure(store: Store[Measured], given: Namespace) -> None:
    """Every split of every data set, with the methods that lack it."""
    methods = [name for name in EVERY if name in given.methods]
    if importlib.util.find_spec("MKLpy") is None:
        methods = [name for name in methods if name != EASY]
    for seed in range(given.first, given.first + given.splits):
        for data in given.only:
            own = (row for row in store.rows if (row.data, row.seed) == (data, seed))
            there = {row.method: row for row in own}
            wanted = [name for name in methods if name not in there]
            if not wanted:
                continue
            rows = split(*read(data_folder(given.data), data), seed)
            for found in measured(data, seed, rows, wanted, there):
                store.extend([found])
                print(
                    f"{data}, split {seed}, {found.method}: {found.accuracy:.1f} %, "
                    f"{found.kernels} kernels, {found.choice}, {found.seconds:.2f} s "
                    f"({found.choosing:.1f} s to choose)",
                    flush=True,
                )


if __name__ == "__main__":
    main()
