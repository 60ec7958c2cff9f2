"""Sources of rows in a database: what is read, and what is refused."""

import sqlite3

import pytest

from cgboost.sources import SQLSource


@pytest.fixture
def connection() -> sqlite3.Connection:
    """Of no table."""
    made = sqlite3.connect(":memory:")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("table", "query"),
    [
        ("people", 'SELECT * FROM "people"'),
        ('a "b', 'SELECT * FROM "a ""b"'),
        ("select", 'SELECT * FROM "select"'),
        (("main", "people"), 'SELECT * FROM "main"."people"'),
        (" SELECT a, b\nFROM people; ", "SELECT a, b\nFROM people"),
        ("with x as (select 1) select * from x", "with x as (select 1) select * from x"),
        ("-- all\nselect a /* b */\nfrom t -- end", "-- all\nselect a /* b */\nfrom t -- end\n"),
    ],
)
def test_a_table_is_a_name_its_parts_or_a_query(
    table: object, query: str, connection: sqlite3.Connection
) -> None:
    """Names are quoted; a query begins with a word of its own and has more."""
    assert SQLSource(connection, table, target="y").query == query


def test_bad_arguments_are_refused(connection: sqlite3.Connection) -> None:
    """When the source is made, before anything is read."""
    for options, words in (
        ({"target": 1}, "target must be the name of a column, got 1"),
        ({"target": ""}, "target must be the name of a column, got ''"),
        ({"target": "y", "weight": 2}, "weight must be the name of a column, got 2"),
        ({"target": "y", "weight": "y"}, "target and weight are the same column, 'y'"),
        ({"target": "y", "dialect": "oracle"}, "dialect must be one of .* got 'oracle'"),
    ):
        with pytest.raises(ValueError, match=words):
            SQLSource(connection, "t", **options)
    for table in (None, 3, "", ("main", "")):
        with pytest.raises(
            ValueError, match="table must be a name, the parts of a name or a query"
        ):
            SQLSource(connection, table, target="y")
    with pytest.raises(ValueError, match="connection must be a DB-API connection"):
        SQLSource("data.db", "t", target="y")
