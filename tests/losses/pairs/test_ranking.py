"""The ranking loss against sums over all pairs, and in the models that take it."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from cgboost import BLFRegressor
from cgboost.losses import PairwiseExponential
from tests.effort import examples


def pairs_of(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows i, j with y_i > y_j."""
    return np.nonzero(y[:, None] > y)


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), levels=st.integers(1, 8))
def test_sums_are_those_over_all_pairs(seed: int, n: int, levels: int) -> None:
    """Value, gradient, diagonal and Hessian, with ties in the target and weights."""
    rng = np.random.default_rng(seed)
    y, w, f = rng.integers(levels, size=n).astype(float), rng.uniform(0, 2, n), rng.normal(size=n)
    H = rng.normal(size=(n, 3))
    i, j = pairs_of(y)
    sizes = w[i] * w[j] * np.exp(f[j] - f[i]) / (w.sum() or 1.0)
    D = np.zeros((len(i), n))
    D[np.arange(len(i)), i] += 1.0
    D[np.arange(len(i)), j] -= 1.0
    loss = PairwiseExponential(y, w)
    assert loss.value(f) == pytest.approx(sizes.sum(), rel=1e-10)
    np.testing.assert_allclose(loss.pseudo_response(f), D.T @ sizes, atol=1e-10)
    W = D.T @ (sizes[:, None] * D)
    np.testing.assert_allclose(loss.curvature(f), np.diag(W), atol=1e-10)
    np.testing.assert_allclose(loss.hessian(f, H), H.T @ W @ H, atol=1e-9)


def test_outputs_of_any_size_are_finite() -> None:
    """Far outputs are cut, and raise no warning."""
    loss = PairwiseExponential(np.arange(5.0), np.ones(5))
    for f in (1e4 * np.arange(5.0), -1e4 * np.arange(5.0), np.full(5, 1e9)):
        assert np.isfinite([loss.value(f), *loss.pseudo_response(f), *loss.curvature(f)]).all()


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("count", [2, 5])
def test_latent_factors_reach_the_optimum_over_all_pairs(count: int, ridge: float) -> None:
    """That of CVXPY over the same factors, every pair written out."""
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:40, :5]), y[:40]
    model = BLFRegressor(count, loss=PairwiseExponential, l2_regularization=ridge).fit(X, y)
    T = model.x_scores_
    i, j = pairs_of(y)
    c = cp.Variable(count)
    unit = np.sqrt(len(y))  # of coefficients: factors have length 1
    cost = cp.sum(cp.exp(unit * (T[j] - T[i]) @ c)) / len(y)
    cost += 0.5 * ridge * unit**2 * cp.sum_squares(c)
    problem = cp.Problem(cp.Minimize(cost))
    problem.solve(solver=cp.CLARABEL)
    assert model.objective_ == pytest.approx(problem.value, rel=1e-7)
    np.testing.assert_allclose(T.T @ T, np.eye(count), atol=1e-8)


def test_only_order_counts_and_a_weight_is_a_number_of_rows() -> None:
    """Any growing function of y gives the same model, and so do copies of rows for weights."""
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:60]), y[:60]
    one = BLFRegressor(3, loss=PairwiseExponential).fit(X, y)
    other = BLFRegressor(3, loss=PairwiseExponential).fit(X, np.exp(0.1 * y))
    np.testing.assert_allclose(one.predict(X), other.predict(X))
    weights = 1.0 + (np.arange(60) % 3 == 0)
    one = BLFRegressor(3, loss=PairwiseExponential).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights.astype(int))
    other = BLFRegressor(3, loss=PairwiseExponential).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)


def test_errors_are_shares_of_wrong_pairs() -> None:
    """Of two classes their mean over the rows of a class is 1 less the area under the ROC curve."""
    _, y = load_breast_cancer(return_X_y=True)
    f = np.random.default_rng(0).normal(size=len(y)).round(1) + y
    errors = PairwiseExponential.row_errors(y, f)
    assert errors[y == 1].mean() == pytest.approx(1.0 - roc_auc_score(y, f))
    assert errors[y == 0].mean() == pytest.approx(1.0 - roc_auc_score(y, f))


def test_cross_validation_counts_wrong_pairs() -> None:
    """The number of factors is chosen by the order of held-out rows, in any units of y."""
    X, y = load_diabetes(return_X_y=True)
    model = BLFRegressor("cv", loss=PairwiseExponential, random_state=0).fit(scale(X), y)
    assert model.cv_errors_.max() < 0.5
    assert 1 <= model.n_components_ <= 10


def test_rows_in_perfect_order_end_the_run() -> None:
    """The loss has no minimum then, and the model is finite and says so."""
    X = np.arange(20.0)[:, None]
    model = BLFRegressor(1, loss=PairwiseExponential).fit(X, X[:, 0])
    assert model.stop_reason_ == "unbounded"
    assert np.all(np.diff(model.predict(X)) > 0)
