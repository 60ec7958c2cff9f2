"""Regularisation paths of linear models."""

import numpy as np
import pytest

from cgboost import SparseLinearClassifier, SparseLinearRegressor
from tests.estimators.linear.test_sparse_linear import rows


@pytest.mark.filterwarnings("ignore:SparseLinear:UserWarning")
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
