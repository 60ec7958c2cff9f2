"""Scaled features and responses, and how much of X each factor explains."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import PLSRegression
from sklearn.preprocessing import StandardScaler

from cgboost import RBF, BLFClassifier, BLFRegressor
from cgboost.inspection import contributions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6)) * [1.0, 30.0, 0.01, 5.0, 2.0, 0.0] + [5.0, 300.0, 0.0, 1.0, -2.0, 3.3]
Y = np.column_stack([X[:, 0] + 0.1 * X[:, 1], X[:, 1], 40 * X[:, 2] + X[:, 4]])
Y += RNG.normal(size=Y.shape) * [1.0, 20.0, 0.1]


@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one response", "three"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_squared_errors_are_partial_least_squares_of_scaled_columns(y: Any, form: Any) -> None:
    """As scikit-learn's, whose power iterations need a small tolerance; in the units of X and y."""
    model = BLFRegressor(3, scale=True).fit(form(X), y)
    wanted = PLSRegression(3, scale=True, tol=1e-30, max_iter=10_000).fit(X, y)
    unit = np.abs(y).max()
    np.testing.assert_allclose(model.predict(form(X)) / unit, wanted.predict(X) / unit, atol=1e-12)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(form(X)))
    np.testing.assert_allclose(model.transform(form(X)), model.x_scores_, atol=1e-9)
    away = BLFRegressor(3).fit(form(X), y).predict(form(X)) - model.predict(form(X))
    assert np.abs(away).max() > 1e-3 * unit


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "log_loss"])
def test_any_loss_has_the_factors_of_standardised_features(loss: str) -> None:
    """The same model as that of a StandardScaler before it, also by its contributions."""
    Z = StandardScaler().fit_transform(X)
    make: Any = BLFClassifier if loss == "log_loss" else BLFRegressor
    y = Y[:, 0] > 35.0 if loss == "log_loss" else Y[:, 0]
    own, other = make(2, loss=loss, scale=True).fit(X, y), make(2, loss=loss).fit(Z, y)
    np.testing.assert_allclose(own.x_weights_, other.x_weights_, atol=1e-9)
    np.testing.assert_allclose(own.x_loadings_, other.x_loadings_, atol=1e-8)
    np.testing.assert_allclose(own.transform(X), other.transform(Z), atol=1e-9)
    np.testing.assert_allclose(own.vip_, other.vip_, atol=1e-9)
    f = "decision_function" if loss == "log_loss" else "predict"
    np.testing.assert_allclose(getattr(own, f)(X), getattr(other, f)(Z), atol=1e-7)
    parts = contributions(own, X)
    np.testing.assert_allclose(parts.base_values + parts.values.sum(axis=1), getattr(own, f)(X))


@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one response", "three"])
def test_a_row_of_weight_2_is_two_rows(y: Any) -> None:
    """Weights count in the deviations of features and of responses."""
    counts = np.arange(len(X)) % 3
    own = BLFRegressor(2, scale=True).fit(X, y, counts)
    other = BLFRegressor(2, scale=True).fit(np.repeat(X, counts, 0), np.repeat(y, counts, 0))
    np.testing.assert_allclose(own.predict(X), other.predict(X), rtol=1e-8)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_explained_variance_is_that_of_the_projection(scale: bool, form: Any) -> None:
    """‖P_a‖² is what projecting on a factor keeps of the columns; all factors keep everything."""
    weights = 1.0 + np.arange(len(X)) % 2
    model = BLFRegressor(2, scale=scale).fit(form(X), Y[:, 0], weights)
    centred = X - np.average(X, axis=0, weights=weights)
    if scale:
        centred[:, :5] /= np.sqrt(np.average(centred[:, :5] ** 2, axis=0, weights=weights))
    root = np.sqrt(weights)[:, None]
    T, whole = root * model.x_scores_, root * centred
    kept = [np.sum((t[:, None] * (t @ whole)) ** 2) for t in T.T]
    wanted = np.array(kept) / np.sum(whole**2)
    np.testing.assert_allclose(model.explained_variance_ratio_, wanted, rtol=1e-8)
    shares = BLFRegressor(5, scale=True).fit(form(X), Y[:, 0]).explained_variance_ratio_
    assert shares.sum() == pytest.approx(1.0)
    assert not hasattr(BLFRegressor(2, deflate=False).fit(X, Y), "explained_variance_ratio_")
    again = model.set_params(kernel=RBF(0.1), scale=False).fit(X, Y[:, 0])
    assert not hasattr(again, "explained_variance_ratio_")


def test_a_kernel_has_no_features_to_scale() -> None:
    """The message says what to do instead."""
    with pytest.raises(ValueError, match=r"scale=True is for factors of the features.*kernel=RBF"):
        BLFRegressor(2, kernel=RBF(0.1), scale=True).fit(X, Y[:, 0])
