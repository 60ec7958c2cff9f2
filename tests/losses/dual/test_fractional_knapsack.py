"""The fractional knapsack and the projection against CVXPY."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses.dual.support_vector import fractional_knapsack, project_on_sum
from tests.effort import examples

SEEDS = st.integers(0, 10**6)


def knapsack(seed: int, *, curved: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Rates (some equal), caps, curvature, and a total that the caps allow."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    rate, cap = rng.normal(size=size).round(1), rng.uniform(0.1, 2.0, size)
    curvature = rng.uniform(0.1, 2.0, size) if curved else np.zeros(size)
    return rate, cap, curvature, float(rng.uniform(0.0, 1.0) * cap.sum())


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("at_most", [False, True])
@settings(max_examples=examples(15))
@given(seed=SEEDS)
def test_fill_is_the_best_way_to_spend_the_total(curved: bool, at_most: bool, seed: int) -> None:
    """Feasible, as good as CVXPY's answer, and ordered by the level as the docstring says."""
    rate, cap, curvature, total = knapsack(seed, curved=curved)
    u, level = fractional_knapsack(rate, cap, curvature, total, at_most=at_most)
    v = cp.Variable(len(rate), nonneg=True)
    gain = rate @ v - curvature @ cp.square(v) / 2
    spent = cp.sum(v) <= total if at_most else cp.sum(v) == total
    problem = cp.Problem(cp.Maximize(gain), [v <= cap, spent])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    assert np.all((u >= 0) & (u <= cap))
    assert u.sum() <= total + 1e-9
    assert at_most or u.sum() == pytest.approx(total, abs=1e-9)
    assert rate @ u - curvature @ u**2 / 2 == pytest.approx(problem.value, abs=1e-7)
    slope = rate - curvature * u - level
    assert np.all(u[slope < -1e-7] <= 1e-7)
    assert np.all((cap - u)[slope > 1e-7] <= 1e-7)
    assert level >= 0 or not at_most


@given(seed=SEEDS)
def test_without_a_total_every_side_decides_for_itself(seed: int) -> None:
    """Positive rates fill their cap, up to where curvature stops them; the level is 0."""
    rate, cap, curvature, _ = knapsack(seed, curved=bool(seed % 2))
    u, level = fractional_knapsack(rate, cap, curvature)
    wanted = np.where(rate > 0, cap, 0.0)
    if curvature.any():
        wanted = np.clip(rate / curvature, 0.0, cap)
    np.testing.assert_allclose(u, wanted)
    assert level == 0.0


@given(seed=SEEDS, infinite=st.booleans())
def test_project_on_sum_is_the_nearest_point(seed: int, infinite: bool) -> None:
    """Feasible, and no other feasible point is nearer, also with infinite ends."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    values = rng.normal(size=size)
    lower, upper = -rng.uniform(0.1, 1.0, size), rng.uniform(0.1, 1.0, size)
    total = float(rng.uniform(0.9 * lower.sum(), 0.9 * upper.sum()))
    if infinite:
        lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    x = project_on_sum(values, lower, upper, total)
    assert np.all((x >= lower) & (x <= upper))
    assert x.sum() == pytest.approx(total, abs=1e-9)
    # nearest: x − values is one number off the ends, at most that at the upper ends
    shift = x - values
    inside = (x > lower) & (x < upper)
    if inside.any():
        common = float(np.median(shift[inside]))
        np.testing.assert_allclose(shift[inside], common, atol=1e-9)
        assert np.all(shift[x == upper] <= common + 1e-9)
        assert np.all(shift[x == lower] >= common - 1e-9)


@pytest.mark.parametrize("width", [1e3, 1e9, 1e13])
def test_project_on_sum_has_all_its_digits_in_wide_boxes(width: float) -> None:
    """The sum is exact relative to the numbers that it is of, not to the ends of their boxes."""
    values = np.random.default_rng(1).normal(size=30)
    ends = np.full(30, width)
    x = project_on_sum(values, -ends, ends, 0.0)
    np.testing.assert_allclose(x, values - values.mean(), atol=1e-14)
    assert abs(x.sum()) <= 1e-14 * np.abs(x).sum()
