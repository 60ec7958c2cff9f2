"""L2-Boosting and the greedy search are what was published, whatever the shortcuts."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import orthogonal_mp
from sklearn.model_selection import KFold

from cgboost import L2BoostRegressor, OrthogonalGreedyRegressor
from tests.estimators.boosting.boosting_data import (
    DATA,
    l2_boosting,
    orthogonal_greedy,
    sparse_linear,
    trimmed_support,
)

LITERAL: dict[str, tuple[Any, Callable[..., tuple[Any, ...]]]] = {
    **{
        f"L2, {rate}": (
            L2BoostRegressor(n_estimators=80, learning_rate=rate),
            lambda X, y, rate=rate: l2_boosting(X, y, 80, rate),
        )
        for rate in (0.1, 1.0)
    },
    "orthogonal": (
        OrthogonalGreedyRegressor(n_estimators=8, criterion=None),
        lambda X, y: orthogonal_greedy(X, y, 8),
    ),
}
"""Models, and the features and coefficients after every step of the literal transcription."""
KINDS = pytest.mark.parametrize("kind", [L2BoostRegressor, OrthogonalGreedyRegressor])
CHOSEN = {L2BoostRegressor: "selected_", OrthogonalGreedyRegressor: "path_"}
"""Attributes with the features in the order in which they were chosen."""


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", LITERAL)
def test_every_round_is_that_of_the_published_algorithm(
    kind: str, name: str, weighted: bool
) -> None:
    """Features, coefficients and losses of every round are those of the transcription.

    Weighted rows with an intercept are those of √w(X − m) and √w(y − ȳ).
    """
    (X, y), (model, published) = DATA[name], LITERAL[kind]
    weights, mean, centre = np.ones(len(y)), np.zeros(X.shape[1]), 0.0
    if weighted:
        weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
        mean, centre = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    Z, t = (X - mean) * np.sqrt(weights)[:, None], (y - centre) * np.sqrt(weights)
    chosen, path, *_ = published(Z, t)
    model = clone(model).set_params(fit_intercept=weighted).fit(X, y, weights)
    np.testing.assert_array_equal(getattr(model, CHOSEN[type(model)]), chosen)
    np.testing.assert_allclose(model.coef_path_[:, 1:].T, path, rtol=0, atol=1e-10)
    squares = np.sum((t - np.array(path) @ Z.T) ** 2, axis=1)
    np.testing.assert_allclose(2 * model.history_["objective"][1:], squares, rtol=1e-10)
    assert model.intercept_ == pytest.approx(centre - mean @ model.coef_)


@KINDS
def test_scaling_a_feature_scales_its_coefficient_alone(kind: type) -> None:
    """Sizes between 1e-6 and 1e6 leave the choices and the predictions as they are."""
    X, y = DATA["wide"]
    scale = 10.0 ** (np.arange(X.shape[1]) % 13 - 6)
    model, scaled = (kind().fit(Z, y) for Z in (X, X * scale))
    np.testing.assert_array_equal(*(getattr(made, CHOSEN[kind]) for made in (model, scaled)))
    np.testing.assert_allclose(model.coef_, scaled.coef_ * scale, rtol=1e-8, atol=1e-12)


def test_predictions_and_importances_are_those_of_the_steps() -> None:
    """X·coef + intercept; importances are falls of the loss."""
    X, y = DATA["tall"]
    model = L2BoostRegressor(n_estimators=30).fit(X, y)
    assert model.n_iter_ == 30
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, atol=1e-12)
    losses = [0.5 * np.sum((y - stage) ** 2) for stage in model.staged_predict(X)]
    np.testing.assert_allclose(losses, model.history_["objective"][1:], rtol=1e-10)
    falls = -np.diff(model.history_["objective"])
    wanted = np.bincount(model.selected_, falls, X.shape[1]) / falls.sum()
    np.testing.assert_allclose(model.feature_importances_, wanted)


def test_a_constant_feature_is_never_chosen() -> None:
    """Constants far from 0 have no direction of their own, and the model is that without them."""
    X, y = DATA["tall"]
    wide = np.column_stack([np.full(len(y), 1e6 / 3), X, np.full(len(y), -7.7)])
    model = L2BoostRegressor().fit(wide, y)
    np.testing.assert_array_equal(model.coef_[[0, -1]], 0.0)
    np.testing.assert_allclose(model.coef_[1:-1], L2BoostRegressor().fit(X, y).coef_)


def test_degrees_of_freedom_and_aicc_are_those_of_the_boosting_operator() -> None:
    """The trace kept in O(k²) a step is that of the n × n product of the published definition."""
    X, y = DATA["wide"]
    n, rate = len(y), 0.4
    settings = {"n_estimators": 150, "learning_rate": rate}
    model = L2BoostRegressor(**settings).fit(X, y)
    chosen_by = L2BoostRegressor(**settings, criterion="aicc").fit(X, y)
    Z = X - X.mean(axis=0)
    rest = np.eye(n) - 1.0 / n
    freedom, aicc = [], []
    for j in model.selected_:
        q = Z[:, j] / np.linalg.norm(Z[:, j])
        rest = rest - rate * np.outer(q, q @ rest)
        trace = n - np.trace(rest)
        freedom.append(trace)
        sigma = np.mean((rest @ y) ** 2)
        aicc.append(np.log(sigma) + (1 + trace / n) / (1 - (trace + 2) / n))
    np.testing.assert_allclose(chosen_by.history_["df"][1:], freedom, rtol=1e-10)
    np.testing.assert_allclose(chosen_by.criterion_, aicc, rtol=1e-9)
    assert chosen_by.n_iter_ == 1 + np.argmin(aicc) < 150
    np.testing.assert_allclose(chosen_by.coef_, model.coef_path_[:, chosen_by.n_iter_])


@pytest.mark.parametrize(
    ("kind", "price"),
    [("hdic", 3.0), ("hdbic", np.log(60)), ("hdhq", 3.0 * np.log(np.log(60)))],
)
def test_hdic_counts_features_and_not_steps(kind: str, price: float) -> None:
    """N log ‖U‖² + |J| c log p with the distinct features J; the lowest is kept."""
    X, y = DATA["wide"]
    _, path = l2_boosting(X - X.mean(axis=0), y - y.mean(), 100, 0.2)
    values = []
    for beta in path:
        U = y - y.mean() - (X - X.mean(axis=0)) @ beta
        values.append(60 * np.log(U @ U) + np.count_nonzero(beta) * price * np.log(200))
    settings = {"n_estimators": 100, "learning_rate": 0.2, "criterion": kind, "C": 3.0}
    model = L2BoostRegressor(**settings).fit(X, y)
    np.testing.assert_allclose(model.criterion_, values, rtol=1e-10)
    assert model.n_iter_ == 1 + np.argmin(values)
    np.testing.assert_array_equal(model.support_, [0, 1, 2])


def test_cross_validation_chooses_the_round_of_the_lowest_error() -> None:
    """The criterion is the error of every number of steps on rows left out, by hand."""
    X, y = DATA["wide"]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    folds = KFold(4, shuffle=True, random_state=0)
    settings = {"n_estimators": 60, "learning_rate": 0.3}
    model = L2BoostRegressor(criterion="cv", cv=folds, **settings).fit(X, y, weights)
    errors = np.zeros(60)
    for train, test in folds.split(X):
        fold = L2BoostRegressor(**settings).fit(X[train], y[train], weights[train])
        errors += [weights[test] @ (y[test] - f) ** 2 for f in fold.staged_predict(X[test])]
    np.testing.assert_allclose(model.criterion_, errors / weights.sum())
    assert model.n_iter_ == 1 + np.argmin(errors) < 60


def test_one_standard_error_is_worth_fewer_rounds() -> None:
    """rule="1se": the first round whose mean error is within one standard error of the least."""
    X, y = DATA["wide"]
    folds = KFold(4, shuffle=True, random_state=0)
    settings = {"n_estimators": 60, "learning_rate": 0.3}
    model = L2BoostRegressor(criterion="cv", rule="1se", cv=folds, **settings).fit(X, y)
    errors = np.zeros((60, 4))
    for k, (train, test) in enumerate(folds.split(X)):
        fold = L2BoostRegressor(**settings).fit(X[train], y[train])
        errors[:, k] = [np.mean((y[test] - f) ** 2) for f in fold.staged_predict(X[test])]
    means, best = errors.mean(axis=1), errors.mean(axis=1).argmin()
    enough = means[best] + errors[best].std(ddof=1) / 2.0
    assert model.n_iter_ == 1 + np.argmax(means <= enough) < 1 + best
    np.testing.assert_allclose(model.criterion_, means)


def test_a_fold_that_ends_early_keeps_its_last_error() -> None:
    """Where the training rows of a fold have one feature only, one step is all there is to do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[10:, 1] = 0.0
    settings = {"n_estimators": 8, "learning_rate": 1.0, "criterion": "cv"}
    folds = [(np.arange(10, 40), np.arange(10))]
    model = L2BoostRegressor(cv=folds, **settings).fit(X, X.sum(axis=1) + rng.normal(size=40))
    assert len(model.criterion_) == 8
    assert model.criterion_[0] > 0
    np.testing.assert_array_equal(model.criterion_, model.criterion_[0])


