"""A place in a database: prepared once, of sums that are read, and gone when it is closed."""

import numpy as np
import pytest

from cgboost.additive.builder import StageBuilder
from cgboost.additive.sql.binning import AT_A_TIME
from cgboost.additive.sql.place import SQLPlace
from cgboost.additive.sql.session import SQLSession
from cgboost.additive.trees.transformation import straight
from cgboost.exceptions import DatabaseError
from cgboost.losses import SquaredError
from cgboost.sources import SQLSource
from cgboost.tables.binning import Categories
from tests.additive.sql.sql_tables import (
    DATABASES,
    Data,
    connected,
    left_of_fits,
    mixed,
    place_of,
    stored,
)


@pytest.mark.parametrize("database", DATABASES)
def test_tables_stay_until_the_place_is_closed(database: str, server: str) -> None:
    """Copies are dropped on the way, and all of it in the end; the user's table stays."""
    most = 20 if database == "duckdb" else 1  # a table for a few columns, or one
    with connected(database, server) as connection:
        source = stored(connection, database, mixed(0))
        place = SQLPlace(source, "from_dtype", classification=False)
        assert len(left_of_fits(connection, database)) == 1
        place.divide(max_bins=8, share=0.3, seed=0)
        assert 0 < len(left_of_fits(connection, database)) <= most
        (sums,) = place.aggregates(SquaredError(), np.zeros(0)).parts
        sums.by_group(range(sums.n_features), 0)
        assert 0 < len(left_of_fits(connection, database)) <= most
        place.close()
        assert not left_of_fits(connection, database)
        cursor = connection.cursor() if database != "duckdb" else connection
        cursor.execute('SELECT COUNT(*) FROM "t"')
        assert cursor.fetchall() == [(600,)]


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_it_is_opened_leaves_nothing(
    database: str, error: type[BaseException], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any statement, one after the other."""
    run = SQLSession.rows
    for number in range(3):
        count = iter(range(100))

        def interrupted(
            self: SQLSession, statement: str, n: int = number, c: object = count
        ) -> list:
            if next(c) == n:
                raise error
            return run(self, statement)

        with connected(database, server) as connection:
            source = stored(connection, database, mixed(0))
            monkeypatch.setattr(SQLSession, "rows", interrupted)
            with pytest.raises(error):
                SQLPlace(source, "from_dtype", classification=False)
            monkeypatch.undo()
            assert not left_of_fits(connection, database)


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
            SQLPlace(source, "from_dtype", classification=False).divide(
                max_bins=8, share=0.3, seed=0
            )


@pytest.mark.parametrize("database", DATABASES)
def test_many_categories_have_the_numbers_that_python_gives_them(
    database: str, server: str
) -> None:
    """More than are written in one statement; the mean is that of all rows."""
    n = 2 * AT_A_TIME + 8
    data = mixed(0, n)
    frame = data.frame.assign(many=[f"c{k}" for k in range(n)])
    data = Data(frame, np.arange(float(n)), np.ones(n))
    with place_of(database, server, data) as place:
        division = place._division
        assert isinstance(division.groups[-1], Categories)
        assert division.groups[-1].count == division.n_rows == n
        np.testing.assert_allclose(division.mean, (n - 1) / 2, rtol=1e-12)
        found = place.session.rows(f"SELECT y, g6 FROM {division.store.source('y g6')}")
    codes = data.schema.encode(data.frame)[:, -1]
    assert {int(y): code // 2 for y, code in found} == dict(enumerate(codes.tolist()))


def test_a_fit_reads_sums_and_never_rows(server: str) -> None:
    """What leaves does not grow with the rows; two reads a stage at most are of all columns.

    Of the terms of one input nothing is read: their products follow from sums by group.
    """
    fetched = []
    for n_rows in (1000, 4000):
        data = mixed(0, n_rows)
        with place_of("duckdb", server, data) as place:
            whole = place.aggregates(SquaredError(), np.zeros(0))
            (found,) = whole.parts
            memory = data.in_memory().aggregates(SquaredError(), data.y[data.weights > 0])
            (wanted,) = memory.parts
            stage = StageBuilder(16).stage(wanted)
            before = place.session.n_reads
            found.by_group(range(found.n_features), 0)
            assert place.session.n_reads - before == 1
            _, term = stage.terms[0]
            found.of_terms([term], 0, np.zeros(2))
            assert place.session.n_reads - before == 1
            lines = [
                straight(k, found.groups[k], found.by_group([k], 0)[k].training)
                for k in {0, 1, 2} - {term.feature}
            ]
            before += 2
            for _ in range(2):  # products of features are known from then on
                found.of_terms(lines, 0, np.zeros(3))
                assert place.session.n_reads - before == 2
            found.append(stage)
            assert place.session.n_reads - before == 3
            whole.move([np.ones(1)], np.zeros(1))
            assert place.session.n_reads - before == 3
            found.intervals(0, 16)
            found.by_group(range(found.n_features + 1), 1)
            assert place.session.n_reads - before == 5
            fetched.append(place.session.n_fetched)
    groups = 2 * sum(own.n_groups for own in found.groups)
    assert max(fetched) <= 4 * groups + 100
    assert abs(fetched[1] - fetched[0]) < 40
