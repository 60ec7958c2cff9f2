"""Stages in the SQL of six databases: they say what Python says.

DuckDB, SQLite and PostgreSQL are asked themselves. What is written for MySQL, BigQuery and
Snowflake is read by SQLGlot as they read it, and run in DuckDB: see ``sql_databases``. Models as
users fit them: ``test_fitted_models.py``.
"""

import datetime
import math
import re
import uuid
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from cgboost.additive.export.dialects import DIALECTS
from cgboost.additive.export.sql import stage_expressions
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Categories, Intervals
from cgboost.tables.table_encoding import Schema
from tests.additive.export.sql_databases import (
    NUMBER,
    Columns,
    doubles,
    expected,
    one,
    predictions,
    random_stages,
    read,
    select_statement,
    steps,
)
from tests.additive.sql.sql_tables import write
from tests.effort import examples

each = pytest.mark.parametrize("dialect", DIALECTS)


@each
@settings(max_examples=examples(18))
@given(
    seed=st.integers(0, 2**32),
    n_features=st.integers(1, 3),
    n_stages=st.integers(0, 4),
    n_groups=st.integers(2, 7),
)
def test_any_model(
    dialect: str, seed: int, n_features: int, n_stages: int, n_groups: int, server: str
) -> None:
    """Random stages with links and earlier outputs, on rows that meet edges and miss values."""
    rng = np.random.default_rng(seed)
    stages = random_stages(rng, n_features, n_stages, n_groups)
    X = np.round(rng.normal(size=(80, n_features)), 1)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[rng.random(X.shape) < 0.05] = np.inf
    coef = list(rng.normal(size=n_stages))
    schema = Schema(None, (None,) * n_features)
    found = predictions(stages, coef, schema, doubles(*X.T), dialect=dialect, server=server)
    wanted = expected(stages, coef, X)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)


@settings(max_examples=examples(40))
@given(
    names=st.lists(
        NAMES
        | st.sampled_from(
            ["select", 'a"b', "Order By", "stage_0", "STAGE_1_sum", "Kept_0", "score_0"]
        ),
        min_size=2,
        max_size=4,
        unique_by=str.casefold,
    ),
    table=NAMES | st.sampled_from(["step_0", "STEP_1", "from"]),
)
def test_any_names(names: list[str], table: str) -> None:
    """Keywords, quotes, spaces, and names that the statement would use itself."""
    rng = np.random.default_rng(len(names))
    stages = random_stages(rng, len(names), 2, 4)
    X = rng.normal(size=(5, len(names)))
    columns: Columns = {name: ("DOUBLE", list(X[:, j])) for j, name in enumerate(names)}
    schema = Schema(tuple(names), (None,) * len(names))
    options = {"table": table, "keep": names[:1], "output": "stage_0 of " + names[0]}
    found = predictions(stages, [1.0, 2.0], schema, columns, **options)
    np.testing.assert_allclose(found, expected(stages, [1.0, 2.0], X), rtol=1e-9, atol=1e-9)


def test_kept_columns_are_as_they_were() -> None:
    """Columns of the table come through, features too; those after the last stage play no part."""
    stages = random_stages(np.random.default_rng(0), 1, 3, 5)
    x = np.array([0.5, -0.5, 2.0])
    with duckdb.connect() as connection:
        write(connection, "duckdb", {"id": ("VARCHAR", list("abc")), "a": ("FLOAT", list(x))}, "t")
        query = select_statement(
            stages, [1.0, 2.0], 0.25, NUMBER, ("memory", "main", "t"), keep=["id", "a"], output="f"
        )
        found = connection.execute(query).fetch_df()
    assert list(found.columns) == ["id", "a", "f"]
    assert list(found["id"]) == list("abc")
    assert found["a"].dtype == np.float32
    np.testing.assert_allclose(found["f"], expected(stages, [1.0, 2.0], x[:, None]), atol=1e-12)


