"""Optimal coefficients of given columns, against a general solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cgboost import RBF
from cgboost.losses import EpsilonInsensitive, Hinge, LogLoss, SquaredError, SquaredHinge
from cgboost.pricing.centres.coefficients import optimal_coefficients
from cgboost.pricing.centres.smoothing import smoothed

RNG = np.random.default_rng(1)
X, Z = RNG.normal(size=(80, 3)), RNG.normal(size=(6, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=80) > 1.0, 1.0, -1.0)
K, G = RBF(0.3)(X, Z), RBF(0.3)(Z, Z)


def losses():
    """Smoothed losses of large and small cost, of all kinds."""
    for cost in (0.01, 1.0, 300.0):
        weights = np.full(80, cost)
        for loss in (Hinge(), SquaredHinge(), EpsilonInsensitive(0.2), SquaredError()):
            yield pytest.param(smoothed(loss.dual_box(Y, weights)), id=f"{loss!r}, {cost}")
        yield pytest.param(smoothed(LogLoss().on(Y, weights)), id=f"log loss, {cost}")


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", list(losses()))
def test_the_optimum_is_that_of_a_general_solver(loss, offset: str) -> None:
    """Newton's method reaches the minimum over coefficients and offset, from 0."""
    found = optimal_coefficients(K, G, loss, offset=offset, decrease=1e-12)

    def objective(x: np.ndarray) -> float:
        coef, b = x[:-1], x[-1] * (offset != "none")
        penalty = 0.5 * coef @ G @ coef + 0.5 * b**2 * (offset == "penalized")
        return penalty + loss.value(K @ coef + b)

    start = np.append(found.coef, found.intercept)
    assert found.objective == pytest.approx(objective(start))
    least = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-9}).fun
    again = minimize(objective, start, method="Powell", options={"xtol": 1e-10}).fun
    assert found.objective <= min(least, again) * (1 + 1e-6) + 1e-9
    if offset == "none":
        assert found.intercept == 0.0


def test_a_start_nearby_gives_the_same_in_float32() -> None:
    """The optimum does not depend on the start, and narrow columns give it to their precision."""
    loss = smoothed(Hinge().dual_box(Y, np.ones(80)))
    cold = optimal_coefficients(K, G, loss, decrease=1e-10)
    warm = optimal_coefficients(K, G, loss, start=(cold.coef + 0.1, 0.3), decrease=1e-10)
    narrow = optimal_coefficients(K.astype(np.float32), G, loss)
    assert warm.objective == pytest.approx(cold.objective)
    assert narrow.objective == pytest.approx(cold.objective, rel=1e-4)


def test_equal_columns_and_no_columns_have_an_optimum() -> None:
    """A singular Gram matrix is solved with a ridge; without columns the offset alone is fitted."""
    loss = smoothed(SquaredHinge().dual_box(Y, np.ones(80)))
    once = optimal_coefficients(K, G, loss)
    twice = optimal_coefficients(np.hstack([K, K]), np.tile(G, (2, 2)), loss)
    assert twice.objective == pytest.approx(once.objective, rel=1e-5)
    none = optimal_coefficients(K[:, :0], G[:0, :0], loss)
    assert none.coef.shape == (0,)
    grid = [loss.value(np.full(80, b)) for b in np.linspace(-1, 1, 2001)]
    assert none.objective <= min(grid) + 1e-6
