"""Dates in databases have the features that those of frames have."""

import datetime
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgboost import TransformRegressor
from cgboost.additive.sql.place import SQLPlace
from cgboost.sources import DateFeatures, SQLSource, date_features_query
from cgboost.tables.date_features import with_date_features
from tests.additive.sql.sql_tables import DATABASES, connected, write

RNG = np.random.default_rng(0)
FIRST = datetime.datetime(1950, 1, 1)
TIMES: list[Any] = [
    FIRST + datetime.timedelta(milliseconds=int(k)) for k in RNG.integers(0, 4 * 10**12, 300)
]
TIMES[:6] = [
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999000),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(1700, 2, 28, 23),
    datetime.datetime(2000, 2, 29, 0, 0, 0, 1000),
    datetime.datetime(2300, 12, 31, 12),
    None,
]
DAYS = [None if time is None else time.date() for time in TIMES]
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=300),
        "when it's": pd.Series(TIMES, dtype=object),
        "day": pd.Series(DAYS, dtype=object),
    }
)
Y = FRAME["size"] + np.array([0 if time is None else time.hour > 12 for time in TIMES])


def filled(connection: Any, database: str, kind: str = "TIMESTAMP") -> None:
    """A table of the frame and Y."""
    text = database == "sqlite"
    columns = {
        "size": ("DOUBLE", FRAME["size"].tolist()),
        "when it's": ("VARCHAR" if text else kind, TIMES),
        "day": ("VARCHAR" if text else "DATE", DAYS),
        "y": ("DOUBLE", Y.tolist()),
    }
    write(connection, database, columns)


@pytest.mark.parametrize("database", ["duckdb", "postgresql"])
@pytest.mark.parametrize("zone", ["", " WITH TIME ZONE"])
def test_a_fit_there_is_the_fit_here(database: str, zone: str, server: str) -> None:
    """To the last bit of the features, for times of a zone too, and so for the model."""
    made = with_date_features(FRAME)
    with connected(database, server) as connection:
        cursor = connection if database == "duckdb" else connection.cursor()
        cursor.execute("SET TimeZone = 'UTC'")  # that the text of the times is read in
        filled(connection, database, f"TIMESTAMP{zone}")
        cursor.execute("SET TimeZone = 'Asia/Tokyo'")
        source = SQLSource(connection, "t", target="y")
        with closing(SQLPlace(source, "from_dtype", classification=False)) as place:
            assert place.schema.names == tuple(made.columns)
            columns = ", ".join(f"c{k}" for k in range(9))
            rows = place.session.rows(f"SELECT {columns} FROM {place.copy.table}")
        there = TransformRegressor(random_state=0).fit(source)
    found = np.array(rows, dtype=float)
    np.testing.assert_array_equal(found[np.argsort(found[:, 0])], made.sort_values("size"))
    here = TransformRegressor(random_state=0).fit(FRAME, Y)
    np.testing.assert_allclose(there.predict(FRAME), here.predict(FRAME), atol=1e-9)


@pytest.mark.parametrize("database", DATABASES)
def test_a_view_has_the_features_that_a_model_asks_for(database: str, server: str) -> None:
    """The query of DateFeatures makes them, and that of the model predicts from it."""
    model = TransformRegressor(random_state=0).fit(FRAME, Y)
    query = date_features_query(DateFeatures().fit(FRAME), "t", dialect=database)
    with connected(database, server) as connection:
        filled(connection, database)
        cursor = connection if database == "duckdb" else connection.cursor()
        temporary = "TEMPORARY " if database == "postgresql" else ""
        cursor.execute(f"CREATE {temporary}VIEW dated AS {query}")
        rows = np.array(cursor.execute('SELECT * FROM dated ORDER BY "size"').fetchall(), float)
        statement = model.to_sql("dated", keep=["size"], dialect=database)
        predicted = dict(cursor.execute(statement).fetchall())
    np.testing.assert_array_equal(rows, with_date_features(FRAME).sort_values("size"))
    np.testing.assert_allclose([predicted[x] for x in FRAME["size"]], model.predict(FRAME))


def test_what_cannot_be_is_said() -> None:
    """Names that are there twice, numbers of features that are several, zones as categories."""
    with connected("duckdb") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT TIMESTAMP '2020-01-01' AS d, 1 AS d_month, 2.0 AS y, "
            "TIMESTAMPTZ '2020-01-01 00:00:00+00' AS z UNION ALL SELECT NULL, 2, 3.0, NULL"
        )
        for columns, categorical, words in (
            ("d, d_month, y", "from_dtype", "would be a feature 'd_month', which the table has"),
            ("d, y, d_month AS m", [1], r"categorical_features=\[1\] has numbers .* give their na"),
            ("z, y", ["z"], "'z' has times of a time zone .* convert it to text"),
            ("INTERVAL '1 day' AS length, y", "from_dtype", "neither a number, a date nor"),
        ):
            source = SQLSource(connection, f"SELECT {columns} FROM t", target="y")
            model = TransformRegressor(categorical_features=categorical)
            with pytest.raises(ValueError, match=words):
                model.fit(source)
    lengths = pd.DataFrame({"wait": pd.to_timedelta([1, 2], unit="D")})
    with pytest.raises(ValueError, match=r"\['wait'\] have lengths of time"):
        date_features_query(DateFeatures().fit(lengths), "t")
    with pytest.raises(ValueError, match=r"dialect must be one of .* got 'mysql'"):
        date_features_query(DateFeatures().fit(lengths), "t", dialect="mysql")
