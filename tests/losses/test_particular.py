"""What is particular about some losses, and what a user's own loss needs."""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import special
from scipy.optimize import minimize, minimize_scalar
from scipy.special import xlog1py
from sklearn import metrics

from cgboost import CGBoostRegressor, LPBoostRegressor, SparseLinearRegressor
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import AbsoluteError, Exponential, Huber, Loss, Multinomial, SquaredError
from cgboost.losses.loss import DifferentiableLoss, UnboundedStepError
from cgboost.losses.second_order_model import Quadratic
from cgboost.masters import SupportVectorMaster
from cgboost.penalties import L1
from tests.effort import examples
from tests.losses.cases import SEEDS, target


def test_exponential_step_of_a_classifier_is_half_the_log_odds() -> None:
    """½ log((1 − err)/err) for a column of ±1; a perfect one has no best step."""
    labels, weights = np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    loss, zero = Exponential().on(labels, weights), np.zeros(4)
    column = np.array([1.0, 1.0, 1.0, -1.0])
    assert loss.line_search(zero, column) == pytest.approx(0.5 * np.log(3))
    assert DifferentiableLoss.line_search(loss, zero, column) == pytest.approx(0.5 * np.log(3))
    with pytest.raises(UnboundedStepError):
        loss.line_search(zero, -labels)


