"""Regularisation paths of linear models."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from cgboost.exceptions import TrivialModelWarning
from tests.estimators.linear.test_sparse_linear import rows


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
def test_a_path_has_the_models_of_separate_fits() -> None:
    """Every model of a path has the objective of a fit of its own, from no feature to many."""
    X, y = rows(1)
    path = SparseLinearRegressor().path(X, y, n_alphas=6)
    assert path.values[0] == pytest.approx(path.models[0].alpha_max_)
    assert path.values[-1] == pytest.approx(1e-3 * path.values[0])
    for alpha, model in zip(path.values, path, strict=True):
        alone = SparseLinearRegressor(alpha=alpha).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    assert np.all(np.diff([np.abs(model.coef_).sum() for model in path]) >= -1e-9)
    labels = y > 4.0
    for model in SparseLinearClassifier().path(X, labels, n_Cs=4, eps=0.1):
        alone_too = SparseLinearClassifier(C=model.C).fit(X, labels)
        assert model.objective_ == pytest.approx(alone_too.objective_, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alphas": []}, "alphas must have at least one value"),
        ({"alphas": [0.1, -1.0]}, "alphas must be a finite number > 0, got -1"),
        ({"alphas": 0.1}, "alphas must be a sequence"),
        ({"n_alphas": 0}, "n_alphas must be a whole number"),
        ({"eps": 1.0}, "eps must be a finite number > 0 and < 1"),
    ],
)
def test_bad_grids_are_refused(options: dict[str, object], words: str) -> None:
    """The error names the argument and its value."""
    X, y = rows(1)
    with pytest.raises(ValueError, match=words):
        SparseLinearRegressor().path(X, y, **options)


@pytest.mark.filterwarnings("error::cgboost.exceptions.TrivialModelWarning")
def test_the_beginning_of_a_path_is_no_surprise() -> None:
    """A model of a path without features gives no warning; a fit of its own does."""
    X, y = rows(1)
    first = SparseLinearRegressor().path(X, y, n_alphas=3).models[0]
    assert first.n_columns_ == 0
    with pytest.raises(TrivialModelWarning):
        SparseLinearRegressor(alpha=first.alpha).fit(X, y)


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize(
    "model", [SparseLinearRegressor(loss=loss) for loss in ("quantile", "epsilon_insensitive")]
)
def test_neighbouring_models_are_certified_vertices(model: SparseLinearRegressor) -> None:
    """Every gap is within tol and every bound below the optimum, from no feature to all."""
    X, y = rows(2)
    path = model.path(X, y, n_alphas=30)
    assert path.coefs.shape == (X.shape[1], 30)
    np.testing.assert_array_equal(path.alphas, path.values)
    assert not path.coefs[:, 0].any()
    assert path.coefs[:, -1].any()
    for fitted in list(path)[::7]:
        alone = SparseLinearRegressor(**fitted.get_params()).fit(X, y)
        assert fitted.gap_ <= model.tol
        assert fitted.dual_bound_ <= alone.objective_ * (1 + 1e-9)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=2e-6)


def test_a_limit_of_columns_holds_for_each_model() -> None:
    """Columns that a model of the path no longer uses do not count for the next."""
    X, y = rows(2)
    for model in SparseLinearRegressor(max_columns=3, columns_per_round=1).path(X, y, n_alphas=8):
        assert model.n_columns_ <= 3


PATHS = {
    "squared_error": SparseLinearRegressor(loss="squared_error"),
    "elastic net": SparseLinearRegressor(loss="squared_error", penalty="elasticnet", positive=True),
    "huber": SparseLinearRegressor(loss="huber", standardize=True),
    "free": SparseLinearRegressor(loss="huber", penalty_weights=[0.0, *[1.0] * 29]),
    "log_loss": SparseLinearClassifier(loss="log_loss"),
    "squared_hinge": SparseLinearClassifier(loss="squared_hinge", fit_intercept=False),
}


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("model", PATHS.values(), ids=PATHS)
def test_curved_losses_have_the_models_of_separate_fits(model: Any) -> None:
    """In any order of values, near each other or far, with a certificate over all features."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(70, 30))
    y = X[:, :6] @ rng.normal(size=6) + 0.5 * rng.normal(size=70)
    labelled = isinstance(model, SparseLinearClassifier)
    values = [0.3, 0.001, 0.03, 0.029, 0.2] if not labelled else [0.05, 20.0, 0.7, 0.71, 0.06]
    path = model.path(X, y > 0 if labelled else y, values)
    for value, fitted in zip(values, path, strict=True):
        alone = clone(model).set_params(**{path.parameter: value})
        alone.fit(X, y > 0 if labelled else y)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=2e-7)
        assert fitted.gap_ <= 1e-6
        assert alone.dual_bound_ <= fitted.objective_ * (1.0 + 1e-12)
        assert fitted.dual_bound_ <= alone.objective_ * (1.0 + 1e-12)


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_most_models_of_a_path_take_one_round(loss: str) -> None:
    """The columns of the next value are there before it is solved, and are proven to be all."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 400))
    y = X[:, :10] @ np.ones(10) + rng.normal(size=100)
    path = SparseLinearRegressor(loss=loss).path(X, y, n_alphas=30, eps=0.05)
    assert np.mean([model.n_iter_ for model in path]) <= 1.5
    assert max(model.gap_ for model in path) <= 1e-6
