"""Transform regression inside DuckDB, and on arrays to which the table was exported.

A table of random numbers with products of features in its response, made by DuckDB in a file. Each
fit runs in its own process, on one thread, and counts its CPU seconds and the peak of its
memory, in which DuckDB is. The fit in the database runs with each ``--memory-limit``: beyond
it, DuckDB keeps its temporary tables in files.

    python benchmarks/transform_duckdb.py [--docs FOLDER] [--rows 10000000] [--features 20]
                                          [--stages 10] [--memory-limit 8GB 100MB] [--file PATH]
                                          [--ways arrays duckdb]

Every line is printed and written to transform_duckdb.csv. A file that is there is used again.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from cgboost.studies.scripts import options

COLUMNS = ("way", "rows", "features", "stages", "memory_limit", "cpu_seconds", "peak_mb", "loss")


def write(path: Path, n_rows: int, n_features: int) -> None:
    """The table t: features of three uniform numbers each, and a response."""
    import duckdb

    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute("SELECT setseed(0.5)")
        features = ", ".join(
            f"(random() + random() + random() - 1.5) * 2 AS x{j}" for j in range(n_features)
        )
        y = "sin(2 * x0) + 2 * sin(x0 * x1) + x2 * x3 * x4 + abs(x5 + x6) * x7 + random() - 0.5"
        connection.execute(
            f"CREATE TABLE t AS SELECT *, {y} AS y FROM (SELECT {features} FROM range({n_rows}))"
        )


def fit(job: dict[str, Any]) -> dict[str, float]:
    """What a child process does: one fit."""
    import duckdb

    from cgboost import TransformRegressor
    from cgboost.sources import SQLSource

    model = TransformRegressor(n_estimators=job["stages"], n_iter_no_change=job["stages"], tol=0.0)
    config = {"threads": 1, "memory_limit": job["memory_limit"]}
    with duckdb.connect(job["path"], config=config) as connection:
        start = time.process_time()
        if job["way"] == "arrays":
            columns = connection.execute("SELECT * FROM t").fetchnumpy()
            y = columns.pop("y")
            model.fit(np.column_stack([columns.pop(name) for name in list(columns)]), y)
        else:
            model.fit(SQLSource(connection, "t", target="y"))
        seconds = time.process_time() - start
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return {
        "cpu_seconds": seconds,
        "peak_mb": float(kilobytes) / 1024,
        "stages": len(model.history_["round"]) - 1,
        "loss": float(model.history_["holdout_loss"][-1]),
    }


def main() -> None:
    """All ways in turn."""
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(fit(json.loads(sys.argv[1]))))
        return
    given = options(
        __doc__,
        docs=None,
        rows=10_000_000,
        features=20,
        stages=10,
        memory_limit=["8GB", "100MB"],
        file=None,
        ways=("arrays", "duckdb"),
    )
    records = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(given.file or Path(folder) / "rows.duckdb")
        if not path.exists():
            write(path, given.rows, given.features)
        jobs = [
            (way, limit)
            for way in given.ways
            for limit in (given.memory_limit if way == "duckdb" else given.memory_limit[:1])
        ]
        for way, limit in jobs:
            job = {"way": way, "path": str(path), "stages": given.stages, "memory_limit": limit}
            command = [sys.executable, __file__, json.dumps(job)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{way}: {done.stderr[-2000:]}")
            found = json.loads(done.stdout.splitlines()[-1])
            records.append(
                (
                    way,
                    given.rows,
                    given.features,
                    found["stages"],
                    limit,
                    f"{found['cpu_seconds']:.1f}",
                    f"{found['peak_mb']:.0f}",
                    f"{found['loss']:.9g}",
                )
            )
            print(*records[-1], sep="\t", flush=True)
    if given.docs is not None:
        with (Path(given.docs) / "transform_duckdb.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(records)


if __name__ == "__main__":
    main()
