"""Latent factors that several responses, or several classes, share."""

import pickle
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from cgboost import RBF, BLFClassifier, BLFRegressor, Linear, Precomputed
from tests.estimators.latent.latent_data import REGRESSION, known, optimum, options_of
from tests.problems import least


def several(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three responses with heavy tails on real features."""
    rng = np.random.default_rng(seed)
    X = scale(load_diabetes().data)[:120]
    return X, X[:, :4] @ rng.normal(size=(4, 3)) + rng.standard_t(2, size=(120, 3))


def classes(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that no planes tell apart."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    return scale(X), np.where(rng.random(150) < 0.15, rng.integers(0, 3, 150), y)


def jointly(count: Any, **parameters: Any) -> BLFClassifier:
    """Multinomial, refitted to the optimum."""
    how = {"newton_steps": None, "newton_damping": 0.0} | parameters
    return BLFClassifier(count, loss="multinomial", **how)


def test_squared_errors_are_pls_with_several_responses() -> None:
    """Coefficients and predictions are scikit-learn's; a column is one response.

    The factor is the best for all of them together: no other direction has a larger Σ_k (t·u_k)².
    """
    X, Y = several()
    reference = PLSRegression(4, scale=False, max_iter=100_000, tol=1e-14).fit(X, Y)
    model = BLFRegressor(4).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), reference.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-6)
    slopes = (Y - Y.mean(axis=0)).T @ (X - X.mean(axis=0))
    largest = np.linalg.svd(slopes, compute_uv=False)[0]
    assert np.linalg.norm(slopes @ model.x_weights_[:, 0]) == pytest.approx(largest)
    one, column = BLFRegressor(3).fit(X, Y[:, 0]), BLFRegressor(3).fit(X, Y[:, :1])
    assert column.predict(X).shape == (len(X), 1)
    np.testing.assert_allclose(column.predict(X)[:, 0], one.predict(X))
    assert model.fit(X, Y[:, 0]).predict(X).shape == (len(X),)


@pytest.mark.parametrize("ridge", [0.0, 0.4])
@pytest.mark.parametrize("loss", REGRESSION)
def test_responses_are_at_their_optimum_over_the_factors(loss: str, ridge: float) -> None:
    """Each of them, by CVXPY, with weights and with the penalty."""
    X, Y = several()
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(Y))
    model = BLFRegressor(3, loss=loss, l2_regularization=ridge, **options_of(loss))
    model.fit(X, Y, sample_weight=weights)
    T = model.x_scores_
    np.testing.assert_allclose(T.T @ (weights[:, None] * T), np.eye(3), atol=1e-8)
    total = sum(optimum(known(loss), T, y, weights, ridge) for y in Y.T)
    assert model.objective_ == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_classes_are_at_their_optimum_over_the_factors(count: int, ridge: float) -> None:
    """The multinomial deviance of all scores over the same factors, by CVXPY."""
    X, y = classes()
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(y))
    model = jointly(count, l2_regularization=ridge).fit(X, y, sample_weight=weights)
    T = model.x_scores_
    C, b = cp.Variable((count, 3)), cp.Variable((1, 3))
    F = T @ C + np.ones((len(y), 1)) @ b
    own = cp.sum(cp.multiply(np.eye(3)[y], F), axis=1)
    cost = weights @ (cp.log_sum_exp(F, axis=1) - own) + 0.5 * ridge * cp.sum_squares(C)
    assert model.objective_ == pytest.approx(least(cost), rel=1e-8)


def test_all_factors_are_logistic_regression() -> None:
    """With one more than there are the optimum of the whole model is proved; so scikit-learn's.

    With two classes the deviance of two scores is the log loss of half their difference.
    """
    X, y = classes()
    model = jointly(9).fit(X, y)
    assert (model.n_components_, model.stop_reason_) == (4, "optimal")
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-4)
    X, y = X[y < 2], y[y < 2]
    other = BLFClassifier(2, newton_steps=None, newton_damping=0.0).fit(X, y)
    np.testing.assert_allclose(jointly(2).fit(X, y).predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("kernel", [None, RBF(0.05)])
def test_attributes_have_a_row_for_every_output(kernel: Any, tmp_path: Path) -> None:
    """And give predictions; one space of factors, which count once; copies and stages agree."""
    for model, X, y in (
        (BLFRegressor(3, kernel=kernel), *several()),
        (jointly(3, kernel=kernel), *classes()),
    ):
        model.fit(X, y)
        assert model.transform(X).shape == model.x_scores_.shape == (len(X), 3)
        assert model.factor_coef_.shape == (3, 3)
        f = model.transform(X) @ model.factor_coef_.T + model.factor_intercept_
        found = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
        np.testing.assert_allclose(found, f, atol=1e-9 * np.abs(f).max())
        slopes = model.coef_ if kernel is None else model.dual_coef_
        rows = X if kernel is None else kernel(X, X)
        np.testing.assert_allclose(rows @ slopes.T + model.intercept_, f, atol=1e-8)
        np.testing.assert_allclose(list(model.staged_predict(X))[-1], model.predict(X))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert "  3 latent factors" in str(model)
        page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
        assert "3 latent factors" in page
        assert "9 latent factors" not in page
        if kernel is None:
            assert model.vip_.shape == (X.shape[1],)
            assert np.mean(model.vip_**2) == pytest.approx(1.0)


def test_held_out_rows_and_cross_validation() -> None:
    """Several responses and joint classes may be scored, stopped early and chosen."""
    X, Y = several()
    scored = BLFRegressor(5).fit(X, Y, eval_set=(X[:30], Y[:30]))
    last = np.mean((Y[:30] - scored.predict(X[:30])) ** 2)
    assert scored.history_["validation_mse"][-1] == pytest.approx(last)
    chosen = BLFRegressor("cv", loss="absolute_error", random_state=0).fit(X, Y)
    assert 1 <= chosen.n_components_ <= 10
    K = RBF(0.05)(X, X)
    assert BLFRegressor("cv", kernel=Precomputed(), cv=3).fit(K, Y).predict(K).shape == Y.shape
    X, y = classes()
    joint = jointly("cv", random_state=0).fit(X, y)
    assert 1 <= joint.n_components_ <= 4
    stopped = jointly(4, random_state=0).fit(X, y, eval_set=(X[::5], y[::5]))
    assert "validation_error" in stopped.history_


def test_separable_classes_are_followed_far_or_penalised() -> None:
    """Without a penalty the run is unbounded; with one it has an optimum."""
    X, y = load_iris(return_X_y=True)
    some = np.r_[0:50, 100:150, 50:52]
    X, y = scale(X)[some], y[some]
    free = jointly(4, kernel=RBF(5.0)).set_params(n_components=40).fit(X, y)
    assert free.stop_reason_ == "unbounded"
    assert np.isfinite(free.decision_function(X)).all()
    held = jointly(10, kernel=RBF(5.0), l2_regularization=0.1).fit(X, y)
    assert held.stop_reason_ == "max_columns"


@pytest.mark.parametrize("kernel", [None, Linear()])
@pytest.mark.parametrize("ratio", [1e4, 1e8, 1e14, 1e16, 1e18])
def test_features_of_any_units_have_no_bound_above_the_optimum(ratio: float, kernel: Any) -> None:
    """One response or two, features of very different units: a bound holds for least squares."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 3))
    y = Z @ [1.0, 2.0, 3.0] + rng.normal(0, 0.1, 80)
    X = Z * [np.sqrt(ratio), 1.0, 1.0 / np.sqrt(ratio)]
    A = np.column_stack([Z, np.ones(80)])
    for Y in (y, np.column_stack([y, Z[:, 0]])):
        residuals = Y - A @ np.linalg.lstsq(A, Y)[0]
        model = BLFRegressor(10, kernel=kernel).fit(X, Y)
        bounds = [run.bound for run in model._runs]
        assert sum(bounds) <= 0.5 * np.sum(residuals**2) * (1 + 1e-6) + 1e-9
        assert (model.stop_reason_ == "optimal") == np.isfinite(bounds).all()
    assert ratio > 1e4 or kernel is not None or model.stop_reason_ == "optimal"
