"""How databases write names, text and numbers: what is written is what they read."""

import datetime
import math
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from cgboost.additive.export.dialects import DIALECTS, dialect_of
from tests.additive.export.sql_databases import read
from tests.effort import examples

ODD = ["\\", "'", '"', "`", "\n", "\r", "\t", "%", "%s", ";", "--", "/*", "*/", "''", "\\'", "{}"]
"""What ends literals, names or statements somewhere, or has a meaning for drivers."""

PIECES = st.sampled_from(ODD) | st.characters(exclude_categories=["Cs"], exclude_characters="\0")

TEXT = st.lists(PIECES, max_size=12).map("".join)

NAME = st.lists(PIECES, min_size=1, max_size=12).map("".join)

TABLE = NAME.map(lambda name: name.replace(".", "_"))
"""In BigQuery a dot between quotes divides the parts of a table's name."""


def test_there_are_six() -> None:
    """Another name is an error that lists them."""
    assert dialect_of("mysql").title == "MySQL"
    six = "'duckdb', 'postgresql', 'sqlite', 'mysql', 'bigquery', 'snowflake'"
    for wrong in ("oracle", "MySQL", "", None, ["mysql"]):
        with pytest.raises(ValueError, match="dialect must be one of") as caught:
            dialect_of(wrong)
        assert f"one of {six}, got {wrong!r}" in str(caught.value)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=examples(300))
@example(text="x\\", name="y", table="z")
@example(text="' OR 1=1 --", name='" FROM t; DROP TABLE t --', table="` FROM t; DROP TABLE t --")
@example(text="\\' OR 1=1 --", name='\\" FROM t --', table="\\` FROM t --")
@example(text="", name=" ", table="\n")
@example(text="'\\" * 2_000, name='"`\\' * 20, table="*/")
@given(text=TEXT, name=NAME, table=TABLE)
def test_nothing_ends_a_literal_or_a_name(dialect: str, text: str, name: str, table: str) -> None:
    """Whatever a category, a column and a table are called, a database reads these three."""
    sql = DIALECTS[dialect]
    test = f"{sql.name(name)} IN ({sql.text(text)})"
    statement = f"SELECT {test} AS {sql.name(name)} FROM {sql.name(table)}"
    tree = read(statement, dialect)
    assert isinstance(tree, exp.Select)
    (alias,) = tree.selects
    assert isinstance(alias, exp.Alias)
    assert isinstance(alias.this, exp.In)
    (literal,) = alias.this.expressions
    assert isinstance(literal, exp.Literal | exp.ByteString)  # the latter for PostgreSQL's E'…'
    assert literal.is_string or isinstance(literal, exp.ByteString)
    assert literal.this == text
    assert ".".join(part.name for part in alias.this.this.parts) == name  # BigQuery divides at dots
    assert alias.alias == name
    (source,) = tree.find_all(exp.Table)
    assert source.name == table
    assert not source.args.get("alias")
    assert {key for key, value in tree.args.items() if value} <= {"expressions", "from_", "from"}


@settings(max_examples=examples(100))
@given(text=TEXT, name=NAME)
def test_databases_read_what_was_meant(text: str, name: str, server: str) -> None:
    """DuckDB, SQLite, and PostgreSQL with either meaning of a backslash, give it back."""

    def query(dialect: str) -> str:
        sql = DIALECTS[dialect]
        return f"SELECT {sql.text(text)} AS {sql.name(name)}"

    with duckdb.connect() as duck, closing(sqlite3.connect(":memory:")) as lite:
        for dialect, connection in (("duckdb", duck), ("sqlite", lite)):
            cursor = connection.execute(query(dialect))
            assert (cursor.description[0][0], cursor.fetchone()[0]) == (name, text)
    with closing(psycopg.connect(server)) as connection:
        for setting in ("on", "off"):
            connection.execute(f"SET standard_conforming_strings = {setting}")
            cursor = connection.execute(query("postgresql"))
            assert (cursor.description[0].name, cursor.fetchone()[0]) == (name, text)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_no_database_can_say(dialect: str) -> None:
    """NUL, halves of surrogate pairs, empty names, numbers that are not finite, other types."""
    sql = DIALECTS[dialect]
    for odd in ("a\0b", "\ud800", "\udfff"):
        with pytest.raises(ValueError, match="the category .* has a NUL or half a surrogate"):
            sql.category(odd)
        with pytest.raises(ValueError, match="the name .* has a NUL or half a surrogate"):
            sql.name(odd)
    with pytest.raises(ValueError, match="empty name"):
        sql.name("")
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="cannot be written as a number"):
            sql.number(number)
    for value in (b"x", None, datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)):
        with pytest.raises(ValueError, match="cannot be written in SQL: make the categories"):
            sql.category(value)


@settings(max_examples=examples(20))
@given(values=st.lists(st.floats(-1e100, 1e100), min_size=60, max_size=60))
def test_numbers_are_read_exactly(values: list[float], server: str) -> None:
    """As double precision, to the last bit, also decimals that SQLite takes for a neighbour."""
    values += [0.1, -1 / 3, 2.0**53 + 2, 1e-300, 5e-7, 123456.7, -2.2250738585072014e-308]
    values += [0.841613, -0.65487175909209, 6.3e303, 1e23, -5e-324, 1.7976931348623157e308]

    def query(dialect: str) -> str:
        return f"SELECT {', '.join(map(DIALECTS[dialect].number, values))}"

    with duckdb.connect() as connection:
        found = connection.execute(query("duckdb")).fetchone()
        np.testing.assert_array_equal(found, values)
    with closing(psycopg.connect(server)) as connection:
        found = connection.execute(query("postgresql")).fetchone()
        assert set(map(type, found)) == {float}
        np.testing.assert_array_equal(found, values)
    with closing(sqlite3.connect(":memory:")) as connection:
        found = connection.execute(query("sqlite")).fetchone()
        assert set(map(type, found)) == {float}
        np.testing.assert_array_equal(found, values)
    for dialect in ("mysql", "bigquery", "snowflake"):
        for value in values:
            tree = read(f"SELECT {DIALECTS[dialect].number(value)}", dialect)
            (literal,) = tree.find_all(exp.Literal)
            sign = -1.0 if tree.find(exp.Neg) else 1.0
            assert sign * float(literal.this) == value
            assert "e" in literal.this.lower() or isinstance(tree.selects[0], exp.Cast)


def test_names_that_are_one_to_a_database() -> None:
    """Case does not count; PostgreSQL has 63 bytes of a name, others have more."""
    for sql in DIALECTS.values():
        with pytest.raises(
            ValueError, match=r"the table has columns 'Age' and 'age', which .* tell"
        ):
            sql.check_names(["Age", "age"], "the table")
    long = ["é" * 31 + "x" + end for end in "yz"]
    with pytest.raises(ValueError, match="which PostgreSQL or another database cannot tell apart"):
        DIALECTS["postgresql"].check_names(long, "the table")
    for dialect in set(DIALECTS) - {"postgresql"}:
        DIALECTS[dialect].check_names(long, "the table")
    DIALECTS["postgresql"].check_names(["é" * 30 + end for end in "yz"], "the table")