def test_huber_is_between_squared_and_absolute_error() -> None:
    """½e² up to δ, a straight line of slope δ beyond; nothing else at the ends of δ."""
    y, weights, zero = np.array([0.5, -1.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    loss = Huber(1.0).on(y, weights)
    assert loss.value(zero) == pytest.approx(0.125 + 2 * 0.5 + 3 * 2.5)
    np.testing.assert_array_equal(loss.pseudo_response(zero), [0.5, -2.0, 3.0])
    np.testing.assert_array_equal(loss.curvature(zero), [1.0, 0.0, 0.0])
    wide, narrow = Huber(100.0).on(y, weights), Huber(1e-9).on(y, weights)
    assert wide.value(zero) == SquaredError().on(y, weights).value(zero)
    assert wide.constant() == pytest.approx(SquaredError().on(y, weights).constant())
    assert narrow.value(zero) / 1e-9 == pytest.approx(AbsoluteError().on(y, weights).value(zero))


@settings(max_examples=examples(20))
@given(SEEDS)
def test_the_multinomial_deviance(seed: int) -> None:
    """Its slopes are those of the value, the value scikit-learn's, and no constant is better."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 15))
    weights = rng.uniform(0.5, 2.0, size) * (np.arange(size) != 1)
    loss = Multinomial(3).on(np.arange(size) % 3, weights)
    f, h = rng.normal(size=loss.shape), rng.normal(size=loss.shape)
    wanted = metrics.log_loss(loss.target, special.softmax(f, axis=1), sample_weight=weights)
    assert loss.value(f) / weights.sum() == pytest.approx(wanted, rel=1e-9)
    slope = (loss.value(f + 1e-5 * h) - loss.value(f - 1e-5 * h)) / 2e-5
    assert np.vdot(loss.pseudo_response(f), h) == pytest.approx(-slope, rel=1e-5, abs=1e-5)
    place = np.zeros(f.shape)
    place.flat[seed % f.size] = 1e-4
    change = loss.pseudo_response(f - place) - loss.pseudo_response(f + place)
    bend = change.flat[seed % f.size] / 2e-4
    assert loss.curvature(f).flat[seed % f.size] == pytest.approx(bend, rel=1e-4, abs=1e-6)
    constant = np.asarray(loss.constant())
    assert constant.sum() == pytest.approx(0.0, abs=1e-12)
    if np.all(np.bincount(loss.target, weights=weights, minlength=3) > 0):
        best = minimize(lambda c: loss.value(np.zeros(f.shape) + c), constant).fun
        assert loss.value(np.zeros(f.shape) + constant) <= best + 1e-9


def test_scores_have_a_column_for_every_class() -> None:
    """Shapes are those of K outputs, CVXPY has the value of each row, large scores are finite."""
    loss, rng = Multinomial(3).on(np.arange(9) % 3, np.ones(9)), np.random.default_rng(1)
    f = rng.normal(size=loss.shape)
    assert (loss.n_outputs, loss.shape, loss.loss) == (3, (9, 3), Multinomial(3))
    rows = loss.loss.to_cvxpy(loss.target, cp.Variable(f.shape, value=f))
    assert rows.is_convex()
    np.testing.assert_allclose(rows.value, loss.loss.value(loss.target, f))
    assert np.isfinite(loss.value(1000.0 * f))
    assert np.isfinite(loss.pseudo_response(1000.0 * f)).all()


def test_a_second_order_model_adds_up_and_changes_its_variables() -> None:
    """Of parts of the rows it is the sum; by other variables it follows the chain rule."""
    rng = np.random.default_rng(0)
    B, y, basis = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(2, 2))

    def squares(B: np.ndarray, y: np.ndarray) -> Quadratic:
        return Quadratic(0.5 * float(y @ y), -(B.T @ y), B.T @ B, float(len(y)))

    both, whole = squares(B[:10], y[:10]).merged(squares(B[10:], y[10:])), squares(B, y)
    for name, value in vars(whole).items():
        np.testing.assert_allclose(getattr(both, name), value, rtol=1e-12)
    found, wanted = whole.along(basis), squares(B @ basis, y)
    np.testing.assert_allclose(found.gradient, wanted.gradient, rtol=1e-12)
    np.testing.assert_allclose(found.hessian, wanted.hessian, rtol=1e-12)


# ---------------------------------------------------------------------- a user's own


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
@settings(max_examples=examples(100))
def test_value_and_gradient_are_enough(seed: int) -> None:
    """Line search and constant follow; other abilities are missing."""
    loss = LogCosh()
    assert loss.abilities == {"value", "gradient", "best_constant"}
    rng = np.random.default_rng(seed)
    y, f, h = target(loss, rng, 9), rng.normal(size=9), rng.normal(size=9)
    bounded = loss.on(y, rng.uniform(0.5, 2.0, 9))
    for start, way, step in (
        (f, h, bounded.line_search(f, h)),
        (np.zeros(9), np.ones(9), bounded.constant()),
    ):
        best = minimize_scalar(lambda c, s=start, w=way: bounded.value(s + c * w), tol=1e-12).fun
        assert bounded.value(start + step * way) <= best + 1e-9
    np.testing.assert_array_equal(bounded.curvature(f), np.zeros(9))
    with pytest.raises(UnsupportedLossError, match="needs to_cvxpy"):
        bounded.to_cvxpy(cp.Variable(9))
    with pytest.raises(UnsupportedLossError, match="needs conjugate"):
        bounded.gain(f)
    with pytest.raises(UnsupportedLossError, match=r"hessian_diag\(\) needs hessian_diag"):
        loss.hessian_diag(y, f)


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


@dataclass(frozen=True)
class Straight(CertifiedLogCosh):
    """Without the Hessian."""

    hessian_diag = Loss.hessian_diag


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


@pytest.mark.parametrize("kind", [SparseLinearRegressor, CGBoostRegressor, LPBoostRegressor])
def test_what_a_certificate_lacks_is_named(kind: Any) -> None:
    """Two methods are missing, or one, or numbers; what cannot take the loss is not recommended."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    with pytest.raises(UnsupportedLossError) as caught:
        kind(loss=LogCosh()).fit(X, y)
    assert f"{kind.__name__} needs hessian_diag and conjugate of a loss" in str(caught.value)
    with pytest.raises(UnsupportedLossError) as caught:
        kind(loss=Straight()).fit(X, y)
    assert f"{kind.__name__} needs hessian_diag of a loss, and" in str(caught.value)
    assert "CGBoostRegressor" not in str(caught.value).partition("It can be used with")[2]
    with pytest.raises(UnsupportedLossError, match=r"Straight\(\) lacks hessian_diag"):
        SupportVectorMaster(Straight().on(y, np.ones(20)), L1())
    with pytest.raises(UnsupportedLossError, match=r"Undefined\(\).conjugate.* nan for y=1, s=-0"):
        Undefined().on(np.ones(3), np.ones(3)).gain(np.zeros(3))
