"""The temporary table of a fit, to which columns are added."""

from __future__ import annotations

from collections.abc import Sequence

from cgboost.additive.sql.session import Session


class Store:
    """A table whose columns come and go.

    New columns are noted, and made together when a query next reads the table: their expressions
    may use those that are there, not one another.

    Parameters
    ----------
    session : Session
    table : str
        A temporary table of the session.
    columns : sequence of str
        Its columns.
    """

    def __init__(self, session: Session, table: str, columns: Sequence[str]) -> None:
        self.session, self.columns = session, list(columns)
        self._table = table
        self._coming: dict[str, tuple[str, str]] = {}
        self._going: list[str] = []

    @property
    def table(self) -> str:
        """Its name, when all columns are there."""
        self.write()
        return self._table

    def add(self, name: str, expression: str, kind: str | None = None) -> None:
        """Note a new column, of double precision or of another type."""
        self._coming[name] = (expression, kind or self.session.sql.double)

    def remove(self, name: str) -> None:
        """Note that a column is needed no longer."""
        if self._coming.pop(name, None) is None:
            self._going.append(name)

    def drop(self) -> None:
        """Drop the table."""
        self.session.drop(self._table)

    def write(self) -> None:
        """Make the columns that were noted."""
        if not self._coming:
            return
        coming, going = self._coming, self._going
        self._coming, self._going = {}, []
        self.columns = [name for name in self.columns if name not in going]
        if self.session.engine.adds_columns:
            self._extend(coming, going)
        else:
            made = [
                *self.columns,
                *(f"CAST({text} AS {kind}) AS {name}" for name, (text, kind) in coming.items()),
            ]
            table = self.session.create(f"SELECT {', '.join(made)} FROM {self._table}")
            self.session.drop(self._table)
            self._table = table
        self.columns += coming

    def _extend(self, coming: dict[str, tuple[str, str]], going: list[str]) -> None:
        """Change the table that is there."""
        run = self.session.run
        for name, (text, kind) in coming.items():
            run(f"ALTER TABLE {self._table} ADD COLUMN {name} {kind}")
            # a column of its own: after an UPDATE every scan applies what has changed
            run(
                f"ALTER TABLE {self._table} ALTER COLUMN {name} TYPE {kind} "
                f"USING CAST({text} AS {kind})"
            )
        for name in going:
            run(f"ALTER TABLE {self._table} DROP COLUMN {name}")
