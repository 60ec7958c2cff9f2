"""Losses against their definition, and the projection on which every bound rests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.losses import (
    SquaredHinge,
    SupportVectorLoss,
    entropic_nu_hinge,
    epsilon_insensitive,
    hinge,
    nu_hinge,
    nu_insensitive,
)
from cgboost.losses.dual.support_vector import (
    fractional_knapsack,
    one_class,
    project_on_sum,
    weighted_median,
    weighted_quantile,
)

SEEDS = st.integers(0, 10**6)


def random_loss(seed: int) -> SupportVectorLoss:
    """Hinge or ε-insensitive loss with some rows of price 0."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    price = rng.uniform(0, 3, size) * (rng.uniform(size=size) > 0.1)
    if rng.uniform() < 0.5:
        return hinge(rng.choice([-1.0, 1.0], size), price)
    return epsilon_insensitive(rng.normal(size=size), price, float(rng.choice([0.0, 0.3])))


def test_hinge_is_the_price_times_the_margin_error() -> None:
    """Σ price·max(0, 1 − y f), with slack max(0, 1 − y f)."""
    labels, output = np.array([1.0, 1.0, -1.0, -1.0]), np.array([2.0, 0.25, 0.5, -3.0])
    loss = hinge(labels, np.array([1.0, 2.0, 3.0, 4.0]))
    assert loss.value(output) == pytest.approx(2 * 0.75 + 3 * 1.5)
    np.testing.assert_allclose(loss.slack(output), [0.0, 0.75, 1.5, 0.0])


def test_epsilon_insensitive_is_free_inside_the_tube() -> None:
    """Σ price·max(0, |y − f| − ε), with its slack."""
    loss = epsilon_insensitive(np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), 0.5)
    output = np.array([0.4, 2.0, 0.0])
    assert loss.value(output) == pytest.approx(2 * 1.5 + 3 * 0.5)
    np.testing.assert_allclose(loss.slack(output), [0.0, 1.5, 0.5])


@given(SEEDS)
def test_value_is_the_maximum_of_the_dual_form(seed: int) -> None:
    """The loss equals the largest r·(target − f) − ε|r| over the ends of its box and 0."""
    loss = random_loss(seed)
    output = np.random.default_rng(seed + 1).normal(size=loss.n_rows)
    residual = loss.target - output
    ends = np.stack([loss.lower, np.zeros(loss.n_rows), loss.upper])
    best = (ends * residual - loss.epsilon * np.abs(ends)).max(axis=0).sum()
    assert loss.value(output) == pytest.approx(best, abs=1e-12)


@given(SEEDS)
def test_weak_duality(seed: int) -> None:
    """gain(r) − r·f never exceeds the loss of f, for any r in the box."""
    loss = random_loss(seed)
    rng = np.random.default_rng(seed + 2)
    output = rng.normal(size=loss.n_rows)
    response = loss.lower + rng.uniform(size=loss.n_rows) * (loss.upper - loss.lower)
    assert loss.gain(response) - response @ output <= loss.value(output) + 1e-9


@given(SEEDS)
def test_balanced_projection_is_feasible_and_nearest(seed: int) -> None:
    """The projection lies in the box with Σr = 0, and no feasible point is nearer."""
    loss = random_loss(seed)
    rng = np.random.default_rng(seed + 3)
    response = rng.normal(size=loss.n_rows) * 2
    nearest = loss.feasible(response, balanced=True)
    assert np.all(nearest >= loss.lower)
    assert np.all(nearest <= loss.upper)
    assert abs(nearest.sum()) <= 1e-12 * max(1.0, np.abs(nearest).sum())
    for _ in range(5):
        point = loss.lower + rng.uniform(size=loss.n_rows) * (loss.upper - loss.lower)
        other = loss.feasible(point, balanced=True)
        distance = np.linalg.norm(other - response)
        assert distance >= np.linalg.norm(nearest - response) - 1e-9


def test_projection_leaves_a_feasible_response_alone() -> None:
    """A response that is already feasible comes back unchanged."""
    loss = hinge(np.array([1.0, -1.0, 1.0]), np.ones(3))
    response = np.array([0.5, -0.75, 0.25])
    np.testing.assert_array_equal(loss.feasible(response, balanced=True), response)
    np.testing.assert_array_equal(loss.feasible(response, balanced=False), response)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hinge(np.array([0.0, 1.0]), np.ones(2)), "labels must be −1 or 1, got .*0.0"),
        (lambda: hinge(np.ones(2), np.ones(3)), "price must have one entry a row"),
        (lambda: hinge(np.ones(2), np.array([1.0, -2.0])), "not negative, got .*-2.0"),
        (lambda: epsilon_insensitive(np.ones(2), np.ones(2), -1.0), "epsilon must be at least 0"),
    ],
)
def test_bad_losses_are_refused(make: object, message: str) -> None:
    """Labels that are not ±1, wrong or negative prices and a negative tube are named."""
    with pytest.raises(ValueError, match=message):
        make()


