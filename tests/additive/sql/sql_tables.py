"""Random tables, in memory and in databases, for the tests of fits in a database."""

import datetime
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import psycopg

from cgboost.additive.places.memory import MemoryPlace
from cgboost.additive.sql.place import SQLPlace
from cgboost.sources import SQLSource
from cgboost.tables.binning import Prepared, prepared
from cgboost.tables.row_blocks import TableRows
from cgboost.tables.table_encoding import Schema, SchemaMaker

DATABASES = ["duckdb", "sqlite", "postgresql"]

TYPES = {
    "duckdb": {},
    "sqlite": {"DOUBLE": "REAL", "VARCHAR": "TEXT"},
    "postgresql": {
        "DOUBLE": "DOUBLE PRECISION",
        "FLOAT": "REAL",
        "TINYINT": "SMALLINT",
        "VARCHAR": "TEXT",
    },
}
"""What others call DuckDB's types."""

Columns = dict[str, tuple[str, list[Any]]]
"""Type, DuckDB's or one that all have, and values of every column."""


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

    def prepared(
        self, *, max_bins: int = 16, share: float = 0.3, seed: int = 0, n_classes: int = 1
    ) -> Prepared:
        """In memory; rows of weight 0 are none."""
        schema, there = self.schema, self.weights > 0
        return prepared(
            TableRows(schema.encode(self.frame)[there]),
            schema,
            self.y[there],
            self.weights[there],
            n_classes=n_classes,
            max_bins=max_bins,
            share=share,
            seed=seed,
        )

    def in_memory(self, **options: Any) -> MemoryPlace:
        """As a place."""
        return MemoryPlace(self.prepared(**options), self.weights[self.weights > 0])


def mixed(seed: int, n_rows: int = 600) -> Data:
    """Numbers of several kinds with gaps, categories, weights; half of the rows come again."""
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
    signal = np.sin(2 * frame["plain"].fillna(1.0)) * frame["Few values"]
    signal += (frame["group's"] == "a") * frame["plain"].fillna(0.0)
    y = np.round(signal.to_numpy(dtype=float) + 0.1 * rng.normal(size=n_rows), 2)
    again = rng.integers(0, n_rows // 2, size=n_rows // 2)
    rows = np.concatenate([np.arange(n_rows // 2), again])
    frame, y = frame.iloc[rows].reset_index(drop=True), y[rows]
    return Data(frame, y, rng.choice([0.0, 0.5, 1.0, 2.25], size=n_rows))


def connection_to(database: str, server: str) -> Any:
    """A connection to an empty database."""
    if database == "duckdb":
        return duckdb.connect()
    return sqlite3.connect(":memory:") if database == "sqlite" else psycopg.connect(server)


@contextmanager
def connected(database: str, server: str = "") -> Iterator[Any]:
    """The same, closed in the end."""
    with closing(connection_to(database, server)) as connection:
        yield connection


def quoted(word: str) -> str:
    """A name, as standard SQL has it."""
    return '"' + word.replace('"', '""') + '"'


def write(connection: Any, database: str, columns: Columns, name: str = "t") -> None:
    """Make a table, in PostgreSQL a temporary one; dates and times are text in SQLite."""
    types = TYPES[database]
    made = [f"{quoted(key)} {types.get(kind, kind)}" for key, (kind, _) in columns.items()]
    cursor = connection if database == "duckdb" else connection.cursor()
    temporary = "TEMPORARY " if database == "postgresql" else ""
    cursor.execute(f"CREATE {temporary}TABLE {quoted(name)} ({', '.join(made)})")
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    if not rows:
        return
    if database == "sqlite":
        rows = [tuple(map(_as_text, row)) for row in rows]
    mark = "%s" if database == "postgresql" else "?"
    if database == "duckdb":  # many at once: each statement takes long there
        marks = ", ".join(f"({', '.join([mark] * len(columns))})" for _ in rows)
        values = [value for row in rows for value in row]
        connection.execute(f"INSERT INTO {quoted(name)} VALUES {marks}", values)
        return
    table = quoted(name).replace("%", "%%") if mark == "%s" else quoted(name)
    marks = ", ".join([mark] * len(columns))
    cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def columns_of(data: Data) -> Columns:
    """Columns of a table of the data, y and weights called "the y" and "w"; nan is NULL."""
    columns: Columns = {}
    for key in data.frame:
        values = [None if v is None or v != v else v for v in data.frame[key].tolist()]
        numeric = data.frame[key].dtype.kind == "f"
        columns[str(key)] = ("DOUBLE" if numeric else "VARCHAR", values)
    columns["the y"] = ("DOUBLE", data.y.tolist())
    columns["w"] = ("DOUBLE", data.weights.tolist())
    return columns


def stored(connection: Any, database: str, data: Data) -> SQLSource:
    """A table of the data, as a source."""
    write(connection, database, columns_of(data))
    return SQLSource(connection, "t", target="the y", weight="w")


@contextmanager
def place_of(
    database: str, server: str, data: Data, *, classification: bool = False, **options: Any
) -> Iterator[SQLPlace]:
    """The data, prepared in a database."""
    with connected(database, server) as connection:
        source = stored(connection, database, data)
        with closing(SQLPlace(source, "from_dtype", classification=classification)) as place:
            yield place.divide(**({"max_bins": 16, "share": 0.3, "seed": 0} | options))


def tables_of(connection: Any, database: str) -> list[str]:
    """Names of the tables that there are, temporary ones too."""
    query = {
        "duckdb": "SELECT table_name FROM duckdb_tables()",
        "sqlite": "SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master",
        "postgresql": "SELECT relname FROM pg_class WHERE relname LIKE 'cgboost%'",
    }[database]
    cursor = connection if database == "duckdb" else connection.cursor()
    cursor.execute(query)
    return [str(row[0]) for row in cursor.fetchall()]


def left_of_fits(connection: Any, database: str) -> list[str]:
    """Tables of a fit that are there."""
    return [name for name in tables_of(connection, database) if name.startswith("cgboost")]


def _as_text(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else value
