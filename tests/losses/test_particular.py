"""The multinomial deviance: derivatives, constant, CVXPY."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from cgboost.losses import Multinomial, WeightedLoss
from tests.effort import examples
from tests.losses.cases import SEEDS


def made(seed: int) -> tuple[WeightedLoss, np.ndarray, np.ndarray]:
    """Three classes with a row of weight 0, scores, and a direction."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 15))
    weights = rng.uniform(0.5, 2.0, size) * (np.arange(size) != 1)
    loss = Multinomial(3).on(np.arange(size) % 3, weights)
    return loss, rng.normal(size=loss.shape), rng.normal(size=loss.shape)


@settings(max_examples=examples(20))
@given(SEEDS)
def test_derivatives_are_those_of_the_value(seed: int) -> None:
    """The pseudo-response is minus the gradient and the curvature the diagonal of the Hessian."""
    loss, f, h = made(seed)
    slope = (loss.value(f + 1e-5 * h) - loss.value(f - 1e-5 * h)) / 2e-5
    assert np.vdot(loss.pseudo_response(f), h) == pytest.approx(-slope, rel=1e-5, abs=1e-5)
    place = np.zeros(f.shape)
    place.flat[seed % f.size] = 1e-4
    change = loss.pseudo_response(f - place) - loss.pseudo_response(f + place)
    bend = change.flat[seed % f.size] / 2e-4
    assert loss.curvature(f).flat[seed % f.size] == pytest.approx(bend, rel=1e-4, abs=1e-6)


@settings(max_examples=examples(20))
@given(SEEDS)
def test_no_constant_is_better(seed: int) -> None:
    """The logarithms of the shares are the best constants; their sum is 0."""
    loss, f, _ = made(seed)
    constant = np.asarray(loss.constant())
    assert constant.sum() == pytest.approx(0.0, abs=1e-12)
    if np.all(np.bincount(loss.target.astype(int), weights=loss.weights, minlength=3) > 0):
        best = minimize(lambda c: loss.value(np.zeros(f.shape) + c), constant).fun
        assert loss.value(np.zeros(f.shape) + constant) <= best + 1e-9


def test_cvxpy_evaluates_to_the_value() -> None:
    """Row by row, and CVXPY finds it convex."""
    loss, f, _ = made(7)
    variable = cp.Variable(f.shape, value=f)
    rows = loss.loss.to_cvxpy(loss.target, variable)
    assert rows.is_convex()
    np.testing.assert_allclose(rows.value, loss.loss.value(loss.target, f))


def test_scores_have_a_column_for_every_class() -> None:
    """Shapes are those of K outputs; other class numbers are refused; large scores are finite."""
    loss, f, _ = made(1)
    assert loss.n_outputs == 3
    assert loss.shape == f.shape
    assert np.isfinite(loss.value(1000.0 * f))
    assert np.isfinite(loss.pseudo_response(1000.0 * f)).all()
    assert loss.loss == Multinomial(3)
    with pytest.raises(ValueError, match="class numbers from 0 to 2, got 3"):
        Multinomial(3).on(np.array([0, 3]), np.ones(2))
