"""Databases that a fit can run in: what they write differently, besides their dialect.

bits
    DuckDB casts a number to its bits, PostgreSQL sends it; SQLite has no way, and calls Python.
dates
    DuckDB and PostgreSQL have types of them, with and without a time zone. SQLite has text, which
    its functions read to the millisecond.
columns that are added
    DuckDB joins tables by the position of their rows, so that new columns are their own table:
    0.01 s for 10⁶ rows, where a new table of 45 columns takes 0.4. Their order must be preserved:
    that is a setting, which a fit turns on. PostgreSQL and SQLite have no such join: a new table
    takes the place of the old one.
names of columns
    DuckDB and SQLite take "a" and "A" for one, and give one of two columns "a" another name where a
    query is read as a table. The query itself tells: DuckDB describes it, SQLite begins to run it.
transactions
    What fails in PostgreSQL ends the transaction: a savepoint before the first statement keeps what
    the user has not committed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from cgboost.additive.export.dialects import DIALECTS, Dialect

KINDS = {
    "moment": ("timestamp with time zone",),
    "truth": ("bool",),
    "number": (
        *("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint"),
        *("uinteger", "ubigint", "uhugeint", "float", "double", "decimal", "numeric", "real"),
    ),
    "text": ("varchar", "text", "character", "enum", "uuid", "bpchar", "name"),
    "time": ("date", "timestamp_", "timestamp without", "timestamp"),
}
"""How names of types begin, by what their columns are."""

UNSUITABLE = ("array", "range")
"""What is in names of types that begin alike and are something else, besides a final bracket."""


@dataclass(frozen=True)
class DatabaseEngine:
    """How a fit writes what databases write differently.

    Attributes
    ----------
    bits : str
        The 64 bits of a number as a signed integer; ``{}`` is the number.
    number : str
        A column of numbers as double precision, NULL where it is not a number.
    microseconds : str
        A column of dates or times as the microseconds since 1970, a whole number; those of UTC.
    month : str
        The month of a column; ``{column}``, and ``{day}`` is the number of its day since 1970.
    type_of : str
        The name of the type of a column.
    typed_by_value : bool
        Whether values of a column may be of several types.
    by_position : bool
        Whether rows of several tables can be joined by their position.
    setting : (str, str) or None
        A setting, and what it must be during a fit: tables joined by position keep their order,
        numbers that leave the database have all their digits.
    columns : str
        A statement that tells the columns of a query: by the description of its result, or by its
        rows.
    folds_names : bool
        Whether names that differ in case alone are one.
    savepoint : bool
        Whether a failure ends the transaction.
    own_cursor : bool
        Whether statements run on a cursor that the connection makes.
    scratch : bool
        Whether tables of a fit are in its own file where memory is short.
    functions : tuple of (str, callable)
        Of one number, where the database may lack them.
    interrupt : str or None
        What the error of a statement says where Python has raised an exception for a signal: that
        of Ctrl-C is lost. Where there are functions, those of the user may say the same.
    """

    sql: Dialect
    bits: str
    number: str
    microseconds: str
    month: str = "EXTRACT(MONTH FROM DATE '1970-01-01' + CAST({day} AS INTEGER))"
    floor: str = "FLOOR({})"
    type_of: str = "typeof({})"
    typed_by_value: bool = False
    by_position: bool = False
    setting: tuple[str, str] | None = None
    columns: str = "SELECT * FROM ({}) AS q LIMIT 0"
    columns_in_rows: bool = False
    folds_names: bool = True
    savepoint: bool = False
    own_cursor: bool = True
    scratch: bool = False
    functions: tuple[tuple[str, Callable[[Any], Any]], ...] = ()
    interrupt: str | None = None

    def prepare(self, connection: Any) -> None:
        """Give the connection the functions that it lacks: it keeps them as long as it is open."""
        for name, function in self.functions:
            try:
                connection.execute(f"SELECT {name}(1.0)")
            except connection.OperationalError:
                connection.create_function(name, 1, function, deterministic=True)


def _bits(value: float | None) -> int | None:
    return None if value is None else struct.unpack("<q", struct.pack("<d", value))[0]


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def _ln(value: float | None) -> float | None:
    return None if value is None else math.log(value)


ENGINES = {
    "duckdb": DatabaseEngine(
        DIALECTS["duckdb"],
        bits="CAST(CAST({} AS BIT) AS BIGINT)",
        number="NULLIF(CAST({} AS DOUBLE), CAST('NaN' AS DOUBLE))",
        microseconds="epoch_us({})",
        by_position=True,
        setting=("preserve_insertion_order", "true"),
        columns="DESCRIBE {}",
        columns_in_rows=True,
        own_cursor=False,
        scratch=True,
        interrupt="Query interrupted",
    ),
    "postgresql": DatabaseEngine(
        DIALECTS["postgresql"],
        bits="CAST(CAST('x' || encode(float8send({}), 'hex') AS BIT(64)) AS BIGINT)",
        number="NULLIF(CAST({} AS FLOAT8), CAST('NaN' AS FLOAT8))",
        microseconds="CAST(EXTRACT(EPOCH FROM {}) * 1000000 AS BIGINT)",
        type_of="CAST(pg_typeof({}) AS TEXT)",
        setting=("extra_float_digits", "1"),
        folds_names=False,
        savepoint=True,
    ),
    "sqlite": DatabaseEngine(
        DIALECTS["sqlite"],
        bits="cgboost_bits({})",
        number="CAST({} AS REAL)",
        microseconds="((CAST(strftime('%s', {0}) AS INTEGER) * 1000 + "
        "CAST(substr(strftime('%f', {0}), 4) AS INTEGER)) * 1000)",
        month="CAST(strftime('%m', {column}) AS INTEGER)",
        floor="CAST({} AS INTEGER)",
        typed_by_value=True,
        columns="{}",
        functions=(("cgboost_bits", _bits), ("exp", _exp), ("ln", _ln)),
        interrupt="user-defined function raised exception",
    ),
}
"""The databases that a fit can run in."""

MODULES = {"duckdb": "duckdb", "_duckdb": "duckdb", "sqlite3": "sqlite", "psycopg": "postgresql"}
"""Dialects by the first part of the name of the module that a connection is of."""


def engine_of(connection: Any, dialect: str | None) -> DatabaseEngine:
    """The engine of a connection: that of the dialect, if one is given.

    Raises
    ------
    ValueError
        If there is none, no dialect is given and the connection is of an unknown module, or it is
        no connection.
    """
    if not all(callable(getattr(connection, name, None)) for name in ("cursor", "commit", "close")):
        raise _no_connection(connection)
    known = ", ".join(map(repr, ENGINES))
    if dialect is not None:
        if dialect not in ENGINES:
            raise ValueError(f"dialect must be one of {known} for a fit, got {dialect!r}")
        return ENGINES[dialect]
    module = type(connection).__module__.partition(".")[0]
    if module not in MODULES:
        raise ValueError(
            f"connection is a {type(connection).__name__} of the module {module!r}, which does not "
            f"tell its database: give dialect, one of {known}"
        )
    return ENGINES[MODULES[module]]


def _no_connection(given: Any) -> ValueError:
    """The error of what is no connection, with what to give in its place."""
    kind = type(given)
    if isinstance(given, (str, PathLike)):
        todo = "connect first, as duckdb.connect(path) or sqlite3.connect(path) do"
    elif hasattr(given, "fetchall") and hasattr(given, "description"):
        todo = "this is a cursor: give the connection that it is of"
    elif hasattr(given, "raw_connection"):
        todo = "this is an engine: give engine.raw_connection().driver_connection"
    elif hasattr(getattr(given, "connection", None), "driver_connection"):
        todo = "give the connection of the driver, connection.connection.driver_connection"
    else:
        todo = "give what duckdb.connect, sqlite3.connect or psycopg.connect returns"
    shown = f" {given!r}" if isinstance(given, (str, PathLike)) else ""
    return ValueError(
        f"connection must be a DB-API connection, which has cursor() and commit(), got a "
        f"{kind.__module__}.{kind.__qualname__}{shown}: {todo}"
    )


def kind_of(type_name: str) -> str | None:
    """What a type of column is: truth, number, text, time, moment (of a zone); None for others."""
    name = type_name.lower()
    if name.endswith("]") or any(part in name for part in UNSUITABLE):
        return None
    for kind, beginnings in KINDS.items():
        if name.startswith(beginnings):
            return kind
    return None
