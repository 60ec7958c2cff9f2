"""Monotone transformations are the least squares among monotone functions of these leaves."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.builder import monotone
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import intervals_of
from tests.additive.trees.test_transformation import statistics, tree
from tests.effort import examples


def values(term: Transformation, x: np.ndarray) -> np.ndarray:
    """Of a function without regressors."""
    return term(x, np.zeros((len(x), 0)))


def pieces(
    seed: int, n_leaves: int, scale: float, offset: float
) -> tuple[Transformation, np.ndarray, np.ndarray]:
    """A function with leaves at random, some of them with a slope; x and y of the rows."""
    rng = np.random.default_rng(seed)
    x = scale * rng.normal(size=300) + offset
    y = scale * (rng.normal() * np.sin(x / scale) + rng.normal(size=300))
    groups = intervals_of(x, np.ones(300), 12)
    cuts = np.sort(rng.choice(np.arange(1, len(groups.edges) + 1), n_leaves - 1, replace=False))
    leaf = np.append(np.searchsorted(cuts, np.arange(len(groups.edges) + 1), "right"), n_leaves)
    slope = np.append(rng.integers(0, 2, n_leaves).astype(float), 0.0)
    level = np.append(np.zeros(n_leaves), 7.0)
    return Transformation(0, groups, leaf, level, slope, np.zeros((n_leaves + 1, 0))), x, y


@settings(max_examples=examples(25))
@given(
    seed=st.integers(0, 999),
    n_leaves=st.integers(1, 8),
    sign=st.sampled_from([-1, 1]),
    scale=st.sampled_from([1.0, 1e-6, 1e6]),
    offset=st.sampled_from([0.0, 1e3]),
)
def test_it_is_the_least_squares_over_the_cone(
    seed: int, n_leaves: int, sign: int, scale: float, offset: float
) -> None:
    """Of all functions with these leaves that are monotone, in units of the data."""
    term, x, y = pieces(seed, n_leaves, scale, offset * scale)
    groups = term.groups
    found = monotone(term, statistics(groups, x, y), sign)
    left = np.append(groups.low, groups.edges)[np.searchsorted(term.leaf, np.arange(n_leaves))]
    right = np.append(left[1:], groups.high)
    own = term.leaf[groups.codes(x)]
    level, rise = cp.Variable(n_leaves), cp.Variable(n_leaves)
    away = (x - left[own]) / (right - left)[own]
    f = level[own] + cp.multiply(away, rise[own])
    rules = [sign * rise >= 0, cp.multiply(1 - term.slope[:n_leaves], rise) == 0]
    if n_leaves > 1:
        rules.append(sign * (level[1:] - level[:-1] - rise[:-1]) >= 0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(f - y / scale)), rules)
    problem.solve(solver="CLARABEL")
    error = ((values(found, x) - y) ** 2).sum() / scale**2
    assert error <= problem.value * (1 + 1e-6)
    at = np.sort(np.concatenate([x, groups.edges, groups.edges - 1e-9 * scale]))
    steps = sign * np.diff(values(found, at))
    assert steps.min() >= -1e-12 * np.abs(y).max()


def test_missing_values_keep_their_leaf() -> None:
    """They are compared with none."""
    term, x, y = pieces(0, 4, 1.0, 0.0)
    found = monotone(term, statistics(term.groups, x, y), 1)
    assert values(found, np.array([np.nan])) == pytest.approx(7.0)


def test_what_is_monotone_stays_as_it_is() -> None:
    """The regressions within the leaves are the nearest already."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, size=6000)
    y = np.select([x < 1, x < 2], [2 * x, 1 + x], 5.0) + 0.01 * rng.normal(size=6000)
    held = np.arange(6000) % 3 == 0
    before = tree(x, y, bins=30)
    after = monotone(before, statistics(before.groups, x[~held], y[~held]), 1)
    np.testing.assert_allclose(values(after, x), values(before, x), atol=0.02)
