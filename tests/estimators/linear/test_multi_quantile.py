"""Several quantiles by linear models: against CVXPY's joint problem, and one by one."""

from __future__ import annotations

import itertools
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import d2_pinball_score, mean_pinball_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import IntervalRegressor, MultiQuantileRegressor, SparseLinearRegressor
from cgboost._solvers import SolverFailure
from cgboost.exceptions import MasterError, TrivialModelWarning
from cgboost.losses import Quantile
from cgboost.optimizers.quantiles.box_quantiles import BoxQuantiles
from tests.estimators.linear.test_sparse_linear import Source
from tests.problems import least

QUANTILES = [0.1, 0.3, 0.5, 0.8]


def rows(seed: int, n_rows: int = 60, n_features: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose spread grows with a feature, so that separate fits cross."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.exp(0.5 * rng.normal(size=n_features))
    X[rng.random(X.shape) < 0.3] = 0.0
    y = 30.0 + 5.0 * (X[:, 0] + (0.2 + np.abs(X[:, 1])) * rng.standard_t(3, size=n_rows))
    return X, y


def optimum(
    X: np.ndarray, y: np.ndarray, alpha: float, weights: np.ndarray, own: np.ndarray, **how: Any
) -> float:
    """The optimum of the joint problem by CVXPY, in the box as Bondell, Reich and Wang have it."""
    counts, cost, quantiles = weights > 0, weights / weights.sum(), how.get("quantiles", QUANTILES)
    beta = cp.Variable((X.shape[1], len(quantiles)), nonneg=how.get("positive", False))
    b = cp.Variable(len(quantiles))
    outputs = [X @ beta[:, k] + b[k] for k in range(len(quantiles))]
    value = alpha * cp.sum(cp.abs(cp.multiply(own[:, None], beta)))
    for q, f in zip(quantiles, outputs, strict=True):
        value += cost @ Quantile(q).to_cvxpy(y, f)
    constraints: list[Any] = []
    if how["noncrossing"] == "rows":
        constraints = [low[counts] <= high[counts] for low, high in itertools.pairwise(outputs)]
    if how["noncrossing"] == "box":  # with features in [0, 1]: intercepts against negative parts
        lower, width = X[counts].min(axis=0), np.ptp(X[counts], axis=0)
        for k in range(len(quantiles) - 1):
            slopes = beta[:, k + 1] - beta[:, k]
            at_lower = b[k + 1] - b[k] + lower @ slopes
            constraints.append(at_lower >= cp.sum(cp.neg(cp.multiply(width, slopes))))
    return least(value, constraints)


def worst_crossing(model: MultiQuantileRegressor, X: np.ndarray, count: int = 20_000) -> float:
    """The least difference of neighbouring quantiles at corners and points of the box of rows."""
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    corners = np.where(rng.random((count, X.shape[1])) < 0.5, low, high)
    worst = np.where(np.diff(model.coef_, axis=0) < 0, high, low)  # one for each pair of neighbours
    points = np.vstack([corners, rng.uniform(low, high, corners.shape), worst])
    return float(np.diff(model.predict(points), axis=1).min())


@pytest.mark.parametrize("noncrossing", ["box", "rows", False])
@pytest.mark.parametrize("seed", range(8))
def test_it_has_the_optimum_of_the_joint_problem(seed: int, noncrossing: str | bool) -> None:
    """Objective as CVXPY's and the bound below it, with weights, signs, sparse X and ties."""
    X, y = rows(seed, n_features=80 if seed % 4 == 3 else 20)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(y)).astype(float)
    own = rng.uniform(0.5, 2.0, X.shape[1])
    if seed % 3 == 0:
        X, y = np.round(X), np.round(y)
    positive = seed % 2 == 1
    model = MultiQuantileRegressor(
        QUANTILES,
        alpha=0.05,
        noncrossing=noncrossing,
        penalty_weights=own,
        positive=positive,
        tol=1e-8,
    ).fit(sparse.csr_matrix(X) if seed % 5 == 2 else X, y, sample_weight=weights)
    best = optimum(X, y, 0.05, weights, own, positive=positive, noncrossing=noncrossing)
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    assert model.dual_bound_ <= best * (1 + 1e-7)
    assert model.gap_ <= 1e-8
    assert model.converged_
    predicted = model.predict(X)
    losses = [
        mean_pinball_loss(y, predicted[:, k], sample_weight=weights, alpha=q)
        for k, q in enumerate(QUANTILES)
    ]
    charged = sum(losses) + 0.05 * np.abs(own * model.coef_).sum()
    assert model.objective_ == pytest.approx(charged, rel=1e-9)
    if noncrossing:
        assert np.diff(predicted[weights > 0], axis=1).min() >= -1e-9 * np.abs(y).max()
    if noncrossing == "box":
        assert worst_crossing(model, X[weights > 0]) >= -1e-9 * np.abs(y).max()
    if positive:
        assert model.coef_.min() >= 0


