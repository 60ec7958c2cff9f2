"""The temporary table of a fit, to which columns are added."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cgboost.additive.sql.session import SQLSession

MADE_TOGETHER = 4
"""New columns in one table, where a store is made of several: DuckDB holds 120 000 rows of all
columns of a table that it writes in memory, which are 4 MB."""


class Store:
    """Rows whose columns come and go.

    New columns are noted, and made together when a query next reads them: their expressions may use
    those that are there, not one another. Where rows of several tables can be joined by their
    position, new columns are their own tables, and nothing is written twice; elsewhere a new
    table takes the place of the old one.

    Parameters
    ----------
    session : SQLSession
    table : str
        A temporary table of the session.
    columns : sequence of str
        Its columns.
    """

    def __init__(self, session: SQLSession, table: str, columns: Sequence[str]) -> None:
        self.session = session
        self._tables: dict[str, list[str]] = {table: list(columns)}
        self._coming: dict[str, tuple[str, str]] = {}
        self._going: set[str] = set()

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are there."""
        return [name for names in self._tables.values() for name in names]

    def add(self, name: str, expression: str, kind: str | None = None) -> None:
        """Note a new column, of double precision or of another type."""
        self._coming[name] = (expression, kind or self.session.sql.double)

    def remove(self, name: str) -> None:
        """Note that a column is needed no longer."""
        if self._coming.pop(name, None) is None:
            self._going.add(name)

    def source(self, *texts: str) -> str:
        """What stands after FROM in a query that reads the columns in some expressions."""
        self.write()
        return self._joined(texts)

    def write(self) -> None:
        """Make the columns that were noted, and drop those that are needed no longer."""
        if not self._coming:
            return
        coming, self._coming = self._coming, {}
        if self.session.engine.by_position:
            self._beside(coming)
        else:
            self._instead(coming)
        self._going.clear()

    def drop(self) -> None:
        """Drop the rows."""
        for table in self._tables:
            self.session.drop(table)
        self._tables.clear()

    def _beside(self, coming: dict[str, tuple[str, str]]) -> None:
        names = list(coming)
        for start in range(0, len(names), MADE_TOGETHER):
            some = names[start : start + MADE_TOGETHER]
            texts = [_typed(name, *coming[name]) for name in some]
            query = f"SELECT {', '.join(texts)} FROM {self._joined(texts)}"
            self._tables[self.session.create(query)] = some
        for table, own in list(self._tables.items()):
            left = [name for name in own if name not in self._going]
            self._tables[table] = left
            if not left:
                del self._tables[table]
                self.session.drop(table)

    def _instead(self, coming: dict[str, tuple[str, str]]) -> None:
        ((old, own),) = self._tables.items()
        kept = [name for name in own if name not in self._going]
        texts = [*kept, *(_typed(name, *how) for name, how in coming.items())]
        table = self.session.create(f"SELECT {', '.join(texts)} FROM {old}")
        self.session.drop(old)
        self._tables = {table: [*kept, *coming]}

    def _joined(self, texts: Sequence[str]) -> str:
        words = {word for text in texts for word in re.findall(r"\w+", text)}
        tables = [table for table, names in self._tables.items() if words & {*names}]
        return " POSITIONAL JOIN ".join(tables or list(self._tables)[:1])


def _typed(name: str, expression: str, kind: str) -> str:
    return f"CAST({expression} AS {kind}) AS {name}"
