"""Models in the SQL of six databases: they say what Python says.

DuckDB, SQLite and PostgreSQL are asked themselves. What is written for MySQL, BigQuery and
Snowflake is read by SQLGlot as they read it, and run in DuckDB: see ``sql_databases``.
"""

import datetime
import math
import re
import uuid
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from cgboost import TransformClassifier, TransformRegressor
from cgboost.additive.export.dialects import DIALECTS
from cgboost.additive.export.sql import select_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.tables.preparation import Categories
from cgboost.tables.schema import Schema
from tests.additive.export.sql_databases import (
    NUMBER,
    Columns,
    ask,
    doubles,
    expected,
    one,
    predictions,
    random_stages,
    read,
    steps,
)
from tests.effort import examples

each = pytest.mark.parametrize("dialect", DIALECTS)


@each
@settings(max_examples=examples(12))
@given(seed=st.integers(0, 2**32), n_features=st.integers(1, 3), n_stages=st.integers(0, 4))
def test_any_model(dialect: str, seed: int, n_features: int, n_stages: int, server: str) -> None:
    """Random stages with links and earlier outputs, on rows that meet edges and miss values."""
    rng = np.random.default_rng(seed)
    stages = random_stages(rng, n_features, n_stages, 6)
    X = np.round(rng.normal(size=(80, n_features)), 1)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[rng.random(X.shape) < 0.05] = np.inf
    coef = list(rng.normal(size=n_stages))
    schema = Schema(None, (None,) * n_features)
    found = predictions(stages, coef, schema, doubles(*X.T), dialect=dialect, server=server)
    wanted = expected(stages, coef, X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


@each
def test_missing_and_infinite_values(dialect: str, server: str) -> None:
    """NULL and NaN have their own leaf; infinities are brought to the training range."""
    stages = one(steps([0.0], [1.0, 2.0, 7.0], slope=[3.0, 5.0, 11.0]))
    x = [None, math.nan, -math.nan, math.inf, -math.inf, -5.0, 5.0, -0.0, 0.0]
    columns: Columns = {"a": ("DOUBLE", x)}
    found = predictions(stages, [1.0], NUMBER, columns, dialect=dialect, server=server)
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert set(found[:3]) == {0.25 + 0.5 + 14.0}


@each
@pytest.mark.parametrize("kind", ["FLOAT", "TINYINT", "DECIMAL(4, 2)"])
def test_other_types_of_numbers(dialect: str, kind: str, server: str) -> None:
    """Columns become double precision before they meet an edge."""
    above = 1.0 + 2.0**-30  # 1 in single precision
    stages = one(steps([above], [1.0, 2.0, 3.0], slope=[1.0, 10.0, 0.0]))
    x = [0, 1, None]
    columns: Columns = {"a": (kind, x)}
    found = predictions(stages, [1.0], NUMBER, columns, dialect=dialect, server=server)
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


CATEGORIES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "text": (
        "VARCHAR",
        [
            "x\\",
            "\\",
            "\\'",
            "o'clock",
            "'",
            '"',
            "`",
            "",
            "a--b",
            "é ü",
            "a\nb",
            "50 %",
            "NULL",
            "A",
        ],
        ["no", " ", "a", "e u", "x"],
    ),
    "number": ("BIGINT", [3, -1, 2**60 + 1], [4, 2**60]),
    "fraction": ("DOUBLE", [0.1, 2.0, -1e300], [0.2, 1e300]),
    "float for int": ("BIGINT", [3.0, 4.0], [5]),
    "truth": ("BOOLEAN", [True], [False]),
    "day": ("DATE", [datetime.datetime(2020, 2, 29)], [datetime.datetime(2021, 2, 28)]),
    "time": (
        "TIMESTAMP",
        [datetime.datetime(2020, 2, 29, 1, 2, 3, 4), datetime.datetime(2020, 2, 29)],
        [datetime.datetime(2020, 2, 29, 1, 2, 3, 5)],
    ),
}


@each
@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_of_any_type(dialect: str, case: str, server: str) -> None:
    """Each has its leaf; unseen and missing ones have the last."""
    kind, known, unseen = CATEGORIES[case]
    schema = Schema(("a",), ({value: code for code, value in enumerate(known)},))
    n_groups = len(known) + 1
    level, none = np.random.default_rng(0).normal(size=n_groups), np.zeros(n_groups)
    leaf = np.arange(n_groups)[::-1].copy()
    stages = one(
        Transformation(0, Categories(len(known)), leaf, level, none, np.zeros((n_groups, 0)))
    )
    values = [*known, *unseen, None]
    columns: Columns = {"a": (kind, values)}
    found = predictions(stages, [3.0], schema, columns, dialect=dialect, server=server)
    X = schema.encode(pd.DataFrame({"a": np.array(values, dtype=object)}))
    assert np.isfinite(X).sum() == len(known)
    np.testing.assert_allclose(found, expected(stages, [3.0], X), rtol=1e-12)


