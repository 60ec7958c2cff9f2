"""Models made by hand, evaluated in databases: for the tests of their SQL."""

import sqlite3
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np

from cgboost.additive.export.sql import quoted, select_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.tables.preparation import Intervals
from cgboost.additive.tables.schema import Schema
from cgboost.additive.trees.transformation import Transformation

Columns = dict[str, tuple[str, Sequence[Any]]]
"""Type and values of every column of a table."""

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


def fill(connection: Any, table: str, columns: Columns) -> None:
    """Make a table."""
    types = ", ".join(f"{quoted(name)} {kind}" for name, (kind, _) in columns.items())
    connection.execute(f"CREATE TABLE {quoted(table)} ({types})")
    marks = ", ".join("?" * len(columns))
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)


def predictions(
    stages: Stages, coef: Sequence[float], schema: Schema, columns: Columns, **options: Any
) -> np.ndarray:
    """What DuckDB says for a table with these columns, and an intercept of 0.25."""
    table = options.pop("table", "people")
    with duckdb.connect() as connection:
        fill(connection, table, columns)
        statement = select_statement(stages, coef, 0.25, schema, table, **options)
        return np.array([row[-1] for row in connection.execute(statement).fetchall()], dtype=float)


def lite_predictions(
    stages: Stages, coef: Sequence[float], schema: Schema, columns: Columns
) -> np.ndarray:
    """The same in SQLite."""
    connection = sqlite3.connect(":memory:")
    try:
        fill(connection, "people", columns)
        statement = select_statement(stages, coef, 0.25, schema, "people", materialized=True)
        return np.array([row[-1] for row in connection.execute(statement)], dtype=float)
    finally:
        connection.close()


def expected(stages: Stages, coef: Sequence[float], X: np.ndarray) -> np.ndarray:
    """The same in Python."""
    return 0.25 + stages.all_outputs(X, len(coef)) @ np.asarray(coef)