def test_a_constant_response_needs_no_feature() -> None:
    """The model is the constant, and says that there was nothing to find."""
    X, y = DATA["tall"]
    model = L2BoostRegressor().fit(X, np.full(len(y), 3.5))
    assert (model.n_iter_, model.intercept_, model.stop_reason_) == (0, 3.5, "no_column")
    np.testing.assert_array_equal(next(model.staged_predict(X)), 3.5)
    assert not model.feature_importances_.any()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", ["hdic", "hdbic", "hdhq"])
def test_criterion_and_trimming_are_those_of_the_published_algorithm(name: str, kind: str) -> None:
    """HDIC of every step, its minimum, and Ĵ from least-squares fits without each feature."""
    X, y = DATA[name]
    n, p = X.shape
    constant = {"hdic": 0.4, "hdbic": math.log(n), "hdhq": 0.4 * math.log(math.log(n))}[kind]
    Z, t = X - X.mean(axis=0), y - y.mean()
    chosen, _, squares = orthogonal_greedy(Z, t, 8)
    values = n * np.log(squares) + np.arange(1, 9) * constant * math.log(p)
    kept = chosen[: 1 + int(np.argmin(values))]
    support = trimmed_support(Z, t, kept, constant * math.log(p))
    model = OrthogonalGreedyRegressor(n_estimators=8, criterion=kind, C=0.4).fit(X, y)
    np.testing.assert_allclose(model.criterion_, values, rtol=1e-10)
    assert model.n_iter_ == len(kept)
    np.testing.assert_array_equal(model.support_, sorted(support))
    exact = np.linalg.lstsq(Z[:, support], t, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[support], exact, rtol=1e-9)
    untrimmed = OrthogonalGreedyRegressor(n_estimators=8, criterion=kind, C=0.4, trim=False)
    np.testing.assert_array_equal(untrimmed.fit(X, y).support_, sorted(kept))


