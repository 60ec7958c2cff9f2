"""Generalised additive models: one pass, backfitting, smoothers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from cgboost import AdditiveRegressor, TransformRegressor

METHODS = ["one-pass", "backfitting"]
SPLINES = make_pipeline(SplineTransformer(n_knots=5), LinearRegression())


class Kernel(RegressorMixin, BaseEstimator):
    """Weighted means by a Gaussian kernel (Nadaraya and Watson)."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_ = X, y
        self.weights_ = np.ones(len(y)) if sample_weight is None else sample_weight
        return self

    def predict(self, X):
        near = self.weights_ * np.exp(-50.0 * (X - self.X_.T) ** 2)
        return near @ self.y_ / near.sum(axis=1)


def additive(n_rows: int = 2000, *, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """A sum of a corner, a wave and a line; the fourth feature is the second with noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows, 4))
    X[:, 3] = 0.5 * X[:, 3] + 0.5 * X[:, 1]
    y = np.abs(X[:, 0]) + np.sin(3 * X[:, 1]) + X[:, 2]
    return X, y + noise * rng.normal(size=n_rows)


def table(n_rows: int = 1000) -> tuple[pd.DataFrame, np.ndarray]:
    """Categories and missing values that matter."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], size=n_rows),
            "size": rng.uniform(0, 1, size=n_rows),
        }
    )
    y = frame["colour"].map({"red": 0.0, "green": 1.0, "blue": 1.0}).to_numpy()
    frame.loc[::10, "size"] = np.nan
    frame.loc[5::50, "colour"] = None
    return frame, y + frame["size"].fillna(2.0).to_numpy()


def total(model: AdditiveRegressor, X: np.ndarray) -> np.ndarray:
    """Intercept and functions, added up."""
    return model.intercept_ + sum(model.partial(j, X[:, j]) for j in range(X.shape[1]))


def test_one_pass_is_the_first_stage_of_gradient_boosting():
    """The default is one stage of the transform regressor without what later stages add."""
    for X, y in (additive(), table()):
        model = AdditiveRegressor().fit(X, y)
        other = TransformRegressor(variant="gradient", n_estimators=1).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), other.predict(X))
        assert model.n_iter_ == 1


@pytest.mark.parametrize("smoother", [None, SPLINES, KNeighborsRegressor(20), Kernel()], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_functions_add_up_to_the_prediction(method, smoother):
    """Intercept and functions of mean 0 make the prediction, whatever the smoother."""
    X, y = additive(600)
    model = AdditiveRegressor(method, smoother=smoother, tol=1e-2).fit(X, y)
    np.testing.assert_allclose(total(model, X), model.predict(X), atol=1e-9)
    for j, function in model.functions_.items():
        assert abs(function(X[:, j]).mean()) < 1e-9
    assert model.score(X, y) > 0.9
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert np.all(model.feature_importances_[:3] > model.feature_importances_[3])


def test_backfitting_of_splines_is_the_joint_fit():
    """For linear smoothers the functions end at least squares on all spline bases at once."""
    X, y = additive()
    model = AdditiveRegressor(
        "backfitting", smoother=SPLINES, early_stopping=False, tol=1e-10, max_iter=1000
    ).fit(X, y)
    basis = np.column_stack(
        [SplineTransformer(n_knots=5).fit_transform(X[:, [j]]) for j in range(4)]
    )
    wanted = basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), wanted, atol=1e-7)
    assert model.stop_reason_ == "no_column"
    assert 1 < model.n_iter_ < 1000


@pytest.mark.parametrize("smoother", [None, SPLINES], ids=str)
def test_backfitting_is_better_than_one_pass_where_features_are_correlated(smoother):
    """What one feature has taken from another is given back."""
    X, y = additive()
    X = X[:, [1, 3]]
    y = np.sin(3 * X[:, 0]) - 2.0 * X[:, 1]
    errors = [
        np.mean((AdditiveRegressor(m, smoother=smoother).fit(X, y).predict(X) - y) ** 2)
        for m in METHODS
    ]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("method", METHODS)
