"""Stages in SQL: DuckDB says what Python says."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.builder import StageBuilder
from cgboost.additive.export.sql import select_statement, stage_expressions
from cgboost.additive.places.memory import MemoryAggregates
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses import SquaredError
from cgboost.tables.preparation import Categories, Intervals, intervals_of
from cgboost.tables.row_hashes import content_hash, held_out, numbered
from cgboost.tables.rows import TableRows
from cgboost.tables.schema import Schema, SchemaMaker
from tests.additive.export.sql_databases import (
    NUMBER,
    Columns,
    doubles,
    expected,
    fill,
    one,
    predictions,
    random_stages,
    steps,
)
from tests.effort import examples


def test_an_expression_can_be_read() -> None:
    """Intervals in ascending order, neighbours of one leaf together, constant beyond the range."""
    term = steps([0.0, 0.5], [1.0, 2.0, -3.0], slope=[4.0, 0.0, 0.0])
    stages = one(
        Transformation(
            0, term.groups, np.array([0, 1, 1, 2]), term.intercept, term.slope, term.coef
        )
    )
    assert stage_expressions(stages, NUMBER) == {
        "stage_0": '0.5e0 + 2.0e0 * (CASE WHEN "a" < -1.0e0 THEN -3.0e0 '
        'WHEN "a" < 0.0e0 THEN 1.0e0 + 4.0e0 * "a" '
        'WHEN "a" <= 0.0e0 OR -"a" <= 0.0e0 THEN 2.0e0 ELSE -3.0e0 END)'
    }


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 2**32),
    n_features=st.integers(1, 3),
    n_stages=st.integers(0, 4),
    n_groups=st.integers(2, 7),
)
def test_any_model_is_the_same_in_both(
    seed: int, n_features: int, n_stages: int, n_groups: int
) -> None:
    """Random stages with links and earlier outputs, on rows that meet edges and miss values."""
    rng = np.random.default_rng(seed)
    stages = random_stages(rng, n_features, n_stages, n_groups)
    X = np.round(rng.normal(size=(80, n_features)), 1)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[rng.random(X.shape) < 0.05] = np.inf
    coef = list(rng.normal(size=n_stages))
    schema = Schema(None, (None,) * n_features)
    found = predictions(stages, coef, schema, doubles(*X.T))
    np.testing.assert_allclose(found, expected(stages, coef, X), rtol=1e-9, atol=1e-9)


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
        fill(connection, "t", {"id": ("VARCHAR", list("abc")), "a": ("FLOAT", list(x))})
        query = select_statement(
            stages, [1.0, 2.0], 0.25, NUMBER, ("memory", "main", "t"), keep=["id", "a"], output="f"
        )
        found = connection.execute(query).fetch_df()
    assert list(found.columns) == ["id", "a", "f"]
    assert list(found["id"]) == list("abc")
    assert found["a"].dtype == np.float32
    np.testing.assert_allclose(found["f"], expected(stages, [1.0, 2.0], x[:, None]), atol=1e-12)


def test_a_model_without_stages_is_its_intercept() -> None:
    """One number for every row."""
    found = predictions(Stages(), [], NUMBER, {"a": ("DOUBLE", [1.0, None])})
    np.testing.assert_array_equal(found, [0.25, 0.25])


def test_a_link_transforms_the_sum() -> None:
    """The sum is an expression of its own, so that it is not written once for each interval."""
    link = steps([0.0], [1.0, -1.0, 0.0], slope=[2.0, 0.5, 0.0], low=-0.5, high=0.7, feature=1)
    stages = one(steps([0.0], [1.0, -2.0, 3.0]), link)
    texts = stage_expressions(stages, NUMBER)
    assert list(texts) == ["stage_0_sum", "stage_0"]
    assert '"a"' not in texts["stage_0"]
    x = np.array([-1.0, 0.0, 1.0, np.nan])
    found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", list(x))})
    np.testing.assert_allclose(found, expected(stages, [1.0], x[:, None]), atol=1e-12)


def test_bounds_cut_the_sum_before_its_link() -> None:
    """One bound or both, in the database as in Python; what they cut is written once."""
    link = steps([0.0], [1.0, -1.0, 0.0], slope=[2.0, 0.5, 0.0], low=-0.5, high=0.7, feature=1)
    term = steps([0.0], [1.0, -2.0, 3.0])
    x = np.array([-1.0, 0.0, 1.0, np.nan])
    for bounds in ({"low": -1.5}, {"high": 2.0}, {"low": -1.5, "high": 2.0}):
        for own in (None, link):
            stages = Stages([Stage(0.5, [(2.0, term)], own, **bounds)])
            found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", list(x))})
            np.testing.assert_allclose(found, expected(stages, [1.0], x[:, None]), atol=1e-12)
            free = Stages([Stage(0.5, [(2.0, term)], own)])
            assert not np.allclose(found, expected(free, [1.0], x[:, None])) or own is not None
    texts = stage_expressions(Stages([Stage(0.5, [(2.0, term)], link, low=0.0)]), NUMBER)
    assert list(texts) == ["stage_0_free", "stage_0_sum", "stage_0"]


def test_logistic_link() -> None:
    """Probabilities, without overflow at either end."""
    stages = one(steps([-1.0, 0.0, 1.0], [-1e6, -0.3, 0.4, 1e6, 0.0]))
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", list(x))}, link="logistic")
    f = expected(stages, [1.0], x[:, None])
    np.testing.assert_allclose(found, 0.5 * (1.0 + np.tanh(f)), atol=1e-15)


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
    X = rng.normal(size=(50, n_features))
    found = predictions(model, coef, schema, doubles(*X.T))
    np.testing.assert_allclose(found, expected(model, coef, X), rtol=1e-9, atol=1e-9)


def test_sums_of_thousands_of_terms() -> None:
    """They are not nested so deeply that databases refuse them."""
    term = steps([0.0], [1.0, -2.0, 3.0])
    weights = np.random.default_rng(0).normal(size=1500)
    stages = Stages([Stage(0.5, [(float(weight), term) for weight in weights])])
    x = np.array([-1.0, 1.0, np.nan])
    found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", list(x))})
    np.testing.assert_allclose(found, expected(stages, [1.0], x[:, None]), rtol=1e-9)


@pytest.mark.parametrize("link", [False, True])
def test_a_fitted_model(link: bool) -> None:
    """Stages learnt from a frame with numbers, categories and missing values."""
    rng = np.random.default_rng(5)
    n = 2000
    frame = pd.DataFrame(
        {
            "user's age": rng.integers(17, 90, n).astype(float),
            "group": rng.choice(["a", "b'c", "d", None], n),
            "order": np.round(rng.normal(size=n), 2),
        }
    )
    frame.loc[rng.random(n) < 0.1, "user's age"] = np.nan
    y = np.sin(frame["order"]) * (1 + (frame["group"] == "d")) + 0.01 * frame["user's age"].fillna(
        9
    )
    maker = SchemaMaker()
    maker.see(frame)
    schema = maker.schema()
    X, weights, response = schema.encode(frame), np.ones(n), y.to_numpy()
    held = held_out(numbered(content_hash(X, response, 0), weights), 0.3)
    groups = [
        intervals_of(X[:, j], weights, 16) if known is None else Categories(len(known))
        for j, known in enumerate(schema.categories)
    ]
    passes = Passes(TableRows(X), weights, held)
    sums = MemoryAggregates(passes, SquaredError(), response, weights, groups, np.arange(n))
    builder, stages = StageBuilder(16, link=link), Stages()
    for k in range(4):
        stage = builder.stage(sums)
        stages.stages.append(stage)
        sums.append(stage)
        sums.move(np.ones(k + 1), 0.0)
    assert sum(len(stage.terms) for stage in stages.stages) > 4
    new = frame.iloc[::7].copy()
    new.loc[new.index[:5], "group"] = "unseen"
    coef = [1.0, 0.9, 0.8, 0.7]
    columns: Columns = {
        "user's age": ("FLOAT", list(new["user's age"])),
        "group": ("VARCHAR", [None if v is None or v != v else v for v in new["group"]]),
        "order": ("DOUBLE", list(new["order"])),
    }
    found = predictions(stages, coef, schema, columns, table="people of 1994")
    wanted = expected(stages, coef, schema.encode(new))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


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
