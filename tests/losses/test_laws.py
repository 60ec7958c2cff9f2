"""What every loss promises: derivatives, conjugate, box, CVXPY, and to be a value."""

import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlog1py
from sklearn.base import clone

from cgboost import AnyBoostRegressor, CGBoostRegressor, LPBoostRegressor, SparseLinearRegressor
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import Hinge, Huber, LogLoss, Loss, Multinomial, Poisson, SquaredError
from cgboost.masters import SupportVectorMaster
from cgboost.penalties import L1
from tests.effort import examples
from tests.losses.cases import BOXED, CURVED, LOSSES, SEEDS, bound, target

ALL = pytest.mark.parametrize("loss", LOSSES, ids=str)


@ALL
@given(seed=SEEDS)
def test_the_gradient_is_the_slope_of_the_value(loss: Loss, seed: int) -> None:
    """Of every row, by central differences; f is away from kinks."""
    bounded, f, _ = bound(loss, seed)
    y, step = bounded.target, 1e-6
    slope = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, f), slope, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        bounded.pseudo_response(f), -bounded.weights * loss.gradient(y, f), rtol=1e-12
    )


@pytest.mark.parametrize("loss", CURVED, ids=str)
@given(seed=SEEDS)
def test_the_hessian_is_the_slope_of_the_gradient(loss: Loss, seed: int) -> None:
    """Of every row, by central differences; f is away from kinks of the gradient."""
    bounded, f, _ = bound(loss, seed)
    y, step = bounded.target, 1e-6
    slope = (loss.gradient(y, f + step) - loss.gradient(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.hessian_diag(y, f), slope, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(bounded.curvature(f), bounded.weights * loss.hessian_diag(y, f))


@ALL
@given(seed=SEEDS)
def test_the_gradient_is_a_subgradient(loss: Loss, seed: int) -> None:
    """ℓ(g) ≥ ℓ(f) + s·(g − f) for every row, at kinks too; losses are not negative."""
    bounded, f, rng = bound(loss, seed)
    y = bounded.target
    kink = y if not isinstance(loss, Poisson) else np.log1p(y)
    for here in (f, kink, np.zeros(len(y))):
        value, slope = loss.value(y, here), loss.gradient(y, here)
        assert np.all(value >= 0.0)
        other = here + rng.normal(size=len(y)) * rng.choice([1e-3, 1.0, 10.0])
        lower = value + slope * (other - here)
        assert np.all(loss.value(y, other) >= lower - 1e-9 * (1.0 + np.abs(lower)))


@ALL
@given(seed=SEEDS)
def test_fenchel_young(loss: Loss, seed: int) -> None:
    """gain(r) ≤ L(f) + r·f for every r made feasible, with equality for the pseudo-response."""
    bounded, f, rng = bound(loss, seed)
    response = bounded.pseudo_response(f)
    upper = bounded.value(f) + response @ f
    assert bounded.gain(response) == pytest.approx(upper, rel=1e-8, abs=1e-8)
    for balanced in (False, True):
        wild = rng.normal(size=len(f)) * rng.choice([0.1, 1.0, 10.0])
        feasible = bounded.feasible(wild, balanced=balanced)
        assert feasible[1] == 0.0
        gain, scale = bounded.gain(feasible), 1.0 + np.abs(feasible) @ np.abs(f)
        assert np.isfinite(gain)
        assert gain <= bounded.value(f) + feasible @ f + 1e-8 * scale
        if balanced:
            assert abs(feasible.sum()) <= 1e-9 * max(1.0, np.abs(feasible).sum())
    np.testing.assert_allclose(bounded.feasible(response), response, rtol=1e-12)


@ALL
def test_what_is_infeasible_gains_nothing(loss: Loss) -> None:
    """−inf for a response in a row of weight 0, and for one beyond the domain."""
    bounded, f, _ = bound(loss, 3)
    response = bounded.pseudo_response(f)
    response[1] = 0.1
    assert bounded.gain(response) == -np.inf
    lower, upper = loss.domain(bounded.target)
    for ends, sign in ((lower, 1.0), (upper, -1.0)):
        beyond = bounded.feasible(np.zeros(len(f)))
        finite = np.flatnonzero(np.isfinite(ends) & (bounded.weights > 0))
        if finite.size:
            beyond[finite[0]] = bounded.weights[finite[0]] * (sign - ends[finite[0]])
            assert bounded.gain(beyond) == -np.inf


@ALL
@settings(max_examples=examples(10))
@given(seed=SEEDS)
def test_the_conjugate_is_the_supremum(loss: Loss, seed: int) -> None:
    """ℓ*(y, s) = sup_f s·f − ℓ(y, f) by brute force, for slopes inside the domain."""
    bounded, f, _ = bound(loss, seed)
    y = bounded.target[:1]
    slope = 0.9 * loss.gradient(y, f[:1]) + 0.1 * loss.gradient(y, -f[:1])
    slope = np.clip(slope, *loss.domain(y))  # without rounding

    def missing(output: float) -> float:
        here = np.array([output])
        return float((loss.value(y, here) - slope * here)[0])

    brute = -minimize_scalar(missing, bracket=(-1.0, 1.0), tol=1e-12).fun
    corners = -min(missing(c) for c in _kinks(loss, float(y[0])))
    assert loss.conjugate(y, slope)[0] == pytest.approx(max(brute, corners), rel=1e-6, abs=1e-6)


def _kinks(loss: Loss, y: float) -> list[float]:
    epsilon = getattr(loss, "epsilon", 0.0)
    return [y - epsilon, y, y + epsilon, 0.0, -1.0, 1.0]


@ALL
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_no_constant_is_better(loss: Loss, seed: int) -> None:
    """The best constant has a loss that a numerical search does not undercut."""
    bounded, _, rng = bound(loss, seed)
    ones = np.ones(bounded.n_rows)
    best = bounded.value(bounded.constant() * ones)
    if len(np.unique(bounded.target[bounded.weights > 0])) == 1 and not loss.attains_minimum:
        return  # of one class: no constant is best
    others = [
        *bounded.target,
        *rng.normal(size=20),
        *(bounded.constant() + np.array([-1e-4, 1e-4])),
    ]
    assert best <= min(bounded.value(c * ones) for c in others) + 1e-9 * max(1.0, best)


@ALL
@settings(max_examples=examples(30))
@given(seed=SEEDS)
def test_no_step_is_better_than_the_line_search(loss: Loss, seed: int) -> None:
    """Along a direction that leads up on both sides in the end."""
    bounded, f, rng = bound(loss, seed)
    h = rng.choice([-1.0, 1.0], len(f)) * rng.uniform(0.5, 2.0, len(f))
    h[[0, 2]] = [1.0, -1.0] if loss.classification else h[[0, 2]]  # both labels are −1
    step = bounded.line_search(f, h)
    best = minimize_scalar(lambda c: bounded.value(f + c * h), tol=1e-12).fun
    assert bounded.value(f + step * h) <= best + 1e-8 * max(1.0, abs(best))


@pytest.mark.parametrize("loss", BOXED, ids=str)
@given(seed=SEEDS)
def test_the_dual_box_is_the_loss(loss: Loss, seed: int) -> None:
    """Value and gain of the box are those of the weighted loss."""
    bounded, f, rng = bound(loss, seed)
    box = bounded.box
    assert box.value(f) == pytest.approx(bounded.value(f), rel=1e-9, abs=1e-12)
    response = bounded.feasible(rng.normal(size=len(f)))
    np.testing.assert_allclose(box.feasible(response, balanced=False), response)
    assert box.gain(response) == pytest.approx(bounded.gain(response), rel=1e-9, abs=1e-9)


@ALL
@settings(max_examples=examples(10))
@given(seed=SEEDS)
def test_cvxpy_evaluates_to_the_value(loss: Loss, seed: int) -> None:
    """Row by row and summed up, and CVXPY finds it convex."""
    bounded, f, _ = bound(loss, seed)
    variable = cp.Variable(len(f), value=f)
    rows = loss.to_cvxpy(bounded.target, variable)
    assert rows.shape == f.shape
    assert rows.is_convex()
    np.testing.assert_allclose(rows.value, loss.value(bounded.target, f), rtol=1e-9, atol=1e-9)
    total = bounded.to_cvxpy(variable)
    assert total.is_convex()
    assert float(total.value) == pytest.approx(bounded.value(f))


@ALL
def test_a_loss_is_a_value(loss: Loss) -> None:
    """It compares, hashes, pickles, clones, prints as it is made, and cannot be changed."""
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert clone(AnyBoostRegressor(loss=loss)).get_params()["loss"] == loss
    assert eval(repr(loss), {type(loss).__name__: type(loss)}) == loss
    assert len({loss, pickle.loads(pickle.dumps(loss))}) == 1
    assert [other for other in LOSSES if other == loss] == [loss]
    with pytest.raises(FrozenInstanceError):
        loss.delta = 3.0  # type: ignore[attr-defined]


@ALL
@given(seed=SEEDS, size=st.floats(1.0, 1e3))
def test_large_outputs_stay_finite(loss: Loss, seed: int, size: float) -> None:
    """Value, gradient and Hessian at |f| up to 1000 are numbers."""
    bounded, f, _ = bound(loss, seed)
    for output in (size * np.sign(f), -size * np.sign(f)):
        assert np.isfinite(bounded.value(output))
        assert np.isfinite(bounded.pseudo_response(output)).all()
        assert np.isfinite(bounded.curvature(output)).all()


@ALL
def test_a_bound_loss_pickles(loss: Loss) -> None:
    """With its data: executors send masters to other processes."""
    bounded, f, _ = bound(loss, 5)
    bounded.pseudo_response(f)
    again = pickle.loads(pickle.dumps(bounded))
    assert again.loss == loss
    assert again.value(f) == bounded.value(f)
    assert repr(bounded) == f"{loss!r}.on({len(f)} rows)"


def test_targets_and_weights_are_checked() -> None:
    """Labels are ±1, counts not negative, weights one a row and not negative."""
    with pytest.raises(ValueError, match="labels must be −1 or 1, got"):
        LogLoss().on(np.array([0.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match="labels must be −1 or 1, got"):
        Hinge().dual_box(np.array([0.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match="y must not be negative for the Poisson loss, got"):
        Poisson().on(np.array([-1.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match=r"one entry a row: shape \(2,\) for \(3,\)"):
        SquaredError().on(np.zeros(3), np.ones(2))
    with pytest.raises(ValueError, match="price must be finite and not negative"):
        Huber().dual_box(np.zeros(2), np.array([1.0, -1.0]))


def test_what_a_loss_cannot_do_is_said() -> None:
    """The error has the ability, the loss, what it has, and who can take it."""
    with pytest.raises(UnsupportedLossError) as caught:
        LogLoss().dual_box(np.ones(2), np.ones(2))
    assert "dual_box() needs dual_box of a loss, and LogLoss() has best_constant" in str(
        caught.value
    )
    assert "ConvexMaster, StagewiseMaster" in str(caught.value)
    assert "OneNormMaster" not in str(caught.value)
    with pytest.raises(UnsupportedLossError, match=r"hessian_diag\(\) needs hessian_diag"):
        Hinge().hessian_diag(np.ones(2), np.ones(2))
    with pytest.raises(UnsupportedLossError, match="needs conjugate"):
        Multinomial(3).conjugate(np.ones(2), np.ones(2))


@dataclass(frozen=True)
class LogCosh(Loss):
    """log cosh(y − f), a user's loss with the two methods that are needed."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Stable for large residuals."""
        return np.logaddexp(f - y, y - f) - np.log(2.0)

    def gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """tanh(f − y)."""
        return np.tanh(f - y)


@given(SEEDS)
def test_value_and_gradient_are_enough(seed: int) -> None:
    """Line search and constant follow; other abilities are missing."""
    loss = LogCosh()
    assert loss.abilities == {"value", "gradient", "best_constant"}
    rng = np.random.default_rng(seed)
    y, f, h = target(loss, rng, 9), rng.normal(size=9), rng.normal(size=9)
    bounded = loss.on(y, rng.uniform(0.5, 2.0, 9))
    step, constant = bounded.line_search(f, h), bounded.constant()
    best = minimize_scalar(lambda c: bounded.value(f + c * h), tol=1e-12).fun
    assert bounded.value(f + step * h) <= best + 1e-9
    best = minimize_scalar(lambda c: bounded.value(np.full(9, c)), tol=1e-12).fun
    assert bounded.value(np.full(9, constant)) <= best + 1e-9
    np.testing.assert_array_equal(bounded.curvature(f), np.zeros(9))
    with pytest.raises(UnsupportedLossError, match="needs to_cvxpy"):
        bounded.to_cvxpy(cp.Variable(9))
    with pytest.raises(UnsupportedLossError, match="needs conjugate"):
        bounded.gain(f)


@dataclass(frozen=True)
class CertifiedLogCosh(LogCosh):
    """With what a certificate needs, but without a domain: log cosh has the slopes −1 to 1."""

    def hessian_diag(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """1 − tanh²."""
        return 1.0 - np.tanh(f - y) ** 2

    def conjugate(self, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        """½(1 + s) log(1 + s) + ½(1 − s) log(1 − s) + s y, inf beyond the slopes."""
        inside = np.clip(s, -1.0, 1.0)
        value = 0.5 * (xlog1py(1.0 + inside, inside) + xlog1py(1.0 - inside, -inside)) + s * y
        return np.where(np.abs(s) <= 1.0, value, np.inf)


@dataclass(frozen=True)
class Undefined(CertifiedLogCosh):
    """Its conjugate is no number for any slope."""

    def conjugate(self, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Nowhere."""
        return np.full(len(y), np.nan)


def test_a_conjugate_without_a_domain_certifies() -> None:
    """Every slope counts by default; the optimum is CVXPY's, and the bound reaches it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), rng.normal(size=40)
    model = SparseLinearRegressor(loss=CertifiedLogCosh(), alpha=0.1).fit(X, y)
    w, b = cp.Variable(4), cp.Variable()
    e = X @ w + b - y
    loss = cp.sum(cp.logistic(2 * e) - e) / 40 - np.log(2.0)
    least = cp.Problem(cp.Minimize(loss + 0.1 * cp.norm1(w))).solve(solver="CLARABEL")
    assert model.converged_
    assert model.objective_ == pytest.approx(least, rel=1e-6)
    assert model.dual_bound_ == pytest.approx(least, rel=2e-6)


def test_a_conjugate_that_is_no_number_is_refused_by_name() -> None:
    """The error has the loss, the slope, and what to return there."""
    bounded = Undefined().on(np.ones(3), np.ones(3))
    with pytest.raises(UnsupportedLossError, match=r"Undefined\(\).conjugate.* nan for y=1, s=-0"):
        bounded.gain(np.zeros(3))


@pytest.mark.parametrize("kind", [SparseLinearRegressor, CGBoostRegressor, LPBoostRegressor])
def test_what_a_certificate_lacks_is_named(kind: Any) -> None:
    """Two methods are missing, or one; what cannot take the loss is not recommended."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    with pytest.raises(UnsupportedLossError) as caught:
        kind(loss=LogCosh()).fit(X, y)
    assert f"{kind.__name__} needs hessian_diag and conjugate of a loss" in str(caught.value)

    @dataclass(frozen=True)
    class Straight(CertifiedLogCosh):
        hessian_diag = Loss.hessian_diag

    with pytest.raises(UnsupportedLossError) as caught:
        kind(loss=Straight()).fit(X, y)
    assert f"{kind.__name__} needs hessian_diag of a loss, and" in str(caught.value)
    assert "CGBoostRegressor" not in str(caught.value).partition("It can be used with")[2]
    with pytest.raises(UnsupportedLossError, match=r"Straight\(\) lacks hessian_diag"):
        SupportVectorMaster(Straight().on(y, np.ones(20)), L1())
