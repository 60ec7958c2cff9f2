"""cgboost beside its peers: the same rows, splits, candidates and thread.

    python -m pip install -r benchmarks/peers/requirements.txt
    python benchmarks/peers --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4] [--tasks digits adult …]
    python benchmarks/peers --page

The peers are needed for this alone; one that is not installed, or raises, is in the table with its
error. What peers.csv and peers.classes.csv have is not measured again: an interrupted run
goes on where it was, and without the files everything is measured anew. ``--page`` only makes the
picture and the tables of page.md from them.

Each task has rows for every seed. Every candidate of every entrant is fitted to the training rows,
the entrants in turn; the validation rows choose the candidate, the test rows give the figures of
the table. Times are those of the process on one thread, and medians over the seeds.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TQDM_DISABLE"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from classes import LIMIT_SECONDS, check, checked
from fits import Class, Fit, Store
from measuring import measured
from page_tables import refresh
from peers_picture import draw
from peers_tables import tables
from tasks import all_tasks

from cgboost.inspection.report.page import made_with

CHECKS = "classes"
"""The task that is no fit: scikit-learn's checks."""

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "interpret-core",
    "pygam",
    "ikpls",
    "colboost",
    "gurobipy",
)


def main() -> None:
    """Measure what is asked for and missing, then make picture and tables."""
    names = [*(task.name for task in all_tasks(None)), CHECKS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with mnist/, adult/ and uci/")
    parser.add_argument(
        "--docs",
        type=Path,
        default=Path("docs/studies/peers"),
        help="folder of the page and its records",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--tasks", nargs="*", choices=names, default=names)
    parser.add_argument("--page", action="store_true", help="measure nothing")
    parser.add_argument("--check", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, default=LIMIT_SECONDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check:
        check(options.check, options.limit)
        return
    logging.disable(logging.INFO)  # colboost and interpret turn everybody's logs on
    docs = options.docs
    fits = Store(docs / "peers.csv", Fit)
    classes = Store(docs / "peers.classes.csv", Class)
    if not options.page:
        measure(fits, classes, options)
        (docs / "peers.txt").write_text(made_with(*PACKAGES) + "\n", encoding="utf-8")
    draw(list(all_tasks(None)), fits.rows, docs / "peers.png")
    refresh(docs / "page.md", tables(docs))


def measure(fits: Store[Fit], classes: Store[Class], options: argparse.Namespace) -> None:
    """Every task and seed that is missing, then the classes that are."""
    known = {(fit.task, fit.seed) for fit in fits.rows}
    for task in all_tasks(options.data):
        for seed in options.seeds:
            if task.name in options.tasks and (task.name, seed) not in known:
                clock = time.process_time()
                fits.extend(list(measured(task, seed)))
                seconds = time.process_time() - clock
                print(f"{task.name}, seed {seed}: {seconds:.1f} s of CPU", flush=True)
    if CHECKS in options.tasks:
        for own in checked({row.name for row in classes.rows}):
            classes.extend([own])
            print(f"{own.name}: {len(own.failed.split())} of {own.checks} failed", flush=True)


if __name__ == "__main__":
    main()
