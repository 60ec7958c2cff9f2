"""The table of a fit: columns come and go."""

import pytest

from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.session import Session
from cgboost.additive.sql.store import Store
from tests.additive.sql.sql_tables import DATABASES, connected, tables_of


@pytest.mark.parametrize("database", DATABASES)
def test_columns_come_and_go(database: str, server: str) -> None:
    """They are made when the table is next read, several at once, and one that goes is gone."""
    with connected(database, server) as connection:
        session = Session(connection, engine_of(connection, None))
        session.open()
        table = session.create("SELECT 1.5e0 AS a UNION ALL SELECT 2.5e0")
        store = Store(session, table, ["a"])
        writes = session.n_writes
        store.add("b", "a * 2")
        store.add("c", "CASE WHEN a > 2 THEN 1 ELSE 0 END", "SMALLINT")
        store.add("never", "a")
        store.remove("never")
        assert session.n_writes == writes
        assert sorted(session.rows(f"SELECT b, c FROM {store.source('b, c')}")) == [
            (3.0, 0),
            (5.0, 1),
        ]
        store.remove("b")
        store.add("d", "b + c")
        assert sorted(session.rows(f"SELECT a, c, d FROM {store.source('a c d')}")) == [
            (1.5, 0, 3.0),
            (2.5, 1, 6.0),
        ]
        assert store.columns == ["a", "c", "d"]
        left = [name for name in tables_of(connection, database) if "cgboost" in name]
        assert len(left) == (3 if database == "duckdb" else 1)
        store.drop()
        assert not [name for name in tables_of(connection, database) if "cgboost" in name]
        session.close()


@pytest.mark.parametrize("preserved", [True, False])
def test_rows_stay_together_on_many_threads(preserved: bool) -> None:
    """Also where the user has given up their order: the fit turns it on, and off in the end."""
    with connected("duckdb") as connection:
        connection.execute("SET threads = 8")
        connection.execute(f"SET preserve_insertion_order = {preserved}")
        session = Session(connection, engine_of(connection, None))
        session.open()
        rows = "SELECT CAST(i AS DOUBLE) AS a FROM range(1000000) r(i) WHERE i % 7 > 1"
        store = Store(session, session.create(rows), ["a"])
        for k, before in enumerate(["a", "b0", "b1"]):
            store.add(f"b{k}", f"{before} + 1")
            store.write()
        query = f"SELECT COUNT(*), SUM(ABS(b2 - a - 3)) FROM {store.source('a b2')}"
        ((count, difference),) = session.rows(query)
        assert count > 700_000
        assert difference == 0.0
        assert len(store.source("a b2").split("JOIN")) == 2
        session.close()
        found = connection.execute("SELECT current_setting('preserve_insertion_order')").fetchall()
        assert found == [(preserved,)]
