"""Models made by hand, evaluated in databases: for the tests of their SQL.

DuckDB, SQLite and PostgreSQL run what is written for them. For MySQL, BigQuery and Snowflake there
is no wheel: SQLGlot reads the statement as they would, writes it for DuckDB, and that runs it.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sqlglot
from sqlglot import exp

from cgboost.additive.export.sql import models_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Intervals
from cgboost.tables.table_encoding import Schema
from tests.additive.sql.sql_tables import DATABASES, Columns, connected, write

NUMBER = Schema(("a",), (None,))


def steps(
    edges: list[float], values: list[float], *, slope: list[float] | None = None, **options: object
) -> Transformation:
    """A transformation of feature 0, one leaf per interval and one for missing values."""
    low, high = options.get("low", -1.0), options.get("high", 1.0)
    leaves = len(values)
    return Transformation(
        int(options.get("feature", 0)),
        Intervals(np.array(edges, dtype=float), float(low), float(high)),
        np.arange(leaves),
        np.array(values, dtype=float),
        np.array(slope or [0.0] * leaves, dtype=float),
        np.array(options.get("coef", np.zeros((leaves, 0))), dtype=float),
    )


def one(transformation: Transformation, link: Transformation | None = None) -> Stages:
    """A model of one stage with one term."""
    return Stages([Stage(0.5, [(2.0, transformation)], link)])


def doubles(*columns: np.ndarray) -> Columns:
    """Columns of numbers, called as features without names are."""
    return {f"x{j}": ("DOUBLE", list(map(float, values))) for j, values in enumerate(columns)}


def random_stages(
    rng: np.random.Generator, n_features: int, n_stages: int, n_groups: int
) -> Stages:
    """Stages with links, terms on earlier outputs, and regressors in the leaves."""
    stages = []
    for k in range(n_stages + 1):
        made = []
        for feature in [*range(n_features + k), n_features + k]:
            n_leaves = int(rng.integers(1, n_groups + 1))
            edges = np.sort(np.round(rng.normal(size=n_groups - 2), 1))
            coef = rng.normal(size=(n_leaves, k)) * (rng.random((n_leaves, k)) < 0.5)
            slope = rng.normal(size=n_leaves) * (rng.random(n_leaves) < 0.7)
            low, high = np.sort(np.round(rng.normal(size=2), 1))
            leaf = np.sort(rng.integers(n_leaves, size=n_groups))
            groups = Intervals(edges, float(low), float(high))
            level = rng.normal(size=n_leaves)
            made.append(Transformation(feature, groups, leaf, level, slope, 0.3 * coef))
        *terms, link = made
        weights = rng.normal(size=len(terms))
        pairs = list(zip(map(float, weights), terms, strict=True))
        stages.append(Stage(float(rng.normal()), pairs, link if rng.random() < 0.5 else None))
    return Stages(stages[:n_stages])


class Answer(NamedTuple):
    """Names of the columns of a result, and its rows."""

    names: list[str]
    rows: list[tuple[Any, ...]]

    @property
    def last(self) -> np.ndarray:
        """The last column, as numbers."""
        return np.array([row[-1] for row in self.rows], dtype=float)


def asked(database: str, statement: str, table: str, columns: Columns, server: str = "") -> Answer:
    """What a database says for a table of these columns, which is not kept."""
    with connected(database, server) as connection:
        write(connection, database, columns, table)
        cursor = connection if database == "duckdb" else connection.cursor()
        cursor.execute(statement)
        return Answer([column[0] for column in cursor.description], cursor.fetchall())


in_duckdb, in_sqlite = partial(asked, "duckdb"), partial(asked, "sqlite")


def read(statement: str, dialect: str) -> exp.Expression:
    """The one statement that SQLGlot reads in a dialect."""
    (tree,) = sqlglot.parse(statement, read={"postgresql": "postgres"}.get(dialect, dialect))
    return tree


EXACT = {"mysql": "utf8mb4_0900_bin", "bigquery": "", "snowflake": "utf8"}
"""Collations that compare text exactly."""


def for_duckdb(statement: str, dialect: str) -> str:
    """A statement of another database in DuckDB's words.

    Where an exact collation is written out, DuckDB compares so anyway; TIMESTAMP literals of MySQL
    have no zone, other than SQLGlot says.
    """

    def change(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Collate):
            assert node.expression.name == EXACT[dialect]
            return node.this.this if dialect == "mysql" else node.this
        if isinstance(node, exp.DataType) and dialect == "mysql" and node.is_type("timestamptz"):
            return exp.DataType.build("timestamp")
        return node

    return read(statement, dialect).transform(change).sql("duckdb")


def ask(dialect: str, statement: str, table: str, columns: Columns, server: str) -> Answer:
    """What the database of a dialect says for a table, or DuckDB in its place."""
    if dialect in DATABASES:
        return asked(dialect, statement, table, columns, server)
    return asked("duckdb", for_duckdb(statement, dialect), table, columns)


def select_statement(
    stages: Stages,
    coef: Sequence[float],
    intercept: float,
    schema: Schema,
    table: Any,
    *,
    link: str = "identity",
    **options: Any,
) -> str:
    """A query for a model of one output."""
    return models_statement([(stages, coef, intercept)], schema, table, link=link, **options)


def predictions(
    stages: Stages,
    coef: Sequence[float],
    schema: Schema,
    columns: Columns,
    *,
    server: str = "",
    **options: Any,
) -> np.ndarray:
    """What a database, DuckDB by default, says for these columns, and an intercept of 0.25."""
    table = options.pop("table", "people")
    statement = select_statement(stages, coef, 0.25, schema, table, **options)
    return ask(options.get("dialect", "duckdb"), statement, table, columns, server).last


def expected(stages: Stages, coef: Sequence[float], X: np.ndarray) -> np.ndarray:
    """The same in Python."""
    return 0.25 + stages.all_outputs(X, len(coef)) @ np.asarray(coef)
