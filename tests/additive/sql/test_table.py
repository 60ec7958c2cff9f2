"""What a table in a database has: its schema is that of the frame, and bad values are named."""

import datetime
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pytest

from cgboost.additive.sql.place import SQLPlace
from cgboost.exceptions import DatabaseError
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import (
    DATABASES,
    Columns,
    connected,
    mixed,
    stored,
    tables_of,
    write,
)


def opened(connection: Any, table: Any = "t", **options: Any) -> SQLPlace:
    """A place of a table with the target y."""
    how = {"categorical": "from_dtype", "classification": False} | options
    weight = how.pop("weight", None)
    return SQLPlace(SQLSource(connection, table, target="y", weight=weight), **how)


@pytest.mark.parametrize("database", DATABASES)
def test_the_schema_is_that_of_the_frame(database: str, server: str) -> None:
    """Names, which features are categories, and their order."""
    data = mixed(0)
    with connected(database, server) as connection:
        source = stored(connection, database, data)
        with closing(SQLPlace(source, "from_dtype", classification=False)) as place:
            assert place.schema == data.schema
            assert place.copy.n_rows == np.count_nonzero(data.weights)
            assert place.copy.least == data.y.min()
            assert place.copy.is_weighted


DAY = datetime.date(2020, 2, 29)
KINDS: Columns = {
    "truth": ("BOOLEAN", [True, False, None]),
    "whole": ("BIGINT", [2**60, -1, None]),
    "exact": ("DECIMAL(10, 2)", [1.25, 2, None]),
    "single": ("REAL", [0.1, 0.2, None]),
    "day": ("DATE", [DAY, None, DAY]),
    "text": ("VARCHAR", ["b", "a", None]),
    "empty": ("VARCHAR", [None, None, None]),
    "y": ("DOUBLE", [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("database", ["duckdb", "postgresql"])
def test_types_decide_as_those_of_a_frame_do(database: str, server: str) -> None:
    """Truth values and decimals are numbers, text is not, dates are features unless named."""
    with connected(database, server) as connection:
        write(connection, database, KINDS)
        with closing(opened(connection)) as place:
            assert place.schema.names[4:8] == ("day_days", "day_month", "day_weekday", "day_hour")
        some = "SELECT truth, whole, exact, single, text, y FROM t"
        with closing(opened(connection, some)) as place:
            assert place.schema.categories == (*[None] * 4, {"a": 0, "b": 1})
            assert place.schema.truths == {0}
            found = place.session.rows(f"SELECT c0, c1, c2, c3 FROM {place.copy.table} ORDER BY y")
        assert found[0] == (1.0, 2.0**60, 1.25, float(np.float32(0.1)))
        assert found[2] == (None, None, None, None)
        named = {"categorical": ["truth", 1, "day", "text"]}
        with closing(opened(connection, "SELECT * FROM t WHERE y > 0", **named)) as place:
            time = datetime.datetime(2020, 2, 29)
            truth, whole, _, _, day, text, empty = place.schema.categories
            assert (truth, whole) == ({False: 0, True: 1}, {-1: 0, 2**60: 1})
            assert (day, text, empty) == ({time: 0}, {"a": 0, "b": 1}, None)
            place.divide(max_bins=4, share=0.0, seed=0)
            assert place._division.groups[-1].n_groups == 2  # as in a frame: undecided, numbers


@pytest.mark.parametrize("database", DATABASES)
def test_names_that_are_one_to_the_database_are_refused(database: str, server: str) -> None:
    """Two columns a and A are one in DuckDB and SQLite, and two in PostgreSQL."""
    with connected(database, server) as connection:
        write(connection, database, GOOD)
        query = 'SELECT x AS "a", w AS "A", y FROM t'
        if database == "postgresql":
            with closing(opened(connection, query)) as place:
                assert place.schema.names == ("a", "A")
            return
        with pytest.raises(ValueError, match=r"several columns called \['A', 'a'\]"):
            opened(connection, query)
        with closing(opened(connection, 'SELECT x AS "a", w AS "a_1", y FROM t')) as place:
            assert place.schema.names == ("a", "a_1")


COLLATED = {
    "sqlite": "TEXT COLLATE NOCASE",
    "duckdb": "VARCHAR COLLATE NOCASE",
    "postgresql": "CHAR(3)",
}


@pytest.mark.parametrize("database", DATABASES)
def test_text_is_compared_exactly_whatever_its_collation(database: str, server: str) -> None:
    """Features and classes have the values that drivers give, where the database folds them too."""
    words = ["Red", "red", "RED", "red"]
    kind = COLLATED[database]
    columns: Columns = {"x": (kind, [*words, "a  "]), "y": (kind, [*words, "b  "])}
    with connected(database, server) as connection:
        write(connection, database, columns)
        with closing(opened(connection, classification=True)) as place:
            assert place.schema.categories == ({"RED": 0, "Red": 1, "a  ": 2, "red": 3},)
            assert place.classes == ["RED", "Red", "b  ", "red"]


def test_classes_are_those_of_rows_that_count() -> None:
    """Text, numbers or truth values, in ascending order."""
    with connected("duckdb") as connection:
        for kind, values in (
            ("VARCHAR", ["b", "a", "z", "b"]),
            ("INTEGER", [10, 9, 11, 10]),
            ("BOOLEAN", [True, False, True, True]),
        ):
            connection.execute("DROP TABLE IF EXISTS t")
            columns: Columns = {
                "x": ("DOUBLE", [1.0, 2.0, 3.0, 4.0]),
                "y": (kind, values),
                "w": ("DOUBLE", [1.0, 1.0, 0.0, 2.0]),
            }
            write(connection, "duckdb", columns)
            with closing(opened(connection, classification=True, weight="w")) as place:
                assert place.classes == [values[1], values[0]]


GOOD: Columns = {
    "x": ("DOUBLE", [1.0, 2.0, 3.0]),
    "y": ("DOUBLE", [1.0, 2.0, 3.0]),
    "w": ("DOUBLE", [1.0, 2.0, 3.0]),
}
INF = float("inf")
BAD = {
    "no rows": ({key: (kind, []) for key, (kind, _) in GOOD.items()}, {}, "has no rows"),
    "one row": (GOOD, {"table": "SELECT * FROM t WHERE x < 2"}, "at least 2 rows .* got 1"),
    "no target": (GOOD, {"table": "SELECT x FROM t"}, r"target='y' is no column .* \['x'\]"),
    "no weight": (GOOD, {"weight": "v"}, "weight='v' is no column"),
    "no features": (GOOD, {"table": "SELECT y, w FROM t", "weight": "w"}, "no features"),
    "twice": (
        GOOD,
        {"table": "SELECT x AS a, x AS a, y FROM t"},
        r"several columns called \['a'\]: rename all but one",
    ),
    "NULL target": (
        GOOD | {"y": ("DOUBLE", [1.0, None, 2.0])},
        {},
        "target 'y' is NULL or NaN in 1 of 3 rows",
    ),
    "NULL weight": (
        GOOD | {"w": ("DOUBLE", [1.0, None, 2.0])},
        {"weight": "w"},
        "weight 'w' is NULL or NaN in 1 of 3 rows",
    ),
    "negative weight": (
        GOOD | {"w": ("DOUBLE", [1.0, -2.0, 2.0])},
        {"weight": "w"},
        "'w' must be finite.* from -2 to 2",
    ),
    "zero weights": (GOOD | {"w": ("DOUBLE", [0.0] * 3)}, {"weight": "w"}, "not 0 in every row"),
    "infinite weight": (GOOD | {"w": ("DOUBLE", [1.0, INF, 1.0])}, {"weight": "w"}, "to inf"),
    "infinite": (GOOD | {"x": ("DOUBLE", [1.0, INF, 3.0])}, {}, "feature 'x' has the value inf"),
    "large": (GOOD | {"x": ("DOUBLE", [1.0, -1e101, 3.0])}, {}, "feature 'x' has the value -1e"),
    "infinite target": (GOOD | {"y": ("DOUBLE", [1.0, -INF, 3.0])}, {}, "'y' has the value -inf"),
    "text target": (GOOD | {"y": ("VARCHAR", ["a", "b", "c"])}, {}, "it must have numbers"),
    "categories": (GOOD, {"categorical": "x"}, "must be 'from_dtype' or a list"),
    "unknown": (GOOD, {"categorical": ["z"]}, r"has \['z'\], which the table does not have"),
    "unnamed text": (
        GOOD | {"t": ("VARCHAR", ["a", "b", "c"])},
        {"categorical": ["x"]},
        "feature 't' has values that are no numbers",
    ),
}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_and_nothing_is_left(case: str, database: str, server: str) -> None:
    """The message names the column and the value."""
    columns, options, words = BAD[case]
    if case == "twice" and database != "postgresql":
        columns, options, words = GOOD, {"table": "SELECT * FROM missing"}, "cannot read the table"
    with connected(database, server) as connection:
        write(connection, database, columns)
        with pytest.raises((ValueError, DatabaseError), match=words):
            opened(connection, **options)
        assert not [name for name in tables_of(connection, database) if "cgboost" in name]


def test_types_that_are_neither_numbers_nor_categories_are_refused() -> None:
    """Lists, intervals; in SQLite text beside numbers."""
    for kind in ("INTEGER[]", "INTERVAL", "BLOB"):
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE t AS SELECT CAST(NULL AS {kind}) AS x, 1.0 AS y")
            with pytest.raises(ValueError, match="'x' is of type .* neither a number, a date nor"):
                opened(connection)
    with connected("sqlite") as connection:
        write(connection, "sqlite", GOOD | {"x": ("", [1.0, "a", 2.0])})
        with pytest.raises(ValueError, match="'x' is of type real and text"):
            opened(connection)


def test_too_many_categories_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would leave the database, each with its statistics; as many as may be are not."""
    with connected("duckdb") as connection:
        write(connection, "duckdb", GOOD | {"t": ("VARCHAR", ["a", "b", "c"])})
        monkeypatch.setattr("cgboost.additive.sql.table.MOST_CATEGORIES", 3)
        with closing(opened(connection, classification=True)) as place:
            assert len(place.copy.classes) == 3
        monkeypatch.setattr("cgboost.additive.sql.table.MOST_CATEGORIES", 2)
        with pytest.raises(ValueError, match="feature 't' has more than 2 categories"):
            opened(connection)
        with pytest.raises(ValueError, match="target 'y' has more than 2 different values"):
            opened(connection, "SELECT x, y FROM t", classification=True)
