"""The temporary table of a fit, and its preparation: holdout rows, intervals, groups of every row.

As :func:`cgboost.tables.binning.prepared`, in the database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cgboost.additive.export.expressions import SQL
from cgboost.additive.sql.expressions import (
    LOW,
    code_expression,
    copies_query,
    distance_expression,
    edges_query,
    hash_expression,
    intervals_from,
    numbered_query,
    regressor_expression,
)
from cgboost.additive.sql.session import SQLSession
from cgboost.additive.sql.table import TARGET, WEIGHT, Copy
from cgboost.arrays import Vector, blocks_of
from cgboost.tables import holdout_choice as choice
from cgboost.tables.binning import Categories, FeatureGroups, Intervals
from cgboost.tables.holdout_choice import holdout_limit

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

    def query(self, columns: Sequence[str]) -> str:
        """A query for some expressions in the columns."""
        return f"SELECT {', '.join(columns)} FROM {self.source(*columns)}"

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
        for block in blocks_of(len(names), MADE_TOGETHER):
            some = names[block]
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


HELD, SAMPLED = "held", "sampled"
"""Columns of zeros and ones: rows held out, and rows that intervals are made from."""

RAW_TARGET, RAW_WEIGHT = "raw_y", "raw_w"
"""Names of columns before the rows are divided."""

AT_A_TIME = 500
"""Categories written in one statement."""

MOST_SUMS = 1500
"""Sums in one statement: PostgreSQL takes 1664 columns."""

LARGEST_SMALL = 2**15
"""Codes below this take two bytes a row."""


@dataclass(frozen=True)
class Division:
    """The rows of a fit, in a temporary table.

    Attributes
    ----------
    store : Store
        A table with the columns y, w, held, sampled, and those of inputs: :func:`code_column`, and
        :func:`regressor_column` and :func:`distance_column` of numbers.
    training, holdout : float
        Σ w.
    mean : float
        Of y.
    is_weighted : bool
        Whether there are weights other than 1.
    """

    store: Store
    groups: list[FeatureGroups]
    training: float
    holdout: float
    n_rows: int
    mean: float
    is_weighted: bool

    def product(self, *factors: str) -> str:
        """A product of columns and the weight, if there is one."""
        weight = ["w"] if self.is_weighted else []
        return " * ".join([*weight, *factors]) or self.store.session.sql.number(1.0)

    def by_part(
        self, rows: str, texts: Sequence[str], before: Mapping[str, str] | None = None
    ) -> Vector:
        """Sums of expressions over training rows and holdout rows, shape (2, n_sums).

        Parameters
        ----------
        rows : str
            A query.
        texts : sequence of str
            Expressions in its columns.
        before : mapping of str to str
            Queries by the names that it, and each after another, call them by.
        """
        session, result = self.store.session, np.zeros((2, len(texts)))
        expressions = {**(before or {}), "terms": rows}
        steps = [session.sql.table_expression(name, text) for name, text in expressions.items()]
        for block in blocks_of(len(texts), MOST_SUMS):
            sums = ", ".join(f"SUM({text})" for text in texts[block])
            query = f"WITH {', '.join(steps)} SELECT {HELD}, {sums} FROM terms GROUP BY {HELD}"
            for held, *found in session.rows(query):
                result[int(held), block] = found
        return result


def code_column(number: int | str) -> str:
    """The column of the group of an input: twice its number, and 1 more on holdout rows."""
    return f"g{number}"


def regressor_column(number: int | str) -> str:
    """The column of an input as a regressor."""
    return f"v{number}"


def distance_column(number: int | str) -> str:
    """The column of its distance from the middle of its group.

    Sums about that lose no digits; from sums about one place, where some groups are far narrower
    than others, too many would be lost.
    """
    return f"a{number}"


def divided(
    session: SQLSession, copy: Copy, *, max_bins: int, share: float, seed: int, keep: bool = False
) -> Division:
    """Hold rows out, make intervals, and look up groups.

    Parameters
    ----------
    max_bins, share, seed
        As in :func:`cgboost.tables.binning.prepared`.
    keep : bool
        Whether the copy stays, to be divided again.
    """
    schema = copy.schema
    numbers = [f"e{j}" for j in range(schema.n_features)]
    rows = _numbered(session, copy, numbers, seed, keep)
    held, training, holdout, total = _held(session, rows, share, copy.classes is not None)
    found = session.rows(f"SELECT mixed FROM {rows} ORDER BY mixed LIMIT 1 OFFSET {choice.SAMPLE}")
    sampled = f"CASE WHEN mixed <= {found[0][0]} THEN 1 ELSE 0 END" if found else "1"
    sample = rows
    if found:
        sample = session.create(f"SELECT * FROM {rows} WHERE mixed <= {found[0][0]}")
    groups: list[FeatureGroups] = [
        intervals_of_column(session, x, sample, max_bins, weight=RAW_WEIGHT)
        if known is None
        else Categories(len(known))
        for x, known in zip(numbers, schema.categories, strict=True)
    ]
    if sample != rows:
        session.drop(sample)
    store = Store(session, rows, [*numbers, RAW_TARGET, RAW_WEIGHT, "mixed"])
    store.add(HELD, held, "SMALLINT")
    store.add(SAMPLED, sampled, "SMALLINT")
    store.add(TARGET, RAW_TARGET)
    store.add(WEIGHT, RAW_WEIGHT)
    store.write()
    for j, (x, own_groups) in enumerate(zip(numbers, groups, strict=True)):
        for name, text, kind in input_columns(session, j, own_groups, x):
            store.add(name, text, kind)
        store.remove(x)
    for name in ("mixed", RAW_TARGET, RAW_WEIGHT):
        store.remove(name)
    store.write()
    mean = total / (training + holdout)
    return Division(store, groups, training, holdout, copy.n_rows, mean, copy.is_weighted)


def _held(
    session: SQLSession, rows: str, share: float, classification: bool
) -> tuple[str, float, float, float]:
    """An expression for what is held out, Σ w of the training and the holdout rows, and Σ w·y."""
    label = RAW_TARGET if classification else "0"
    below = f"(mixed & {LOW}) < {holdout_limit(share)}"
    found = session.rows(
        f"SELECT k, SUM((1 - a) * {RAW_WEIGHT}), SUM(a * {RAW_WEIGHT}), "
        f"SUM({RAW_WEIGHT} * {RAW_TARGET}) FROM "
        f"(SELECT {RAW_WEIGHT}, {RAW_TARGET}, {label} AS k, "
        f"CASE WHEN {below} THEN 1 ELSE 0 END AS a FROM {rows}) AS q GROUP BY k ORDER BY k"
    )
    classes, training, holdout, total = np.array(found, dtype=np.float64).T
    own = choice.training_only(training)
    if len(own):
        numbers = ", ".join(map(session.sql.number, classes[own].tolist()))
        below = f"{below} AND {label} NOT IN ({numbers})"
        training[own], holdout[own] = holdout[own], 0.0
    held = f"CASE WHEN {below} THEN 1 ELSE 0 END"
    return held, float(training.sum()), float(holdout.sum()), float(total.sum())


def input_columns(
    session: SQLSession, number: int | str, groups: FeatureGroups, column: str
) -> list[tuple[str, str, str]]:
    """Names, expressions and types of the columns of an input."""
    sql = session.sql
    if isinstance(groups, Categories):
        code = f"COALESCE(CAST({column} AS INTEGER), {groups.count})"
    else:
        code = sql.write(code_expression(groups, SQL(column)))
    found = [(code_column(number), f"2 * ({code}) + {HELD}", code_type(groups))]
    if isinstance(groups, Intervals):
        for name, node in (
            (regressor_column(number), regressor_expression(groups, SQL(column))),
            (distance_column(number), distance_expression(groups, SQL(column))),
        ):
            found.append((name, sql.write(node), sql.double))
    return found


def code_type(groups: FeatureGroups) -> str:
    """The type of a column of groups."""
    return "SMALLINT" if 2 * groups.n_groups < LARGEST_SMALL else "INTEGER"


def intervals_of_column(
    session: SQLSession, column: str, table: str, max_bins: int, *, weight: str, same: float = 0.0
) -> Intervals:
    """Intervals of a column of a table, or of a part of its rows in brackets.

    Each by its own statement: windows of several at a time need the memory of all.
    """
    query = edges_query(session.engine, table, column, weight, max_bins, same)
    return intervals_from(session.rows(query))


def _numbered(
    session: SQLSession, copy: Copy, numbers: Sequence[str], seed: int, keep: bool
) -> str:
    """A table of the encoded rows that count, with their mixed hashes."""
    sql, schema = session.sql, copy.schema
    read, joins, maps = [], [], []
    for j, (x, known) in enumerate(zip(numbers, schema.categories, strict=True)):
        if known is None:
            text = sql.write(sql.as_double(SQL(f"t.c{j}")))  # a column of nothing has no type
        else:
            maps.append(_map(session, copy.table, f"c{j}", list(known)))
            joins.append(f"LEFT JOIN {maps[-1]} AS m{j} ON t.c{j} = m{j}.value")
            text = f"m{j}.code"
        read.append(f"{text} AS {x}")
    y = f"t.{TARGET}"
    if copy.classes is not None:
        maps.append(_map(session, copy.table, TARGET, copy.classes))
        joins.append(f"LEFT JOIN {maps[-1]} AS my ON t.{TARGET} = my.value")
        y = "my.code"
    encoded = (
        f"SELECT {', '.join(read)}, {y} AS {RAW_TARGET}, t.{WEIGHT} AS {RAW_WEIGHT} "
        f"FROM {copy.table} AS t {' '.join(joins)} WHERE t.{WEIGHT} > 0"
    )
    columns = [*numbers, RAW_TARGET, RAW_WEIGHT]
    h = hash_expression(session.engine, [*numbers, RAW_TARGET], seed)
    hashed = session.create(f"SELECT {', '.join(columns)}, {h} AS h FROM ({encoded}) AS q")
    for table in maps if keep else (copy.table, *maps):
        session.drop(table)
    copies = session.create(copies_query(hashed))
    rows = session.create(numbered_query(sql, hashed, copies, columns, RAW_WEIGHT))
    session.drop(hashed)
    session.drop(copies)
    return rows


def _map(session: SQLSession, table: str, column: str, values: Sequence[Any]) -> str:
    """A table of values of a column, and their numbers as double precision."""
    sql = session.sql
    name = session.create(
        f"SELECT {column} AS value, {sql.number(0.0)} AS code FROM {table} LIMIT 0"
    )
    for start in range(0, len(values), AT_A_TIME):
        part = enumerate(values[start : start + AT_A_TIME], start)
        rows = ", ".join(f"({sql.category(value)}, {sql.number(float(k))})" for k, value in part)
        session.run(f"INSERT INTO {name} VALUES {rows}")
    return name
