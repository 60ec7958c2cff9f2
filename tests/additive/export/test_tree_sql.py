"""Sums of trees in the SQL of six databases: they say what Python says.

Which database is asked for which dialect: see ``sql_databases``; fitted ones: see
``test_fitted_models.py``.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.export.dialects import DIALECTS
from cgboost.additive.export.expressions import LONGEST_SUM
from cgboost.additive.export.tree_sql import trees_statement
from cgboost.additive.trees.model_tree import ModelTree, ModelTreeNode, Regressors
from cgboost.tables.binning import Categories, FeatureGroups, Intervals
from cgboost.tables.table_encoding import Schema
from tests.additive.export.sql_databases import Columns, ask
from tests.additive.trees.test_boosted_trees import random_tree
from tests.effort import examples

each = pytest.mark.parametrize("dialect", DIALECTS)

KINDS = ["o'clock", 'say "x"', "back\\", "é", "50 %"]
NAMES = ("a b", 'q"uote', "select")
SCHEMA = Schema(NAMES, (None, {kind: code for code, kind in enumerate(KINDS)}, None))
GROUPS: list[FeatureGroups] = [
    Intervals(np.array([-0.5, 0.1, 0.7]), -1.0, 1.0),
    Categories(len(KINDS)),
    Intervals(np.array([2.0, 2.5]), 1.0, 4.0),
]


def random_trees(rng: np.random.Generator, count: int) -> list[tuple[float, ModelTree]]:
    """Trees and their coefficients."""
    sizes = rng.integers(0, 4, count).tolist()
    return [(float(rng.normal()), random_tree(rng, n_splits, GROUPS)) for n_splits in sizes]


def people(rng: np.random.Generator, n_rows: int = 60) -> Columns:
    """Numbers on edges, beyond the range, infinite and missing; categories, unseen ones too."""
    first = np.round(rng.normal(size=n_rows), 1).tolist()
    last = np.round(rng.normal(2.5, 1.0, size=n_rows), 1).tolist()
    first[:5] = [None, math.nan, math.inf, -math.inf, 0.1]
    last[3:8] = [2.0, 2.5, None, math.nan, math.inf]
    kinds: list[Any] = rng.choice([*KINDS, "new"], n_rows).tolist()
    kinds[7:9] = [None, "back"]
    return dict(zip(NAMES, [("DOUBLE", first), ("VARCHAR", kinds), ("DOUBLE", last)], strict=True))


def encoded(columns: Columns) -> np.ndarray:
    """The same as the trees take it; infinite values too, which frames may not have."""
    first, kinds, last = (values for _, values in columns.values())
    codes = [SCHEMA.categories[1].get(kind, math.nan) for kind in kinds]
    return np.array([first, codes, last], dtype=float).T


@each
@settings(max_examples=examples(12), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.sampled_from([0, 1, 3, LONGEST_SUM + 2]))
def test_any_trees(dialect: str, seed: int, count: int, server: str) -> None:
    """Random trees, on rows that meet edges, miss values and have categories of strange names."""
    rng = np.random.default_rng(seed)
    terms, columns = random_trees(rng, count), people(rng)
    query = trees_statement([(0.25, terms)], SCHEMA, "peo ple", link="identity", dialect=dialect)
    found = ask(dialect, query, "peo ple", columns, server).last
    X = encoded(columns)
    wanted = 0.25 + sum(coef * tree.predict(X) for coef, tree in terms)
    np.testing.assert_allclose(found, np.broadcast_to(wanted, len(X)), rtol=1e-12, atol=1e-12)


@each
@pytest.mark.parametrize("link", ["log", "logistic", "softmax"])
def test_links(dialect: str, link: str, server: str) -> None:
    """Of large outputs too; those of several outputs add up to 1."""
    rng = np.random.default_rng(0)
    columns = people(rng)
    outputs = [(level, random_trees(rng, 2)) for level in (0.5, 300.0, -900.0)]
    X = encoded(columns)
    f = np.column_stack(
        [level + sum(coef * tree.predict(X) for coef, tree in terms) for level, terms in outputs]
    )
    own = np.minimum(f[:, 0], 600.0)
    wanted = {
        "log": np.exp(own)[:, None],
        "logistic": 1.0 / (1.0 + np.exp(-2.0 * own))[:, None],
        "softmax": np.exp(f - f.max(axis=1, keepdims=True)),
    }[link]
    wanted /= wanted.sum(axis=1, keepdims=True) if link == "softmax" else 1.0
    for number in range(wanted.shape[1]):
        query = trees_statement(
            outputs if link == "softmax" else outputs[:1],
            SCHEMA,
            "people",
            link=link,
            number=number,
            dialect=dialect,
        )
        found = ask(dialect, query, "people", columns, server).last
        np.testing.assert_allclose(found, wanted[:, number], rtol=1e-11, atol=1e-15)


def test_words_of_errors() -> None:
    """An unknown link, and categories of two types in one column."""
    with pytest.raises(ValueError, match=r"link must be one of .*, got 'logit'"):
        trees_statement([(0.0, [])], SCHEMA, "t", link="logit")
    two = Schema(NAMES, (None, {"a": 0, 1: 1, 2: 2, 3: 3, 4: 4}, None))
    node = ModelTreeNode(
        0.0, np.zeros(2), 0, 1.0, 0.0, 0.0, 0.0, 1, np.array([0, 1, 1, 1, 1, 1]), [1, 2]
    )
    leaves = [ModelTreeNode(float(k), np.zeros(2), 1, 1.0, 0.0, 0.0) for k in range(2)]
    tree = ModelTree(GROUPS, Regressors.of(GROUPS, [0, 2]), [node, *leaves], np.zeros(2))
    with pytest.raises(ValueError, match="has categories of different types"):
        trees_statement([(0.0, [(1.0, tree)])], two, "t", link="identity")