def test_midnight_in_sqlite_is_written_as_a_time_and_as_a_date(server: str) -> None:
    """Python writes days of both types as text of its own; they are one category."""
    day = datetime.datetime(2020, 2, 29)
    schema = Schema(("a",), ({day: 0},))
    nothing = np.zeros(2)
    leaves = Transformation(
        0, Categories(1), np.arange(2), np.array([5.0, 0.0]), nothing, np.zeros((2, 0))
    )
    days = [day, day.date(), day.replace(hour=1), datetime.date(2020, 3, 1)]
    columns: Columns = {"a": ("TEXT", days)}
    found = predictions(one(leaves), [1.0], schema, columns, dialect="sqlite", server=server)
    np.testing.assert_array_equal(found - found[-1], [10.0, 10.0, 0.0, 0.0])


COLLATED = {"sqlite": "TEXT COLLATE NOCASE", "duckdb": "VARCHAR COLLATE NOCASE"}


@pytest.mark.parametrize("dialect", COLLATED)
def test_text_is_compared_exactly_whatever_its_collation(dialect: str, server: str) -> None:
    """A column without regard to case has two categories where ``predict`` has two."""
    schema = Schema(("a",), ({"Red": 0, "red": 1},))
    nothing = np.zeros(3)
    leaves = Transformation(
        0, Categories(2), np.arange(3), np.array([5.0, 7.0, 1.0]), nothing, np.zeros((3, 0))
    )
    columns: Columns = {"a": (COLLATED[dialect], ["Red", "red", "RED", None])}
    found = predictions(one(leaves), [1.0], schema, columns, dialect=dialect, server=server)
    np.testing.assert_array_equal(found - found[-1], [8.0, 12.0, 0.0, 0.0])


def test_text_of_postgresql_may_be_an_enumeration_or_have_trailing_blanks(server: str) -> None:
    """Neither has the collation of text: each is compared as drivers give it."""
    for kind, values in (
        ("CHAR(4)", ["red ", "blue"]),
        ("UUID", [str(uuid.UUID(int=k)) for k in (1, 2)]),
    ):
        schema = Schema(("a",), ({value: code for code, value in enumerate(values)},))
        n_groups = len(values) + 1
        leaves = Transformation(
            0,
            Categories(len(values)),
            np.arange(n_groups),
            np.arange(n_groups, dtype=float)[::-1],
            np.zeros(n_groups),
            np.zeros((n_groups, 0)),
        )
        columns: Columns = {"a": (kind, [*values, None])}
        made = one(leaves)
        found = predictions(made, [1.0], schema, columns, dialect="postgresql", server=server)
        np.testing.assert_array_equal(np.diff(found), -2.0)


@each
def test_logistic_link(dialect: str, server: str) -> None:
    """Nothing overflows or underflows: PostgreSQL raises errors where it does."""
    levels = [-1e6, -351.0, -340.0, -20.0, -0.3, 0.4, 20.0, 340.0, 360.0, 1e6, 0.0]
    edges = list(range(len(levels) - 2))
    stages = one(steps([float(edge) for edge in edges], levels))
    x = np.arange(-0.5, len(levels) - 2)
    found = predictions(
        stages,
        [1.0],
        NUMBER,
        {"a": ("DOUBLE", list(x))},
        link="logistic",
        dialect=dialect,
        server=server,
    )
    f = expected(stages, [1.0], x[:, None])
    wanted = 1.0 / (1.0 + np.exp(-2.0 * np.clip(f, -350.0, 350.0)))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=0.0)
    assert found.min() > 0.0


@each
def test_many_stages_and_long_sums(dialect: str, server: str) -> None:
    """Every stage uses those before it: 40 of them take no exponential time, nor a deep stack."""
    term = steps([0.0], [1.0, -2.0, 3.0], slope=[0.1, 0.2, 0.0])
    made = [Stage(0.5, [(0.01 * (-1.0) ** k, term) for k in range(300)])]
    for k in range(1, 40):
        edges, levels = [-0.5, 0.5], [1.0, -1.0, 0.5, 0.0]
        coef = np.zeros((4, k))
        coef[:, -1] = [0.5, -0.5, 0.9, 0.0]
        later = steps(edges, levels, slope=[0.3, 0.2, 0.1, 0.0], coef=coef, feature=k)
        made.append(Stage(0.1, [(0.5, later), (0.3, term)]))
    stages = Stages(made)
    coef = [0.1] * len(made)
    x = np.array([-2.0, -0.7, -0.2, 0.3, 0.9, np.nan])
    columns: Columns = {"a": ("DOUBLE", list(x))}
    found = predictions(stages, coef, NUMBER, columns, dialect=dialect, server=server)
    np.testing.assert_allclose(found, expected(stages, coef, x[:, None]), rtol=1e-12)


