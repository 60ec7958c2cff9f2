"""Sources of rows that a model is fitted to where they are.

from cgboost.additive.sql.source import SQLSource
TransformRegressor().fit(SQLSource(connection, "people", target="income"))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cgboost.additive.sql.engines import DatabaseEngine, engine_of
from cgboost.tables.row_blocks import RowsElsewhere

QUERIES = ("select", "with", "from", "values", "table")
"""Words that a query begins with."""

COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
"""Comments of SQL; those inside a literal do no harm where only the first word counts."""


@dataclass(frozen=True, eq=False)
class SQLSource(RowsElsewhere):
    """A table of a database, or a query.

    A fit makes a temporary copy of the rows, as numbers, in the database, works on that alone, and
    drops it: a table that changes in the meantime makes no difference. Rows do not leave the
    database; summaries do: counts and categories, edges of intervals, sums.

    Parameters
    ----------
    connection : DB-API connection
        Open, of duckdb, sqlite3 or psycopg; of another module with ``dialect``. No path, cursor or
        engine. The fit uses it alone: a fit of another thread waits for its end.
    table : str or sequence of str
        Name of a table or view, the parts of its name, ("main", "people") say, or one query, which
        begins with SELECT or WITH; it is read as a table, so that nothing else is run.
    target : str
        The column of the response. It may have no NULL.
    weight : str or None
        The column of the weights; None: every row counts as one. All other columns are features,
        of dates and times as of :class:`~cgboost.sources.DateFeatures`.
    dialect : {"duckdb", "postgresql", "sqlite"} or None
        The database; None: by the module of the connection.

    Raises
    ------
    ValueError
        If ``connection`` is none, the dialect is unknown, ``table`` is none, or ``target`` and
        ``weight`` are no names or the same.
    """

    instead: ClassVar[str] = "model.to_sql() is a query for predictions in a database"

    connection: Any
    table: str | Sequence[str]
    target: str = field(kw_only=True)
    weight: str | None = field(default=None, kw_only=True)
    dialect: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, value in (("target", self.target), ("weight", self.weight or "none")):
            if not isinstance(value, str) or not value:
                raise ValueError(f"{name} must be the name of a column, got {value!r}")
        if self.target == self.weight:
            raise ValueError(f"target and weight are the same column, {self.target!r}")
        parts = [self.table] if isinstance(self.table, str) else self.table
        if not isinstance(parts, Sequence) or not all(p and isinstance(p, str) for p in parts):
            raise ValueError(
                "table must be a name, the parts of a name or a query that begins with SELECT or "
                f"WITH, got {self.table!r}"
            )
        engine_of(self.connection, self.dialect)

    @property
    def engine(self) -> DatabaseEngine:
        """The database."""
        return engine_of(self.connection, self.dialect)

    @property
    def query(self) -> str:
        """A query of all columns and rows."""
        if isinstance(self.table, str):
            words = COMMENTS.sub(" ", self.table).split(maxsplit=1)
            if len(words) > 1 and words[0].lower().lstrip("(") in QUERIES:
                query = self.table.rstrip("; \t\r\n").lstrip()
                return f"{query}\n" if "--" in query else query  # it may end with a comment
        parts = [self.table] if isinstance(self.table, str) else list(self.table)
        return f"SELECT * FROM {self.engine.sql.path(parts)}"
