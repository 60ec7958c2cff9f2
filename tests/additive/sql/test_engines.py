"""Databases that a fit can run in: which one a connection is of, and what types are."""

import pytest

from cgboost.additive.sql.engines import ENGINES, engine_of, kind_of
from tests.additive.sql.sql_tables import DATABASES, connected


@pytest.mark.parametrize("database", DATABASES)
def test_a_connection_tells_its_database(database: str, server: str) -> None:
    """By the module that it is of; a dialect that is given counts more."""
    with connected(database, server) as connection:
        assert engine_of(connection, None) is ENGINES[database]
        assert engine_of(connection, "sqlite") is ENGINES["sqlite"]


def test_unknown_databases_are_refused() -> None:
    """The message says what to give."""
    with pytest.raises(ValueError, match="a object of the module 'builtins'.* give dialect"):
        engine_of(object(), None)
    with pytest.raises(ValueError, match="dialect must be one of 'duckdb'.* got 'mysql'"):
        engine_of(object(), "mysql")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("BOOLEAN", "truth"),
        ("DECIMAL(10,2)", "number"),
        ("double precision", "number"),
        ("UBIGINT", "number"),
        ("VARCHAR", "text"),
        ("ENUM('a', 'b')", "text"),
        ("character varying", "text"),
        ("timestamp without time zone", "time"),
        ("TIMESTAMP_NS", "time"),
        ("TIMESTAMP WITH TIME ZONE", None),
        ("time without time zone", None),
        ("INTEGER[]", None),
        ("INTEGER[3]", None),
        ("STRUCT(a INTEGER)", None),
        ("interval", None),
        ("bytea", None),
    ],
)
def test_types_have_kinds(name: str, kind: str | None) -> None:
    """As databases write their names."""
    assert kind_of(name) == kind
