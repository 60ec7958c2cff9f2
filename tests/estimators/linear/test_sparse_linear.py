"""Sparse linear models against CVXPY, scikit-learn and their own equations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, LogisticRegression, QuantileRegressor

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.losses import (
    Exponential,
    Huber,
    LogLoss,
    Loss,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)


def rows(seed: int, n_rows: int = 60, n_features: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """A sparse linear model with heavy tails, of features of different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.exp(0.5 * rng.normal(size=n_features)) + 0.3
    X[rng.random(X.shape) < 0.3] = 0.0
    y = X[:, :4] @ np.array([2.0, -1.0, 1.0, 0.5]) + 3.0 + rng.standard_t(3, size=n_rows)
    return X, y


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.6])
@pytest.mark.parametrize(
    "loss",
    [
        SquaredError(),
        SquaredEpsilonInsensitive(0.1),
        Huber(0.7),
        Poisson(),
        SquaredHinge(),
        LogLoss(),
        Exponential(),
    ],
    ids=str,
)
def test_smooth_losses_are_solved_to_ten_digits(loss: Loss, ratio: float, positive: bool) -> None:
    """A gap of 1e-10 is proven, with and without an intercept, where many features are in use."""
    X, y = rows(1, 100, 150)
    for offset in (True, False):
        options = {"penalty": "elasticnet", "l1_ratio": ratio, "positive": positive, "tol": 1e-10}
        options |= {"fit_intercept": offset, "loss": loss}
        if loss.classification:
            model = SparseLinearClassifier(C=0.5, **options).fit(X, y > np.median(y))
        else:
            target = np.maximum(np.round(y), 0.0) if isinstance(loss, Poisson) else y
            model = SparseLinearRegressor(alpha=0.05, **options).fit(X, target)
        assert model.gap_ <= 1e-10
        assert np.count_nonzero(model.coef_) > 10


def test_coefficients_are_those_of_lasso_and_logistic_regression() -> None:
    """To eight digits those of scikit-learn's coordinate descent at its own smallest tolerances."""
    X, y = rows(12, 100, 150)
    for ratio in (1.0, 0.5):
        mine = SparseLinearRegressor(
            loss="squared_error", penalty="elasticnet", l1_ratio=ratio, alpha=0.2, tol=1e-13
        ).fit(X, y)
        net = ElasticNet(alpha=0.2, l1_ratio=ratio, tol=1e-14, max_iter=1_000_000).fit(X, y)
        np.testing.assert_allclose(mine.coef_, net.coef_, atol=1e-8)
        assert mine.intercept_ == pytest.approx(net.intercept_, abs=1e-8)
    model = SparseLinearClassifier(loss="log_loss", C=0.2, tol=1e-12).fit(X, y > 4.0)
    scaled = LogisticRegression(
        l1_ratio=1.0, C=0.2, solver="saga", tol=1e-12, max_iter=1_000_000
    ).fit(X, y > 4.0)
    np.testing.assert_allclose(model.coef_, scaled.coef_, atol=1e-6)


def test_no_feature_enters_from_the_largest_alpha_on() -> None:
    """At alpha_max_ the model is constant, a little below it is not; C_min_ likewise."""
    X, y = rows(6)
    most = SparseLinearRegressor().fit(X, y).alpha_max_
    with pytest.warns(UserWarning, match="a smaller value may change that"):
        assert not SparseLinearRegressor(alpha=most * 1.001).fit(X, y).coef_.any()
    assert SparseLinearRegressor(alpha=most * 0.999).fit(X, y).coef_.any()
    labels = y > 4.0
    for loss in ("hinge", "log_loss"):
        least = SparseLinearClassifier(loss=loss).fit(X, labels).C_min_
        with pytest.warns(UserWarning, match="a larger value may change that"):
            model = SparseLinearClassifier(loss=loss, C=least * 0.999).fit(X, labels)
        assert not model.coef_.any()
    assert SparseLinearClassifier(loss=loss, C=least * 1.01).fit(X, labels).coef_.any()


def test_standardizing_is_what_a_scaler_before_the_model_does() -> None:
    """Coefficients inside are those after a StandardScaler over its scales; sparse X alike."""
    X, y = rows(7)
    inside = SparseLinearRegressor(alpha=0.1, standardize=True).fit(X, y)
    scaled = SparseLinearRegressor(alpha=0.1).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(inside.coef_ * X.std(axis=0), scaled.coef_, atol=1e-9)
    as_sparse = SparseLinearRegressor(alpha=0.1, standardize=True).fit(sparse.csc_matrix(X), y)
    np.testing.assert_allclose(as_sparse.coef_, inside.coef_, atol=1e-9)


