"""Databases that a fit can run in: what they write differently, beside their dialect.

bits
    DuckDB casts a number to its bits, PostgreSQL sends it; SQLite has no way, and calls Python.
columns that are added
    DuckDB joins tables by the position of their rows, so that new columns are a table of their own:
    0.01 s for 10⁶ rows, where a new table of 45 columns takes 0.4. Their order must be preserved:
    that is a setting, which a fit turns on. PostgreSQL and SQLite have no such join: a new table
    takes the place of the old one.
transactions
    What fails in PostgreSQL ends the transaction: a savepoint before the first statement keeps what
    the user has not committed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cgboost.additive.export.dialects import DIALECTS, Dialect

KINDS = {
    "truth": ("bool",),
    "number": (
        *("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint"),
        *("uinteger", "ubigint", "uhugeint", "float", "double", "decimal", "numeric", "real"),
    ),
    "text": ("varchar", "text", "character", "enum", "uuid", "bpchar", "name"),
    "time": ("date", "timestamp_", "timestamp without", "timestamp"),
}
"""How names of types begin, by what their columns are."""

UNSUITABLE = ("timestamp with time zone", "time with", "array")
"""What is in names of types that begin alike and are something else, beside a final bracket."""


@dataclass(frozen=True)
class Engine:
    """How a fit writes what databases write differently.

    Attributes
    ----------
    sql : Dialect
    bits : str
        The 64 bits of a number as a signed integer; ``{}`` is the number.
    number : str
        A column of numbers as double precision, NULL where it is not a number.
    floor : str
    type_of : str
        The name of the type of a column.
    typed_by_value : bool
        Whether values of a column may be of several types.
    by_position : bool
        Whether rows of several tables can be joined by their position.
    setting : str
        What must be true while tables are so joined.
    savepoint : bool
        Whether a failure ends the transaction.
    own_cursor : bool
        Whether statements run on a cursor that the connection makes.
    functions : tuple of (str, callable)
        Of one number, where the database may lack them.
    """

    sql: Dialect
    bits: str
    number: str
    floor: str = "FLOOR({})"
    type_of: str = "typeof({})"
    typed_by_value: bool = False
    by_position: bool = False
    setting: str = ""
    savepoint: bool = False
    own_cursor: bool = True

    functions: tuple[tuple[str, Callable[[Any], Any]], ...] = ()

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
    "duckdb": Engine(
        DIALECTS["duckdb"],
        bits="CAST(CAST({} AS BIT) AS BIGINT)",
        number="NULLIF(CAST({} AS DOUBLE), CAST('NaN' AS DOUBLE))",
        by_position=True,
        setting="preserve_insertion_order",
        own_cursor=False,
    ),
    "postgresql": Engine(
        DIALECTS["postgresql"],
        bits="CAST(CAST('x' || encode(float8send({}), 'hex') AS BIT(64)) AS BIGINT)",
        number="NULLIF(CAST({} AS FLOAT8), CAST('NaN' AS FLOAT8))",
        type_of="CAST(pg_typeof({}) AS TEXT)",
        savepoint=True,
    ),
    "sqlite": Engine(
        DIALECTS["sqlite"],
        bits="cgboost_bits({})",
        number="CAST({} AS REAL)",
        floor="CAST({} AS INTEGER)",
        typed_by_value=True,
        functions=(("cgboost_bits", _bits), ("exp", _exp), ("ln", _ln)),
    ),
}
"""The databases that a fit can run in."""

MODULES = {"duckdb": "duckdb", "_duckdb": "duckdb", "sqlite3": "sqlite", "psycopg": "postgresql"}
"""Dialects by the first part of the name of the module that a connection is of."""


def engine_of(connection: Any, dialect: str | None) -> Engine:
    """The engine of a connection: that of the dialect, if one is given.

    Raises
    ------
    ValueError
        If there is none, or no dialect is given and the connection is of an unknown module.
    """
    known = ", ".join(map(repr, ENGINES))
    if dialect is not None:
        if dialect not in ENGINES:
            raise ValueError(f"dialect must be one of {known} for a fit, got {dialect!r}")
        return ENGINES[dialect]
    module = type(connection).__module__.partition(".")[0]
    if module not in MODULES:
        raise ValueError(
            f"connection is a {type(connection).__name__} of the module {module!r}, whose dialect "
            f"is not known: give dialect, one of {known}"
        )
    return ENGINES[MODULES[module]]


def kind_of(type_name: str) -> str | None:
    """What a type of column is: truth, number, text, time; None for all others."""
    name = type_name.lower()
    if name.endswith("]") or any(part in name for part in UNSUITABLE):
        return None
    for kind, beginnings in KINDS.items():
        if name.startswith(beginnings):
            return kind
    return None
