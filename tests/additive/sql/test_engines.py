"""Databases that a fit can run in: which one a connection is of, and what types are."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from cgboost.additive.sql.engines import ENGINES, engine_of, kind_of
from tests.additive.sql.sql_tables import DATABASES, connected


@pytest.mark.parametrize("database", DATABASES)
def test_a_connection_tells_its_database(database: str, server: str) -> None:
    """By the module that it is of; a dialect that is given counts more."""
    with connected(database, server) as connection:
        assert engine_of(connection, None) is ENGINES[database]
        assert engine_of(connection, "sqlite") is ENGINES["sqlite"]


def test_unknown_databases_are_refused() -> None:
    """The message says what to give."""
    with pytest.raises(ValueError, match="a Stranger of the module 'tests'.* give dialect"):
        engine_of(Stranger(), None)
    with pytest.raises(ValueError, match="dialect must be one of 'duckdb'.* got 'mysql'"):
        engine_of(Stranger(), "mysql")


class Stranger:
    """A connection to some database."""

    def nothing(self) -> None:
        """For all methods."""

    cursor = commit = close = nothing


class Lent:
    """A connection of a pool, as SQLAlchemy's engines and connections have one."""

    driver_connection = None


@pytest.mark.parametrize("dialect", [None, "sqlite"])
def test_what_is_no_connection_is_refused(dialect: str | None, server: str) -> None:
    """Paths, cursors, engines: the message says what to give, also where there is a dialect."""
    with connected("sqlite") as connection, connected("postgresql", server) as other:
        for given, words in (
            ("data.db", r"got a builtins\.str 'data\.db': connect first, as duckdb\.connect\(path"),
            (Path("data.db"), r"got a pathlib.*data\.db.*: connect first"),
            (connection.cursor(), r"got a sqlite3\.Cursor: this is a cursor: give the connection"),
            (other.cursor(), r"got a psycopg\.Cursor: this is a cursor"),
            (SimpleNamespace(raw_connection=Lent), r"an engine: give engine\.raw_connection\(\)"),
            (SimpleNamespace(connection=Lent()), r"give the connection of the driver"),
            (None, r"got a builtins\.NoneType: give what duckdb\.connect, sqlite3\.connect"),
        ):
            with pytest.raises(ValueError, match=f"connection must be a DB-API.*{words}"):
                engine_of(given, dialect)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("BOOLEAN", "truth"),
        ("DECIMAL(10,2)", "number"),
        ("double precision", "number"),
        ("UBIGINT", "number"),
        ("VARCHAR", "text"),
        ("ENUM('a', 'b')", "text"),
        ("character varying", "text"),
        ("timestamp without time zone", "time"),
        ("TIMESTAMP_NS", "time"),
        ("TIMESTAMP WITH TIME ZONE", None),
        ("time without time zone", None),
        ("INTEGER[]", None),
        ("INTEGER[3]", None),
        ("STRUCT(a INTEGER)", None),
        ("interval", None),
        ("bytea", None),
    ],
)
def test_types_have_kinds(name: str, kind: str | None) -> None:
    """As databases write their names."""
    assert kind_of(name) == kind