class Source:
    """Blocks of some rows, with their weights."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        self.parts = [
            (X[rows], y[rows], weights[rows]) for rows in np.array_split(np.arange(len(y)), 5)
        ]
        self.readings = 0

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        self.readings += 1
        return iter(self.parts)


def test_a_source_of_blocks_has_the_model_of_its_rows(tmp_path: Path) -> None:
    """Blocks, a file mapped into memory and an array give the same coefficients."""
    X, y = rows(11)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    free = SparseLinearRegressor(alpha=0.1, penalty_weights=np.minimum(np.arange(90), 3) // 3)
    for model in (free, SparseLinearRegressor(alpha=0.1, standardize=True)):
        whole = clone(model).fit(X, y, sample_weight=weights)
        source = Source(X, y, weights)
        np.testing.assert_allclose(clone(model).fit(source).coef_, whole.coef_, atol=1e-9)
    assert source.readings <= 9 + 2 * whole.n_iter_
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    again = clone(model).fit(mapped, y, sample_weight=weights)
    np.testing.assert_allclose(again.coef_, whole.coef_, atol=1e-9)
    labels = np.where(y > 4.0, "high", "low")
    classes = SparseLinearClassifier(C=0.2).fit(Source(X, labels, weights))
    alone = SparseLinearClassifier(C=0.2).fit(X, labels, sample_weight=weights)
    np.testing.assert_allclose(classes.coef_, alone.coef_, atol=1e-9)


def test_a_small_weight_stands_for_none_where_coefficients_are_positive() -> None:
    """With 1e-6 the median has the vertex of the linear program of β ≥ 0 without a penalty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 8))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + rng.standard_t(2, size=80)
    eye, ones = np.eye(80), np.ones((80, 1))
    costs = np.r_[np.zeros(10), np.full(160, 0.5 / 80)]
    exact = linprog(costs, A_eq=np.hstack([X, ones, -ones, eye, -eye]), b_eq=y, method="highs")
    model = SparseLinearRegressor(alpha=1.0, positive=True, penalty_weights=np.full(8, 1e-6))
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.x[:8], atol=1e-9)
    assert model.objective_ == pytest.approx(exact.fun, rel=1e-5)
    assert model.converged_


SMOOTH_LOSSES = [SquaredError(), Poisson(), SquaredHinge(), LogLoss(), Exponential()]


@pytest.mark.parametrize("weight", [1e-7, 1e-6, 1e-4])
@pytest.mark.parametrize("loss", SMOOTH_LOSSES, ids=repr)
def test_smooth_losses_are_solved_at_tiny_weights(loss: Loss, weight: float) -> None:
    """Columns over their weights are large; the gap closes, at the objective of a weight of 0."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 8))
    signal = X @ np.r_[1.0, -1.0, 0.5, np.zeros(5)] + rng.normal(size=120)
    if loss.classification:
        model, y = SparseLinearClassifier(loss=loss, C=0.1), np.sign(signal)
    else:
        model, y = SparseLinearRegressor(loss=loss, alpha=0.1), np.exp(0.3 * signal)
    weights = np.r_[np.ones(5), np.full(3, weight)]
    model.set_params(penalty_weights=weights).fit(X, y)
    free = clone(model).set_params(penalty_weights=np.r_[np.ones(5), np.zeros(3)]).fit(X, y)
    assert model.converged_
    assert model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(free.objective_, rel=10 * weight + 1e-6)


@pytest.mark.filterwarnings("ignore:SparseLinear:UserWarning")
def test_the_default_alpha_keeps_noise_out_and_signal_in() -> None:
    """At twice the default, features that mean nothing stay out; weights count as repeated rows."""
    rng = np.random.default_rng(0)
    X, signal = rng.normal(size=(300, 200)), rng.standard_t(3, size=300)
    level = 2.0 * SparseLinearRegressor().fit(X, signal).alpha_
    entering = [
        SparseLinearRegressor(alpha=level, tol=1e-4).fit(X, rng.permutation(signal)).n_columns_ > 0
        for _ in range(20)
    ]
    assert 2 <= sum(entering) <= 18  # the median, up to chance
    weights = rng.integers(1, 4, 300)
    weighted = SparseLinearRegressor().fit(X, signal, sample_weight=weights)
    repeated = SparseLinearRegressor().fit(
        np.repeat(X, weights, axis=0), np.repeat(signal, weights)
    )
    assert weighted.alpha_ == pytest.approx(repeated.alpha_, rel=1e-9)


@pytest.mark.parametrize("loss", ["absolute_error", "epsilon_insensitive", "huber", Quantile(0.9)])
def test_alpha_by_default_does_not_depend_on_a_shift(loss: Any) -> None:
    """Rows on a kink of the loss at its best constant are the same, up to the rounding of y."""
    X, y = rows(18)
    for target in (y, np.round(y, 1)):  # rounded, ε = 0.1 puts many rows on kinks
        wanted = SparseLinearRegressor(loss=loss).fit(X, target).alpha_
        for shift in (1e3, -1e6, 1e9):
            found = SparseLinearRegressor(loss=loss).fit(X, target + shift).alpha_
            assert found == pytest.approx(wanted, rel=1e-6 + 1e2 * np.spacing(abs(shift)))


def test_the_model_without_features_is_the_best_constant() -> None:
    """Its intercept is a quantile of y exactly, and that of scikit-learn's model."""
    X, y = rows(15, n_rows=61)
    with pytest.warns(UserWarning, match="no column is worth its price"):
        model = SparseLinearRegressor(quantile=0.3, alpha=100.0).fit(X, y)
    theirs = QuantileRegressor(quantile=0.3, alpha=100.0).fit(X, y)
    assert model.intercept_ in y
    assert model.intercept_ == pytest.approx(theirs.intercept_, abs=1e-12)
