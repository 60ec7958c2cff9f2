"""A loss with a penalty on the variance of the output."""

import numpy as np
import pytest

from cgboost.losses import AbsoluteError, Huber, LogLoss, SquaredError
from cgboost.losses.base import DifferentiableLoss
from cgboost.optimizers.refits.ridged import RidgedLoss

RNG = np.random.default_rng(0)
WEIGHTS = RNG.uniform(0.1, 3.0, 30)
TARGET, OUTPUT = RNG.normal(size=30), RNG.normal(size=30)
LOSSES = {
    "squared": SquaredError().on(TARGET, WEIGHTS),
    "huber": Huber(0.5).on(TARGET, WEIGHTS),
    "absolute": AbsoluteError().on(TARGET, WEIGHTS),
    "log": LogLoss().on(np.sign(TARGET), WEIGHTS),
}


@pytest.mark.parametrize("name", LOSSES)
def test_value_is_loss_and_variance(name: str) -> None:
    """½λ Σ w (f − f̄)² on top, which a constant does not pay."""
    ridged = RidgedLoss(LOSSES[name], 0.7)
    mean = np.average(OUTPUT, weights=WEIGHTS)
    penalty = 0.35 * WEIGHTS @ (OUTPUT - mean) ** 2
    assert ridged.value(OUTPUT) == pytest.approx(LOSSES[name].value(OUTPUT) + penalty)
    assert ridged.value(np.ones(30)) == pytest.approx(LOSSES[name].value(np.ones(30)))
    assert ridged.constant() == LOSSES[name].constant()


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_value(name: str) -> None:
    """Slopes along random columns, and the matrix of second derivatives, by differences."""
    ridged, D = RidgedLoss(LOSSES[name], 0.7), np.column_stack([np.ones(30), RNG.normal(size=30)])
    step = 1e-5

    def slopes(f: np.ndarray) -> np.ndarray:
        return -(D.T @ ridged.pseudo_response(f))

    by_value = [
        (ridged.value(OUTPUT + step * d) - ridged.value(OUTPUT - step * d)) / (2 * step)
        for d in D.T
    ]
    np.testing.assert_allclose(slopes(OUTPUT), by_value, rtol=1e-6)
    if name != "absolute":
        by_slopes = [
            (slopes(OUTPUT + step * d) - slopes(OUTPUT - step * d)) / (2 * step) for d in D.T
        ]
        np.testing.assert_allclose(ridged.hessian(OUTPUT, D), by_slopes, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_a_line_search_finds_the_least(name: str) -> None:
    """Also where the loss alone is piecewise linear."""
    ridged: DifferentiableLoss = RidgedLoss(LOSSES[name], 0.3)
    direction = RNG.normal(size=30)
    step = ridged.line_search(OUTPUT, direction)
    least = ridged.value(OUTPUT + step * direction)
    for other in (step - 1e-4, step + 1e-4):
        assert least <= ridged.value(OUTPUT + other * direction)
