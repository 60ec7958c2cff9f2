"""Knapsacks, projections on a sum and weighted quantiles, whatever rounding does to the sums."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses.dual.support_vector import (
    fractional_knapsack,
    project_on_sum,
    weighted_median,
    weighted_quantile,
)
from tests.effort import examples
from tests.problems import least

SEEDS = st.integers(0, 10**6)


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("at_most", [False, True])
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_the_knapsack_is_the_best_way_to_spend_the_total(
    curved: bool, at_most: bool, seed: int
) -> None:
    """Feasible, as good as CVXPY's answer, ordered by the level; without a total the level is 0."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    rate, upper = rng.normal(size=size).round(1), rng.uniform(0.1, 2.0, size)
    curvature = rng.uniform(0.1, 2.0, size) if curved else np.zeros(size)
    total = float(rng.uniform(0.0, 1.0) * upper.sum())
    u, level = fractional_knapsack(rate, upper, curvature, total, at_most=at_most)
    v = cp.Variable(size, nonneg=True)
    loss = curvature @ cp.square(v) / 2 - rate @ v
    spent = cp.sum(v) <= total if at_most else cp.sum(v) == total
    assert np.all((u >= 0) & (u <= upper))
    assert u.sum() <= total + 1e-9
    assert at_most or u.sum() == pytest.approx(total, abs=1e-9)
    found = rate @ u - curvature @ u**2 / 2
    assert found == pytest.approx(-least(loss, [v <= upper, spent]), abs=1e-7)
    slope = rate - curvature * u - level
    assert np.all(u[slope < -1e-7] <= 1e-7)
    assert np.all((upper - u)[slope > 1e-7] <= 1e-7)
    assert level >= 0 or not at_most
    assert not at_most or level == 0 or u.sum() == pytest.approx(total, rel=1e-9)
    u, level = fractional_knapsack(rate, upper, curvature)
    free = np.clip(rate / curvature, 0.0, upper) if curved else np.where(rate > 0, upper, 0.0)
    np.testing.assert_allclose(u, free)
    assert level == 0.0


def test_an_empty_knapsack() -> None:
    """Nothing is spent on nothing."""
    u, level = fractional_knapsack(np.zeros(0), np.zeros(0), np.zeros(0), 1.0)
    assert (len(u), level) == (0, 0.0)


@settings(max_examples=examples(100))
@given(seed=SEEDS, infinite=st.booleans())
def test_a_projection_on_a_sum_is_the_nearest_point(seed: int, infinite: bool) -> None:
    """In the box, of the sum, and clip(values − λ) for one λ, also near the box's ends."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    lower = rng.uniform(-2.0, 0.0, size)
    upper = lower + rng.uniform(0.1, 3.0, size)
    share = float(rng.choice([1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6]))
    total = float(lower.sum() + share * (upper - lower).sum())
    values = 5.0 * rng.normal(size=size)
    if infinite:
        lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    x = project_on_sum(values, lower, upper, total)
    assert np.all((x >= lower) & (x <= upper))
    assert x.sum() == pytest.approx(total, abs=1e-9)
    shift = values - x
    highest = shift[x > lower + 1e-9].min(initial=np.inf)  # of λ
    lowest = shift[x < upper - 1e-9].max(initial=-np.inf)
    assert lowest <= highest + 1e-9


@pytest.mark.parametrize("width", [1e3, 1e9, 1e13])
def test_a_projection_has_all_its_digits_in_wide_boxes(width: float) -> None:
    """The sum is exact relative to the numbers that it is of, not to the ends of their boxes."""
    values = np.random.default_rng(1).normal(size=30)
    ends = np.full(30, width)
    x = project_on_sum(values, -ends, ends, 0.0)
    np.testing.assert_allclose(x, values - values.mean(), atol=1e-14)
    assert abs(x.sum()) <= 1e-14 * np.abs(x).sum()


@settings(max_examples=examples(100))
@given(SEEDS)
def test_a_weighted_median_minimises_the_absolute_error(seed: int) -> None:
    """No value has a smaller Σ w|v − c|, with weights of 0 and with ties."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    values = rng.integers(-3, 4, size).astype(float)
    weights = rng.integers(0, 3, size).astype(float)
    if not weights.any():
        weights[0] = 1.0
    median = weighted_median(values, weights)
    costs = [weights @ np.abs(values - c) for c in values]
    assert weights @ np.abs(values - median) <= min(costs) + 1e-12


@settings(max_examples=examples(60))
@given(SEEDS)
def test_the_middle_of_a_gap_is_found_whatever_the_unit_of_the_weights(seed: int) -> None:
    """Weights of 0.1, whose sums are not exact, and of 10⁻³⁰⁰ count rows as weights of 1 do."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=2 * int(rng.integers(1, 200)))
    for unit in (0.1, 1.0, 1e-300):
        weights = np.full(len(values), unit)
        assert weighted_median(values, weights) == np.median(values)


def test_levels_that_sums_of_weights_meet_up_to_rounding() -> None:
    """The middle of two values, in any order of equal ones; the last value at the sum of all."""
    values, weights = np.arange(10.0), np.full(10, 0.1)
    for level, quantile in ((0.3, 2.5), (0.8, 7.5), (0.35, 3.0), (0.5, 4.5), (1.0, 9.0)):
        assert weighted_quantile(values, weights, level) == quantile
    rng = np.random.default_rng(0)
    values = np.repeat(values, 10)
    weights = np.concatenate([own / own.sum() for own in rng.uniform(0.1, 1.0, (10, 10))])
    for share in (0.2, 0.5, 0.7):
        for _ in range(50):
            order = rng.permutation(100)
            found = weighted_quantile(values[order], weights[order], 10.0 * share)
            assert found == 10.0 * share - 0.5
