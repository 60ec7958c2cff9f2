"""Piecewise linear losses against brute force over their kinks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.losses import AbsoluteError, EpsilonInsensitive, Quantile
from cgboost.losses.dual.piecewise import PiecewiseLinearLoss
from cgboost.losses.dual.support_vector import SupportVectorLoss, weighted_median
from cgboost.losses.loss import UnboundedStepError
from tests.effort import examples

SEEDS = st.integers(0, 10**6)
NAMES = ["absolute_error", "epsilon_insensitive", "quantile"]


def made(name: str, seed: int) -> PiecewiseLinearLoss:
    """A loss with ties between responses, and weights of 0."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 12))
    target = rng.integers(-4, 5, size) * 0.5 if seed % 2 else rng.normal(size=size)
    weights = rng.integers(0, 3, size) * rng.choice([1e-6, 1.0, 1e6])
    weights[rng.integers(size)] = 1.0
    makers = {
        "absolute_error": lambda: AbsoluteError().on(target, weights),
        "epsilon_insensitive": lambda: EpsilonInsensitive(0.5 * (seed % 3)).on(target, weights),
        "quantile": lambda: Quantile([0.1, 0.5, 0.75][seed % 3]).on(target, weights),
    }
    return makers[name]()


def kinks(loss: PiecewiseLinearLoss, f: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The steps c at which y − f − ch is ±ε for some row, and 0."""
    moving = h != 0
    residual, epsilon = (loss.target - f)[moving], loss.box.epsilon
    ends = [(residual + side * epsilon) / h[moving] for side in (-1, 0, 1)]
    return np.concatenate([[0.0], *ends])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_no_kink_is_better(name: str, seed: int) -> None:
    """Than the step and the constant found; along nothing the best step is 0."""
    loss, rng = made(name, seed), np.random.default_rng(seed)
    f = rng.normal(size=loss.n_rows)
    h = rng.choice([-1.0, 0.0, 0.5, 2.0], loss.n_rows) * rng.uniform(0.5, 2.0)
    step = loss.line_search(f, h)
    best = min(loss.value(f + c * h) for c in kinks(loss, f, h))
    assert loss.value(f + step * h) <= best + 1e-12 * max(1.0, best)
    zero, ones = np.zeros(loss.n_rows), np.ones(loss.n_rows)
    best = min(loss.value(c * ones) for c in kinks(loss, zero, ones))
    assert loss.value(loss.constant() * ones) <= best + 1e-12 * max(1.0, best)
    assert loss.line_search(f, zero) == 0.0
    np.testing.assert_array_equal(loss.curvature(f), zero)


@settings(max_examples=examples(60))
@given(SEEDS)
def test_constants_are_quantiles(seed: int) -> None:
    """The weighted median for the absolute error, NumPy's quantile (between two) for α."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    y, weights = rng.normal(size=size), rng.uniform(0.5, 2.0, size)
    assert AbsoluteError().on(y, weights).constant() == pytest.approx(weighted_median(y, weights))
    assert AbsoluteError().on(y, np.ones(size)).constant() == pytest.approx(np.median(y))
    alpha = float(rng.uniform(0.05, 0.95))
    middle = np.quantile(y, alpha, method="averaged_inverted_cdf")
    assert Quantile(alpha).on(y, np.ones(size)).constant() == pytest.approx(middle)


def test_a_loss_that_only_falls_has_no_best_step() -> None:
    """With a price for one side alone a step may go on without end, in either direction."""

    class Falling(Quantile):
        def dual_box(self, y: np.ndarray, cost: np.ndarray) -> SupportVectorLoss:
            return SupportVectorLoss(y, lower=cost, upper=2.0 * cost)

    loss = Falling().on(np.zeros(2), np.ones(2))
    for sign in (1.0, -1.0):
        with pytest.raises(UnboundedStepError, match="falls without end"):
            loss.line_search(np.zeros(2), sign * np.ones(2))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(100))
@given(seed=SEEDS)
def test_rounding_at_a_kink_does_not_count(name: str, seed: int) -> None:
    """An output on kinks and one that is 10⁻¹⁴ away from it have one pseudo-response, not ±w."""
    loss, rng = made(name, seed), np.random.default_rng(seed)
    side = rng.integers(-1, 2, loss.n_rows)
    kink = loss.target + side * loss.box.epsilon
    f = np.where(rng.uniform(size=loss.n_rows) < 0.5, kink, rng.normal(size=loss.n_rows))
    sizes = np.abs(loss.target) + np.abs(f)
    near = f + 1e-14 * rng.uniform(-1, 1, loss.n_rows) * sizes
    at_kink = loss.pseudo_response(kink)
    np.testing.assert_array_equal(loss.pseudo_response(near), loss.pseudo_response(f))
    assert not at_kink[side == 0].any()


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_what_counts_as_rounding_has_no_scale(size: float, shift: float) -> None:
    """Residuals of 10⁻⁶ of the spread of y keep their signs, beside one outlier of 10¹²."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=50) + shift
    y[7] = 1e12
    signs = np.where(rng.uniform(size=50) < 0.5, -1.0, 1.0)
    signs[7] = 0.0
    loss = AbsoluteError().on(size * y, np.ones(50))
    output = size * (y - 1e-6 * signs)
    np.testing.assert_array_equal(loss.pseudo_response(output), signs)
