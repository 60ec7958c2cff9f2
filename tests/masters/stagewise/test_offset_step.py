"""The step along a column together with the change of the constant."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cgboost.losses import Exponential, Huber, LogLoss, SquaredError
from cgboost.losses.loss import DifferentiableLoss
from cgboost.masters.stagewise.stagewise import offset_step

RNG = np.random.default_rng(0)
N_ROWS = 60
H = RNG.normal(size=N_ROWS)
WEIGHTS = RNG.uniform(0.5, 2.0, N_ROWS)
LABELS = np.where(H + RNG.normal(size=N_ROWS) > 0.7, 1.0, -1.0)
TARGET = 2.0 * H + 5.0 + RNG.standard_t(1, N_ROWS)
LOSSES: dict[str, DifferentiableLoss] = {
    "squared_error": SquaredError().on(TARGET, WEIGHTS),
    "huber": Huber(0.5).on(TARGET, WEIGHTS),
    "narrow huber": Huber(1e-3).on(TARGET, WEIGHTS),  # bent at one row or so
    "exponential": Exponential().on(LABELS, WEIGHTS),
    "log_loss": LogLoss().on(LABELS, WEIGHTS),
}


@pytest.mark.parametrize("scale", [1.0, -1e4])
@pytest.mark.parametrize("name", LOSSES)
def test_both_are_the_best(name: str, scale: float) -> None:
    """From any f, and of a column with any unit and offset: r·h = 0 and Σr = 0."""
    loss, values = LOSSES[name], scale * (H + 3.0)
    for output in (np.zeros(N_ROWS), 0.3 * RNG.normal(size=N_ROWS)):
        step, shift = offset_step(loss, output, values, np.inf)
        response = loss.pseudo_response(output + step * values + shift)
        sizes = np.abs(response)
        assert abs(response.sum()) <= 1e-9 * sizes.sum()
        assert abs(response @ values) <= 1e-9 * (sizes @ np.abs(values))


@pytest.mark.parametrize("most", [0.01, 0.3, 1.0, 2.5, 4.0])
@pytest.mark.parametrize("name", LOSSES)
def test_bounds_are_kept_and_nothing_within_them_is_lower(name: str, most: float) -> None:
    """Against SciPy's method for problems with linear constraints."""
    loss, output = LOSSES[name], 0.3 * RNG.normal(size=N_ROWS)
    step, shift = offset_step(loss, output, H, most)
    change = step * H + shift
    assert np.abs(change).max() <= most * (1.0 + 1e-12)
    found = loss.value(output + change)
    assert found < loss.value(output)
    ends = np.array([H.min(), H.max()])
    sides = [
        {"type": "ineq", "fun": lambda v, s=s: most - s * (v[0] * ends + v[1])} for s in (1.0, -1.0)
    ]
    best = minimize(
        lambda v: loss.value(output + v[0] * H + v[1]), np.zeros(2), constraints=sides, tol=1e-10
    )
    assert found <= best.fun + 1e-7 * abs(best.fun)


def test_a_loss_without_a_minimum_is_followed_far_down() -> None:
    """One of two cells is without error: it goes to the bound, the other to its own best value."""
    cell = np.repeat([0.0, 1.0], 20)
    loss = LogLoss().on(np.where(cell == 1.0, 1.0, np.tile([-1.0, 1.0], 20)), np.ones(40))
    output = np.full(40, loss.constant())
    step, shift = offset_step(loss, output, cell, 2.0)
    np.testing.assert_allclose(output[0] + shift, 0.0, atol=1e-9)
    assert step + shift == pytest.approx(2.0, abs=1e-12)
    step, shift = offset_step(loss, output, cell, np.inf)
    np.testing.assert_allclose(output[0] + shift, 0.0, atol=1e-9)
    assert 5.0 < step + shift < np.inf


def test_a_constant_column_moves_the_constant() -> None:
    """Step and change together are the best constant."""
    loss = LOSSES["log_loss"]
    step, shift = offset_step(loss, np.zeros(N_ROWS), np.full(N_ROWS, 4.0), np.inf)
    assert 4.0 * step + shift == pytest.approx(loss.constant())