@given(SEEDS)
def test_the_empty_loss_is_that_of_the_best_constant(seed: int) -> None:
    """No constant of a fine grid has a smaller loss, and without an offset it is that of 0."""
    loss = random_loss(seed)
    at = [loss.value(np.full(loss.n_rows, c)) for c in np.linspace(-3.0, 3.0, 400)]
    best = loss.empty(offset=True)
    assert best <= min(at) + 1e-4 * (1.0 + abs(min(at)))
    assert loss.empty(offset=False) == loss.value(np.zeros(loss.n_rows)) >= best


@pytest.mark.parametrize(
    "make",
    [
        lambda labels, price: nu_hinge(labels, price, 0.3, balanced=True),
        lambda labels, price: entropic_nu_hinge(labels, price, 0.3, eta=1.0, balanced=False),
        lambda labels, price: nu_insensitive(labels, price, 0.3),
        lambda _, price: one_class(price, 0.3),
    ],
    ids=["nu_hinge", "entropic", "nu_insensitive", "one_class"],
)
def test_a_share_of_nothing_is_refused(make) -> None:
    """ν is a share of the prices: if they are 0 for all rows, the message says so."""
    labels = np.array([1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match=r"nu=0.3 is a share of the prices, which are 0"):
        make(labels, np.zeros(3))
    assert make(labels, np.array([0.0, 1.0, 1.0])).n_rows == 3


def test_rows_that_all_cost_nothing() -> None:
    """A loss without prices is 0 everywhere, and so are its level, slack and feasible response."""
    loss, output = hinge(np.array([1.0, -1.0]), np.zeros(2)), np.array([3.0, 4.0])
    assert loss.value(output) == loss.level(output) == 0.0
    np.testing.assert_array_equal(loss.feasible(output, balanced=True), [0.0, 0.0])
    empty = np.zeros(0)
    u, level = fractional_knapsack(empty, empty, empty, 1.0)
    assert (len(u), level) == (0, 0.0)


def test_prices_beyond_float64_are_refused() -> None:
    """Prices that add up to more than 1e300 are too much, to less not."""
    labels = np.array([1.0, -1.0])
    assert hinge(labels, np.full(2, 0.5e300)).value(np.zeros(2)) == 1e300
    with pytest.raises(ValueError, match=r"at most 1e\+300, got up to 6e\+299 for each of 2 rows"):
        hinge(labels, np.full(2, 0.6e300))


@given(SEEDS)
def test_the_knapsack_is_filled_best(seed: int) -> None:
    """The optimality conditions of max Σ rate·u − ½Σ curvature·u² over the box and its sum."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    rate, cap = rng.normal(size=size), rng.uniform(0.1, 2.0, size)
    curved, at_most = bool(rng.integers(2)), bool(rng.integers(2))
    curvature = rng.uniform(0.1, 2.0, size) if curved else np.zeros(size)
    total = float(rng.uniform(0.02, 0.98) * cap.sum())
    u, level = fractional_knapsack(rate, cap, curvature, total, at_most=at_most)
    assert ((u >= 0) & (u <= cap * (1 + 1e-12))).all()
    slope = rate - curvature * u - level
    assert (slope[u < cap * (1 - 1e-9)] <= 1e-9).all()
    assert (slope[u > 1e-9] >= -1e-9).all()
    if not at_most or level != 0.0:
        assert u.sum() == pytest.approx(total, rel=1e-9)
    if at_most:
        assert level >= -1e-12
        assert u.sum() <= total * (1 + 1e-9)


@given(SEEDS)
def test_projection_on_a_box_and_a_sum(seed: int) -> None:
    """X = clip(values − λ) for one λ, with the sum that is asked for, also near the box's ends."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    lower = rng.uniform(-2.0, 0.0, size)
    upper = lower + rng.uniform(0.1, 3.0, size)
    share = float(rng.choice([1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6]))
    total = float(lower.sum() + share * (upper - lower).sum())
    values = 5.0 * rng.normal(size=size)
    x = project_on_sum(values, lower, upper, total)
    assert x.sum() == pytest.approx(total, abs=1e-9)
    inside = (x > lower + 1e-9) & (x < upper - 1e-9)
    shift = values - x
    at_upper, at_lower = shift[x >= upper - 1e-9], shift[x <= lower + 1e-9]
    highest = min([*shift[inside].tolist(), *at_upper.tolist()], default=np.inf)  # of λ
    lowest = max([*shift[inside].tolist(), *at_lower.tolist()], default=-np.inf)
    assert lowest <= highest + 1e-9


def test_a_sum_that_is_nearly_0_is_made_0() -> None:
    """A balanced response that is off by 1e-12 of its size is moved: bounds need all digits."""
    price = np.ones(4)
    loss = epsilon_insensitive(np.arange(4.0), price, 0.1)
    response = np.array([0.5, -0.5, 0.25, -0.25 + 1e-12])
    made = loss.feasible(response, balanced=True)
    assert abs(made.sum()) <= 1e-15 * np.abs(made).sum()
    np.testing.assert_allclose(made, response, atol=1e-12)


def test_responses_of_a_mass() -> None:
    """Σ|r| is at most ν·P for a tube, and exactly ν·P, half on each side, for a margin."""
    labels, price = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    tube = nu_insensitive(labels, price, 0.25)
    made = tube.feasible(np.array([0.9, -0.3, 0.8, 0.0]), balanced=False)
    assert np.abs(made).sum() == pytest.approx(1.0)
    margin = nu_hinge(labels, price, 0.5, balanced=True)
    made = margin.feasible(np.array([0.9, 0.3, -0.8, -0.7]), balanced=True)
    assert made[:2].sum() == pytest.approx(1.0)
    assert made[2:].sum() == pytest.approx(-1.0)
    alone = nu_hinge(labels, price, 0.5, balanced=False).feasible(0.1 * labels, balanced=False)
    assert np.abs(alone).sum() == pytest.approx(2.0)


@given(SEEDS)
def test_the_best_point_of_a_ray(seed: int) -> None:
    """ray_gain is the largest gain(t·r) − ½t²·quadratic, t in [0, 1]; with an own margin t = 1."""
    rng = np.random.default_rng(seed)
    labels, price = rng.choice([-1.0, 1.0], 5), rng.uniform(0.1, 2.0, 5)
    quadratic, rate = float(rng.uniform(0, 3)), float(rng.choice([-1.0, 0.2, 1.0]))
    for loss in (SquaredHinge().dual_box(labels, price), hinge(labels, price)):
        response = rate * labels * price * rng.uniform(size=5)
        ts = np.linspace(0.0, 1.0, 101)
        gains = [loss.gain(t * response) - 0.5 * t**2 * quadratic for t in ts]
        found = loss.ray_gain(response, quadratic)
        assert max(gains) - 1e-12 <= found <= max(gains) + 1e-3
    own = nu_hinge(labels, price, 0.1, balanced=False)
    assert not own.shrinks
    expected = own.gain(response) - 0.5 * quadratic
    assert own.ray_gain(response, quadratic) == pytest.approx(expected, abs=1e-12)


def test_a_part_of_the_rows_stands_for_all() -> None:
    """Its box is wider by the share that is left out, on both sides."""
    loss = epsilon_insensitive(np.arange(4.0), np.array([1.0, 2.0, 3.0, 4.0]), 0.1)
    part = loss.on_part(np.array([1, 3]))
    np.testing.assert_array_equal(part.lower, [-4.0, -8.0])
    np.testing.assert_array_equal(part.upper, [4.0, 8.0])
    np.testing.assert_array_equal(part.target, [1.0, 3.0])


def test_a_tube_is_never_narrower_than_its_epsilon() -> None:
    """A level below 0 leaves the tube as it is, one above widens it."""
    loss = nu_insensitive(np.arange(3.0), np.ones(3), 0.5)
    assert loss.at_level(-0.5).epsilon == 0.0
    assert loss.at_level(0.5).epsilon == 0.5


def test_quantiles_in_a_gap_are_its_middle_whatever_the_rounding() -> None:
    """Where weights add up to the level, up to rounding, it is the middle of two values."""
    values, weights = np.arange(10.0), np.full(10, 0.1)
    assert weighted_quantile(values, weights, 0.3) == 2.5  # the sum is 0.30000000000000004
    assert weighted_quantile(values, weights, 0.8) == 7.5  # the sum is 0.7999999999999999
    assert weighted_quantile(values, weights, 0.35) == 3.0
    assert weighted_median(values, weights) == 4.5
    assert weighted_quantile(values, weights, 1.0) == 9.0
