"""Transform regression: time and memory against rows and features, and LightGBM next to it.

Each fit runs in its own process, so that the peak of memory is that of the fit:

(a) 20 features from a Parquet file, read block by block, 10⁴ to 10⁷ rows;
(b) 100000 rows in memory, 5 to 80 features;
(c) a million rows in memory, 10 stages, and LightGBM with ``linear_tree=True`` and 100 rounds, in
    turn on the same cores.

All have ``--threads`` threads, two by default.

The files are in a temporary folder and removed in the end.

    python benchmarks/transform_regression.py [--docs FOLDER] [--parts rows features lightgbm]
                                              [--most-rows 10000000] [--stages 10] [--repeat 1]
                                              [--threads 2]

Every line is printed and written to transform_benchmark.csv, which the page of the study
(examples/reproduce/transform_regression) shows.
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "reproduce"))

import numpy as np
from page_tables import csv_rows

from cgboost.studies.scripts import options, timed

N_FEATURES, BLOCK = 20, 2**16
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
FEATURES = (5, 10, 20, 40, 80)
MEMORY_ROWS, LARGE_ROWS = 100_000, 1_000_000
COLUMNS = ("part", "model", "rows", "features", "stages", "seconds", "cpu_seconds", "peak_gb")


def rows_of(number: int, n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """A block of rows; single features matter, and a few pairs of them."""
    rng = np.random.default_rng(number)
    X = rng.random((n_rows, n_features), dtype=np.float32)
    y = np.sin(6 * X[:, 0]) + 4 * X[:, 1] * X[:, 2] + 8 * (X[:, 3] - 0.5) ** 2
    y += X[:, 4] * (1 + 2 * (X[:, 0] > 0.5)) + 0.5 * rng.standard_normal(n_rows, dtype=np.float32)
    return X, y


def write_file(path: Path, n_rows: int) -> None:
    """A Parquet file, a row group for each block."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(N_FEATURES)] + ["y"]
    with parquet.ParquetWriter(path, pa.schema([(name, pa.float32()) for name in names])) as writer:
        for number, start in enumerate(range(0, n_rows, BLOCK)):
            X, y = rows_of(number, min(BLOCK, n_rows - start), N_FEATURES)
            arrays = [pa.array(column) for column in (*X.T, y)]
            writer.write_table(pa.table(arrays, names=names))


class ParquetBlocks:
    """The blocks (X, y) of a file, as often as they are asked for."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                columns = [column.to_numpy() for column in table.columns]
                yield np.column_stack(columns[:-1]), columns[-1]


def fit(job: dict[str, Any]) -> dict[str, float]:
    """What a child process does: one fit; its times, and the peak of its memory."""
    source: tuple[Any, ...]
    if job["path"]:
        source = (ParquetBlocks(job["path"]),)
    else:
        source = rows_of(0, job["rows"], job["features"])
    if job["model"] == "LightGBM":
        from lightgbm import LGBMRegressor

        model: Any = LGBMRegressor(
            n_estimators=job["stages"], linear_tree=True, n_jobs=job["threads"], verbose=-1
        )
    else:
        from cgboost import TransformRegressor

        model = TransformRegressor(
            n_estimators=job["stages"],
            n_iter_no_change=job["stages"],
            tol=0.0,
            n_jobs=job["threads"],
        )
    seconds, (cpu_seconds, _) = timed(timed, model.fit, *source, clock=time.perf_counter)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }


def measured(
    part: str, model: str, rows: int, features: int, stages: int, threads: int, path: str = ""
) -> dict:
    """Run :func:`fit` in a child process."""
    job = {"model": model, "rows": rows, "features": features, "stages": stages, "path": path}
    job["threads"] = threads
    command = [sys.executable, __file__, "--job", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    record = {"part": part, **job, **json.loads(done.stdout.splitlines()[-1])}
    print(
        f"{part}: {model}, {rows} × {features}, {stages} stages: {record['seconds']:.1f} s "
        f"({record['seconds'] / stages:.2f} s each, {record['cpu_seconds']:.1f} s of CPU), peak "
        f"{record['peak_gb']:.2f} GB",
        flush=True,
    )
    return record


def by_rows(most: int, stages: int, threads: int) -> Iterator[dict]:
    """(a)."""
    with tempfile.TemporaryDirectory() as folder:
        for rows in ROWS:
            if rows <= most:
                path = Path(folder) / f"{rows}.parquet"
                write_file(path, rows)
                yield measured("rows", "transform", rows, N_FEATURES, stages, threads, str(path))
                path.unlink()


def by_features(stages: int, threads: int) -> Iterator[dict]:
    """(b)."""
    for features in FEATURES:
        yield measured("features", "transform", MEMORY_ROWS, features, stages, threads)


def against_lightgbm(stages: int, repeat: int, threads: int) -> Iterator[dict]:
    """(c)."""
    for _ in range(repeat):
        theirs = measured("lightgbm", "LightGBM", LARGE_ROWS, N_FEATURES, 100, threads)
        ours = measured("lightgbm", "transform", LARGE_ROWS, N_FEATURES, stages, threads)
        print(f"lightgbm: {ours['seconds'] / theirs['seconds']:.2f} times as long", flush=True)
        yield from (theirs, ours)


def write(path: Path, records: list[dict]) -> None:
    """The new records, and those of parts that were not measured."""
    parts = {record["part"] for record in records}
    records = [record for record in csv_rows(path) if record["part"] not in parts] + records
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for record in records:
            numbers = {name: f"{float(record[name]):.2f}" for name in COLUMNS[-3:]}
            writer.writerow(record | numbers)


def main() -> None:
    """Measure the parts that were asked for, the largest file last."""
    given = options(
        __doc__,
        docs=Path("docs/studies/transform_regression"),
        parts=("features", "lightgbm", "rows"),
        most_rows=ROWS[-1],
        stages=10,
        repeat=1,
        threads=2,
        job="",  # of a child process
    )
    if given.job:
        print(json.dumps(fit(json.loads(given.job))))
        return
    runs = {
        "features": lambda: by_features(given.stages, given.threads),
        "lightgbm": lambda: against_lightgbm(given.stages, given.repeat, given.threads),
        "rows": lambda: by_rows(given.most_rows, given.stages, given.threads),
    }
    for part in given.parts:
        records: list[dict] = []
        for record in runs[part]():
            records.append(record)
            write(given.docs / "transform_benchmark.csv", records)


if __name__ == "__main__":
    main()
