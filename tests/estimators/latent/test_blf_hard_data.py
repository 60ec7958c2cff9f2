"""Boosted Latent Factors with data that end early."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cgboost import (
    RBF,
    BLFClassifier,
    BLFRegressor,
    Linear,
)
from tests.estimators.latent.latent_data import (
    CLASSES,
    LOSSES,
    REGRESSION,
    data_of,
    exact,
    model_of,
    noisy_line,
    outputs,
    overlapping,
)


@pytest.mark.parametrize("kernel", [None, Linear()], ids=["features", "kernel"])
@pytest.mark.parametrize("loss", LOSSES)
def test_more_factors_than_the_rank_end_early(loss: str, kernel: Any) -> None:
    """At the rank: optimal with full refits; exhausted after single steps, and with kernels."""
    X, y = data_of(loss)
    X = np.hstack([X[:, :3], X[:, :3] @ np.ones((3, 2)), np.full((len(y), 1), 0.1)])
    full = exact(loss, 20, kernel=kernel).fit(X, y)
    best = "optimal" if kernel is None else "exhausted"
    assert (full.n_components_, full.stop_reason_) == (3, best)
    steps = model_of(loss, 20, kernel=kernel).fit(X, y)
    stepwise = loss in CLASSES  # one damped Newton step is the default
    assert (steps.n_components_, steps.stop_reason_) == (3, "exhausted" if stepwise else best)
    assert (steps.objective_ > full.objective_ * (1 + 1e-6)) == stepwise


def test_a_line_search_takes_the_intercept_along() -> None:
    """One feature, one factor: with the constant a single step reaches the full model."""
    X, y = overlapping()
    alone = BLFClassifier(3, refit=False).fit(X[:, :1], y)
    refitted = BLFClassifier(3, newton_steps=None, newton_damping=0.0).fit(X[:, :1], y)
    assert alone.n_components_ == refitted.n_components_ == 1
    assert alone.objective_ == pytest.approx(refitted.objective_, rel=1e-9)


def test_wide_data_end_with_the_rows() -> None:
    """With more features than rows the last residual is 0: optimal, interpolating."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 200)), rng.normal(size=15)
    model = BLFRegressor(50).fit(X, y)
    assert model.stop_reason_ == "optimal"
    assert model.n_components_ <= 14
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


@pytest.mark.parametrize("kernel", [None, RBF(0.1), Linear()], ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_constant_features_leave_the_constant(loss: str, kernel: Any, value: float) -> None:
    """No factor: the model is the best constant, transforms to nothing and has no importance."""
    _, y = data_of(loss)
    X = np.full((len(y), 3), value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_of(loss, 2, kernel=kernel).fit(X, y)
        assert np.ptp(outputs(model, X)) == 0.0
        assert len(list(model.staged_predict(X))) == 1
    assert (model.n_components_, model.transform(X).shape) == (0, (len(y), 0))
    assert len(model.get_feature_names_out()) == 0
    assert kernel is not None or not model.vip_.any()


def test_a_constant_response_needs_no_factor() -> None:
    """The residual is 0 at once: optimal."""
    X, _ = noisy_line()
    for loss in REGRESSION:
        model = BLFRegressor(2, loss=loss).fit(X - X.mean(axis=0), np.full(len(X), 0.3))
        assert (model.n_components_, model.stop_reason_) == (0, "optimal")
        np.testing.assert_allclose(model.predict(X), 0.3, atol=0.1)


def separable() -> tuple[np.ndarray, np.ndarray]:
    """Two classes far apart."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 3)) + 8.0 * y[:, None], y


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("kernel", [None, RBF(0.01)], ids=["features", "kernel"])
@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_are_called_unbounded(loss: str, kernel: Any, count: int) -> None:
    """Full refits have no optimum: the run says so, in finite numbers and without a warning."""
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = exact(loss, count, kernel=kernel).fit(X, y)
        assert np.isfinite(model.predict_proba(1e3 * X)).all()
    assert model.stop_reason_ == "unbounded"
    assert model.n_components_ == 1
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("loss", CLASSES)
def test_separable_classes_are_fitted_by_single_steps(loss: str, refit: bool) -> None:
    """One damped Newton step a factor, or one line search, stays finite and classifies."""
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BLFClassifier(10, loss=loss, refit=refit).fit(X, y)
    assert np.abs(model.coef_).max() < 1e4
    assert model.score(X, y) == 1.0
    assert model.n_components_ <= 3


@pytest.mark.parametrize("loss", CLASSES)
def test_classes_of_one_row(loss: str) -> None:
    """They are fitted."""
    X, _ = noisy_line(10)
    y = np.repeat([0, 1], [9, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BLFClassifier(2, loss=loss).fit(X, y).n_components_ == 2


def test_responses_of_any_size() -> None:
    """10⁻¹² or 10¹² times y give as many times the coefficients, for losses without a scale."""
    X, y = noisy_line()
    for loss in ("squared_error", "absolute_error"):
        expected = BLFRegressor(6, loss=loss).fit(X, y).coef_
        for size in (1e-12, 1e12):
            model = BLFRegressor(6, loss=loss).fit(X, size * y)
            np.testing.assert_allclose(model.coef_, size * expected, rtol=1e-6)
            assert model.n_components_ == 6
    reference = LinearRegression().fit(X, y).coef_
    np.testing.assert_allclose(BLFRegressor(6).fit(X, y).coef_, reference, atol=1e-9)
