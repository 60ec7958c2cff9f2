"""Losses against their definition, and the projection on which every bound rests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.losses import (
    SupportVectorLoss,
    entropic_nu_hinge,
    epsilon_insensitive,
    hinge,
    nu_hinge,
    nu_insensitive,
)
from cgboost.losses.dual.support_vector import fractional_knapsack, one_class

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
