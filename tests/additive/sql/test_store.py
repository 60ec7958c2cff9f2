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
        assert sorted(session.rows(f"SELECT b, c FROM {store.table}")) == [(3.0, 0), (5.0, 1)]
        store.remove("b")
        store.add("d", "b + c")
        assert sorted(session.rows(f"SELECT * FROM {store.table}")) == [
            (1.5, 0, 3.0),
            (2.5, 1, 6.0),
        ]
        assert store.columns == ["a", "c", "d"]
        assert len([name for name in tables_of(connection, database) if "cgboost" in name]) == 1
        session.close()
