"""The expectile loss, a loss of residuals with a conjugate and no dual box."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import expectile

from cgboost import BLFRegressor, SparseLinearRegressor
from cgboost.losses import Expectile


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_the_best_constant_is_the_expectile(alpha: float) -> None:
    """That of SciPy, with weights for copies; the mean for 0.5."""
    rng = np.random.default_rng(0)
    y, counts = rng.exponential(size=50), rng.integers(1, 4, size=50)
    own = Expectile(alpha).best_constant(y, counts.astype(float))
    assert own == pytest.approx(expectile(np.repeat(y, counts), alpha=alpha), rel=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_sparse_models_of_expectiles_are_proven(unit: float) -> None:
    """Objective and bound are CVXPY's optimum, in any unit of y."""
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(80, 5)), rng.uniform(0.5, 2.0, size=80)
    y = 2.0 * X[:, 0] + rng.exponential(size=80) + 100.0
    loss = Expectile(0.8)
    fitted = SparseLinearRegressor(loss=loss, alpha=0.1 * unit)
    fitted.fit(X, unit * y, sample_weight=weights)
    coef, constant = cp.Variable(5), cp.Variable()
    errors = loss.to_cvxpy(y, X @ coef + constant)
    objective = (weights / weights.sum()) @ errors + 0.1 * cp.norm1(coef)
    optimum = cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    assert fitted.objective_ / unit**2 == pytest.approx(optimum, rel=1e-7)
    assert fitted.dual_bound_ / unit**2 == pytest.approx(optimum, rel=1e-4)


def test_latent_factors_take_the_expectile_by_name() -> None:
    """``alpha`` beside the name is that of the loss, as it is for quantiles."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.exponential(size=60)
    named = BLFRegressor(2, loss="expectile", alpha=0.9).fit(X, y).predict(X)
    np.testing.assert_array_equal(named, BLFRegressor(2, loss=Expectile(0.9)).fit(X, y).predict(X))
