"""cgboost compared with its peers: the same rows, splits, candidates and thread.

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

import logging
import os
import sys
from argparse import Namespace
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TQDM_DISABLE"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from page_tables import refresh
from peers_classes import LIMIT_SECONDS, check, checked
from peers_fits import Class, Fit, measured
from peers_page import draw, tables
from peers_tasks import all_tasks
from study_jobs import Store, study_options

from cgboost.inspection.report.page import made_with
from cgboost.studies.scripts import timed

CHECKS = "classes"
"""The task that is no fit: scikit-learn's checks."""

PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "lightgbm", "interpret-core"),
    *("pygam", "ikpls", "colboost", "gurobipy"),
)


def main() -> None:
    """Measure what is asked for and missing, then make picture and tables."""
    names = (*(task.name for task in all_tasks(None)), CHECKS)
    given = study_options(
        __doc__, "peers", tasks=names, page=False, check="", limit=LIMIT_SECONDS
    )  # the last two for a child process
    if given.check:
        check(given.check, given.limit)
        return
    logging.disable(logging.INFO)  # colboost and interpret turn everybody's logs on
    docs = given.docs
    fits = Store(docs / "peers.csv", Fit)
    classes = Store(docs / "peers.classes.csv", Class)
    if not given.page:
        measure(fits, classes, given)
        (docs / "peers.txt").write_text(made_with(*PACKAGES) + "\n", encoding="utf-8")
    draw(list(all_tasks(None)), fits.rows, docs / "peers.png")
    refresh(docs / "page.md", tables(docs))


def measure(fits: Store[Fit], classes: Store[Class], given: Namespace) -> None:
    """Every task and seed that is missing, then the classes that are."""
    known = {(fit.task, fit.seed) for fit in fits.rows}
    for task in all_tasks(given.data):
        for seed in given.seeds:
            if task.name in given.tasks and (task.name, seed) not in known:
                seconds, found = timed(lambda run=task, s=seed: list(measured(run, s)))
                fits.extend(found)
                print(f"{task.name}, seed {seed}: {seconds:.1f} s of CPU", flush=True)
    if CHECKS in given.tasks:
        for own in checked({row.name for row in classes.rows}):
            classes.extend([own])
            print(f"{own.name}: {len(own.failed.split())} of {own.checks} failed", flush=True)


if __name__ == "__main__":
    main()
