"""Slopes, curves and boxes, beside the definition, on boxes that no model of the cases has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from cgboost.inspection.shapley import parts
from cgboost.inspection.shapley.basis_functions import trees
from cgboost.inspection.shapley.games import cover_weights, pair_weights
from cgboost.inspection.shapley.parts import Boxes, Curves
from tests.effort import examples
from tests.inspection.shapley.games import interventional, path_dependent, shapley


@given(st.integers(0, 2**16), st.integers(1, 8))
@settings(max_examples=examples(20))
def test_boxes_of_any_conditions_and_functions_have_the_values_of_the_definition(
    seed: int, n_features: int
) -> None:
    """Several decisions on a feature; functions of a feature with or without conditions."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(4, n_features)), rng.normal(size=(3, n_features))
    features = rng.integers(n_features, size=12)
    thresholds = rng.normal(-0.5, 1.0, size=12)
    paths = [rng.choice(12, rng.integers(0, 12), replace=False).tolist() for _ in range(8)]
    factors = rng.integers(-1, n_features, size=8)
    weights = rng.normal(size=8)
    curves = Curves(np.arange(n_features), np.sin)

    def decided(rows: np.ndarray) -> np.ndarray:
        return rows.T[features] > thresholds[:, None]

    def f(rows: np.ndarray) -> np.ndarray:
        held, total = decided(rows), np.zeros(len(rows))
        for path, factor, weight in zip(paths, factors, weights, strict=True):
            inside = held[path].all(axis=0)
            total += weight * inside * (1.0 if factor < 0 else np.sin(rows[:, factor]))
        return total

    boxes = Boxes(decided, features, paths, weights, curves=curves, factors=factors.tolist())
    total = np.zeros((n_features, len(X)))
    boxes.add(X, Z, total)
    np.testing.assert_allclose(total.T, interventional(f, X, Z)[..., 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("shared", "entries"), [(8, 2**21), (8, 100), (3, 2**21), (3, 100)])
def test_deep_trees_with_gaps_have_the_values_of_the_definition(
    shared: int, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either side of the number of conditions that share a table, in one block or many."""
    monkeypatch.setattr(parts, "MOST_SHARED", shared)
    monkeypatch.setattr(parts, "ENTRIES", entries)
    n_features = 6
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(300, n_features)).astype(float)
    gaps = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    y = np.nan_to_num(gaps, nan=1.5) @ rng.normal(size=n_features) + X.prod(axis=1)
    tree = DecisionTreeRegressor(random_state=0).fit(gaps, y)
    boxes = trees([(tree.tree_, tree.tree_.value[:, 0, 0])])
    assert max(len(set(boxes.features[list(path)])) for path in boxes.paths) > n_features - 2
    total = np.zeros((n_features, 4))
    boxes.add(gaps[:4], gaps[10:13], total)
    expected = interventional(tree.predict, gaps[:4], gaps[10:13])[..., 0]
    np.testing.assert_allclose(total.T, expected, rtol=0, atol=1e-12 * np.ptp(y))
    full = DecisionTreeRegressor(random_state=0).fit(X, y)
    values = full.tree_.value[:, 0, 0]
    total = np.zeros((n_features, 4))
    mean = trees([(full.tree_, values)]).add_by_covers(X[:4], total)
    assert mean == pytest.approx(y.mean(), rel=1e-12)
    expected = path_dependent(full.tree_, values, X[:4])
    np.testing.assert_allclose(total.T, expected, rtol=0, atol=1e-12 * np.ptp(y))


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_weights_are_those_of_games_of_conditions(k: int) -> None:
    """v(S) = Π a_S Π r_rest: conditions of 0 and 1 as pairs, shares as numbers of training rows."""
    rng = np.random.default_rng(k)
    ours, shares = np.arange(2**k), rng.uniform(size=(2, k))
    bits = (ours[:, None] >> np.arange(k) & 1).astype(float)
    found, pairs = cover_weights(ours, shares), pair_weights(ours, ours, k)
    for s, own in enumerate(bits):
        for number, rest in enumerate(shares):
            expected = shapley(lambda S, a=own, r=rest: np.where(S, a, r).prod(), k) if k else []
            np.testing.assert_allclose(found[number, s], expected, rtol=0, atol=1e-14)
        for t, rest in enumerate(bits):
            expected = shapley(lambda S, a=own, r=rest: np.where(S, a, r).prod(), k) if k else []
            np.testing.assert_allclose((pairs.ours + pairs.theirs)[s, t], expected, atol=1e-14)
