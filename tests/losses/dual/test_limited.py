"""Losses with limits behind them: relaxations, their duals, and what they tend to."""

from typing import Any

import numpy as np
import pytest

from cgboost.losses import Huber, LogLoss, Loss, Poisson, Quantile, SquaredError
from cgboost.losses.dual.limited import (
    AugmentedLoss,
    LimitedLoss,
    Limits,
    with_penalised_limits,
)

LIMITS = Limits(np.array([0.5, -1.0, 2.0]), np.array([False, True, False]))
MULTIPLIERS = np.array([0.3, -0.7, 0.0])


def drawn(loss: Loss) -> tuple[LimitedLoss, np.ndarray]:
    """A loss on twelve rows with limits, and an output."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=12)
    y = np.where(y > 0, 1.0, -1.0) if loss.classification else np.abs(y)
    return LimitedLoss(loss.on(y, rng.uniform(0.0, 2.0, 12)), LIMITS), 2 * rng.normal(size=15)


@pytest.mark.parametrize("loss", [SquaredError(), Huber(0.5), LogLoss(), Poisson()])
def test_augmented_losses_and_their_gains_meet(loss: Loss) -> None:
    """value(f) + r·f ≥ gain(r) for every feasible r, with equality at the pseudo-response of f."""
    limited, output = drawn(loss)
    augmented = AugmentedLoss(limited, MULTIPLIERS, 3.0)
    response = augmented.pseudo_response(output)
    best = augmented.value(output) + float(response @ output)
    assert augmented.gain(response) == pytest.approx(best, rel=1e-9)
    other = augmented.feasible(response + np.random.default_rng(1).normal(size=15))
    assert augmented.gain(other) <= augmented.value(output) + float(other @ output) + 1e-9


@pytest.mark.parametrize("loss", [SquaredError(), Huber(0.5), LogLoss(), Poisson()])
def test_pseudo_responses_and_curvatures_are_derivatives(loss: Loss) -> None:
    """Differences of the value and of the pseudo-response say so, away from kinks."""
    limited, output = drawn(loss)
    augmented, step = AugmentedLoss(limited, MULTIPLIERS, 3.0), 1e-6
    for i in range(15):
        up, down = output + step * np.eye(15)[i], output - step * np.eye(15)[i]
        slope = (augmented.value(down) - augmented.value(up)) / (2 * step)
        bend = (augmented.pseudo_response(down) - augmented.pseudo_response(up))[i] / (2 * step)
        assert slope == pytest.approx(augmented.pseudo_response(output)[i], rel=1e-5, abs=1e-6)
        assert bend == pytest.approx(augmented.curvature(output)[i], rel=1e-4, abs=1e-4)


def test_the_box_of_an_augmented_loss_differs_by_a_constant() -> None:
    """By |λ|²/2ρ, at every output, with the same pseudo-response."""
    limited, output = drawn(Huber(0.5))
    augmented = AugmentedLoss(limited, MULTIPLIERS, 3.0)
    box: Any = augmented.as_box(limited.on_rows.box)
    constant = float(MULTIPLIERS @ MULTIPLIERS) / 6.0
    for scale in (0.0, 0.3, 1.0):
        ours = augmented.value(scale * output) + constant
        assert box.value(scale * output) == pytest.approx(ours, rel=1e-9)
        response = augmented.pseudo_response(scale * output)
        assert box.gain(response) == pytest.approx(augmented.gain(response) + constant, rel=1e-9)


def test_penalised_limits_cost_their_price() -> None:
    """M times what is beyond limits, of equations on both sides; nothing where limits hold."""
    limited, output = drawn(Quantile(0.3))
    loss = with_penalised_limits(limited.on_rows.box, LIMITS, 7.0)
    beyond = np.abs(LIMITS.excess(output[12:])).sum()
    assert beyond > 0
    assert loss.value(output) == pytest.approx(limited.value(output) + 7.0 * beyond)
    held = np.append(output[:12], [0.5, -1.0, 0.0])
    assert loss.value(held) == pytest.approx(limited.value(held))
