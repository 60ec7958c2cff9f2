"""Differentiable losses against finite differences and brute-force minimisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from cgboost.losses import AbsoluteError, Exponential, Huber, LogLoss, Multinomial, SquaredError
from cgboost.losses.differentiable import DifferentiableLoss, UnboundedStepError

SEEDS = st.integers(0, 10**6)
NAMES = ["squared_error", "absolute_error", "huber", "exponential", "log_loss", "multinomial"]


def made(name: str, seed: int) -> tuple[DifferentiableLoss, np.ndarray, np.ndarray]:
    """A loss with some weights of 0, an output and a direction."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 15))
    weights = rng.uniform(0.5, 2.0, size) * (np.arange(size) != 1)
    labels = np.where(np.arange(size) % 2, 1.0, -1.0)
    loss: DifferentiableLoss = {
        "squared_error": lambda: SquaredError().on(rng.normal(size=size), weights),
        "absolute_error": lambda: AbsoluteError().on(rng.normal(size=size), weights),
        "huber": lambda: Huber(0.7).on(rng.normal(size=size), weights),
        "exponential": lambda: Exponential().on(labels, weights),
        "log_loss": lambda: LogLoss().on(labels, weights),
        "multinomial": lambda: Multinomial(3).on(np.arange(size) % 3, weights),
    }[name]()
    return loss, rng.normal(size=loss.shape), rng.normal(size=loss.shape)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(seed=SEEDS)
def test_derivatives_are_those_of_the_value(name: str, seed: int) -> None:
    """The pseudo-response is minus the gradient and the curvature the diagonal of the Hessian."""
    loss, f, h = made(name, seed)
    step = 1e-5
    ahead, behind = loss.value(f + step * h), loss.value(f - step * h)
    slope = (ahead - behind) / (2 * step)
    assert np.vdot(loss.pseudo_response(f), h) == pytest.approx(-slope, rel=1e-5, abs=1e-5)
    place = np.zeros(f.shape)
    place.flat[seed % f.size] = 1e-4
    response = loss.pseudo_response(f - place) - loss.pseudo_response(f + place)
    bend = float(response.flat[seed % f.size]) / 2e-4
    if name != "absolute_error":
        assert loss.curvature(f).flat[seed % f.size] == pytest.approx(bend, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(seed=SEEDS)
def test_line_search_and_constant_are_minima(name: str, seed: int) -> None:
    """No step along the direction, and no constant, is better."""
    loss, f, h = made(name, seed)
    try:
        step = loss.line_search(f, h)
    except UnboundedStepError:
        assert loss.value(f + 1e6 * h) < loss.value(f) or loss.value(f - 1e6 * h) < loss.value(f)
        return
    best = minimize_scalar(lambda c: loss.value(f + c * h), tol=1e-12).fun
    assert loss.value(f + step * h) <= best + 1e-9 * max(1.0, abs(best))
    constant = np.zeros(loss.shape) + loss.constant()
    if len(np.unique(loss.target[loss.weights > 0])) == 1 and name in ("exponential", "log_loss"):
        return  # of one class: the best constant is infinite
    best = minimize(
        lambda c: loss.value(np.zeros(loss.shape) + c),
        np.atleast_1d(loss.constant()),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12},
    ).fun
    assert loss.value(constant) <= best + 1e-5 * max(1.0, abs(best))


@pytest.mark.parametrize("name", NAMES)
def test_large_outputs_stay_finite(name: str) -> None:
    """At |f| = 1000 value, pseudo-response and curvature are numbers."""
    loss, f, _ = made(name, 5)
    for output in (1000.0 * np.sign(f), -1000.0 * np.sign(f)):
        assert np.isfinite(loss.value(output))
        assert np.isfinite(loss.pseudo_response(output)).all()
        assert np.isfinite(loss.curvature(output)).all()


def test_exponential_step_of_a_classifier_is_half_the_log_odds() -> None:
    """½ log((1 − err)/err) for a column of ±1; a perfect one has no best step."""
    labels, weights = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    loss, zero = Exponential().on(labels, weights), np.zeros(4)
    column = np.array([1.0, 1.0, 1.0, -1.0])
    assert loss.line_search(zero, column) == pytest.approx(0.5 * np.log(3))
    assert DifferentiableLoss.line_search(loss, zero, column) == pytest.approx(0.5 * np.log(3))
    with pytest.raises(UnboundedStepError):
        loss.line_search(zero, -labels)


def test_huber_is_between_squared_and_absolute_error() -> None:
    """½e² up to δ, a straight line of slope δ beyond; nothing else at the ends of δ."""
    y, weights, zero = np.array([0.5, -1.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    loss = Huber(1.0).on(y, weights)
    assert loss.value(zero) == pytest.approx(0.125 + 2 * 0.5 + 3 * 2.5)
    np.testing.assert_array_equal(loss.pseudo_response(zero), [0.5, -2.0, 3.0])
    np.testing.assert_array_equal(loss.curvature(zero), [1.0, 0.0, 0.0])
    wide, narrow = Huber(100.0).on(y, weights), Huber(1e-9).on(y, weights)
    assert wide.value(zero) == SquaredError().on(y, weights).value(zero)
    assert wide.constant() == pytest.approx(SquaredError().on(y, weights).constant())
    assert narrow.value(zero) / 1e-9 == pytest.approx(AbsoluteError().on(y, weights).value(zero))


@pytest.mark.parametrize("delta", [0.0, -1.0, float("nan")])
def test_huber_has_a_positive_delta(delta: float) -> None:
    """Anything else is refused with its value."""
    with pytest.raises(ValueError, match=f"delta must be positive, got {delta}"):
        Huber(delta).on(np.zeros(2), np.ones(2))


def test_shapes_are_checked() -> None:
    """Weights must have one entry a row."""
    with pytest.raises(ValueError, match=r"one entry a row: shape \(2,\) for \(3,\)"):
        SquaredError().on(np.zeros(3), np.ones(2))
    with pytest.raises(ValueError, match="labels must be −1 or 1"):
        LogLoss().on(np.array([0.0, 1.0]), np.ones(2))