@each
def test_missing_and_infinite_values_and_those_on_edges(dialect: str, server: str) -> None:
    """NULL and NaN have their own leaf; infinities are brought to the training range.

    A value on an edge belongs to the interval above; so are the numbers next to edges that have no
    short decimal form told apart.
    """
    stages = one(steps([0.0], [1.0, 2.0, 7.0], slope=[3.0, 5.0, 11.0]))
    x = [None, math.nan, -math.nan, math.inf, -math.inf, -5.0, 5.0, -0.0, 0.0]
    columns: Columns = {"a": ("DOUBLE", x)}
    found = predictions(stages, [1.0], NUMBER, columns, dialect=dialect, server=server)
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert set(found[:3]) == {0.25 + 0.5 + 14.0}
    edges = np.array([-1.0 / 3.0, 1e-300, 0.1 + 0.2, 2.0**53])
    near = np.concatenate([edges, np.nextafter(edges, -9e99), np.nextafter(edges, 9e99)])
    stages = one(steps(edges.tolist(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    columns = {"a": ("DOUBLE", near.tolist())}
    found = predictions(stages, [1.0], NUMBER, columns, dialect=dialect, server=server)
    np.testing.assert_array_equal(found, expected(stages, [1.0], near[:, None]))


KINDS = [("duckdb", kind) for kind in ("UTINYINT", "BOOLEAN")]
KINDS += [(dialect, kind) for dialect in DIALECTS for kind in ("FLOAT", "TINYINT", "DECIMAL(4, 2)")]


@pytest.mark.parametrize(("dialect", "kind"), KINDS)
def test_other_types_of_numbers(dialect: str, kind: str, server: str) -> None:
    """Columns become double precision before they meet an edge."""
    above = 1.0 + 2.0**-30  # 1 in single precision
    stages = one(steps([above], [1.0, 2.0, 3.0], slope=[1.0, 10.0, 0.0]))
    x = [0, 1, None]
    columns: Columns = {"a": (kind, x)}
    found = predictions(stages, [1.0], NUMBER, columns, dialect=dialect, server=server)
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def leaves(levels: list[float]) -> Stages:
    """A model of a feature with categories: a level for each, the last one for all others."""
    n, none = len(levels), np.zeros(len(levels))
    groups = Categories(n - 1)
    return one(
        Transformation(0, groups, np.arange(n), np.array(levels), none, none[:, None][:, :0])
    )


CATEGORIES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "text": (
        "VARCHAR",
        [
            *("x\\", "\\", "\\'", "o'clock", "'", '"', "`", "", "a--b", "é ü", "a\nb"),
            *("50 %", "NULL", "A"),
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


@pytest.mark.parametrize(
    ("dialect", "case"), [*((own, case) for own in DIALECTS for case in CATEGORIES)]
)
def test_categories_of_any_type(dialect: str, case: str, server: str) -> None:
    """Each has its leaf; unseen and missing ones have the last."""
    kind, known, unseen = CATEGORIES[case]
    schema = Schema(("a",), ({value: code for code, value in enumerate(known)},))
    stages = leaves(np.random.default_rng(0).normal(size=len(known) + 1).tolist())
    columns: Columns = {"a": (kind, [*known, *unseen, None])}
    found = predictions(stages, [3.0], schema, columns, dialect=dialect, server=server)
    X = schema.encode(pd.DataFrame({"a": np.array(columns["a"][1], dtype=object)}))
    assert np.isfinite(X).sum() == len(known)
    np.testing.assert_allclose(found, expected(stages, [3.0], X), rtol=1e-12)


DAY = datetime.datetime(2020, 2, 29)
UUIDS = [str(uuid.UUID(int=k)) for k in (1, 2)]
TEXTS: dict[str, tuple[str, str, list[Any], list[Any], list[int]]] = {
    # midnight: Python writes days of both types as text of its own; they are one category
    "days of SQLite": (
        *("sqlite", "TEXT", [DAY]),
        [DAY, DAY.date(), DAY.replace(hour=1), datetime.date(2020, 3, 1)],
        [0, 0, 1, 1],
    ),
    "without case, SQLite": (
        *("sqlite", "TEXT COLLATE NOCASE", ["Red", "red"]),
        ["Red", "red", "RED", None],
        [0, 1, 2, 2],
    ),
    "without case, DuckDB": (
        *("duckdb", "VARCHAR COLLATE NOCASE", ["Red", "red"]),
        ["Red", "red", "RED", None],
        [0, 1, 2, 2],
    ),
    # neither of these has the collation of text: each is compared as drivers give it
    "trailing blanks": (
        *("postgresql", "CHAR(4)", ["red ", "blue"]),
        ["red ", "blue", None],
        [0, 1, 2],
    ),
    "identifiers": ("postgresql", "UUID", UUIDS, [*UUIDS, None], [0, 1, 2]),
    "enumeration": (
        *("duckdb", "ENUM ('a', 'it''s', 'new')", ["a", "it's", "never there"]),
        ["a", "it's", "new", None],
        [0, 1, 3, 3],
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_is_compared_exactly(case: str, server: str) -> None:
    """Whatever its type and collation: categories are told apart as ``predict`` does."""
    dialect, kind, known, values, place = TEXTS[case]
    schema = Schema(("a",), ({value: code for code, value in enumerate(known)},))
    levels = np.arange(len(known) + 1.0)
    columns: Columns = {"a": (kind, values)}
    stages = leaves(levels.tolist())
    found = predictions(stages, [1.0], schema, columns, dialect=dialect, server=server)
    np.testing.assert_array_equal(found, 0.25 + 0.5 + 2.0 * levels[place])


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


def test_a_truth_value_is_read_as_a_number() -> None:
    """By way of an integer, where a database has no other; only where the data had truth values."""
    schema = Schema(("a", "b"), (None, None), frozenset({0}))
    for dialect, sql in DIALECTS.items():
        text = select_statement(Stages(), [], 0.0, schema, "t", dialect=dialect)
        between = len(re.findall(r"CAST\(CAST\(", text))
        assert between == (dialect in {"postgresql", "bigquery", "snowflake"})
        assert text.count(f" AS {sql.double}) AS ") == 2


def written(stages: Stages, schema: Schema) -> dict[str, str]:
    """Expressions as DuckDB has them."""
    write = DIALECTS["duckdb"].write
    return {name: write(node) for name, node in stage_expressions(stages, schema).items()}


def test_an_expression_can_be_read() -> None:
    """Intervals in ascending order, neighbours of one leaf together, constant beyond the range.

    Categories of one leaf are one list; those that are as the unknown ones are not named at all.
    """
    term = steps([0.0, 0.5], [1.0, 2.0, -3.0], slope=[4.0, 0.0, 0.0])
    stages = one(
        Transformation(
            0, term.groups, np.array([0, 1, 1, 2]), term.intercept, term.slope, term.coef
        )
    )
    assert written(stages, NUMBER) == {
        "stage_0": '0.5e0 + 2.0e0 * (CASE WHEN "a" < -1.0e0 THEN -3.0e0 '
        'WHEN "a" < 0.0e0 THEN 1.0e0 + 4.0e0 * "a" '
        'WHEN "a" <= 0.0e0 OR -"a" <= 0.0e0 THEN 2.0e0 ELSE -3.0e0 END)'
    }
    schema = Schema(("a",), ({"p": 0, "q": 1, "r": 2, "s": 3},))
    leaf, levels = np.array([1, 0, 1, 0, 0]), np.array([1.0, 2.0])
    term = Transformation(0, Categories(4), leaf, levels, np.zeros(2), np.zeros((2, 0)))
    text = written(one(term), schema)["stage_0"]
    assert "(CASE WHEN \"a\" IN ('p', 'r') THEN 2.0e0 ELSE 1.0e0 END)" in text


def test_bounds_cut_the_sum_before_its_link() -> None:
    """One bound or both, in the database as in Python; what they cut is written once."""
    link = steps([0.0], [1.0, -1.0, 0.0], slope=[2.0, 0.5, 0.0], low=-0.5, high=0.7, feature=1)
    term = steps([0.0], [1.0, -2.0, 3.0])
    x = np.array([-1.0, 0.0, 1.0, np.nan])
    for bounds in ({"low": -1.5}, {"high": 2.0}, {"low": -1.5, "high": 2.0}):
        for own in (None, link):  # a link transforms the sum, which is an expression of its own
            stages = Stages([Stage(0.5, [(2.0, term)], own, **bounds)])
            found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", list(x))})
            np.testing.assert_allclose(found, expected(stages, [1.0], x[:, None]), atol=1e-12)
            free = Stages([Stage(0.5, [(2.0, term)], own)])
            assert not np.allclose(found, expected(free, [1.0], x[:, None])) or own is not None
    assert list(stage_expressions(one(term, link), NUMBER)) == ["stage_0_sum", "stage_0"]
    assert '"a"' not in written(one(term, link), NUMBER)["stage_0"]
    texts = stage_expressions(Stages([Stage(0.5, [(2.0, term)], link, low=0.0)]), NUMBER)
    assert list(texts) == ["stage_0_free", "stage_0_sum", "stage_0"]


def test_size_of_a_large_model() -> None:
    """Ten stages of thirty terms with sixteen leaves: no more text than their numbers need."""
    rng = np.random.default_rng(0)
    edges, n_features, stages = np.linspace(-1.0, 1.0, 63), 30, []
    leaf = np.append(np.arange(64) // 4, 16)
    for k in range(10):
        terms = []
        for feature in range(n_features):
            level, slope = rng.normal(size=(2, 17))
            groups = Intervals(edges, -2.0, 2.0)
            coef = rng.normal(size=(17, k)) * (rng.random((17, k)) < 0.1)
            terms.append((0.1, Transformation(feature, groups, leaf, level, slope, coef)))
        stages.append(Stage(0.0, terms))
    model, coef = Stages(stages), [1.0] * 10
    schema = Schema(None, (None,) * n_features)
    n_numbers = sum(3 * 17 + np.count_nonzero(t.coef) for s in stages for _, t in s.terms)
    assert len(select_statement(model, coef, 0.25, schema, "people")) < 50 * n_numbers


def test_what_cannot_be_written_is_refused() -> None:
    """The message says what it is and what to do."""
    term = steps([], [1.0, 2.0])
    named = Transformation(
        0, Categories(2), np.arange(3), np.arange(3.0), np.zeros(3), np.zeros((3, 0))
    )
    cases = [
        (one(steps([0.0], [math.inf, 2.0, 3.0])), NUMBER, "inf cannot be written"),
        (one(term), Schema(("",), (None,)), "empty name"),
        (one(term), Schema(("Age", "age"), (None, None)), "'Age' and 'age'"),
        (one(named), Schema(("a",), ({"1": 0, 1: 1},)), "different types, '1' and 1 say"),
        (one(named), Schema(("a",), ({b"x": 0, b"y": 1},)), "type bytes cannot be written"),
        (one(named), NUMBER, "is numeric in the schema"),
        (one(term), Schema(("a",), ({"p": 0},)), "the other way round"),
    ]
    for stages, schema, words in cases:
        with pytest.raises(ValueError, match=words):
            stage_expressions(stages, schema)


def test_wrong_arguments_are_refused() -> None:
    """More coefficients than stages, an unknown link, two columns of one name."""
    for coef, options, words in [
        ([1.0], {}, "1 coefficients for 0 stages"),
        ([], {"link": "probit"}, "link must be one of"),
        ([], {"keep": ["f"], "output": "F"}, "the result has columns 'f' and 'F'"),
        ([], {"keep": ["price"], "output": "price"}, "the result has columns 'price' and 'price'"),
        ([], {"dialect": "oracle"}, "dialect must be one of 'duckdb'.*got 'oracle'"),
    ]:
        with pytest.raises(ValueError, match=words):
            select_statement(Stages(), coef, 0.0, NUMBER, "t", **options)