def test_trimming_takes_out_a_decoy() -> None:
    """A sum of two features is found first, and goes once both of them are there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 50))
    X[:, 2] = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=200)
    y = X[:, 0] + X[:, 1] + 0.02 * rng.normal(size=200)
    np.testing.assert_array_equal(OrthogonalGreedyRegressor().fit(X[:, :3], y).support_, [0, 1])
    model = OrthogonalGreedyRegressor().fit(X, y)
    assert model.path_[0] == 2
    assert {0, 1, 2} < set(model.path_[: model.n_iter_].tolist())
    np.testing.assert_array_equal(model.support_, [0, 1])
    assert model.coef_path_.shape[1] == model.n_iter_ + 2
    np.testing.assert_array_equal(model.coef_path_[:, -1], model.coef_)
    assert model.feature_importances_[2] == 0.0
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    residual = y - model.predict(X)
    assert model.objective_ == pytest.approx(0.5 * residual @ residual)
    np.testing.assert_allclose(list(model.staged_predict(X))[-1], model.predict(X))


def test_one_feature_is_kept_where_none_would_be_better() -> None:
    """The criterion chooses among 1, 2, … steps, and a single feature is not trimmed."""
    X, y = np.random.default_rng(0).normal(size=(80, 60)), np.random.default_rng(1).normal(size=80)
    model = OrthogonalGreedyRegressor().fit(X, y)
    assert model.history_["hdbic"][0] < model.criterion_.min()
    np.testing.assert_array_equal(model.support_, model.path_[:1])


@pytest.mark.parametrize("name", DATA)
def test_the_support_is_that_of_orthogonal_matching_pursuit(name: str) -> None:
    """On normalised columns scikit-learn's pursuit finds the same features and coefficients."""
    X, y = DATA[name]
    Z = X - X.mean(axis=0)
    lengths = np.linalg.norm(Z, axis=0)
    pursuit = orthogonal_mp(Z / lengths, y - y.mean(), n_nonzero_coefs=6) / lengths
    model = OrthogonalGreedyRegressor(n_estimators=6, criterion=None).fit(X, y)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(pursuit))
    np.testing.assert_allclose(model.coef_, pursuit, atol=1e-10)


