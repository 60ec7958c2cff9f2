"""A connection during a fit: temporary tables that do not stay, and counts of what leaves."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import threading
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from cgboost.additive.sql.engines import DatabaseEngine
from cgboost.exceptions import DatabaseError

SIZES = 5
"""Memory that temporary tables of a fit take at most, in sizes of its table as double precision:
10⁶ × 22 numbers, 176 MB, took 800 MB. Its own file costs 28 % more CPU time where there is
room (22.3 instead of 17.4 s), and 11 % less where there is none (25.1, 28.2 s with 100 MB)."""

UNITS = {"byte": 0, "bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
"""Powers of 1024 in sizes as DuckDB writes them."""


def bytes_of(size: str) -> float:
    """A size as DuckDB writes it, "18.8 GiB"; infinity for what is not such a size."""
    number, _, unit = size.partition(" ")
    return float(number) * 1024.0 ** UNITS[unit] if unit in UNITS else math.inf


def _setting(cursor: Any, name: str) -> str:
    return str(cursor.execute(f"SELECT current_setting('{name}')").fetchone()[0] or "")


class Scratch:
    """A database file attached to a connection, and removed with all that is in it.

    DuckDB keeps temporary tables in memory and beyond its ``memory_limit`` in files, but a part of
    each block stays: 10⁷ rows × 23 columns need 73 MB that cannot be given back, a second such
    table fails with a limit of 100 MB. Tables of an attached file are compressed, and read with any
    limit. It lies in DuckDB's ``temp_directory``, where there has to be room for temporary tables
    anyway.

    Parameters
    ----------
    name : str
        Of the database and of its file; no other has it.
    """

    def __init__(self, cursor: Any, name: str) -> None:
        self.name = name
        self._folder = Path(_setting(cursor, "temp_directory"))
        self._is_own = not self._folder.exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"{name}.duckdb"
        path = str(self._path).replace("'", "''")
        cursor.execute(f"ATTACH '{path}' AS {name}")

    @classmethod
    def for_table(cls, cursor: Any, name: str, query: str, n_columns: int) -> Scratch | None:
        """One for the table of a query, where memory is short of its temporary tables.

        None also for what is in memory as a whole, and in a transaction: one of DuckDB changes one
        database alone, and what a user has begun is left as it is.
        """
        ask = "SELECT txid_current()"
        if cursor.execute(ask).fetchone() == cursor.execute(ask).fetchone():
            return None
        own = "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        (path,) = cursor.execute(own).fetchone()
        if not path or not _setting(cursor, "temp_directory"):
            return None
        (n_rows,) = cursor.execute(f"SELECT COUNT(*) FROM ({query}) AS q").fetchone()
        needed, most = SIZES * 8 * n_rows * n_columns, bytes_of(_setting(cursor, "memory_limit"))
        return cls(cursor, name) if needed > most else None

    def remove(self, cursor: Any) -> None:
        """Detach the file and delete it, whatever state the connection is in."""
        with contextlib.suppress(Exception):
            cursor.execute(f"DETACH {self.name}")
        for path in (self._path, self._path.with_name(self._path.name + ".wal")):
            path.unlink(missing_ok=True)
        if self._is_own:
            with contextlib.suppress(OSError):  # somebody else's files are in it
                self._folder.rmdir()


class Turns:
    """A lock for every connection that is in use: fits of several threads take it in turn."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):  # threads that hold locks are not in the new process
            os.register_at_fork(after_in_child=self._forget)

    def of(self, connection: Any) -> Any:
        """The lock of a connection; a thread may take it several times."""
        with self._guard:
            return self._locks.setdefault(id(connection), threading.RLock())

    def _forget(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[int, Any] = WeakValueDictionary()


TURNS = Turns()
"""Of all connections."""


class SQLSession:
    """Statements of one fit on a connection, which other threads wait for.

    Temporary tables have their own names, begin with ``cgboost_`` and are dropped by
    :meth:`close`, in PostgreSQL together with all that was done since the savepoint.

    Attributes
    ----------
    n_fetched : int
        Rows of results that have left the database.
    n_reads : int
        Statements that had a result.
    n_writes : int
        Tables and columns that were made.
    """

    def __init__(self, connection: Any, engine: DatabaseEngine) -> None:
        self.connection, self.engine, self.sql = connection, engine, engine.sql
        self.n_fetched = self.n_reads = self.n_writes = 0
        self._prefix = f"cgboost_{secrets.token_hex(6)}"
        self._tables: list[str] = []
        self._made = 0
        self._cursor: Any = None
        self._savepoint = False
        self._scratch: Scratch | None = None
        self._before = ""
        self._in_transaction = True
        self._query = ""
        self._turn: Any = None

    def open(self) -> None:
        """Begin, where another thread fits on the connection after it has ended.

        Raises
        ------
        DatabaseError
            If the connection is closed.
        """
        self._turn = TURNS.of(self.connection)  # before: Ctrl-C may come when it is taken
        self._turn.acquire()
        try:
            self._in_transaction = bool(getattr(self.connection, "in_transaction", True))
            self._cursor = self.connection.cursor() if self.engine.own_cursor else self.connection
            self.engine.prepare(self.connection)
            self._cursor.execute("SELECT 1")
            self._set()
        except Exception as error:
            raise self._failed("could not begin", error) from error
        if self.engine.savepoint:
            try:
                self._cursor.execute(f"SAVEPOINT {self._prefix}")
                self._savepoint = True
            except Exception as error:
                if not getattr(self.connection, "autocommit", False):
                    raise self._failed("could not begin", error) from error

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a query."""
        try:
            self._cursor.execute(statement)
            found = self._cursor.fetchall()
        except Exception as error:
            raise self._failed("failed at a query", error, statement) from error
        self.n_reads += 1
        self.n_fetched += len(found)
        return found

    def names(self, query: str) -> list[str]:
        """Names of the columns of a query, as it has them.

        It is read as a table first, which only one query can be.
        """
        self._query = query
        connection, probe = self.connection, f"SELECT * FROM ({query}) AS q LIMIT 0"
        try:
            if hasattr(connection, "extract_statements") and (
                len(connection.extract_statements(probe)) != 1
            ):
                raise ValueError("it has several statements")
            # psycopg sends what is binary by a protocol that takes one statement alone
            options = {"binary": True} if hasattr(connection, "prepare_threshold") else {}
            self._cursor.execute(probe, **options)
            self._cursor.execute(self.engine.columns.format(query))
            if self.engine.columns_in_rows:
                return [str(row[0]) for row in self._cursor.fetchall()]
            return [str(column[0]) for column in self._cursor.description]
        except Exception as error:
            what = "cannot read the table, which must be a name or one query"
            raise self._failed(what, error, query) from error

    def run(self, statement: str) -> None:
        """Execute a statement without a result."""
        try:
            self._cursor.execute(statement)
        except Exception as error:
            raise self._failed("failed", error, statement) from error
        self.n_writes += 1

    def make_room(self, query: str, n_columns: int) -> None:
        """Keep what is created from now on in a file, where memory is short of it.

        Parameters
        ----------
        query : str
            Tables to come have its rows,
        n_columns : int
            and so many numbers.
        """
        if not self.engine.scratch:
            return
        try:
            self._scratch = Scratch.for_table(self._cursor, self._prefix, query, n_columns)
        except Exception as error:
            raise self._failed("could not make a file for the tables of the fit", error) from error

    def create(self, query: str) -> str:
        """A new temporary table of the rows of a query; its name, quoted."""
        self._made += 1
        name = self.sql.name(f"{self._prefix}_{self._made}")
        if self._scratch:
            name = f"{self._scratch.name}.{name}"
        self._tables.append(name)  # before: an interrupt may come after the table is there
        self.run(f"CREATE {'' if self._scratch else 'TEMPORARY '}TABLE {name} AS {query}")
        return name

    def drop(self, name: str) -> None:
        """Drop a temporary table."""
        self.run(f"DROP TABLE IF EXISTS {name}")
        self._tables.remove(name)

    def close(self) -> None:
        """Leave nothing behind, whatever state the connection is in."""
        try:
            if self._cursor is not None:
                self._leave()
        finally:
            turn, self._turn = self._turn, None
            if turn is not None:
                with contextlib.suppress(RuntimeError):  # Ctrl-C came while it was waited for
                    turn.release()

    def _leave(self) -> None:
        """Drop all that was made, and give the setting its value."""
        cursor, self._cursor = self._cursor, None
        if self._savepoint:
            with contextlib.suppress(Exception):  # a lost connection has no tables either
                cursor.execute(f"ROLLBACK TO SAVEPOINT {self._prefix}")
                cursor.execute(f"RELEASE SAVEPOINT {self._prefix}")
        else:
            for name in reversed(self._tables):
                with contextlib.suppress(Exception):
                    cursor.execute(f"DROP TABLE IF EXISTS {name}")
        self._tables.clear()
        if self._scratch:
            self._scratch.remove(cursor)
        if self.engine.setting and self._before:
            with contextlib.suppress(Exception):
                cursor.execute(f"SET {self.engine.setting[0]} = {self._before}")
        with contextlib.suppress(Exception):
            if not self._in_transaction and self.connection.in_transaction:
                self.connection.commit()  # of a transaction that sqlite3 has begun for us
        if self.engine.own_cursor:
            with contextlib.suppress(Exception):
                cursor.close()

    def _set(self) -> None:
        """Give the setting of the engine its value, and note the one that it had."""
        if self.engine.setting is None:
            return
        name, wanted = self.engine.setting
        self._cursor.execute(f"SELECT current_setting('{name}')")
        before = str(self._cursor.fetchall()[0][0]).lower()
        if before != wanted:
            self._before = before  # first: Ctrl-C may come when it is set
            self._cursor.execute(f"SET {name} = {wanted}")

    def _failed(self, what: str, error: Exception, statement: str = "") -> BaseException:
        """The error of ours; the interrupt where a signal came and the database took it for one."""
        ours = not self.engine.functions or self._query not in statement
        if ours and str(error) == self.engine.interrupt:
            return KeyboardInterrupt()
        words = str(error).strip().splitlines()
        return DatabaseError(
            f"{self.sql.title} {what} ({type(error).__name__}: {words[0] if words else ''}); the "
            "fit has ended and leaves no table behind. See that the connection is open, that the "
            "table can be read, and that there is room for a temporary copy of it"
        )
