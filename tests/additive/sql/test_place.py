"""A place in a database: it is prepared once, and gone when it is closed."""

from contextlib import closing

import numpy as np
import pytest

from cgboost.additive.sql.place import SQLPlace
from cgboost.additive.sql.session import Session
from cgboost.exceptions import DatabaseError
from cgboost.losses import SquaredError
from cgboost.sources import SQLSource
from tests.additive.sql.sql_tables import DATABASES, columns_of, connected, mixed, stored, tables_of


def left(connection: object, database: str) -> list[str]:
    """Tables of a fit that are there."""
    return [name for name in tables_of(connection, database) if name.startswith("cgboost")]


@pytest.mark.parametrize("database", DATABASES)
def test_tables_stay_until_the_place_is_closed(database: str, server: str) -> None:
    """Copies are dropped on the way, and all of it in the end; the user's table stays."""
    most = 20 if database == "duckdb" else 1  # a table for a few columns, or one
    with connected(database, server) as connection:
        source = stored(connection, database, mixed(0))
        place = SQLPlace(source, "from_dtype", classification=False)
        assert len(left(connection, database)) == 1
        place.divide(max_bins=8, share=0.3, seed=0)
        assert 0 < len(left(connection, database)) <= most
        sums = place.aggregates(SquaredError(), np.zeros(0))
        sums.by_group(range(sums.n_features), 0)
        assert 0 < len(left(connection, database)) <= most
        place.close()
        assert not left(connection, database)
        cursor = connection.cursor() if database != "duckdb" else connection
        cursor.execute('SELECT COUNT(*) FROM "t"')
        assert cursor.fetchall() == [(600,)]


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_it_is_opened_leaves_nothing(
    database: str, error: type[BaseException], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any statement, one after the other."""
    run = Session.rows
    for number in range(3):
        count = iter(range(100))

        def interrupted(self: Session, statement: str, n: int = number, c: object = count) -> list:
            if next(c) == n:
                raise error
            return run(self, statement)

        with connected(database, server) as connection:
            source = stored(connection, database, mixed(0))
            monkeypatch.setattr(Session, "rows", interrupted)
            with pytest.raises(error):
                SQLPlace(source, "from_dtype", classification=False)
            monkeypatch.undo()
            assert not left(connection, database)


def test_a_table_that_changes_makes_no_difference() -> None:
    """All work is on the copy, made by one statement."""
    data = mixed(0)
    with connected("duckdb") as connection:
        source = stored(connection, "duckdb", data)
        place = SQLPlace(source, "from_dtype", classification=False)
        connection.execute('UPDATE t SET "the y" = NULL, "plain" = 1e300')
        connection.execute("DROP TABLE t")
        place.divide(max_bins=16, share=0.3, seed=0)
        edges = place._division.groups[0].edges
        assert edges.tolist() == data.prepared().groups[0].edges.tolist()
        place.close()
    assert set(columns_of(data)) == {*data.frame, "the y", "w"}


def divided(source: SQLSource) -> None:
    """Open a place, divide it and close it."""
    with closing(SQLPlace(source, "from_dtype", classification=False)) as place:
        place.divide(max_bins=8, share=0.3, seed=0)


def test_a_full_disk_is_an_error_of_ours() -> None:
    """DuckDB without memory, and without a place to spill to."""
    with connected("duckdb") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT random() AS x, i AS y FROM range(1000000) r(i)"
        )
        connection.execute("SET memory_limit='20MB'")
        connection.execute("SET max_temp_directory_size='1MB'")
        source = SQLSource(connection, "t", target="y")
        with pytest.raises(DatabaseError, match="room for a temporary copy"):
            divided(source)
        assert not left(connection, "duckdb")