@each
def test_table_expressions_are_kept_where_databases_have_to_be_told(dialect: str) -> None:
    """Each is, and nothing else."""
    stages = random_stages(np.random.default_rng(0), 1, 3, 4)
    text = select_statement(stages, [1.0] * 3, 0.0, NUMBER, "t", dialect=dialect)
    tree = read(text, dialect)
    materialized = [bool(table.args.get("materialized")) for table in tree.find_all(exp.CTE)]
    limited = [bool(table.this.args.get("limit")) for table in tree.find_all(exp.CTE)]
    assert len(limited) > 3
    assert set(materialized) == {dialect in {"postgresql", "sqlite"}}
    assert set(limited) == {dialect == "mysql"}
    assert not tree.args.get("limit")


def test_mysql_compares_text_exactly() -> None:
    """Its default collation takes 'A' for 'a': columns of categories are read with a binary one."""
    schema = Schema(("a", "b"), ({"p": 0, "q": 1}, {1: 0, 2: 1}))
    text = select_statement(Stages(), [], 0.0, schema, "t", dialect="mysql")
    assert "CONVERT(`a` USING utf8mb4) COLLATE utf8mb4_0900_bin AS `a`, `b` FROM `t`" in text


def people() -> tuple[pd.DataFrame, np.ndarray, Columns]:
    """Numbers with gaps, truth values, categories with all kinds of marks; rows of a database."""
    rng = np.random.default_rng(3)
    n = 800
    X = pd.DataFrame(
        {
            'user\'s "age"': rng.integers(17, 90, n).astype(float),
            "size\\": np.round(rng.normal(size=n), 2),
            "gro`up": rng.choice(["a\\", "b'c", "D", "d", "new\nline", None], n),
            "member": rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.1, 'user\'s "age"'] = np.nan
    age, size, group, member = (X[name] for name in X)
    y = (
        np.sin(2 * size) * (1 + 2 * (group == "D"))
        + 0.02 * age.fillna(9)
        + member * (group == "a\\")
    )
    names = list(X)
    columns: Columns = {
        "row": ("BIGINT", list(range(n))),
        names[0]: ("DOUBLE", [None if v != v else v for v in age]),
        names[1]: ("DOUBLE", list(map(float, size))),
        names[2]: ("VARCHAR", [None if v is None or v != v else v for v in group]),
        names[3]: ("BOOLEAN", list(map(bool, member))),
    }
    return X, y.to_numpy(), columns


@cache
def fitted(kind: str, variant: str) -> Any:
    """A model of all these columns."""
    X, y, _ = people()
    if kind == "numbers":
        return TransformRegressor(variant=variant, n_estimators=5).fit(X, y)
    labels = y > 1.5 if kind == "two" else np.digitize(y, [0.7, 1.8])
    return TransformClassifier(variant=variant, n_estimators=4).fit(X, labels)


@each
@pytest.mark.parametrize("variant", VARIANTS)
def test_fitted_regression(dialect: str, variant: str, server: str) -> None:
    """Every variant: the database's answer is ``predict``; the kept column is as it was."""
    X, _, columns = people()
    model = fitted("numbers", variant)
    assert len(model.stages_) > 1
    query = model.to_sql("peo'ple", output="50 % of y", keep="row", dialect=dialect)
    answer = ask(dialect, query, "peo'ple", columns, server)
    assert answer.names == ["row", "50 % of y"]
    found = np.empty(len(X))
    found[[row for row, _ in answer.rows]] = answer.last
    wanted = model.predict(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


@each
@pytest.mark.parametrize("variant", VARIANTS)
def test_probabilities_of_two_classes(dialect: str, variant: str, server: str) -> None:
    """Every variant: the database's answer is ``predict_proba``."""
    X, _, _ = people()
    model = fitted("two", variant)
    found = probabilities(model, dialect, server)
    np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], rtol=1e-12)


@each
def test_probabilities_of_three_classes(dialect: str, server: str) -> None:
    """Each against the rest; divided by their sum they are ``predict_proba``."""
    X, _, _ = people()
    model = fitted("three", "transform")
    shares = np.column_stack(
        [probabilities(model, dialect, server, label=label) for label in model.classes_]
    )
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=1e-12)


def probabilities(model: Any, dialect: str, server: str, **options: Any) -> np.ndarray:
    """What the database says, in the order of the rows."""
    _, _, columns = people()
    query = model.to_sql("people", keep="row", dialect=dialect, **options)
    answer = ask(dialect, query, "people", columns, server)
    return answer.last[np.argsort([row for row, _ in answer.rows])]


def test_a_truth_value_is_read_as_a_number() -> None:
    """By way of an integer, where a database has no other; only where the data had truth values."""
    schema = Schema(("a", "b"), (None, None), frozenset({0}))
    for dialect, sql in DIALECTS.items():
        text = select_statement(Stages(), [], 0.0, schema, "t", dialect=dialect)
        between = len(re.findall(r"CAST\(CAST\(", text))
        assert between == (dialect in {"postgresql", "bigquery", "snowflake"})
        assert text.count(f" AS {sql.double}) AS ") == 2
