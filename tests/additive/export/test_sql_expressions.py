"""A transformation in SQL: what meets an edge, is missing, or is a category."""

import math

import numpy as np
import pandas as pd
import pytest

from cgboost.additive.export.sql import stage_expressions
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.preparation import Categories
from cgboost.tables.schema import Schema
from tests.additive.export.sql_databases import NUMBER, doubles, expected, one, predictions, steps


def test_a_value_on_an_edge_belongs_to_the_interval_above() -> None:
    """So do the numbers next to edges that have no short decimal form."""
    edges = [-1.0 / 3.0, 0.1 + 0.2, 1e-300, 2.0**53]
    edges.sort()
    values = np.array(edges)
    x = np.concatenate([values, np.nextafter(values, -9e99), np.nextafter(values, 9e99)])
    stages = one(steps(edges, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    found = predictions(stages, [1.0], Schema(None, (None,)), doubles(x))
    np.testing.assert_array_equal(found, expected(stages, [1.0], x[:, None]))


def test_missing_and_infinite_values() -> None:
    """NULL and NaN have their own leaf; infinities are brought to the training range."""
    stages = one(steps([0.0], [1.0, 2.0, 7.0], slope=[3.0, 5.0, 11.0]))
    x = [None, math.nan, -math.nan, math.inf, -math.inf, -5.0, 5.0, -0.0]
    found = predictions(stages, [1.0], NUMBER, {"a": ("DOUBLE", x)})
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert set(found[:3]) == {0.25 + 0.5 + 14.0}


CATEGORIES = {
    "text": ("VARCHAR", ["o'clock", "'", '"', "", "a--b", "é ü", "NULL", "x\\"], ["no", " "]),
    "number": ("BIGINT", [3, -1, 2**60 + 1], [4, 2**60]),
    "fraction": ("DOUBLE", [0.1, 2.0, -1e300], [math.nan, 0.2, math.inf]),
    "float for int": ("BIGINT", [3.0, 4.0], [5]),
    "truth": ("BOOLEAN", [True], [False]),
    "day": ("DATE", [pd.Timestamp("2020-02-29").to_pydatetime()], [pd.Timestamp("2021-02-28")]),
    "time": ("TIMESTAMP", [pd.Timestamp("2020-02-29 01:02:03.000004").to_pydatetime()], []),
    "enum": ("ENUM ('a', 'it''s', 'new')", ["a", "it's", "never there"], ["new"]),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_of_any_type(case: str) -> None:
    """Each has its leaf; unseen and missing ones have the last."""
    kind, known, unseen = CATEGORIES[case]
    schema = Schema(("a",), ({value: code for code, value in enumerate(known)},))
    n_groups = len(known) + 1
    level, none = np.random.default_rng(0).normal(size=n_groups), np.zeros(n_groups)
    leaf = np.arange(n_groups)[::-1].copy()
    groups = Categories(len(known))
    stages = one(Transformation(0, groups, leaf, level, none, none[:, None][:, :0]))
    values = [*(value for value in known if value != "never there"), *unseen, None]
    found = predictions(stages, [3.0], schema, {"a": (kind, values)})
    X = schema.encode(pd.DataFrame({"a": np.array(values, dtype=object)}))
    assert np.isfinite(X).sum() == len(values) - len(unseen) - 1
    np.testing.assert_allclose(found, expected(stages, [3.0], X), atol=1e-12)


def test_categories_of_one_leaf_are_one_list() -> None:
    """Those that are as the unknown ones are not named at all."""
    schema = Schema(("a",), ({"p": 0, "q": 1, "r": 2, "s": 3},))
    leaf = np.array([1, 0, 1, 0, 0])
    term = Transformation(
        0, Categories(4), leaf, np.array([1.0, 2.0]), np.zeros(2), np.zeros((2, 0))
    )
    text = stage_expressions(one(term), schema)["stage_0"]
    assert "(CASE WHEN \"a\" IN ('p', 'r') THEN 2.0e0 ELSE 1.0e0 END)" in text


@pytest.mark.parametrize("kind", ["FLOAT", "TINYINT", "UTINYINT", "BOOLEAN", "DECIMAL(4, 2)"])
def test_other_types_of_numbers(kind: str) -> None:
    """Columns become double precision before they meet an edge."""
    above = 1.0 + 2.0**-30  # 1 in single precision
    stages = one(steps([above], [1.0, 2.0, 3.0], slope=[1.0, 10.0, 0.0]))
    x = [0, 1, None]
    found = predictions(stages, [1.0], NUMBER, {"a": (kind, x)})
    wanted = expected(stages, [1.0], np.array(x, dtype=float)[:, None])
    np.testing.assert_allclose(found, wanted, atol=1e-12)
