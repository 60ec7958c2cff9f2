"""OGA, its criterion and its trimming are what was published, whatever the shortcuts."""

import math

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

from cgboost import OrthogonalGreedyRegressor
from tests.estimators.boosting.linear_data import (
    DATA,
    orthogonal_greedy,
    sparse_linear,
    trimmed_support,
)
from tests.estimators.scikit_learn_checks import scikit_learn_checks


@pytest.mark.parametrize("name", DATA)
def test_every_round_is_that_of_the_published_algorithm(name: str) -> None:
    """Features, coefficients and losses agree with the literal transcription, round by round."""
    X, y = DATA[name]
    chosen, path, squares = orthogonal_greedy(X, y, 8)
    settings = {"n_estimators": 8, "fit_intercept": False, "criterion": None}
    model = OrthogonalGreedyRegressor(**settings).fit(X, y)
    np.testing.assert_array_equal(model.path_, chosen)
    np.testing.assert_allclose(model.coef_path_[:, 1:].T, path, rtol=0, atol=1e-10)
    np.testing.assert_allclose(2 * model.history_["objective"][1:], squares, rtol=1e-10)


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


@pytest.mark.parametrize("seed", range(3))
def test_ten_features_of_twenty_thousand_are_found(seed: int) -> None:
    """OGA, HDBIC and trimming return exactly the true features (all 50 seeds: benchmarks/)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 20_000))
    true = np.sort(rng.choice(20_000, 10, replace=False))
    y = X[:, true] @ rng.choice([-1.0, 1.0], 10) + rng.normal(size=500)
    np.testing.assert_array_equal(OrthogonalGreedyRegressor().fit(X, y).support_, true)


def test_the_default_number_of_steps() -> None:
    """⌊5 √(n / log p)⌋ with the sum of the weights for n, at most p."""
    X, y = DATA["wide"]
    assert len(OrthogonalGreedyRegressor().fit(X, y).path_) == int(5 * (60 / np.log(200)) ** 0.5)
    heavy = OrthogonalGreedyRegressor().fit(X, y, np.full(60, 2.0))
    assert len(heavy.path_) == int(5 * (120 / np.log(200)) ** 0.5)
    assert len(OrthogonalGreedyRegressor().fit(X[:, :4], y).path_) == 4
    assert len(OrthogonalGreedyRegressor().fit(X[:, :1], y).path_) == 1


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


def test_early_stopping_needs_no_criterion() -> None:
    """Held-out rows and a criterion both choose the step: both at once are refused."""
    X, y = sparse_linear(80, 100, 3, seed=4, noise=4.0)
    with pytest.raises(ValueError, match="criterion='hdbic' and early_stopping=True both"):
        OrthogonalGreedyRegressor(early_stopping=True).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "aicc"}, "criterion must be one of .*'hdic'.*, got 'aicc'"),
        ({"n_estimators": 0}, "n_estimators must be a whole number ≥ 1, got 0"),
        ({"trim": 1}, "trim must be True or False, got 1"),
        ({"C": -1.0}, "C must be a finite number > 0, got -1.0"),
    ],
)
def test_bad_parameters(settings: dict[str, object], message: str) -> None:
    """Each error names the parameter and its value."""
    with pytest.raises(ValueError, match=message):
        OrthogonalGreedyRegressor(**settings).fit(*DATA["tall"])


def test_too_few_rows_for_a_criterion() -> None:
    """Two rows, or weights that add up to less than three, are refused with the number."""
    with pytest.raises(ValueError, match="'hdbic' needs at least 3 rows, got n_samples=2"):
        OrthogonalGreedyRegressor().fit(np.eye(2), [0.0, 1.0])
    X, y = DATA["tall"]
    with pytest.raises(ValueError, match="n_samples=1 .the sum of sample_weight."):
        OrthogonalGreedyRegressor().fit(X, y, np.full(len(y), 1 / len(y)))


@scikit_learn_checks([OrthogonalGreedyRegressor()])
def test_scikit_learn_check(estimator, check):
    """Every check of scikit-learn passes."""
    check(estimator)
