"""Ascent in the pseudo-response, against scikit-learn's optimum."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from cgboost import RBF
from cgboost.losses import EpsilonInsensitive, Hinge, SquaredHinge
from cgboost.pricing.centres.dual_ascent import ascended, n_passes

EXACT = {"kernel": "precomputed", "tol": 1e-10}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
K = RBF(0.3)(X, X)
Y = np.where(X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=150) > 0, 1.0, -1.0)
T = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=150)


def bound(loss, r: np.ndarray) -> float:
    """The best bound along a pseudo-response."""
    return loss.ray_gain(r, float(r @ K @ r))


def test_it_comes_near_the_svms_optimum() -> None:
    """From a start with little of it, thirty passes reach 98 %, and never more than all of it."""
    loss = Hinge().dual_box(Y, np.full(150, 2.0))
    start = loss.feasible(2.0 * Y, balanced=True)
    peer = SVC(C=2.0, **EXACT).fit(K, Y)
    a = np.zeros(150)
    a[peer.support_] = peer.dual_coef_[0]
    optimum = float(np.abs(a).sum() - 0.5 * a @ K @ a)
    found = ascended(K.__matmul__, loss, start, balanced=True, passes=30)
    assert bound(loss, start) < 0.6 * optimum
    assert 0.98 * optimum <= bound(loss, found) <= optimum * (1 + 1e-9)
    assert abs(found.sum()) <= 1e-12 * np.abs(found).sum()
    assert np.all((Y * found >= 0) & (Y * found <= 2.0))


def test_tubes_count_as_they_cost() -> None:
    """With ε-insensitive loss the optimum is SVR's."""
    loss = EpsilonInsensitive(0.1).dual_box(T, np.full(150, 1.0))
    peer = SVR(C=1.0, epsilon=0.1, **EXACT).fit(K, T)
    a = np.zeros(150)
    a[peer.support_] = peer.dual_coef_[0]
    optimum = float(T @ a - 0.1 * np.abs(a).sum() - 0.5 * a @ K @ a)
    start = loss.feasible(np.sign(T), balanced=True)
    found = ascended(K.__matmul__, loss, start, balanced=True, passes=100)
    assert 0.98 * optimum <= bound(loss, found) <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("balanced", [False, True])
def test_the_bound_never_falls(balanced: bool) -> None:
    """More passes give no worse a point; one pass gives the start itself."""
    loss = SquaredHinge().dual_box(Y, np.full(150, 5.0))
    start = loss.feasible(0.3 * Y, balanced=balanced)
    bounds = [
        bound(loss, ascended(K.__matmul__, loss, start, balanced=balanced, passes=passes))
        for passes in (1, 2, 5, 20, 80)
    ]
    assert bounds[0] == bound(loss, start)
    assert np.all(np.diff(bounds) >= 0)
    assert bounds[-1] > 1.05 * bounds[0]


def test_many_rows_have_few_passes() -> None:
    """Thirty passes up to 6000 rows, three for 60000."""
    assert [n_passes(rows) for rows in (0, 100, 6000, 10_000, 60_000)] == [30, 30, 30, 18, 3]


def test_no_response_stays_as_it_is() -> None:
    """Where r is 0, as it is up to rounding for huge kernel values, there is no direction."""
    loss = Hinge().dual_box(Y, np.full(150, 2.0))
    nothing = np.zeros(150)
    assert ascended(K.__matmul__, loss, nothing, balanced=True, passes=9) is nothing
