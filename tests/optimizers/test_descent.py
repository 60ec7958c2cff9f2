"""Newton's method from values, gradients and Hessians alone."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cgboost.losses import Huber, LogLoss, Loss, Poisson, Quantile, SquaredError
from cgboost.losses.loss import DifferentiableLoss
from cgboost.losses.second_order_model import Quadratic
from cgboost.optimizers.refits.descent import (
    descended,
    descended_at_kinks,
    least_in_box,
    newton,
)
from tests.effort import examples

RNG = np.random.default_rng(1)
H = np.column_stack([np.ones(80), RNG.normal(size=(80, 3))])
WEIGHTS = RNG.uniform(0.5, 2.0, 80)
SCORES = H @ np.array([0.2, 1.0, -0.5, 0.0]) + RNG.normal(size=80)
LOSSES: dict[str, DifferentiableLoss] = {
    "log_loss": LogLoss().on(np.where(SCORES > 0, 1.0, -1.0), WEIGHTS),
    "huber": Huber(20.0).on(50.0 * SCORES, WEIGHTS),
    "poisson": Poisson().on(RNG.poisson(np.exp(SCORES)).astype(float), WEIGHTS),
}


def surface_of(loss: DifferentiableLoss, columns: np.ndarray) -> Callable[[np.ndarray], Quadratic]:
    """The loss of coefficients, with the weights as its curvature where it has none."""

    def surface(point: np.ndarray) -> Quadratic:
        f = columns @ point
        curvature = loss.curvature(f) if loss.curvature(f).any() else WEIGHTS
        hessian = (columns * curvature[:, None]).T @ columns
        return Quadratic(loss.value(f), -(columns.T @ loss.pseudo_response(f)), hessian)

    return surface


@pytest.mark.parametrize("start", [0.0, 3.0])
@pytest.mark.parametrize("name", LOSSES)
def test_the_end_is_the_least(name: str, start: float) -> None:
    """No gradient is left, also from far away and where full steps go too far."""
    loss = LOSSES[name]

    found, here = descended(surface_of(loss, H), np.full(4, start), newton)
    sizes = np.abs(H).T @ np.abs(loss.pseudo_response(H @ found))
    assert (np.abs(here.gradient) <= 1e-7 * sizes).all()
    best = minimize(lambda c: loss.value(H @ c), np.zeros(4), tol=1e-10)
    assert here.value <= best.fun + 1e-9 * abs(best.fun)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("loss", [Huber(1.0), Quantile(0.3)])
def test_the_least_is_found_from_far_away(loss: Loss, size: float) -> None:
    """Targets a million times their spread away, in any unit: as near as their rounding allows."""
    scaled, factor = loss.in_units(1.0 / size) or (loss, 1.0)
    surface = surface_of(scaled.on(size * (SCORES + 1e6), WEIGHTS), np.ones((80, 1)))
    smooth = isinstance(loss, Huber)
    way = partial(descended, model=newton) if smooth else descended_at_kinks
    _, here = way(surface, np.zeros(1))
    best = loss.on(SCORES, WEIGHTS)
    wanted = best.value(np.full(80, best.constant()))
    assert factor * here.value == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("loss", [SquaredError(), Huber(1.0)])
@pytest.mark.parametrize("far", [0.0, 1e6, 1e9, 1e12])
def test_far_targets_take_no_more_points(loss: Loss, far: float) -> None:
    """Where the rounding of outputs is all that is left of a gradient, there is nothing to do.

    Targets of 1e12 have four digits after the point, and so has the least.
    """
    asked, columns = [], H @ np.diag([1.0, 1.0, 0.1, 3.0])
    surface = surface_of(loss.on(SCORES + far, WEIGHTS), columns)
    found, here = descended(
        lambda at: asked.append(1) or surface(at), np.array([far, 0.0, 0.0, 0.0]), newton
    )
    near = surface_of(loss.on(SCORES, WEIGHTS), columns)
    best, least = descended(near, np.zeros(4), newton)
    assert len(asked) <= 80
    assert here.value == pytest.approx(least.value, rel=1e-9 + 1e-15 * far)
    np.testing.assert_allclose(found[1:], best[1:], atol=1e-9 + 1e-15 * far)


def test_separable_labels_and_dependent_columns() -> None:
    """F grows until the loss is as small as was asked; a singular Hessian is no obstacle."""
    loss = LogLoss().on(np.where(H[:, 1] > 0, 1.0, -1.0), WEIGHTS)
    _, here = descended(surface_of(loss, H), np.zeros(4), newton, 1e-3)
    assert 0.0 < here.value <= 1e-3
    twice = SquaredError().on(3.0 + 2.0 * H[:, 1], np.ones(80))
    found, here = descended(surface_of(twice, H[:, [0, 1, 1]]), np.zeros(3), newton)
    np.testing.assert_allclose([found[0], found[1] + found[2]], [3.0, 2.0], rtol=1e-12)
    assert here.value < 1e-20


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6))
def test_a_quadratic_in_a_box(seed: int) -> None:
    """No point of a grid over the box is lower."""
    rng = np.random.default_rng(seed)
    root, gradient = rng.normal(size=(2, 2)), rng.normal(size=2)
    hessian, low, high = root @ root.T, -rng.uniform(0, 1, 2), rng.uniform(0, 1, 2)

    def value(d: np.ndarray) -> float:
        return float(0.5 * d @ hessian @ d - gradient @ d)

    found = least_in_box(hessian, gradient, low, high)
    assert ((low <= found) & (found <= high)).all()
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 101).T), axis=-1).reshape(-1, 2)
    values = 0.5 * np.einsum("ki,ij,kj->k", grid, hessian, grid) - grid @ gradient
    assert value(found) <= values.min() + 1e-12


@pytest.mark.parametrize("most", [np.inf, 0.5])
def test_losses_with_kinks_fall_along_no_axis(most: float) -> None:
    """Nor along any of many other directions, where they are not bounded by the box."""
    loss = Quantile(0.3).on(SCORES, WEIGHTS)
    found, here = descended_at_kinks(surface_of(loss, H[:, :2]), np.zeros(2), most)
    assert (np.abs(found) <= most * (1.0 + 1e-12)).all()
    grid = np.linspace(-min(most, 3.0), min(most, 3.0), 61)
    best = min(loss.value(H[:, :2] @ np.array([a, b])) for a in grid for b in grid)
    assert here.value <= best * 1.005
    assert here.value == pytest.approx(loss.value(H[:, :2] @ found))
