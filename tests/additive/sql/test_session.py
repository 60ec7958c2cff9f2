"""A connection during a fit: nothing is left behind, whatever happens."""

import sqlite3
from contextlib import closing
from typing import Any

import duckdb
import psycopg
import pytest

from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.session import Session
from cgboost.exceptions import DatabaseError
from tests.additive.sql.sql_tables import DATABASES, connected, tables_of


def opened(connection: Any) -> Session:
    """A session that has begun."""
    session = Session(connection, engine_of(connection, None))
    session.open()
    return session


def left(connection: Any, database: str) -> list[str]:
    """Tables of a fit that are there."""
    return [name for name in tables_of(connection, database) if name.startswith("cgboost")]


@pytest.mark.parametrize("database", DATABASES)
def test_temporary_tables_are_dropped(database: str, server: str) -> None:
    """All that were made, once; closing twice does no harm."""
    with connected(database, server) as connection:
        session = opened(connection)
        one, two = session.create("SELECT 1 AS a"), session.create("SELECT 2 AS a")
        session.drop(one)
        assert len(left(connection, database)) == 1
        assert session.rows(f"SELECT a FROM {two}") == [(2,)]
        assert (session.n_fetched, session.n_reads) == (1, 1)
        session.close()
        session.close()
        assert not left(connection, database)


@pytest.mark.parametrize("database", DATABASES)
def test_an_error_is_ours_and_leaves_nothing(database: str, server: str) -> None:
    """Its cause is the database's own; the connection works on."""
    with connected(database, server) as connection:
        session = opened(connection)
        session.create("SELECT 1 AS a")
        for work in (session.rows, session.run, session.names):
            with pytest.raises(DatabaseError, match=r"leaves no table behind\. See") as caught:
                work("SELECT nonsense FROM nowhere")
            assert isinstance(caught.value.__cause__, Exception)
        session.close()
        assert not left(connection, database)
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == [(1,)]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_what_the_user_has_not_committed_stays(database: str, server: str) -> None:
    """Neither kept nor lost, also after an error; without anything open nothing stays open."""
    with connected(database, server) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMPORARY TABLE mine (a INTEGER)")
        connection.commit()
        cursor.execute("INSERT INTO mine VALUES (1)")
        session = opened(connection)
        session.run(f"INSERT INTO {session.create('SELECT 1 AS a')} VALUES (2)")
        with pytest.raises(DatabaseError):
            session.run("SELECT nonsense FROM nowhere")
        session.close()
        assert cursor.execute("SELECT a FROM mine").fetchall() == [(1,)]
        connection.rollback()
        assert cursor.execute("SELECT a FROM mine").fetchall() == []
        connection.rollback()
    with closing(sqlite3.connect(":memory:")) as connection:
        session = opened(connection)
        session.run(f"INSERT INTO {session.create('SELECT 1 AS a')} VALUES (2)")
        session.close()
        assert not connection.in_transaction


def test_a_connection_that_commits_each_statement_is_left_clean(server: str) -> None:
    """PostgreSQL with autocommit has no savepoints."""
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        session = opened(connection)
        session.create("SELECT 1 AS a")
        with pytest.raises(DatabaseError):
            session.rows("SELECT nonsense FROM nowhere")
        session.close()
        assert not left(connection, "postgresql")


def test_a_transaction_of_duckdb_goes_on() -> None:
    """Tables that are made in it are dropped in it."""
    with duckdb.connect() as connection:
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE mine AS SELECT 1 AS a")
        session = opened(connection)
        session.create("SELECT 1 AS a")
        session.close()
        connection.execute("COMMIT")
        assert tables_of(connection, "duckdb") == ["mine"]


@pytest.mark.parametrize("database", DATABASES)
def test_a_lost_connection_is_an_error_of_ours(database: str, server: str) -> None:
    """Before the fit, and in the middle of it; closing the session does not fail."""
    with connected(database, server) as connection:
        session = opened(connection)
        session.create("SELECT 1 AS a")
        connection.close()
        with pytest.raises(DatabaseError, match="See that the connection is open"):
            session.rows("SELECT 1")
        session.close()
        with pytest.raises(DatabaseError):
            opened(connection)


def test_sqlite_gets_the_functions_that_it_lacks() -> None:
    """One that the user has made stays as it is."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("ln", 1, lambda x: 7.0)
        session = opened(connection)
        assert session.rows("SELECT cgboost_bits(0.0), exp(0.0), ln(0.0)") == [(0, 1.0, 7.0)]
        session.close()
        assert connection.execute("SELECT ln(1.0)").fetchall() == [(7.0,)]