def test_separate_fits_are_those_of_the_regressor_of_one_quantile() -> None:
    """Coefficients, objectives and bounds of every quantile, and their sums and largest gap."""
    X, y = rows(20)
    model = MultiQuantileRegressor(QUANTILES, alpha=0.04, tol=1e-9).fit(X, y)
    objective = 0.0
    for k, q in enumerate(QUANTILES):
        own = SparseLinearRegressor(quantile=q, alpha=0.04, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(model.coef_[k], own.coef_, atol=1e-6)
        assert model.intercept_[k] == pytest.approx(own.intercept_, rel=1e-6)
        objective += own.objective_
    assert model.objective_ == pytest.approx(objective, rel=1e-8)
    assert np.diff(model.predict(X), axis=1).min() < -1e-3  # these rows do cross
    assert set(model.history_["quantile"]) == set(model.columns_["quantile"]) == set(QUANTILES)


def test_a_quantile_without_features_may_be_off_that_of_y() -> None:
    """Its intercept stays where others with features do not cross it."""
    X, y = rows(21)
    model = MultiQuantileRegressor(QUANTILES, noncrossing="rows").fit(X, y)
    model.set_params(alpha=0.5 * model.alpha_max_).fit(X, y)
    assert not model.coef_[0].any()
    assert model.coef_[1:].any()
    assert np.diff(model.predict(X), axis=1).min() >= -1e-9 * np.abs(y).max()
    assert model.intercept_[0] < np.quantile(y, QUANTILES[0]) - 1.0


def test_largest_alpha() -> None:
    """From alpha_max_ on no quantile has a feature, a little below one has."""
    X, y = rows(23)
    for noncrossing in ("box", "rows", False):
        model = MultiQuantileRegressor(QUANTILES, noncrossing=noncrossing).fit(X, y)
        most = model.alpha_max_
        with pytest.warns(TrivialModelWarning):
            model.set_params(alpha=1.001 * most).fit(X, y)
        assert not model.coef_.any()
        np.testing.assert_allclose(model.intercept_, np.quantile(y, QUANTILES), atol=0.2 * y.std())
    for noncrossing in ("box", "rows"):
        model = MultiQuantileRegressor(QUANTILES, alpha=0.99 * most, noncrossing=noncrossing)
        assert model.fit(X, y).coef_.any()


@pytest.mark.parametrize("noncrossing", ["box", "rows", False])
def test_alpha_of_none_follows_the_level_of_noise(noncrossing: str | bool) -> None:
    """alpha_ is the largest of those of single quantiles."""
    X, y = rows(31, n_rows=300)
    model = MultiQuantileRegressor(QUANTILES, noncrossing=noncrossing).fit(X, y)
    single = max(SparseLinearRegressor(quantile=q).fit(X, y).alpha_ for q in QUANTILES)
    assert model.alpha_ == pytest.approx(single)
    assert model.alpha_ < model.alpha_max_


@pytest.mark.parametrize("given", [{"alpha": 0.0}, {"penalty_weights": np.arange(20.0)}])
def test_features_without_a_penalty_are_those_of_single_fits(given: dict[str, Any]) -> None:
    """Separate fits take alpha=0 and weights of 0 as a fit of each quantile does."""
    X, y = rows(32)
    given = {"alpha": 0.05, "tol": 1e-9} | given
    model = MultiQuantileRegressor(QUANTILES, **given).fit(X, y)
    assert model.converged_
    assert np.isnan(model.alpha_max_)
    own = [SparseLinearRegressor(quantile=q, **given).fit(X, y).objective_ for q in QUANTILES]
    assert model.objective_ == pytest.approx(sum(own), rel=1e-8)
    path = MultiQuantileRegressor(QUANTILES).path(X, y, [0.2, 0.1, 0.05])
    last = MultiQuantileRegressor(QUANTILES, alpha=0.05).fit(X, y)
    assert path.models[-1].objective_ == pytest.approx(last.objective_, rel=1e-6)


def test_the_score_is_the_mean_of_d2() -> None:
    """As scikit-learn's d2_pinball_score for each quantile; a grid search goes by it."""
    X, y = rows(25)
    weights = np.linspace(0.5, 2.0, len(y))
    model = MultiQuantileRegressor(QUANTILES, alpha=0.05).fit(X, y)
    own = [
        d2_pinball_score(y, model.predict(X)[:, k], sample_weight=weights, alpha=q)
        for k, q in enumerate(QUANTILES)
    ]
    assert model.score(X, y, sample_weight=weights) == pytest.approx(np.mean(own))
    pipeline = make_pipeline(StandardScaler(), MultiQuantileRegressor(QUANTILES))
    search = GridSearchCV(pipeline, {"multiquantileregressor__alpha": [0.05, 0.5]}, cv=3)
    assert search.fit(X, y).best_score_ == pytest.approx(
        search.cv_results_["mean_test_score"].max()
    )


@pytest.mark.parametrize("noncrossing", ["box", "rows", False])
def test_scores_of_rounds_are_mean_pinball_losses(noncrossing: str | bool) -> None:
    """Of all quantiles together, or of each; stages end with the model; scorers see each round."""
    X, y = rows(26)
    model = MultiQuantileRegressor(
        QUANTILES,
        alpha=0.05,
        noncrossing=noncrossing,
        scoring=["neg_mean_absolute_error"],
    ).fit(X, y, eval_set=(X, y))
    predicted = model.predict(X)
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, predicted)
    losses = [mean_pinball_loss(y, predicted[:, k], alpha=q) for k, q in enumerate(QUANTILES)]
    errors = np.abs(y[:, None] - predicted).mean(axis=0)
    history = model.history_
    if noncrossing:
        assert history["validation_loss"][model.best_round_] == pytest.approx(np.mean(losses))
        score = history["validation_neg_mean_absolute_error"][model.best_round_]
        assert score == pytest.approx(-errors.mean())
        return
    for k, q in enumerate(QUANTILES):
        mine = history["quantile"] == q
        assert history["validation_loss"][mine][model.best_round_[k]] == pytest.approx(losses[k])
        score = history["validation_neg_mean_absolute_error"][mine][model.best_round_[k]]
        assert score == pytest.approx(-errors[k])


