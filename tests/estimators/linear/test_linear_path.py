"""Regularisation paths of linear models."""

import numpy as np
import pytest

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
