"""A file of DuckDB's own for the tables of a fit: they need no memory but a cache.

DuckDB keeps temporary tables in memory and beyond its ``memory_limit`` in files, but a part of each
block stays: 10⁷ rows × 23 columns need 73 MB that cannot be given back, a second such table fails
with a limit of 100 MB. Tables of an attached file are compressed, and read with any limit.
"""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

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

    It lies in DuckDB's ``temp_directory``, where there has to be room for temporary tables anyway.

    Parameters
    ----------
    cursor : DuckDB connection
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
