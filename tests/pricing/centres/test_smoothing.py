"""Smoothed losses: their values, derivatives and parabolas."""

import numpy as np
import pytest

from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Quantile,
    SquaredError,
    SquaredHinge,
    nu_hinge,
)
from cgboost.pricing.centres.smoothing import smoothed

RNG = np.random.default_rng(0)
Y, F = np.repeat([-1.0, 1.0], 30), RNG.normal(scale=2.0, size=60)
COST = RNG.uniform(0.5, 3.0, size=60)
KINKED = [Hinge(), EpsilonInsensitive(0.3), AbsoluteError(), Quantile(0.2)]
SMOOTH = [SquaredHinge(), SquaredError(), Huber(0.7), LogLoss()]


def curved(loss: Loss, width: float = 0.4):
    """The smoothed loss at a cost a row; its box where it has one."""
    can = "dual_box" in loss.abilities
    return smoothed(loss.dual_box(Y, COST) if can else loss.on(Y, COST), width)


@pytest.mark.parametrize("loss", KINKED, ids=repr)
def test_smoothing_takes_at_most_half_the_width(loss: Loss) -> None:
    """The smoothed loss is below the loss, by at most ½ h c a row."""
    exact, width = float(COST @ loss.value(Y, F)), 0.4
    value = curved(loss, width).value(F)
    assert exact - 0.5 * width * COST.sum() <= value <= exact
    assert curved(loss, 1e-9).value(F) == pytest.approx(exact)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_smooth_losses_stay_as_they_are(loss: Loss) -> None:
    """A loss with a quadratic term or two derivatives has its own value, whatever the width."""
    if isinstance(loss, Huber):
        assert curved(loss, 1e-12).value(F) == pytest.approx(float(COST @ loss.value(Y, F)))
    else:
        assert curved(loss, 5.0).value(F) == pytest.approx(float(COST @ loss.value(Y, F)))


@pytest.mark.parametrize("loss", [*KINKED, *SMOOTH], ids=repr)
def test_derivatives_are_those_of_differences(loss: Loss) -> None:
    """R = −∂L/∂f and the curvature ∂²L/∂f² of every row, where the smoothed loss has both."""
    own, step = curved(loss), 1e-6
    r, bend = own.pseudo_response(F), own.curvature(F)
    for row in range(0, 60, 7):
        shift = step * (np.arange(60) == row)
        slope = (own.value(F + shift) - own.value(F - shift)) / (2 * step)
        assert -r[row] == pytest.approx(slope, abs=1e-7)
        rise = own.pseudo_response(F - shift)[row] - own.pseudo_response(F + shift)[row]
        assert bend[row] == pytest.approx(rise / (2 * step), abs=1e-5)


@pytest.mark.parametrize("loss", [*KINKED, *SMOOTH], ids=repr)
def test_majorised_parabolas_lie_above(loss: Loss) -> None:
    """L(f + d) ≤ L(f) − r·d + ½ Σ w d² with majorised curvature, so that its minimum is lower."""
    own = curved(loss)
    r, bend = own.pseudo_response(F), own.curvature(F, majorised=True)
    step = np.divide(r, bend, out=np.zeros(60), where=bend > 0)
    assert own.value(F + step) <= own.value(F) - 0.5 * float(r @ step) + 1e-9


def test_a_row_without_weight_does_not_count() -> None:
    """A cost of 0 gives r = 0 and curvature 0, not a division by 0."""
    own = smoothed(Hinge().dual_box(Y, np.where(Y > 0, COST, 0.0)))
    assert not own.pseudo_response(F)[Y < 0].any()
    assert np.isfinite(own.curvature(F, majorised=True)).all()


def test_a_margin_of_its_own_needs_a_level() -> None:
    """Only at a level it has a smoothed loss, whose pseudo-response is in the same box."""
    loss = nu_hinge(Y, COST, 0.2, balanced=True)
    with pytest.raises(UnsupportedLossError, match="at_level"):
        smoothed(loss)
    r = smoothed(loss.at_level(loss.level(F))).pseudo_response(F)
    assert r.any()
    assert np.all((loss.lower <= r) & (r <= loss.upper))
