"""Periodic kernels: their formula, whole periods, and dense rows alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import ExpSineSquared

from cgboost import CGBoostRegressor, KernelLibrary, Periodic
from cgboost.exceptions import KernelError
from tests.kernels.conformance import check_kernel

X = np.random.default_rng(0).normal(size=(12, 1))


def test_it_conforms() -> None:
    """Values, sums and prices agree with the formula, which is scikit-learn's."""
    kernel = Periodic(1.3, 40.0)
    check_kernel(kernel, lambda A, B: np.exp(-2 * np.sin(np.pi * cdist(A, B) / 40.0) ** 2 / 1.3**2))
    expected = ExpSineSquared(1.3, 40.0)(X)
    np.testing.assert_allclose(kernel(X, X), expected, rtol=1e-12)


def test_whole_periods_change_nothing() -> None:
    """Rows that are many periods apart are the same, in large numbers too."""
    kernel = Periodic(0.5, periodicity=7.0)
    days = 738_000.0 + np.arange(7.0)[:, None]
    np.testing.assert_allclose(kernel(days, days + 7.0 * 52), kernel(days, days), atol=1e-9)


def test_a_season_is_learned() -> None:
    """A model of one period predicts the next ones."""
    t = np.linspace(0.0, 12.0, 120)[:, None]
    y = np.sin(t[:, 0]) + 0.5 * np.cos(3 * t[:, 0])
    library = KernelLibrary({"season": Periodic(0.7, periodicity=2 * np.pi)})
    model = CGBoostRegressor(library, C=100.0, epsilon=0.01).fit(t, y)
    assert model.converged_
    later = t + 4 * np.pi
    assert np.abs(model.predict(later) - y).max() < 0.05


@pytest.mark.parametrize("name", ["length_scale", "periodicity"])
def test_errors(name: str) -> None:
    """A bad parameter is named; sparse rows are refused by name."""
    with pytest.raises(ValueError, match=f"{name} must be a positive number, got 0.0"):
        Periodic(**{name: 0.0})
    with pytest.raises(KernelError, match=r"Periodic\(.*needs dense rows"):
        Periodic()(sp.csr_array(X), sp.csr_array(X))
