"""Linear regression trees: recovery, kinds of data, comparison with constant trees."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from cgboost import LinearTreeRegressor
from cgboost.inspection.metrics import gini_coefficient

real_data = pytest.mark.skipif("CGBOOST_DATA" not in os.environ, reason="CGBOOST_DATA is not set")

ADULT = [
    *("age", "workclass", "fnlwgt", "education", "years", "marital", "occupation", "relationship"),
    *("race", "sex", "gain", "loss", "hours", "country", "income"),
]


def pieces(n_rows: int = 3000, *, noise: float = 0.0, seed: int = 0):
    """Three planes in five features, on a grid that intervals can separate exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-10, 10, size=(n_rows, 5)) / 10.0
    y = np.where(X[:, 0] < 0.0, 2.0 * X[:, 1] - X[:, 2], 1.0 - X[:, 1])
    y = np.where((X[:, 0] >= 0.0) & (X[:, 3] >= 0.5), 5.0 + 3.0 * X[:, 4], y)
    return X, y + noise * rng.normal(size=n_rows)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_coefficients_that_are_rounding_are_zero(seed: int, share: float) -> None:
    """A branch takes off what the node above has, and exactly that is left where nothing is."""
    X = np.random.default_rng(seed).integers(-50, 50, size=(2000, 4)) / 50.0
    y = np.where(X[:, 0] < 0.0, X[:, 1] + X[:, 2], 2.0 - X[:, 1])
    model = LinearTreeRegressor(max_bins=100, random_state=seed, validation_fraction=share)
    model.fit(X, y)
    coef = np.array([model.tree_.nodes[k].coef for k in model.tree_.leaves])
    assert "e-" not in model.text()
    assert np.all((coef == 0.0) | (np.abs(coef) > 0.1))
    assert np.any(coef != 0.0)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)


