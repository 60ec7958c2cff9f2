"""Today's peers, each at its newest version, in an environment and a process of its own.

    python benchmarks/peers/today --data DATA [--environments FOLDER] [--tasks lasso rates …]
    python benchmarks/peers/today --page

Everything is measured anew, but for the tasks that are not named; ``--page`` only makes the tables
of the page from the records. Environments are made where they are not there (build/peers), and take
longer than the fits. A peer that cannot be installed, or raises, is in the table with the reason.

Times are CPU seconds on one thread: of the first call, in which JIT compilers work, and of the
shorter of two more.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "reproduce"))

from page_tables import refresh
from study_jobs import Store
from today_environments import Environment, shortened, version
from today_page import Outcome, tables
from today_tasks import OURS, TASKS, Entrant, Task

from cgboost.inspection.report.page import made_with
from cgboost.studies.scripts import options

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LIMIT = 60
"""CPU seconds after which a process is ended."""
WAITING = 20
"""How many times as long to wait by the clock."""
AT_HAND = (OURS, "scikit-learn", "highspy")
"""What the environment that runs this has."""


def main() -> None:
    """Measure what is asked for, then make the tables."""
    docs = ROOT / "docs" / "studies" / "something_else"
    given = options(
        __doc__,
        data="",
        environments=str(ROOT / "build" / "peers"),
        tasks=tuple(task.name for task in TASKS),
        docs=str(docs),
        page=False,
    )
    docs = Path(given.docs)
    docs.mkdir(parents=True, exist_ok=True)
    store = Store(docs / "today.csv", Outcome)
    if not given.page:
        for task in TASKS:
            if task.name in given.tasks:
                found = list(measured(task, given))
                store.replace([row for row in store.rows if row.task != task.name] + found)
        (docs / "today.txt").write_text(made_with("numpy", "scipy") + "\n", encoding="utf-8")
    refresh(docs / "page.md", tables(docs))


def measured(task: Task, given: Namespace) -> Iterator[Outcome]:
    """All entrants of a task, one after the other."""
    rows = task.rows(Path(given.data) if given.data else None)
    outcomes, answers = {}, {}
    for entrant in task.entrants:
        outcome, answer = outcome_of(entrant, rows, Path(given.environments))
        outcomes[entrant.name] = {"task": task.name, "entrant": entrant.name, **outcome}
        if answer is not None:
            answers[entrant.name] = answer
        print(task.name, entrant.name, outcome, flush=True)
    for name, words in task.judged(rows, answers).items():
        outcomes[name]["words"] = " | ".join(words)
    yield from (Outcome(**fields) for fields in outcomes.values())


def outcome_of(entrant: Entrant, rows: Any, folder: Path) -> tuple[dict[str, Any], Any]:
    """Version and seconds, or why there are none; the answer."""
    if entrant.without:
        return {"error": entrant.without}, None
    python: Path | str = sys.executable
    if entrant.package not in AT_HAND:
        own = Environment(folder / entrant.package)
        if reason := own.install((entrant.package, *entrant.also)):
            return {"error": f"does not install: {reason}"}, None
        python = own.python
    told = {"version": version(python, entrant.package)}
    with tempfile.TemporaryDirectory() as place:
        given, wanted = Path(place) / "rows", Path(place) / "answer"
        given.write_bytes(pickle.dumps(rows))
        command = [python, HERE / "today_calls.py", entrant.call, given, wanted]
        try:
            done = subprocess.run(
                command,
                cwd=place,
                capture_output=True,
                text=True,
                timeout=WAITING * LIMIT,
                check=False,
                preexec_fn=limited,
            )
        except subprocess.TimeoutExpired:
            return {**told, "error": f"not finished within {WAITING * LIMIT} s"}, None
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
        if done.returncode == -signal.SIGXCPU:
            return {**told, "error": f"not finished within {LIMIT} CPU seconds"}, None
        if done.returncode < 0:
            return {**told, "error": f"its process was ended by signal {-done.returncode}"}, None
        if not lines:
            return {**told, "error": shortened(done.stderr)}, None
        said = json.loads(lines[-1])
        if "error" in said:
            return {**told, "error": shortened(said["error"].partition("\n")[0])}, None
        return {**told, **said}, pickle.loads(wanted.read_bytes())


def limited() -> None:
    """The process may work for so long."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))


if __name__ == "__main__":
    main()
