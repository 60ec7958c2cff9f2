"""A connection during a fit: nothing is left behind, whatever happens."""

import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import RLock, Thread, Timer
from typing import Any

import duckdb
import psycopg
import pytest

from cgboost.additive.sql.binning import Store
from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.session import SQLSession, Turns
from cgboost.exceptions import DatabaseError
from tests.additive.sql.sql_tables import DATABASES, connected, left_of_fits, tables_of

each = pytest.mark.parametrize("database", DATABASES)


def opened(connection: Any) -> SQLSession:
    """A session that has begun."""
    session = SQLSession(connection, engine_of(connection, None))
    session.open()
    return session


@each
def test_nothing_is_left_after_the_end_and_after_an_error(database: str, server: str) -> None:
    """Tables are dropped once; errors are ours, with the database's own as cause; it works on."""
    with connected(database, server) as connection:
        session = opened(connection)
        one, two = session.create("SELECT 1 AS a"), session.create("SELECT 2 AS a")
        session.drop(one)
        assert len(left_of_fits(connection, database)) == 1
        assert session.rows(f"SELECT a FROM {two}") == [(2,)]
        assert (session.n_fetched, session.n_reads) == (1, 1)
        session.close()
        session.close()
        assert not left_of_fits(connection, database)
        session = opened(connection)
        session.create("SELECT 1 AS a")
        for work in (session.rows, session.run, session.names):
            with pytest.raises(DatabaseError, match=r"leaves no table behind\. See") as caught:
                work("SELECT nonsense FROM nowhere")
            assert isinstance(caught.value.__cause__, Exception)
        session.close()
        assert not left_of_fits(connection, database)
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == [(1,)]


@each
def test_what_the_user_has_not_committed_stays(database: str, server: str) -> None:
    """Neither kept nor lost, also after an error; without anything open nothing stays open."""
    with connected(database, server) as connection:
        cursor = connection.cursor() if database != "duckdb" else connection
        cursor.execute("CREATE TEMPORARY TABLE mine (a INTEGER)")
        if database == "duckdb":
            cursor.execute("BEGIN")  # an error would end it
        else:
            connection.commit()
        cursor.execute("INSERT INTO mine VALUES (1)")
        session = opened(connection)
        session.run(f"INSERT INTO {session.create('SELECT 1 AS a')} VALUES (2)")
        if database != "duckdb":
            with pytest.raises(DatabaseError):
                session.run("SELECT nonsense FROM nowhere")
        session.close()
        assert cursor.execute("SELECT a FROM mine").fetchall() == [(1,)]
        connection.rollback()
        assert cursor.execute("SELECT a FROM mine").fetchall() == []
        assert tables_of(connection, database).count("mine") == (database != "postgresql")
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
        assert not left_of_fits(connection, "postgresql")


@each
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


def test_functions_of_sqlite() -> None:
    """It gets those that it lacks; one that the user has made stays as it is.

    What one of the user raises is an error: in SQLite it looks like an interrupt.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("ln", 1, lambda x: 7.0)
        session = opened(connection)
        assert session.rows("SELECT cgboost_bits(0.0), exp(0.0), ln(0.0)") == [(0, 1.0, 7.0)]
        session.close()
        assert connection.execute("SELECT ln(1.0)").fetchall() == [(7.0,)]
        connection.create_function("broken", 1, lambda x: 1 // 0)
        with closing(opened(connection)) as session:
            for work in (session.names, session.create):
                with pytest.raises(DatabaseError, match="user-defined function raised"):
                    work("SELECT broken(1) AS a")


@each
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


@each
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
            thread.join(60.0)
        assert found == [(1,), (1,)]
        assert not left_of_fits(connection, database)


LONG = {
    "duckdb": "SELECT SUM(SQRT(a.range * b.range)) FROM range(9000) a, range(100000) b",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1.0 UNION ALL SELECT i + 1.0 FROM n WHERE i < 1e7) "
    "SELECT SUM(cgboost_bits(i) % 7) FROM n",
}


def test_ctrl_c_when_a_turn_is_taken_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between that and the next line; or while it is waited for, when there is none to give."""
    turn = RLock()

    class Struck:
        release = turn.release

        def __init__(self, *, taken: bool) -> None:
            self.taken = taken

        def acquire(self) -> None:
            if self.taken:
                turn.acquire()
            raise KeyboardInterrupt

    with closing(sqlite3.connect(":memory:")) as connection:
        for taken in (True, False):
            struck = Struck(taken=taken)
            monkeypatch.setattr(Turns, "of", lambda _, connection, struck=struck: struck)
            session = SQLSession(connection, engine_of(connection, None))
            with pytest.raises(KeyboardInterrupt):
                session.open()
            session.close()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(turn.acquire, blocking=False).result()


@pytest.mark.parametrize("database", LONG)
def test_ctrl_c_within_a_statement_is_an_interrupt(database: str) -> None:
    """DuckDB and SQLite make an error of it, which retries would take for one of theirs."""
    with connected(database) as connection, closing(opened(connection)) as session:
        if database == "duckdb":
            session.run("SET threads = 1")  # with several it is noticed late
        session.names("SELECT 1 AS a")
        timer = Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))

        def asked() -> None:  # on a busy machine Ctrl-C may come before the statement
            timer.start()
            session.rows(LONG[database])

        with pytest.raises(KeyboardInterrupt):
            asked()
        timer.join()
        assert session.rows("SELECT 1") == [(1,)]


@each
def test_columns_of_a_table_come_and_go(database: str, server: str) -> None:
    """They are made when the table is next read, several at once, and one that goes is gone."""
    with connected(database, server) as connection, closing(opened(connection)) as session:
        store = Store(session, session.create("SELECT 1.5e0 AS a UNION ALL SELECT 2.5e0"), ["a"])
        writes = session.n_writes
        store.add("b", "a * 2")
        store.add("c", "CASE WHEN a > 2 THEN 1 ELSE 0 END", "SMALLINT")
        store.add("never", "a")
        store.remove("never")
        assert session.n_writes == writes
        found = sorted(session.rows(f"SELECT b, c FROM {store.source('b, c')}"))
        assert found == [(3.0, 0), (5.0, 1)]
        store.remove("b")
        store.add("d", "b + c")
        found = sorted(session.rows(f"SELECT a, c, d FROM {store.source('a c d')}"))
        assert found == [(1.5, 0, 3.0), (2.5, 1, 6.0)]
        assert store.columns == ["a", "c", "d"]
        assert len(left_of_fits(connection, database)) == (3 if database == "duckdb" else 1)
        store.drop()
        assert not left_of_fits(connection, database)


@pytest.mark.parametrize("preserved", [True, False])
def test_rows_stay_together_on_many_threads(preserved: bool) -> None:
    """Also where the user has given up their order: the fit turns it on, and off in the end."""
    with connected("duckdb") as connection:
        connection.execute("SET threads = 8")
        connection.execute(f"SET preserve_insertion_order = {preserved}")
        session = opened(connection)
        rows = "SELECT CAST(i AS DOUBLE) AS a FROM range(1000000) r(i) WHERE i % 7 > 1"
        store = Store(session, session.create(rows), ["a"])
        for k, before in enumerate(["a", "b0", "b1"]):
            store.add(f"b{k}", f"{before} + 1")
            store.write()
        query = f"SELECT COUNT(*), SUM(ABS(b2 - a - 3)) FROM {store.source('a b2')}"
        ((count, difference),) = session.rows(query)
        assert count > 700_000
        assert difference == 0.0
        assert len(store.source("a b2").split("JOIN")) == 2
        session.close()
        found = connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall()
        assert found == [(preserved,)]
