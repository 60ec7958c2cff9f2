"""Sources of rows in a database: what is read, which database it is, and what is refused."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cgboost.additive.sql.engines import ENGINES, engine_of, kind_of
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import DATABASES, connected


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """Of no table."""
    made = sqlite3.connect(":memory:")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("table", "query"),
    [
        ("people", 'SELECT * FROM "people"'),
        ('a "b', 'SELECT * FROM "a ""b"'),
        ("select", 'SELECT * FROM "select"'),
        (("main", "people"), 'SELECT * FROM "main"."people"'),
        (" SELECT a, b\nFROM people; ", "SELECT a, b\nFROM people"),
        ("with x as (select 1) select * from x", "with x as (select 1) select * from x"),
        ("-- all\nselect a /* b */\nfrom t -- end", "-- all\nselect a /* b */\nfrom t -- end\n"),
    ],
)
def test_a_table_is_a_name_its_parts_or_a_query(
    table: object, query: str, connection: sqlite3.Connection
) -> None:
    """Names are quoted; a query begins with a word of its own and has more."""
    assert SQLSource(connection, table, target="y").query == query


class Stranger:
    """A connection to some database."""

    def nothing(self) -> None:
        """For all methods."""

    cursor = commit = close = nothing


class Lent:
    """A connection of a pool, as SQLAlchemy's engines and connections have one."""

    driver_connection = None


TABLE = "table must be a name, the parts of a name or a query"
WRONG = "connection must be a DB-API.*"
BAD: list[tuple[dict[str, Any], str]] = [
    ({"target": 1}, "target must be the name of a column, got 1"),
    ({"target": ""}, "target must be the name of a column, got ''"),
    ({"weight": 2}, "weight must be the name of a column, got 2"),
    ({"weight": "y"}, "target and weight are the same column, 'y'"),
    ({"dialect": "oracle"}, "dialect must be one of .* got 'oracle'"),
    *(({"table": table}, TABLE) for table in (None, 3, "", ("main", ""))),
    ({"connection": Stranger()}, "a Stranger of the module 'tests'.* give dialect"),
    (
        {"connection": "data.db"},
        WRONG + r"got a builtins\.str 'data\.db': connect first, as duckdb\.connect\(path",
    ),
    ({"connection": Path("data.db")}, WRONG + r"got a pathlib.*data\.db.*: connect first"),
    ({"connection": SimpleNamespace(raw_connection=Lent)}, r"give engine\.raw_connection\(\)"),
    ({"connection": SimpleNamespace(connection=Lent())}, "give the connection of the driver"),
    (
        {"connection": None},
        r"got a builtins\.NoneType: give what duckdb\.connect, sqlite3\.connect",
    ),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_arguments_are_refused(
    options: dict[str, Any], words: str, connection: sqlite3.Connection
) -> None:
    """When the source is made, before anything is read; a dialect makes no connection of a path."""
    given = {"connection": connection, "table": "t", "target": "y"} | options
    with pytest.raises(ValueError, match=words):
        SQLSource(**given)
    if "connection" in options and not isinstance(options["connection"], Stranger):
        with pytest.raises(ValueError, match=words):
            SQLSource(**given, dialect="sqlite")


@pytest.mark.parametrize("database", DATABASES)
def test_a_connection_tells_its_database(database: str, server: str) -> None:
    """By the module that it is of; a dialect that is given counts more. A cursor is none."""
    with connected(database, server) as connection:
        assert engine_of(connection, None) is ENGINES[database]
        assert engine_of(connection, "sqlite") is ENGINES["sqlite"]
        if database != "duckdb":
            with pytest.raises(ValueError, match=r"\.Cursor: this is a cursor: give the conn"):
                engine_of(connection.cursor(), None)


KINDS = {
    "truth": ["BOOLEAN"],
    "number": ["DECIMAL(10,2)", "double precision", "UBIGINT"],
    "text": ["VARCHAR", "ENUM('a', 'b')", "character varying"],
    "time": ["timestamp without time zone", "TIMESTAMP_NS"],
    "moment": ["TIMESTAMP WITH TIME ZONE"],
    None: [
        *("time without time zone", "INTEGER[]", "INTEGER[3]"),
        *("STRUCT(a INTEGER)", "interval", "bytea"),
    ],
}


def test_types_have_kinds() -> None:
    """As databases write their names."""
    assert {kind: [kind_of(name) for name in names] for kind, names in KINDS.items()} == {
        kind: [kind] * len(names) for kind, names in KINDS.items()
    }