def test_ten_features_of_twenty_thousand_are_found() -> None:
    """OGA, HDBIC and trimming return exactly the true features (50 seeds: benchmarks/)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20_000))
    true = np.sort(rng.choice(20_000, 10, replace=False))
    y = X[:, true] @ rng.choice([-1.0, 1.0], 10) + rng.normal(size=500)
    np.testing.assert_array_equal(OrthogonalGreedyRegressor().fit(X, y).support_, true)


def test_the_default_number_of_steps() -> None:
    """⌊5 √(n / log p)⌋ with the sum of the weights for n, at most p."""
    X, y = DATA["wide"]
    steps = int(5 * (60 / np.log(200)) ** 0.5), int(5 * (120 / np.log(200)) ** 0.5)
    given = ((X, y), (X, y, np.full(60, 2.0)), (X[:, :4], y), (X[:, :1], y))
    found = [len(OrthogonalGreedyRegressor().fit(*rows).path_) for rows in given]
    assert found == [*steps, 4, 1]


def test_without_noise_the_search_ends_with_the_true_features() -> None:
    """When nothing is left to explain no further feature is taken, however many steps remain."""
    X, y = sparse_linear(60, 200, 4, noise=0.0)
    model = OrthogonalGreedyRegressor(n_estimators=40).fit(X, y)
    np.testing.assert_array_equal(np.sort(model.path_), np.arange(4))
    np.testing.assert_array_equal(model.support_, np.arange(4))
    assert model.stop_reason_ == "no_column"


def test_a_saturated_model_is_never_chosen() -> None:
    """With as many coefficients as rows the loss is 0, which says nothing."""
    X, y = np.random.default_rng(0).normal(size=(6, 50)), np.arange(6.0) ** 2
    model = OrthogonalGreedyRegressor(n_estimators=20).fit(X, y)
    assert len(model.path_) == 5
    assert np.isinf(model.criterion_[-1])
    assert model.n_iter_ < 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_and_constants_are_not_chosen(dtype: type) -> None:
    """A copy of a feature in the model has nothing to add, in either precision."""
    X, y = DATA["tall"]
    wide = np.column_stack([X, X, np.full(len(y), 1e6 / 3)]).astype(dtype)
    model = OrthogonalGreedyRegressor(n_estimators=17, criterion=None).fit(wide, y)
    assert len(set(model.path_ % 8)) == len(model.path_) == 8
    assert 16 not in model.path_
