"""What free centres are made with: smoothed losses, best coefficients, slopes, starts, ascent."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC, SVR

from cgboost import RBF, Linear, Matern, On, Polynomial
from cgboost.exceptions import UnsupportedLossError
from cgboost.kernels import Kernel, Normalized
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
from cgboost.pricing.centres.coefficients import optimal_coefficients
from cgboost.pricing.centres.free_centre_pricer import ascended
from cgboost.pricing.centres.polishing import means, within_reach
from cgboost.pricing.centres.projection import Projection, features_read
from cgboost.pricing.centres.smoothing import smoothed

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(80, 3)), RNG.normal(size=(6, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=80) > 0, 1.0, -1.0)
F, COST = RNG.normal(scale=2.0, size=80), RNG.uniform(0.5, 3.0, size=80)
K, G, GRAM = RBF(0.3)(X, Z), RBF(0.3)(Z, Z), RBF(0.3)(X, X)
KINKED = [Hinge(), EpsilonInsensitive(0.3), AbsoluteError(), Quantile(0.2)]
SMOOTH = [SquaredHinge(), SquaredError(), Huber(0.7), LogLoss()]


def curved(loss: Loss, width: float | None = 0.4, cost: np.ndarray = COST):
    """The smoothed loss at a cost a row; its box where it has one."""
    can = "dual_box" in loss.abilities
    return smoothed(loss.dual_box(Y, cost) if can else loss.on(Y, cost), width)


@pytest.mark.parametrize("loss", [*KINKED, *SMOOTH], ids=repr)
def test_a_smoothed_loss(loss: Loss) -> None:
    """It is below the loss, by at most ½ h c a row, and a smooth loss stays as it is.

    R = −∂L/∂f and the curvature are those of differences. With majorised curvature the parabola
    L(f) − r·d + ½ Σ w d² lies above it, so that a step to its minimum goes down.
    """
    exact = float(COST @ loss.value(Y, F))
    own, step = curved(loss), 1e-6
    if loss in KINKED:
        assert exact - 0.5 * 0.4 * COST.sum() <= own.value(F) <= exact
        assert curved(loss, 1e-9).value(F) == pytest.approx(exact)
    else:
        width = 1e-12 if isinstance(loss, Huber) else 5.0
        assert curved(loss, width).value(F) == pytest.approx(exact)
    r, bend = own.pseudo_response(F), own.curvature(F)
    for row in range(0, 80, 9):
        shift = step * (np.arange(80) == row)
        slope = (own.value(F + shift) - own.value(F - shift)) / (2 * step)
        assert -r[row] == pytest.approx(slope, abs=1e-7)
        rise = own.pseudo_response(F - shift)[row] - own.pseudo_response(F + shift)[row]
        assert bend[row] == pytest.approx(rise / (2 * step), abs=1e-5)
    bend = own.curvature(F, majorised=True)
    step = np.divide(r, bend, out=np.zeros(80), where=bend > 0)
    assert own.value(F + step) <= own.value(F) - 0.5 * float(r @ step) + 1e-9


def test_costs_of_0_and_margins_of_its_own() -> None:
    """A cost of 0 gives r = 0 and curvature 0, not a division by 0.

    A loss with a margin of its own is smoothed at a level only, with r in the same box.
    """
    own = curved(Hinge(), cost=np.where(Y > 0, COST, 0.0))
    assert not own.pseudo_response(F)[Y < 0].any()
    assert np.isfinite(own.curvature(F, majorised=True)).all()
    loss = nu_hinge(Y, COST, 0.2, balanced=True)
    with pytest.raises(UnsupportedLossError, match="at_level"):
        smoothed(loss)
    r = smoothed(loss.at_level(loss.level(F))).pseudo_response(F)
    assert r.any()
    assert np.all((loss.lower <= r) & (r <= loss.upper))


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 300.0])
@pytest.mark.parametrize(
    "loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.2), SquaredError(), LogLoss()], ids=repr
)
def test_coefficients_are_those_of_a_general_solver(loss: Loss, cost: float, offset: str) -> None:
    """Newton's method reaches the minimum over coefficients and offset, from 0."""
    own = curved(loss, None, np.full(80, cost))
    found = optimal_coefficients(K, G, own, offset=offset, decrease=1e-12)

    def objective(x: np.ndarray) -> float:
        coef, b = x[:-1], x[-1] * (offset != "none")
        penalty = 0.5 * coef @ G @ coef + 0.5 * b**2 * (offset == "penalized")
        return penalty + own.value(K @ coef + b)

    start = np.append(found.coef, found.intercept)
    assert found.objective == pytest.approx(objective(start))
    least = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-9}).fun
    again = minimize(objective, start, method="Powell", options={"xtol": 1e-10}).fun
    assert found.objective <= min(least, again) * (1 + 1e-6) + 1e-9
    assert offset != "none" or found.intercept == 0.0