def test_neighbours_begin_with_each_others_features() -> None:
    """Where features are many, all quantiles but the first have columns in their first round."""
    X, y = rows(27, n_features=150)
    history = MultiQuantileRegressor(QUANTILES, alpha=0.05).fit(X, y).history_
    first = history["columns"][history["round"] == 0]
    assert first[0] == 0
    assert (first[1:] > 0).all()


@pytest.mark.parametrize("noncrossing", ["box", "rows"])
def test_max_columns_leave_a_model_that_does_not_cross(noncrossing: str) -> None:
    """Cut short, the model is still feasible, and its gap known; a feature counts K times."""
    X, y = rows(29)
    model = MultiQuantileRegressor(QUANTILES, alpha=0.01, noncrossing=noncrossing, max_columns=6)
    model.fit(X, y)
    assert model.history_["columns"].max() == (4 if noncrossing == "box" else 6)
    assert model.stop_reason_ == "max_columns"
    assert 1e-6 < model.gap_ < 1.0
    assert np.diff(model.predict(X), axis=1).min() >= -1e-9 * np.abs(y).max()


@pytest.mark.parametrize("noncrossing", ["box", "rows", False])
def test_a_source_of_blocks_has_the_model_of_its_rows(noncrossing: str | bool) -> None:
    """Blocks give the coefficients and the bound of their rows together, as do paths."""
    X, y = rows(7)
    least = 1 if noncrossing == "box" else 0  # the box of a source is that of all of its rows
    weights = np.random.default_rng(0).integers(least, 3, len(y)).astype(float)
    model = MultiQuantileRegressor(alpha=0.05, noncrossing=noncrossing, standardize=True)
    whole = clone(model).fit(X, y, sample_weight=weights)
    blocks = clone(model).fit(Source(X, y, weights))
    np.testing.assert_allclose(blocks.coef_, whole.coef_, atol=1e-9)
    assert blocks.dual_bound_ == pytest.approx(whole.dual_bound_)
    (one,) = model.path(Source(X, y, weights), alphas=[0.05])
    np.testing.assert_allclose(one.coef_, whole.coef_, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_no_point_of_the_box_is_crossed_with_few_rows_for_each_feature(seed: int) -> None:
    """At 200 × 5, where every eighth new row crossed, and with alpha from 0 on; as CVXPY's."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)) + 100.0 * (seed % 2)
    y = 1e3 * (seed % 3) + X[:, 0] + (0.3 + np.abs(X[:, 1])) * rng.normal(size=len(X))
    alpha, own = [0.0, 1e-3, 0.05][seed % 3], rng.integers(0, 2, 5).astype(float)
    model = MultiQuantileRegressor(QUANTILES, alpha=alpha, noncrossing=True, penalty_weights=own)
    model.fit(X, y)
    best = optimum(X, y, alpha, np.ones(len(y)), own, noncrossing="box")
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert best * (1 - 1e-6) <= model.dual_bound_ <= best * (1 + 1e-7)
    assert worst_crossing(model, X, 5000) >= -1e-9 * np.ptp(y)


def test_in_box_says_which_rows_may_cross() -> None:
    """Training rows are in the box, a row with one feature outside is not; sparse rows too."""
    X, y = rows(33)
    model = MultiQuantileRegressor(alpha=0.05, noncrossing="box").fit(X, y)
    assert model.in_box(X).all()
    outside = X.copy()
    outside[3, 2] = 1.01 * X[:, 2].max()
    for given in (outside, sparse.csr_matrix(outside)):
        assert np.flatnonzero(~model.in_box(given)).tolist() == [3]
    with pytest.raises(AttributeError, match="needs a model with noncrossing='box', got 'rows'"):
        MultiQuantileRegressor(alpha=0.05, noncrossing="rows").fit(X, y).in_box(X)


def test_a_path_of_models_in_the_box_is_that_of_single_fits() -> None:
    """Warm starts change no objective, and no point of the box is crossed."""
    X, y = rows(34)
    path = MultiQuantileRegressor(QUANTILES, noncrossing="box").path(X, y, [0.2, 0.05, 0.01])
    for model in path:
        assert model.objective_ == pytest.approx(clone(model).fit(X, y).objective_, rel=1e-6)
        assert worst_crossing(model, X, 1000) >= -1e-9 * np.ptp(y)


@pytest.mark.parametrize("n_rows", [2, 15, 60])
def test_features_that_depend_on_each_other_need_no_penalty(n_rows: int) -> None:
    """With alpha=0 repeated features, and fewer rows than features, have CVXPY's optimum."""
    X, y = rows(35, n_rows=n_rows, n_features=8)
    X, own = np.hstack([X, X]), np.zeros(16)
    model = MultiQuantileRegressor(QUANTILES, alpha=0.0, noncrossing="box", tol=1e-5).fit(X, y)
    best = optimum(X, y, 0.0, np.ones(n_rows), own, noncrossing="box")
    assert model.objective_ == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert model.gap_ <= 1e-5
    assert worst_crossing(model, X, 1000) >= -1e-9 * np.ptp(y)


@pytest.mark.parametrize("noncrossing", ["box", "rows"])
@pytest.mark.parametrize("n_rows", [2, 7, 20])
@pytest.mark.parametrize(
    "quantiles", [[5e-4, 1 - 5e-4], [0.006, 0.77], [0.1, 0.99, 0.995], [1e-6, 0.5]], ids=str
)
def test_quantiles_near_0_or_1_of_few_rows_are_fitted(
    quantiles: list[float], n_rows: int, noncrossing: str
) -> None:
    """Where the crossings' multipliers have less room than a row costs; as CVXPY's."""
    X, y = rows(37, n_rows=n_rows, n_features=5)
    how: dict[str, Any] = {"noncrossing": noncrossing}
    model = MultiQuantileRegressor(quantiles, alpha=0.01, **how).fit(X, y)
    best = optimum(X, y, 0.01, np.ones(n_rows), np.ones(5), quantiles=quantiles, **how)
    assert model.objective_ == pytest.approx(best, rel=2e-6, abs=1e-7)
    assert model.dual_bound_ <= model.objective_
    assert model.converged_
    if noncrossing == "box":
        assert worst_crossing(model, X, 1000) >= -1e-9 * np.ptp(y)


def test_no_coefficient_is_rounding_where_none_is_worth_its_price() -> None:
    """Far above alpha_max_ all are 0, not small."""
    X, y = rows(36)
    model = MultiQuantileRegressor(QUANTILES, alpha=1.0, noncrossing="box").fit(X, y)
    with pytest.warns(TrivialModelWarning):
        model.set_params(alpha=10.0 * model.alpha_max_).fit(X, y)
    assert not model.coef_.any()


def test_no_coefficient_of_quantiles_near_0_and_1_is_rounding() -> None:
    """What is in the model moves its outputs: nothing is a billionth of the largest coefficient."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 40))
        y = X[:, 0] + 2.0 * X[:, 1] + (1.0 + np.abs(X[:, 2])) * rng.normal(size=100)
        model = MultiQuantileRegressor([0.001, 0.999], noncrossing="box").fit(X, y)
        size = np.abs(model.coef_[model.coef_ != 0])
        assert 2 <= len(size) <= 20
        assert size.min() > 1e-6 * size.max()


@pytest.mark.parametrize("seed", [62, 67, 77])
def test_a_descent_that_is_slow_at_first_is_followed(seed: int) -> None:
    """With positive=True and a small alpha many steps gain a few percent; the optimum is CVXPY's.

    Such gains add up, and were taken for none.
    """
    X, y = rows(seed, n_rows=12, n_features=12)
    quantiles = [0.16, 0.3, 0.5, 0.8, 0.92]
    how: dict[str, Any] = {"noncrossing": "box", "positive": True}
    model = MultiQuantileRegressor(quantiles, alpha=1e-4, **how).fit(X, y)
    best = optimum(X, y, 1e-4, np.ones(12), np.ones(12), quantiles=quantiles, **how)
    assert model.objective_ == pytest.approx(best, rel=1e-6, abs=1e-7)
    assert model.dual_bound_ <= best + 1e-7
    assert model.converged_


def test_a_failure_in_the_box_names_no_other_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none; what may help is the parameters that both estimators have."""

    def fail(*arguments: Any) -> None:
        raise SolverFailure("it failed")

    monkeypatch.setattr(BoxQuantiles, "solve", fail)
    X, y = rows(38)
    for model in (MultiQuantileRegressor(noncrossing="box"), IntervalRegressor()):
        with pytest.raises(MasterError, match="it failed; allow a larger tol, or choose a larger"):
            model.fit(X, y)
