"""A file for the tables of a fit: made where memory is short, and never left behind."""

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from cgboost import TransformRegressor
from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.session import SQLSession, bytes_of
from cgboost.exceptions import DatabaseError
from cgboost.sources import SQLSource

QUERY = "SELECT * FROM range(100000)"


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    """A database in a file."""
    with duckdb.connect(str(tmp_path / "it's.duckdb")) as own:
        yield own


def session_of(connection: Any, limit: str) -> SQLSession:
    """A session of tables with 100 000 rows × 20 numbers, 80 MB with what comes of them."""
    connection.execute(f"SET memory_limit = '{limit}'")
    session = SQLSession(connection, engine_of(connection, None))
    session.open()
    session.make_room(QUERY, 20)
    return session


def files(tmp_path: Path) -> list[str]:
    """What there is beside the database."""
    return [path.name for path in tmp_path.rglob("*cgboost*")]


def test_tables_are_in_a_file_where_memory_is_short(connection: Any, tmp_path: Path) -> None:
    """They come and go as temporary ones do, and the file and its folder with the session."""
    session = session_of(connection, "50MB")
    one = session.create("SELECT 1 AS a")
    assert len(files(tmp_path)) >= 1
    assert session.rows(f"SELECT a FROM {one}") == [(1,)]
    session.drop(one)
    session.create("SELECT 2 AS a")
    session.close()
    session.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it's.duckdb"]
    assert connection.execute(
        "SELECT count(*) FROM duckdb_databases() WHERE NOT internal"
    ).fetchone() == (1,)


def test_there_is_no_file_where_there_is_room(connection: Any, tmp_path: Path) -> None:
    """Neither with enough memory, nor of a database in memory, nor within a transaction."""
    in_memory = duckdb.connect()
    assert session_of(connection, "1GB").create("SELECT 1 AS a").count(".") == 0
    assert session_of(in_memory, "50MB").create("SELECT 1 AS a").count(".") == 0
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE own AS SELECT 1 AS a")
    session = session_of(connection, "50MB")
    session.create("SELECT 1 AS a")
    session.close()
    connection.execute("COMMIT")
    assert connection.execute("SELECT a FROM own").fetchall() == [(1,)]
    assert not files(tmp_path)


def test_a_connection_that_is_lost_leaves_no_file(connection: Any, tmp_path: Path) -> None:
    """The file goes, though nothing can be detached any more.

    Where its folder cannot be made, what is in the way is in the message.
    """
    before = connection.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
    (tmp_path / "taken").write_text("")
    connection.execute(f"SET temp_directory = '{tmp_path / 'taken' / 'more'}'")
    with pytest.raises(DatabaseError, match="taken"):
        session_of(connection, "50MB")
    connection.execute("SET temp_directory = '" + before.replace("'", "''") + "'")
    session = session_of(connection, "50MB")
    session.create("SELECT 1 AS a")
    connection.close()
    with pytest.raises(DatabaseError):
        session.create("SELECT 2 AS a")
    session.close()
    assert not files(tmp_path)


def test_the_model_is_the_same(connection: Any, tmp_path: Path) -> None:
    """From tables in a file as from temporary ones and from arrays, to 1e-8."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 4))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.1 * rng.normal(size=100_000)
    connection.register("given", {f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    connection.execute("CREATE TABLE t AS SELECT * FROM given")
    model = TransformRegressor(n_estimators=4)
    wanted = model.fit(X, y).predict(X)
    for limit, expected in (("19MB", True), ("1GB", False)):
        connection.execute(f"SET memory_limit = '{limit}'; SET threads = 1")
        seen: list[bool] = []

        def look(_: Any, seen: list[bool] = seen) -> None:
            seen.append(bool(files(tmp_path)))

        source = SQLSource(connection, "t", target="y")
        found = TransformRegressor(n_estimators=4, callbacks=[look]).fit(source)
        assert set(seen) == {expected}
        np.testing.assert_allclose(found.predict(X), wanted, atol=1e-8 * np.ptp(y))
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("size", "number"),
    [("0 bytes", 0.0), ("1.5 KiB", 1536.0), ("18.8 GiB", 18.8 * 2**30), ("unlimited", math.inf)],
)
def test_sizes_are_read_as_duckdb_writes_them(size: str, number: float) -> None:
    """What is no size is no limit."""
    assert bytes_of(size) == number