def test_coefficients_of_special_columns() -> None:
    """The optimum does not depend on the start, and narrow columns give it to their precision.

    A singular Gram matrix is solved with a ridge; without columns the offset alone is fitted.
    """
    loss = curved(SquaredHinge(), None, np.ones(80))
    cold = optimal_coefficients(K, G, loss, decrease=1e-10)
    warm = optimal_coefficients(K, G, loss, start=(cold.coef + 0.1, 0.3), decrease=1e-10)
    assert warm.objective == pytest.approx(cold.objective)
    narrow = optimal_coefficients(K.astype(np.float32), G, loss)
    assert narrow.objective == pytest.approx(cold.objective, rel=1e-4)
    twice = optimal_coefficients(np.hstack([K, K]), np.tile(G, (2, 2)), loss)
    assert twice.objective == pytest.approx(cold.objective, rel=1e-5)
    none = optimal_coefficients(K[:, :0], G[:0, :0], loss)
    assert none.coef.shape == (0,)
    grid = [loss.value(np.full(80, b)) for b in np.linspace(-1, 1, 2001)]
    assert none.objective <= min(grid) + 1e-6


@pytest.mark.parametrize("loss", [Hinge(), SquaredError(), LogLoss()], ids=repr)
@pytest.mark.parametrize(
    "kernels",
    [
        [RBF(0.3)],
        [Normalized(Polynomial(3, coef0=1.0))],
        [RBF(0.3), Normalized(Matern(0.2, nu=2.5)), Polynomial(2)],
    ],
    ids=len,
)
def test_the_gradient_of_variable_projection_is_that_of_differences(
    kernels: list[Kernel], loss: Loss
) -> None:
    """The envelope theorem: ∂v/∂Z with the optimal coefficients held fixed, kernels weighted."""
    projection = Projection(kernels, X, np.linspace(1.0, 2.0, len(kernels)), curved(loss, None))
    centres = [RNG.normal(size=(count, 3)) for count in (4, 3, 0)[: len(kernels)]]
    found = projection.gradient(centres, projection.best(centres, decrease=1e-13))

    def value(p: int, place: tuple[int, int], shift: float) -> float:
        moved = [Z.copy() for Z in centres]
        moved[p][place] += shift
        return projection.best(moved, decrease=1e-13).objective

    for p, own in enumerate(centres):
        assert found[p].shape == own.shape
        for place in np.ndindex(own.shape):
            slope = (value(p, place, 1e-5) - value(p, place, -1e-5)) / 2e-5
            assert found[p][place] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_the_penalty_is_the_norm_in_the_kernels_space() -> None:
    """With all rows as centres v(Z) is the SVM's optimum: ½αᵀKα and the loss, for any α no less."""
    projection = Projection([RBF(0.3)], X, np.ones(1), curved(Hinge(), None))
    best = projection.best([X], decrease=1e-12)
    for _ in range(20):
        coef = best.coef + 0.1 * RNG.normal(size=80)
        output = GRAM @ coef
        other = 0.5 * coef @ output + projection.loss.value(output + best.intercept)
        assert best.objective <= other + 1e-6


# ---------------------------------------------------------------------------- dual ascent


def bound(loss, r: np.ndarray) -> float:
    """The best bound along a pseudo-response."""
    return loss.ray_gain(r, float(r @ GRAM @ r))


@pytest.mark.parametrize(
    ("loss", "peer", "passes"),
    [(Hinge(), SVC, 30), (EpsilonInsensitive(0.1), SVR, 100)],
    ids=["hinge", "tube"],
)
def test_ascent_comes_near_the_optimum_of_scikit_learn(loss: Loss, peer: type, passes: int) -> None:
    """From a start with little of it, passes reach 98 %, and never more than all of it."""
    target = Y if peer is SVC else np.sin(2.0 * X[:, 0])
    box = loss.dual_box(target, np.full(80, 2.0))
    start = box.feasible(2.0 * np.sign(target), balanced=True)
    options = {} if peer is SVC else {"epsilon": 0.1}
    fitted = peer(C=2.0, kernel="precomputed", tol=1e-10, **options).fit(GRAM, target)
    a = np.zeros(80)
    a[fitted.support_] = fitted.dual_coef_[0]
    width = 0.1 if peer is SVR else 0.0
    optimum = float(target @ a - width * np.abs(a).sum() - 0.5 * a @ GRAM @ a)
    found = ascended(GRAM.__matmul__, box, start, balanced=True, passes=passes)
    assert bound(box, start) < 0.6 * optimum
    assert 0.98 * optimum <= bound(box, found) <= optimum * (1 + 1e-9)
    assert abs(found.sum()) <= 1e-12 * np.abs(found).sum()
    assert np.all((box.lower <= found) & (found <= box.upper))


