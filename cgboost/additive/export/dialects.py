"""SQL dialects: how a database writes names, numbers, categories and table expressions.

sqlglot writes names, text and types as each database has them. What it does not know is one table,
the dictionary ``DIALECTS``: a :class:`Dialect` for each.

text
    A backslash in text is an escape in PostgreSQL where ``standard_conforming_strings`` is off:
    there such text is a literal ``E'…'``, which means the same with either setting.
numbers
    ``0.5e0`` is a decimal number of any length in PostgreSQL, and Snowflake does not promise that
    it is none: there it is ``'0.5'::FLOAT8``. SQLite reads some decimals as a neighbour of what
    they say (3.40.1 one of 5000 with 15 digits): there it is a quotient of integers, ``(1e0 / 2)``.
columns of text
    They are compared by their collation, which may have no regard to case, accents or trailing
    blanks (MySQL's default has none to case and accents): they are read with a binary one. What
    has no collation is text first: enumerations, and ``char(n)`` of PostgreSQL with its blanks.
columns of truth values
    PostgreSQL and BigQuery convert them to integers, not to double precision.
dates and times
    Text in SQLite, where midnight may be a date alone. A time without a zone is a ``DATETIME`` in
    BigQuery.
table expressions
    PostgreSQL, SQLite and MySQL write one out wherever a later one refers to it, and take
    exponentially long, unless they are told to keep it; MySQL is by a LIMIT, which it cannot merge.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from cgboost.additive.export.expressions import SQL, check_characters, exp, named, tree_of
from cgboost.optional import OnDemand

EXACT_INTEGERS = 2.0**53
"""Integers below it are numbers of double precision."""

LARGEST_SHIFT = 62
"""The largest power of two that is an integer of 64 bits."""


@dataclass(frozen=True)
class Dialect:
    r"""How one database writes what others write differently.

    Attributes
    ----------
    title : str
        The database, for messages.
    writer : str
        What sqlglot calls it.
    escapes : bool
        Whether text with a backslash is written with escapes.
    number_type : str
        Type of the literals of numbers, where one with an exponent is not of double precision.
    rounds_decimals : bool
        Whether decimals are read as the nearest number of double precision.
    text_column, truth_column : str
        How columns of text, and of truth values that are features, are read; ``{0}`` is the column.
    date, time : str
        Literals of a date, and of a date with a time without a zone.
    times_are_text : bool
        Whether these are text, so that midnight and the date alone are not equal.
    materialized : bool
        Whether a table expression is a table only where that is said.
    unmerged : bool
        Whether a LIMIT does so.
    longest_name : int or None
        Bytes of a name that count: PostgreSQL cuts it there.
    """

    title: str
    writer: str
    escapes: bool = False
    number_type: str = ""
    rounds_decimals: bool = True
    text_column: str = "{0}"
    truth_column: str = "{0}"
    date: str = "DATE '{}'"
    time: str = "TIMESTAMP '{}'"
    times_are_text: bool = False
    materialized: bool = False
    unmerged: bool = False
    longest_name: int | None = None

    def write(self, sql: SQL) -> str:
        """An expression or a query as text."""
        if isinstance(sql.tree, str):
            return sql.tree
        generator = _generator_class(self.writer)(dialect=self.writer, comments=False)
        generator.literal = self.literal
        return str(generator.generate(sql.tree, copy=False))

    def name(self, name: str) -> str:
        """A name in quotes; errors as of :func:`named`."""
        return self.write(named(name))

    def path(self, parts: Sequence[str]) -> str:
        """The name of a table, of its parts."""
        return ".".join(map(self.name, parts))

    def number(self, value: float) -> str:
        """A number of double precision; errors as of :func:`tree_of`."""
        return self.literal(tree_of(float(value)).this)

    def literal(self, digits: str) -> str:
        """A literal, or an expression of literals, that is a number to the last bit."""
        if "e" not in digits:  # an integer
            return digits
        if self.number_type:
            return f"'{digits.removesuffix('e0')}'::{self.number_type}"
        value = float(digits)
        if not self.rounds_decimals and (abs(value) >= EXACT_INTEGERS or not value.is_integer()):
            return _of_integers(value)
        return digits

    def text(self, value: str) -> str:
        """A text literal.

        Raises
        ------
        ValueError
            If it has characters that no database can have.
        """
        check_characters(value, "the category")
        text = self.write(SQL(exp.Literal(this=value, is_string=True)))
        return "E" + text.replace("\\", "\\\\") if self.escapes and "\\" in text else text

    def category(self, value: Any) -> str:
        """A category as a literal: text, number, truth value, date or time without a zone.

        Raises
        ------
        ValueError
            If it is something else.
        """
        match kind(value):
            case "text":
                return self.text(value)
            case "truth value":
                return "TRUE" if value else "FALSE"
            case "number":
                return str(int(value)) if isinstance(value, Integral) else self.number(value)
            case "time":
                return self.time.format(value.isoformat(sep=" "))
            case "date":
                return self.date.format(value.isoformat())
        raise ValueError(
            f"the category {value!r} of type {type(value).__name__} cannot be written in SQL: make "
            "the categories of this feature strings"
        )

    def categories(self, values: Sequence[Any]) -> list[str]:
        """Categories as literals, as they stand between the brackets of IN.

        Raises
        ------
        ValueError
            As :meth:`category`.
        """
        literals = [self.category(value) for value in values]
        if self.times_are_text:
            times = (value for value in values if kind(value) == "time")
            midnights = (value.date() for value in times if value.time() == datetime.time())
            literals += map(self.category, midnights)
        return literals

    @property
    def double(self) -> str:
        """The type of double precision."""
        return self.write(SQL(exp.DataType.build("double")))

    def as_double(self, column: SQL) -> SQL:
        """A column as double precision."""
        return SQL(exp.Cast(this=column.tree, to=exp.DataType.build("double")))

    def table_expression(self, name: str, query: str) -> str:
        """A named query, as it stands after WITH."""
        return f"{name} AS {'MATERIALIZED ' if self.materialized else ''}({query})"

    def check_names(self, names: Sequence[str], what: str) -> None:
        """See that no two names are one to the database.

        Raises
        ------
        ValueError
            If they are.
        """
        seen: dict[str, str] = {}
        for name in names:
            counts = name.encode(errors="replace")[: self.longest_name]
            if (folded := counts.decode(errors="ignore").casefold()) in seen:
                raise ValueError(
                    f"{what} has columns {seen[folded]!r} and {name!r}, which {self.title} or "
                    "another database cannot tell apart: rename one"
                )
            seen[folded] = name


DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect("DuckDB", "duckdb", text_column="CAST({0} AS VARCHAR) COLLATE C"),
    "postgresql": Dialect(
        "PostgreSQL",
        "postgres",
        escapes=True,
        number_type="FLOAT8",
        text_column='CASE WHEN {0} IS NOT NULL THEN CONCAT({0}) END COLLATE "C"',
        truth_column="CAST({0} AS INTEGER)",
        materialized=True,
        longest_name=63,
    ),
    "sqlite": Dialect(
        "SQLite",
        "sqlite",
        rounds_decimals=False,
        text_column="{0} COLLATE BINARY",
        date="'{}'",
        time="'{}'",
        times_are_text=True,
        materialized=True,
    ),
    "mysql": Dialect(
        "MySQL",
        "mysql",
        text_column="CONVERT({0} USING utf8mb4) COLLATE utf8mb4_0900_bin",
        unmerged=True,
    ),
    "bigquery": Dialect(
        "BigQuery",
        "bigquery",
        text_column="COLLATE({0}, '')",
        truth_column="CAST({0} AS INT64)",
        time="DATETIME '{}'",
    ),
    "snowflake": Dialect(
        "Snowflake",
        "snowflake",
        number_type="DOUBLE",
        text_column="COLLATE({0}, 'utf8')",
        truth_column="CAST({0} AS INTEGER)",
    ),
}
"""The databases that there is a dialect of."""


@cache
def _generator_class(writer: str) -> Any:
    """A class of generators of sqlglot, which write numbers as a dialect of ours has them."""
    own: Any = OnDemand("sqlglot.dialects.dialect", "SQL").Dialect.get_or_raise(writer)

    class Generator(own.generator_class):
        literal: Callable[[str], str]

        def literal_sql(self, expression: Any) -> str:
            """Text as the database has it, numbers by ``literal``."""
            if expression.is_string:
                return str(super().literal_sql(expression))
            return self.literal(expression.this)

        def div_sql(self, expression: Any) -> str:
            """A quotient, whose parts are no integers."""
            return str(self.binary(expression, "/"))

        def cte_sql(self, expression: Any) -> str:
            """A table expression, on a new line."""
            return f"\n{super().cte_sql(expression)}"

    return Generator


def dialect_of(name: str) -> Dialect:
    """The dialect of this name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not isinstance(name, str) or name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, got {name!r}")
    return DIALECTS[name]


def kind(value: Any) -> str | None:
    """What type of column a category belongs in; None for what has none."""
    if isinstance(value, bool | np.bool_):
        return "truth value"
    if isinstance(value, datetime.datetime):
        return "time" if value.tzinfo is None else None
    for name, types in (("text", str), ("number", Real), ("date", datetime.date)):
        if isinstance(value, types):
            return name
    return None


def _of_integers(value: float) -> str:
    """A number as an integer multiplied or divided by powers of two, of which none is rounded."""
    above, below = value.as_integer_ratio()
    twos = (above & -above).bit_length() - 1
    sign, shift = ("/", below.bit_length() - 1) if below > 1 else ("*", twos)
    steps = [*[LARGEST_SHIFT] * (shift // LARGEST_SHIFT), shift % LARGEST_SHIFT]
    return f"({above >> twos}e0{''.join(f' {sign} {2**step}' for step in steps if step)})"
