"""cgboost in benchopt: the public quantile regression benchmark, and one of the ℓ1 SVM.

    python -m venv BENCHOPT
    BENCHOPT/bin/python -m pip install . -r benchmarks/benchopt/requirements.txt
    git clone https://github.com/benchopt/benchmark_quantile_regression PUBLIC
    BENCHOPT/bin/python benchmarks/benchopt --public PUBLIC [--only quantile l1_svm] [--docs FOLDER]

Each benchmark is run by benchopt in a copy of its folder (``--work``), on one thread. Its output
becomes ``benchopt_quantile.csv`` and ``benchopt_l1_svm.csv``, without the columns that describe the
machine; then ``python benchmarks/sparse_linear --page`` makes the tables.

The classes of the public benchmark are older than benchopt 1.10: their ``__init__`` does not call
that of benchopt's, and the sampling strategy has its old name. The copy is changed in both places.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "examples" / "reproduce"))

from study_jobs import study_options  # noqa: E402

COLUMNS = (
    *("objective_name", "dataset_name", "solver_name", "idx_rep", "sampling_strategy"),
    *(
        "stop_val",
        "time",
        "objective_value",
        "objective_nonzeros",
        "version-numpy",
        "version-scipy",
    ),
)
"""What is kept of benchopt's output."""

MAX_RUNS = 2
"""Points of the curve of SciPy's solver, which is run anew for each: no accuracy, and 0.001."""

TIMEOUT = 120
"""Seconds after which benchopt ends the curve of a solver."""

QUANTILE = (
    ("Simulated", ("cgboost",)),
    ("Simulated[n_samples=100,n_features=10000]", ("scipy-linprog[solver=highs]",)),
    ("Simulated[n_samples=500,n_features=600]", ("scipy-linprog[solver=highs]",)),
)
"""Data and solvers of the public benchmark. Its solver builds a dense matrix of all the program's
columns, n × 2(n + p + 1), of 1.6 GB at 10000 × 100: there ours is alone."""

WITH_INTERCEPT = "*[fit_intercept=True]"


def main() -> None:
    """Run what is asked for, and keep the records."""
    given = study_options(
        __doc__,
        "sparse_linear",
        only=("quantile", "l1_svm"),
        public="",
        work=str(Path("build") / "benchopt"),
    )
    work = Path(given.work)
    if "quantile" in given.only:
        folder = prepared(Path(given.public), work / "quantile_regression")
        runs = [
            ["-d", data, "-o", WITH_INTERCEPT, *(x for name in solvers for x in ("-s", name))]
            for data, solvers in QUANTILE
        ]
        write(given.docs / "benchopt_quantile.csv", run(folder, runs))
    if "l1_svm" in given.only:
        folder = work / "l1_svm"
        shutil.copytree(HERE / "l1_svm", folder, dirs_exist_ok=True)
        write(given.docs / "benchopt_l1_svm.csv", run(folder, [[]]))


def prepared(public: Path, folder: Path) -> Path:
    """A copy of the public benchmark that runs on benchopt 1.10, with our solver.

    Raises
    ------
    FileNotFoundError
        If there is no benchmark in the folder.
    """
    if not (public / "objective.py").is_file():
        raise FileNotFoundError(f"--public must be a clone of the benchmark, got {public}")
    shutil.copytree(public, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(for_current_benchopt(text), encoding="utf-8")
    shutil.copytree(HERE / "quantile_regression", folder, dirs_exist_ok=True)
    return folder


def for_current_benchopt(text: str) -> str:
    """A file of the public benchmark with the two changes; one that has them stays as it is."""
    text = text.replace("stop_strategy", "sampling_strategy")
    head = r"(\n( +)def __init__\([^)]*\):\n)(?!\s*super\(\))"
    return re.sub(head, r"\1\2    super().__init__()\n", text)


def run(folder: Path, runs: Sequence[Sequence[str]]) -> Iterator[dict[str, str]]:
    """Rows of benchopt's own output of these runs."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    for number, chosen in enumerate(runs):
        output = folder.resolve() / "outputs" / f"records_{number}.csv"
        output.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-P", "-m", "benchopt", "run", str(folder), *chosen, "--no-cache"),
            *("--no-plot", "--no-html", "-r", "1", "-n", str(MAX_RUNS), "--timeout", str(TIMEOUT)),
            *("--output", output.name),
        ]
        subprocess.run(command, check=True, env=os.environ | threads)
        with output.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


def write(path: Path, rows: Iterator[dict[str, str]]) -> None:
    """The records, without what describes the machine."""
    kept = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, COLUMNS, extrasaction="ignore", restval="", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(kept)


if __name__ == "__main__":
    main()
