"""Sparse linear models compared with their peers: the same rows, objective and thread.

    python -m venv PEERS
    PEERS/bin/python -m pip install . -r benchmarks/sparse_linear/requirements.txt
    PEERS/bin/python benchmarks/sparse_linear --data DATA [--groups settings shapes svm paths]
        [--match TEXT] [--solvers NAME ...] [--again] [--docs FOLDER]
    python benchmarks/sparse_linear --page

What sparse_linear.csv has of a task, a solver and its version (for cgboost: the commit) is not
measured again, so that an interrupted run goes on where it was; ``--again`` measures it again, and
the last record counts. ``--page`` only makes the tables of page.md and of the guide's page.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["NUMBA_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from sparse_page import GUIDE, refresh_pages, settings_of
from sparse_picture import draw
from sparse_records import Measured, records, version_of
from sparse_solvers import SOLVERS
from sparse_tasks import GROUPS, all_tasks
from sparse_worker import Worker, serve
from study_jobs import Store, study_options

from cgboost.inspection.report.page import made_with

PACKAGES = "numpy", "scipy", "scikit-learn", "highspy", "skglm", "statsmodels", "pinball-qr"


def main() -> None:
    """Measure what is missing, then make the tables."""
    given = study_options(
        __doc__,
        "sparse_linear",
        groups=GROUPS,
        match="",
        solvers=tuple(SOLVERS),
        again=False,
        page=False,
        serve="",
    )  # the last for a child process
    if given.serve:
        serve(given.serve, given.data)
        return
    given.docs.mkdir(parents=True, exist_ok=True)
    if not given.page:
        measure(records(given.docs), given)
        (given.docs / "sparse_linear.txt").write_text(made_with(*PACKAGES) + "\n", encoding="utf-8")
    draw(settings_of(given.docs), given.docs / "sparse_linear.png")
    refresh_pages(given.docs, GUIDE)


def measure(store: Store[Measured], given: Namespace) -> None:
    """Every task with every solver, in turn, so that ratios are of one time."""
    workers = {name: Worker(name, given.data) for name in given.solvers}
    versions = {name: version_of(SOLVERS[name].package) for name in given.solvers}
    there = {(row.task, row.solver, row.version) for row in store.rows}
    for task in all_tasks(given.data):
        if task.group not in given.groups or given.match not in task.name:
            continue
        for name in (name for name in task.solvers if name in workers):
            if not given.again and (task.name, name, versions[name]) in there:
                continue
            if task.alone:
                workers[name].close()
            answer = workers[name].ask(task)
            if task.alone:
                workers[name].close()
            store.extend([Measured.of(task, name, versions[name], answer)])
            said = answer.error or f"{answer.seconds:.3f} s, {answer.objective:.8g}"
            print(f"{task.name} | {name}: {said}", flush=True)
    for worker in workers.values():
        worker.close()


if __name__ == "__main__":
    main()
