"""A connection during a fit: nothing is left behind, whatever happens."""

import os
import signal
import sqlite3
from contextlib import closing
from threading import Thread, Timer
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


@pytest.mark.parametrize("database", DATABASES)
def test_a_table_is_one_query_and_nothing_else_is_run(database: str, server: str) -> None:
    """Neither further statements, also behind the bracket of ours, nor one that changes a table."""
    with connected(database, server) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMPORARY TABLE mine AS SELECT 7 AS a")
        connection.commit()
        for query in (
            "SELECT 1 AS a; DROP TABLE mine",
            "SELECT a FROM mine; DELETE FROM mine",
            "SELECT 1 AS a) AS q; DROP TABLE mine; SELECT * FROM (SELECT 1 AS a",
            "WITH x AS (SELECT 1) DELETE FROM mine RETURNING *",
            "WITH x AS (SELECT 1) INSERT INTO mine SELECT 1 RETURNING *",
        ):
            with (
                closing(opened(connection)) as session,
                pytest.raises(DatabaseError, match="which must be a name or one query"),
            ):
                session.names(query)
            assert cursor.execute("SELECT a FROM mine").fetchall() == [(7,)]


@pytest.mark.parametrize("database", DATABASES)
def test_threads_take_a_connection_in_turn(database: str, server: str) -> None:
    """A session waits until that of another thread is closed, not for one of its own."""
    if database == "sqlite":
        connection: Any = sqlite3.connect(":memory:", check_same_thread=False)
    else:
        connection = duckdb.connect() if database == "duckdb" else psycopg.connect(server)
    with closing(connection):
        session, own = opened(connection), opened(connection)
        found: list[Any] = []

        def work() -> None:
            with closing(opened(connection)) as other:
                found.extend(other.rows("SELECT 1"))

        threads = [Thread(target=work, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        own.close()
        threads[0].join(0.1)
        session.rows(f"SELECT a FROM {session.create('SELECT 1 AS a')}")
        assert not found
        session.close()
        for thread in threads:
            thread.join(10.0)
        assert found == [(1,), (1,)]
        assert not left(connection, database)


@pytest.mark.parametrize(
    ("database", "statement"),
    [
        ("duckdb", "SELECT SUM(SQRT(a.range * b.range)) FROM range(9000) a, range(100000) b"),
        (
            "sqlite",
            "WITH RECURSIVE n(i) AS (SELECT 1.0 UNION ALL SELECT i + 1.0 FROM n WHERE i < 1e7) "
            "SELECT SUM(cgboost_bits(i) % 7) FROM n",
        ),
    ],
)
def test_ctrl_c_within_a_statement_is_an_interrupt(database: str, statement: str) -> None:
    """DuckDB and SQLite make an error of it, which retries would take for one of theirs."""
    with connected(database) as connection, closing(opened(connection)) as session:
        if database == "duckdb":
            session.run("SET threads = 1")  # with several it is noticed late
        session.names("SELECT 1 AS a")
        timer = Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.rows(statement)
        timer.join()
        assert session.rows("SELECT 1") == [(1,)]


def test_what_a_function_of_the_user_raises_is_an_error() -> None:
    """In SQLite it looks like an interrupt; the table of the user is where it can be called."""
    with connected("sqlite") as connection, closing(opened(connection)) as session:
        connection.create_function("broken", 1, lambda x: 1 // 0)
        query = "SELECT broken(1) AS a"
        for work in (session.names, session.create):
            with pytest.raises(DatabaseError, match="user-defined function raised"):
                work(query)
