"""Random tables, in memory and in databases, for the tests of fits in a database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import psycopg

from cgboost.additive.tables.preparation import Prepared, prepared
from cgboost.additive.tables.rows import TableRows
from cgboost.additive.tables.schema import Schema, SchemaMaker

DATABASES = ["duckdb", "sqlite", "postgresql"]

TYPES = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}


class Data(NamedTuple):
    """A frame with features, and beside it responses and weights."""

    frame: pd.DataFrame
    y: np.ndarray
    weights: np.ndarray

    @property
    def schema(self) -> Schema:
        """Of the frame."""
        maker = SchemaMaker()
        maker.see(self.frame)
        return maker.schema()

    def prepared(self, *, max_bins: int = 16, share: float = 0.3, seed: int = 0) -> Prepared:
        """In memory; rows of weight 0 are none."""
        schema, there = self.schema, self.weights > 0
        return prepared(
            TableRows(schema.encode(self.frame)[there]),
            schema,
            self.y[there],
            self.weights[there],
            max_bins=max_bins,
            share=share,
            seed=seed,
        )


def mixed(seed: int, n_rows: int = 600, *, copies: bool = True) -> Data:
    """Numbers of several kinds with gaps, categories, weights, rows that come more than once."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "plain": rng.normal(size=n_rows),
            "far": 1e6 + np.round(rng.exponential(size=n_rows), 2),
            "Few values": rng.integers(-2, 3, size=n_rows).astype(float),
            "skewed": np.exp(3 * rng.normal(size=n_rows)),
            "group's": rng.choice(["a", "b\\", "c'c", "ü", ""], size=n_rows).astype(object),
            "nothing": np.full(n_rows, np.nan),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "plain"] = np.nan
    frame.loc[rng.random(n_rows) < 0.3, "skewed"] = -0.0
    frame.loc[rng.random(n_rows) < 0.1, "group's"] = None
    signal = np.sin(2 * frame["plain"].fillna(1.0)) * frame["Few values"] + (
        frame["group's"] == "a"
    )
    y = np.round(signal.to_numpy(dtype=float) + 0.1 * rng.normal(size=n_rows), 2)
    if copies:
        again = rng.integers(0, n_rows // 2, size=n_rows // 2)
        rows = np.concatenate([np.arange(n_rows // 2), again])
        frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
    return Data(frame, y, rng.choice([0.0, 0.5, 1.0, 2.25], size=n_rows))


@contextmanager
def connected(database: str, server: str = "") -> Iterator[Any]:
    """A connection to an empty database."""
    if database == "duckdb":
        made: Any = duckdb.connect()
    elif database == "sqlite":
        made = sqlite3.connect(":memory:")
    else:
        made = psycopg.connect(server)
    with closing(made) as connection:
        yield connection


def write(
    connection: Any, database: str, columns: dict[str, tuple[str, list[Any]]], name: str = "t"
) -> None:
    """Make a table; types are those of DuckDB and SQLite for double precision and text."""
    types = {"DOUBLE": TYPES[database], "VARCHAR": "TEXT"}

    def quoted(word: str) -> str:
        return '"' + word.replace('"', '""') + '"'

    made = [f"{quoted(key)} {types.get(kind, kind)}" for key, (kind, _) in columns.items()]
    cursor = connection.cursor() if database != "duckdb" else connection
    temporary = "TEMPORARY " if database == "postgresql" else ""
    cursor.execute(f"CREATE {temporary}TABLE {quoted(name)} ({', '.join(made)})")
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    mark = "%s" if database == "postgresql" else "?"
    marks = ", ".join([mark] * len(columns))
    if database == "duckdb":
        frame = pd.DataFrame({key: pd.Series(v, dtype=object) for key, (_, v) in columns.items()})
        for key, (kind, _) in columns.items():
            if kind == "DOUBLE":
                frame[key] = frame[key].astype(float)
        connection.execute(f"INSERT INTO {quoted(name)} SELECT * FROM frame")
        return
    table = quoted(name).replace("%", "%%") if mark == "%s" else quoted(name)
    cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def stored(connection: Any, database: str, data: Data, name: str = "t") -> None:
    """The table of some data, with y and weights as columns "the y" and "w"; nan is NULL."""
    columns: dict[str, tuple[str, list[Any]]] = {}
    for key in data.frame:
        values = [None if v is None or v != v else v for v in data.frame[key].tolist()]
        columns[str(key)] = ("DOUBLE" if data.frame[key].dtype.kind == "f" else "VARCHAR", values)
    columns["the y"] = ("DOUBLE", data.y.tolist())
    columns["w"] = ("DOUBLE", data.weights.tolist())
    write(connection, database, columns, name)