@pytest.mark.parametrize("balanced", [False, True])
def test_the_bound_never_falls(balanced: bool) -> None:
    """More passes give no worse a point; one pass gives the start itself, and 0 stays 0."""
    loss = SquaredHinge().dual_box(Y, np.full(80, 5.0))
    start = loss.feasible(0.3 * Y, balanced=balanced)
    bounds = [
        bound(loss, ascended(GRAM.__matmul__, loss, start, balanced=balanced, passes=passes))
        for passes in (1, 2, 5, 20, 80)
    ]
    assert bounds[0] == bound(loss, start)
    assert np.all(np.diff(bounds) >= 0)
    assert bounds[-1] > 1.05 * bounds[0]
    nothing, loss = np.zeros(80), Hinge().dual_box(Y, np.full(80, 2.0))
    assert ascended(GRAM.__matmul__, loss, nothing, balanced=True, passes=9) is nothing


# ---------------------------------------------------------------------------- starts


def started(rows: np.ndarray, r: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Centres to start with."""
    return means(rows, r, count, np.random.RandomState(seed))


def test_centres_start_as_the_means_of_either_sign() -> None:
    """Two means of the rows with r > 0, then two of those with r < 0, by the size of r.

    No sign gets more centres than rows, what one cannot use the other gets, and without any r there
    are none. With more rows than k-means sees, the choice of rows is the seed's too.
    """
    corners = np.array([[0.0, 0.0], [9.0, 9.0], [0.0, 9.0], [9.0, 0.0]])
    groups = np.repeat(corners, 50, axis=0) + 0.1 * RNG.normal(size=(200, 2))
    found = started(groups, np.repeat([1.0, -1.0], 100), 4)
    assert found.dtype == np.float64
    np.testing.assert_allclose(np.sort(found[:2].sum(axis=1)), [0, 18], atol=0.2)
    np.testing.assert_allclose(found[2:].sum(axis=1), 9.0, atol=0.2)
    rows = np.array([[0.0], [1.0], [50.0], [9.0], [9.0]])
    weighed = started(rows, np.array([1.0, 2.0, 0.0, -1.0, -1.0]), 2)
    np.testing.assert_allclose(weighed, [[2.0 / 3.0], [9.0]])
    found = started(groups, np.where(np.arange(200) < 3, 1.0, -1.0), 10)
    assert len(found) == 10
    np.testing.assert_array_equal(found[:3], groups[:3])
    assert len(started(groups, np.zeros(200), 10)) == 0
    assert len(started(groups[:4], np.array([1.0, 1.0, -1.0, 0.0]), 10)) == 3
    many, r = RNG.normal(size=(2000, 3)), RNG.normal(size=2000)
    np.testing.assert_array_equal(started(many, r, 6, 3), started(many, r, 6, 3))


def test_equal_rows_and_narrow_kernels(recwarn: pytest.WarningsRecorder) -> None:
    """Two different rows of a sign give two means, whatever number is asked for, without a word.

    Of a narrow kernel the mean of two rows is far from both, and becomes a row; of a wide one it
    stays.
    """
    rows = np.repeat([[0.0], [1.0], [5.0], [6.0]], 5, axis=0)
    found = started(rows, np.repeat([1.0, -1.0], 10), 8)
    assert set(found[:, 0].round(9)) == {0.0, 1.0, 5.0, 6.0}
    assert not list(recwarn)
    rows, centres = np.array([[0.0], [2.0], [10.0]]), np.array([[0.9], [10.0]])
    np.testing.assert_array_equal(within_reach(RBF(50.0), rows, centres), [[0.0], [10.0]])
    np.testing.assert_array_equal(within_reach(RBF(0.1), rows, centres), centres)
    assert len(within_reach(RBF(50.0), rows, centres[:0])) == 0


@pytest.mark.parametrize(
    ("kernel", "read"),
    [
        (RBF(0.3), [True] * 4),
        (On(RBF(0.3), [0, 2]), [True, False, True, False]),
        (On(RBF(0.3), 0) + On(Linear(), 3), [True, False, False, True]),
        (Normalized(On(Linear(), 1)), [False, True, False, False]),
        (On(RBF(0.3), 0) + Linear(), [True] * 4),
    ],
    ids=str,
)
def test_the_features_that_a_kernel_reads(kernel: Kernel, read: list[bool]) -> None:
    """Those of all its parts: of a sum on two columns both, all where a part has no columns."""
    assert features_read(kernel.fit(RNG.normal(size=(9, 4))), 4).tolist() == read