def shop(n_rows: int = 3000) -> tuple[pd.DataFrame, np.ndarray]:
    """Price by weight, at a rate that depends on the kind; the weight may be missing."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "kind": rng.choice(["tea", "coffee", "salt", "sugar"], size=n_rows),
            "weight": rng.integers(1, 50, size=n_rows) / 10.0,
        }
    )
    rate = frame["kind"].map({"tea": 9.0, "coffee": 9.0, "salt": 1.0, "sugar": 1.0})
    y = rate.to_numpy() * frame["weight"].to_numpy()
    frame.loc[::9, "weight"] = np.nan
    return frame, np.where(frame["weight"].isna(), 33.0, y)


@pytest.mark.parametrize("share", [0.3, 0.0])
def test_piecewise_linear_functions_are_recovered(share):
    """Three planes are three leaves, without an error, in the words of splits and formulas."""
    X, y = pieces()
    model = LinearTreeRegressor(validation_fraction=share).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert (model.n_leaves_, model.depth_) == (3, 2)
    assert (model.get_n_leaves(), model.get_depth()) == (3, 2)
    assert np.unique(model.apply(X)).tolist() == model.tree_.leaves
    words = model.text()
    for part in ("x0 < -0.05", "2·x1 − 1·x2", "1 − 1·x1", "0.45 ≤ x3", "5 + 3·x4"):
        assert part in words, words


def test_one_plane_is_one_leaf():
    """A linear function needs no split; the leaf is the least-squares fit of the training rows."""
    X, _ = pieces()
    y = 1.0 + X @ [1.0, 2.0, 3.0, -4.0, 5.0]
    model = LinearTreeRegressor().fit(X, y)
    assert model.n_leaves_ == 1
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-9)
    shares = model.feature_importances_
    np.testing.assert_allclose(shares, np.arange(1.0, 6.0) ** 2 / 55.0, atol=0.05)


def test_fewer_leaves_and_a_lower_error_than_constant_leaves():
    """On noisy planes the error is that of the noise, which constant leaves do not come near."""
    X, y = pieces(noise=0.1)
    Z, z = pieces(noise=0.0, seed=1)
    model = LinearTreeRegressor().fit(X, y)
    error = np.sqrt(np.mean((model.predict(Z) - z) ** 2))
    assert error < 0.05
    assert model.n_leaves_ <= 5
    for depth in (3, 6, 9, None):
        other = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=5).fit(X, y)
        assert np.sqrt(np.mean((other.predict(Z) - z) ** 2)) > 3.0 * error
        assert other.get_n_leaves() > model.n_leaves_


def test_categories_and_missing_values():
    """Categories with the same line are one branch, missing values a branch of their own.

    Numbers that are named categories are no regressors, and are split in any order.
    """
    X, y = shop()
    model = LinearTreeRegressor(max_bins=64).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert model.n_leaves_ == 4  # two lines, and the missing values beside each
    words = model.text()
    assert "weight missing" in words
    assert "kind in {coffee, tea}" in words
    new = pd.DataFrame({"kind": ["cocoa", None, "tea"], "weight": [1.0, 2.0, np.nan]})
    assert np.isfinite(model.predict(new)).all()
    assert model.predict(new)[2] == pytest.approx(33.0)
    X = np.random.default_rng(2).integers(0, 6, size=(1000, 1)).astype(float)
    y = np.array([0.0, 5.0, 1.0, 5.0, 0.0, 1.0])[X[:, 0].astype(int)]
    model = LinearTreeRegressor(categorical_features=[0], validation_fraction=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert (model.n_leaves_, model.depth_) == (3, 1)


@pytest.mark.parametrize("missing", [0.02, 1.0])
def test_few_or_only_missing_values(missing):
    """A feature with next to no values, or none, does no harm."""
    X, y = pieces(600)
    X[np.random.default_rng(3).uniform(size=600) < missing, 4] = np.nan
    model = LinearTreeRegressor().fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.isfinite(model.predict(np.full((3, 5), np.nan))).all()


def test_predictions_stay_within_the_ranges_of_the_features():
    """Beyond the values seen a line goes on as a constant."""
    X = np.linspace(0.0, 1.0, 200)[:, None]
    model = LinearTreeRegressor().fit(X, 3.0 * X[:, 0])
    np.testing.assert_allclose(model.predict([[1.0], [50.0]]), 3.0)


def test_a_failed_fit_changes_nothing():
    """Names and tree are those of the last fit that succeeded; those of a source are kept.

    Weights of a source come with its blocks.
    """
    X, y = shop(400)
    weights = np.random.default_rng(7).integers(1, 4, size=400).astype(float)
    blocks = [(X[:150], y[:150], weights[:150]), (X[150:], y[150:], weights[150:])]
    model = LinearTreeRegressor().fit(blocks)
    assert model.feature_names_in_.tolist() == ["kind", "weight"]
    before = model.predict(X)
    np.testing.assert_allclose(before, LinearTreeRegressor().fit(X, y, weights).predict(X))
    with pytest.raises(ValueError, match="weights of a source"):
        model.fit(blocks, sample_weight=weights)
    with pytest.raises(ValueError, match="at least 2 rows"):
        model.fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="y"):
        model.fit(np.ones((4, 3)), [1.0, 2.0, np.nan, 0.0])
    np.testing.assert_array_equal(model.predict(X), before)
    numbers = pieces(200)
    assert not hasattr(model.fit([numbers]), "feature_names_in_")
    assert model.n_features_in_ == 5


def test_ties_and_a_constant_target():
    """A target that is the same everywhere, or features that are, make one leaf."""
    X, y = pieces(300)
    model = LinearTreeRegressor().fit(X, np.full(300, 4.0))
    assert model.n_leaves_ == 1
    np.testing.assert_allclose(model.predict(X), 4.0)
    np.testing.assert_array_equal(model.feature_importances_, 0.0)
    flat = LinearTreeRegressor().fit(np.ones((300, 2)), y)
    assert flat.n_leaves_ == 1
    assert len(np.unique(flat.predict(np.ones((5, 2))))) == 1
    X, y = pieces()
    twice = np.column_stack([X, X])
    doubled = LinearTreeRegressor().fit(twice, y)
    assert doubled.n_leaves_ == 3
    np.testing.assert_allclose(doubled.predict(twice), y, atol=1e-9)


def adult(name: str, skip: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The census rows of a file, with ? for missing values."""
    frame = pd.read_csv(
        Path(os.environ["CGBOOST_DATA"]) / "adult" / name,
        names=ADULT,
        skiprows=skip,
        skipinitialspace=True,
        na_values="?",
    )
    rich = frame.pop("income").str.startswith(">").to_numpy(dtype=float)
    return frame, rich


@real_data
@pytest.mark.data
def test_adult_beside_a_constant_tree():
    """On the census a linear tree orders the test rows better than constant trees of any depth."""
    (X, y), (Z, z) = adult("adult.data", 0), adult("adult.test", 1)
    model = LinearTreeRegressor(max_depth=3).fit(X, y)
    gini = gini_coefficient(z, model.predict(Z))
    both = pd.get_dummies(pd.concat([X, Z]), dummy_na=True).to_numpy(dtype=np.float32)
    for depth in (3, 6, None):
        tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=10, random_state=0)
        tree.fit(both[: len(y)], y)
        assert gini > gini_coefficient(z, tree.predict(both[len(y) :]))
    assert gini > 0.79
