"""SQL dialects: how a database writes names, numbers, categories and table expressions.

All that databases disagree on in a query of :mod:`cgboost.additive.export.sql` is one table, the
dictionary ``DIALECTS``: a :class:`Dialect` for each.

names, text
    Quotes are doubled; BigQuery escapes them by a backslash. A backslash in text is an escape in
    MySQL, BigQuery and Snowflake, and in PostgreSQL where ``standard_conforming_strings`` is off:
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
import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

Escapes = tuple[tuple[str, str], ...]
"""Characters, and what is written in their place."""

BACKSLASHED: Escapes = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"))
"""What BigQuery cannot have between quotes of one line, besides the quote."""

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
    quote : str
        What stands around a name.
    name_escapes, text_escapes : tuple of (str, str)
        Characters within a name and within text, and what is written in their place.
    opening : str
        How a literal begins that has a backslash; others begin with a quotation mark.
    double : str
        The type of double precision.
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
    materialized : str
        What stands after AS where a table expression is to be kept as a table.
    unmerged : str
        What ends a table expression for the same purpose.
    longest_name : int or None
        Bytes of a name that count: PostgreSQL cuts it there.
    """

    title: str
    quote: str = '"'
    name_escapes: Escapes = (('"', '""'),)
    text_escapes: Escapes = (("'", "''"),)
    opening: str = "'"
    double: str = "DOUBLE PRECISION"
    number_type: str = ""
    rounds_decimals: bool = True
    text_column: str = "{0}"
    truth_column: str = "{0}"
    date: str = "DATE '{}'"
    time: str = "TIMESTAMP '{}'"
    times_are_text: bool = False
    materialized: str = ""
    unmerged: str = ""
    longest_name: int | None = None

    def name(self, name: str) -> str:
        """A name in quotes.

        Raises
        ------
        ValueError
            If it is empty, or has characters that no database can have.
        """
        if not name:
            raise ValueError("a column or table has an empty name, which SQL cannot say: rename it")
        _check_characters(name, "the name")
        return self.quote + _escaped(name, self.name_escapes) + self.quote

    def path(self, parts: Sequence[str]) -> str:
        """The name of a table, of its parts."""
        return ".".join(map(self.name, parts))

    def number(self, value: float) -> str:
        """A literal, or an expression of literals, that is this number in double precision.

        Raises
        ------
        ValueError
            If it is not finite.
        """
        if not math.isfinite(value):
            raise ValueError(
                f"{value} cannot be written as a number in SQL: replace it where it is a category"
            )
        digits = repr(float(value))
        if self.number_type:
            return f"'{digits}'::{self.number_type}"
        if not self.rounds_decimals and (
            abs(value) >= EXACT_INTEGERS or not float(value).is_integer()
        ):
            return _of_integers(float(value))
        return digits if "e" in digits else f"{digits}e0"

    def text(self, value: str) -> str:
        """A text literal.

        Raises
        ------
        ValueError
            If it has characters that no database can have.
        """
        _check_characters(value, "the category")
        opening = self.opening if "\\" in value else "'"
        return opening + _escaped(value, self.text_escapes) + "'"

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

    def categories(self, values: Sequence[Any]) -> str:
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
        return ", ".join(literals)

    def as_double(self, column: str) -> str:
        """A column as double precision."""
        return f"CAST({column} AS {self.double})"

    def table_expression(self, name: str, query: str) -> str:
        """A named query, as it stands after WITH."""
        return f"{name} AS {self.materialized}({query}{self.unmerged})"

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
    "duckdb": Dialect("DuckDB", text_column="CAST({0} AS VARCHAR) COLLATE C"),
    "postgresql": Dialect(
        "PostgreSQL",
        text_escapes=(("'", "''"), ("\\", "\\\\")),
        opening="E'",
        number_type="FLOAT8",
        text_column='CASE WHEN {0} IS NOT NULL THEN CONCAT({0}) END COLLATE "C"',
        truth_column="CAST({0} AS INTEGER)",
        materialized="MATERIALIZED ",
        longest_name=63,
    ),
    "sqlite": Dialect(
        "SQLite",
        double="REAL",
        rounds_decimals=False,
        text_column="{0} COLLATE BINARY",
        date="'{}'",
        time="'{}'",
        times_are_text=True,
        materialized="MATERIALIZED ",
    ),
    "mysql": Dialect(
        "MySQL",
        quote="`",
        name_escapes=(("`", "``"),),
        text_escapes=(("'", "''"), ("\\", "\\\\")),
        double="DOUBLE",
        text_column="CONVERT({0} USING utf8mb4) COLLATE utf8mb4_0900_bin",
        unmerged=f" LIMIT {2**63 - 1}",
    ),
    "bigquery": Dialect(
        "BigQuery",
        quote="`",
        name_escapes=(("`", "\\`"), *BACKSLASHED),
        text_escapes=(("'", "\\'"), *BACKSLASHED),
        double="FLOAT64",
        text_column="COLLATE({0}, '')",
        truth_column="CAST({0} AS INT64)",
        time="DATETIME '{}'",
    ),
    "snowflake": Dialect(
        "Snowflake",
        text_escapes=(("'", "''"), ("\\", "\\\\")),
        double="DOUBLE",
        number_type="DOUBLE",
        text_column="COLLATE({0}, 'utf8')",
        truth_column="CAST({0} AS INTEGER)",
    ),
}
"""The databases that there is a dialect of."""


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


def _escaped(text: str, escapes: Escapes) -> str:
    return text.translate({ord(character): written for character, written in escapes})


def _check_characters(text: str, what: str) -> None:
    """Raise a ValueError for NUL, which ends a statement, and halves of surrogate pairs."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(
            f"{what} {text!r} has a NUL or half a surrogate pair, which SQL cannot say: replace it"
        )
