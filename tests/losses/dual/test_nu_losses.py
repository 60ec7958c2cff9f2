"""Losses that choose a level, and the entropic one, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from cgboost.losses import (
    SupportVectorLoss,
    entropic_nu_hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
    nu_insensitive,
    one_class,
)

SEEDS = st.integers(0, 10**6)
NU = 0.37


def data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of both signs, prices, outputs."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 20))
    labels = np.where(np.arange(size) % 2, 1.0, -1.0)
    return labels, rng.uniform(0.8, 1.2, size), rng.normal(size=size)


def least(function: object) -> float:
    """Minimum over one number, which lies within ±10."""
    return float(minimize_scalar(function, bounds=(-10, 10), options={"xatol": 1e-10}).fun)


@given(SEEDS)
def test_values_are_the_minima_over_the_level(seed: int) -> None:
    """ν-hinge, ν-tube and one-class loss are what their docstrings say, minimised over ρ or ε."""
    labels, price, f = data(seed)
    total = price.sum()
    margins = labels * f

    def hinge_at(rho: float) -> float:
        return price @ np.maximum(0, rho - margins) - NU * total * rho

    def tube_at(width: float) -> float:
        width = abs(width)
        return price @ np.maximum(0, np.abs(labels - f) - width) + NU * total * width

    def one_class_at(rho: float) -> float:
        return price @ np.maximum(0, rho - f) - NU * total * rho

    expected = [
        (nu_hinge(labels, price, NU, balanced=False), hinge_at, -1.0),
        (nu_insensitive(labels, price, NU), tube_at, 1.0),
        (one_class(price, NU), one_class_at, -1.0),
    ]
    for loss, at_level, sign in expected:
        assert loss.value(f) == pytest.approx(least(at_level), abs=1e-6)
        assert at_level(sign * loss.level(f)) == pytest.approx(loss.value(f), abs=1e-9)


@given(SEEDS)
def test_margin_losses_are_their_formulas(seed: int) -> None:
    """MD-Boost's squares and NM-Boost's shortfall, each from its definition."""
    labels, price, f = data(seed)
    margins = labels * f
    squares = margin_distribution(labels, price).value(f)
    assert squares == pytest.approx(price @ (1 - margins) ** 2 / 2)
    shortfall = negative_margin(labels, price, margin=0.2, trade_off=0.7).value(f)
    expected = price @ (np.maximum(0, 0.2 - margins) + 0.7 * (0.2 - margins))
    assert shortfall == pytest.approx(expected)


@given(SEEDS, st.booleans())
def test_weak_duality_with_a_mass(seed: int, balanced: bool) -> None:
    """Every r from feasible() is feasible and gives a lower bound gain(r) − r·f on the loss."""
    labels, price, f = data(seed)
    noise = np.random.default_rng(seed + 1).normal(size=len(f))
    losses: list[SupportVectorLoss] = [
        nu_hinge(labels, price, NU, balanced=balanced),
        nu_hinge(labels, price, NU, balanced=balanced, smoothing=0.5),
        nu_insensitive(labels, price, NU),
        margin_distribution(labels, price),
        negative_margin(labels, price, margin=0.2, trade_off=0.0),
        entropic_nu_hinge(labels, price, NU, eta=3.0, balanced=balanced),
    ]
    for loss in losses:
        r = loss.feasible(noise, balanced=balanced)
        assert np.all((r >= loss.lower - 1e-12) & (r <= loss.upper + 1e-12))
        if loss.mass is not None:
            mass = np.abs(r).sum()
            assert mass <= loss.mass.amount * (1 + 1e-9)
            assert loss.mass.at_most or mass == pytest.approx(loss.mass.amount)
        if balanced:
            assert abs(r.sum()) <= 1e-9 * max(1.0, np.abs(r).sum())
        assert loss.gain(r) - r @ f <= loss.value(f) + 1e-9


@given(SEEDS, st.sampled_from([0.5, 5.0, 500.0]))
def test_entropic_weights_are_the_maximiser(seed: int, eta: float) -> None:
    """The weights are feasible, and F is their dual value: the two sides of duality meet."""
    labels, price, f = data(seed)
    loss = entropic_nu_hinge(labels, price, NU, eta=eta, balanced=False)
    u = loss.weights(loss.variables.rate(f))
    assert np.all((u >= 0) & (u <= loss.variables.cap * (1 + 1e-12)))
    assert u.sum() == pytest.approx(loss.mass.amount, rel=1e-9)
    r = loss.variables.response(u)
    assert loss.gain(r) - r @ f == pytest.approx(loss.value(f), rel=1e-9, abs=1e-9)
    assert loss.value(f) <= nu_hinge(labels, price, NU, balanced=False).value(f) + 1e-9


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.5, float("nan")])
def test_bad_nu_is_refused(nu: float) -> None:
    """ν must be in (0, 1]."""
    with pytest.raises(ValueError, match=r"nu must be in \(0, 1\], got"):
        one_class(np.ones(3), nu)


@pytest.mark.parametrize("loss", ["hinge", "tube"])
def test_at_its_best_level_the_loss_is_the_same(loss: str) -> None:
    """L(f) = L at the level + what the level costs, and at any other level it is no less."""
    rng = np.random.default_rng(4)
    labels, price = np.where(rng.normal(size=40) > 0, 1.0, -1.0), rng.uniform(0.5, 2.0, size=40)
    output = rng.normal(size=40)
    own = nu_hinge(labels, price, 0.3, balanced=True)
    if loss == "tube":
        own = nu_insensitive(labels + rng.normal(size=40), price, 0.3)
    assert own.mass is not None
    level = own.level(output)

    def value(at: float) -> float:
        return own.at_level(at).value(output) + at * own.mass.amount

    assert value(level) == pytest.approx(own.value(output), rel=1e-12)
    assert all(value(level + shift) >= value(level) - 1e-12 for shift in (-0.05, 0.05))