def test_categories_and_missing_values(method):
    """Piecewise constant in categories, missing values apart; unseen categories are predicted."""
    X, y = table()
    model = AdditiveRegressor(method, categorical_features="from_dtype").fit(X, y)
    assert model.score(X, y) > 0.9
    levels = model.partial("colour", ["red", "green", "blue", "black"])
    np.testing.assert_allclose(levels[1:3] - levels[0], 1.0, atol=0.1)
    assert np.isfinite(levels[3])
    gap = model.partial("size", [np.nan])[0]
    assert gap > model.partial("size", [0.0, 0.5, 1.0]).max()
    assert set(model.functions_) == {"colour", "size"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_smoothers_see_weights_and_blocks(method):
    """A row of weight 2 is a row that comes twice; blocks and threads change nothing."""
    X, y = additive(600)
    weights = np.random.default_rng(2).integers(1, 3, size=len(y))
    many = np.repeat(np.arange(len(y)), weights)
    for smoother in (Kernel(), SPLINES):
        model = AdditiveRegressor(method, smoother=smoother, tol=1e-2, early_stopping=False)
        weighted = model.fit(X, y, weights).predict(X)
        np.testing.assert_allclose(weighted, model.fit(X[many], y[many]).predict(X), atol=1e-8)
    blocks = [(X[a:b], y[a:b]) for a, b in pairwise([0, 100, 101, 400, 600])]
    model = AdditiveRegressor(method, smoother=SPLINES, tol=1e-3)
    wanted = model.fit(X, y).predict(X)
    for n_jobs in (1, 3):
        found = model.set_params(n_jobs=n_jobs).fit(blocks).predict(X)
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_history_counts_rounds():
    """A column is a change of one function; the holdout and an eval_set have scores of each."""
    X, y = additive()
    model = AdditiveRegressor("backfitting").fit(X[:1500], y[:1500], eval_set=(X[1500:], y[1500:]))
    turns = model.columns_["turn"]
    assert model.n_iter_ == turns.max()
    assert np.all(np.diff(turns) >= 0)
    assert model.columns_["feature"][:3].tolist() == [0, 1, 2]
    assert len(model.history_["holdout_loss"]) >= len(turns)
    assert model.history_["validation_mse"][-1] < 0.1 * model.history_["validation_mse"][0]
    staged = np.array(list(model.staged_predict(X)))
    np.testing.assert_allclose(staged[-1], model.predict(X), atol=1e-12)


def test_too_few_rounds_are_told():
    """A run that ends with functions that still change warns, and says what to raise."""
    X, y = additive()
    model = AdditiveRegressor(
        "backfitting", smoother=SPLINES, early_stopping=False, max_iter=2, tol=1e-8
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.fit(X, y)
    assert model.n_iter_ == 2
    assert model.stop_reason_ == "max_rounds"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("smoother", [None, SPLINES], ids=str)
def test_constants_and_few_rows(method, smoother):
    """A constant target is the model; features that say nothing have no function; two rows do."""
    X, y = additive(200)
    model = AdditiveRegressor(method, smoother=smoother).fit(X, np.full(200, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)
    assert model.functions_ == {}
    np.testing.assert_array_equal(model.feature_importances_, 0.0)
    np.testing.assert_array_equal(model.partial(0, [1.0, 2.0]), 0.0)
    X[:, 2] = 4.0
    constant = AdditiveRegressor(method, smoother=smoother or Kernel(), tol=1e-2).fit(X, y)
    assert 2 not in constant.functions_
    few = AdditiveRegressor(method).fit([[1.0, 2.0], [1.0, 3.0]], [0.0, 1.0])
    assert np.isfinite(few.predict([[5.0, np.nan]])).all()


@pytest.mark.parametrize("method", ["one-pass", "backfitting"])
def test_levels_that_are_rounding_are_zero(method: str) -> None:
    """Values without a row, missing ones here, are at the mean of what is left over: exactly 0."""
    X = np.random.default_rng(0).integers(-50, 50, size=(2000, 3)) / 50.0
    y = 100.0 + np.where(X[:, 0] < 0, X[:, 1] + X[:, 2], 2.0 - X[:, 1])
    model = AdditiveRegressor(method, random_state=0).fit(X, y)
    levels = np.concatenate([own.term.intercept for own in model.functions_.values()])
    assert np.any(levels == 0.0)
    assert np.all((levels == 0.0) | (np.abs(levels) > 1e-6))


def test_functions_of_monotone_features_are_monotone() -> None:
    """Everywhere, where the free model falls; other trees are refused with what to take."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 3))
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2] + 0.3 * rng.normal(size=800)
    free = AdditiveRegressor(random_state=0).fit(X, y)
    model = AdditiveRegressor(monotonic_cst=[1, 0, -1], random_state=0).fit(X, y)
    grid = np.linspace(-1.2, 1.2, 2001)
    for feature, sign in ((0, 1), (2, -1)):
        rows = np.zeros((len(grid), 3))
        rows[:, feature] = grid
        assert np.diff(sign * model.predict(rows)).min() >= 0.0
    rows = np.column_stack([grid, 0 * grid, 0 * grid])
    assert np.diff(free.predict(rows)[::100]).min() < -0.1
    sums = model.intercept_ + sum(own(X[:, j]) for j, own in model.functions_.items())
    np.testing.assert_allclose(sums, model.predict(X))
    for own in ({"method": "backfitting"}, {"smoother": LinearRegression()}):
        with pytest.raises(
            ValueError, match=r"monotonic_cst is for the trees of method='one-pass'"
        ):
            AdditiveRegressor(monotonic_cst=[1, 0, 0], **own).fit(X, y)
