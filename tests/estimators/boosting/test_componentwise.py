"""What linear models that grow feature by feature have in common: centring, units, sparse rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost import L2BoostRegressor, OrthogonalGreedyRegressor
from tests.estimators.boosting.linear_data import DATA, l2_boosting, orthogonal_greedy

Path = Callable[[np.ndarray, np.ndarray], np.ndarray]

LITERAL: dict[str, tuple[Any, Path]] = {
    "L2": (
        L2BoostRegressor(n_estimators=50, learning_rate=0.3),
        lambda X, y: l2_boosting(X, y, 50, 0.3)[1],
    ),
    "orthogonal": (
        OrthogonalGreedyRegressor(n_estimators=7, criterion=None),
        lambda X, y: orthogonal_greedy(X, y, 7)[1],
    ),
}
"""Models, and the coefficients after every step of the literal transcription."""
KINDS = pytest.mark.parametrize("kind", [L2BoostRegressor, OrthogonalGreedyRegressor])
CHOSEN = {L2BoostRegressor: "selected_", OrthogonalGreedyRegressor: "path_"}
"""Attributes with the features in the order in which they were chosen."""


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", LITERAL)
def test_intercept_and_weights_are_those_of_a_centred_and_scaled_problem(
    kind: str, name: str
) -> None:
    """Weighted rows with an intercept: the transcription on √w(X − m) and √w(y − ȳ)."""
    (X, y), (model, path) = DATA[name], LITERAL[kind]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    means = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    roots = np.sqrt(weights)
    wanted = path((X - means[0]) * roots[:, None], (y - means[1]) * roots)
    model.fit(X, y, weights)
    np.testing.assert_allclose(model.coef_path_[:, 1:].T, wanted, rtol=0, atol=1e-10)
    assert model.intercept_ == pytest.approx(means[1] - means[0] @ model.coef_)


@KINDS
def test_scaling_a_feature_scales_its_coefficient_alone(kind: type) -> None:
    """Sizes between 1e-6 and 1e6 leave the choices and the predictions as they are."""
    X, y = DATA["wide"]
    scale = 10.0 ** (np.arange(X.shape[1]) % 13 - 6)
    model, scaled = (kind().fit(Z, y) for Z in (X, X * scale))
    np.testing.assert_array_equal(*(getattr(made, CHOSEN[kind]) for made in (model, scaled)))
    np.testing.assert_allclose(model.coef_, scaled.coef_ * scale, rtol=1e-8, atol=1e-12)


@KINDS
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_features_give_the_same_model(kind: type, form: type) -> None:
    """Sparse X is centred without becoming dense, weights and held-out rows included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30)) * (rng.uniform(size=(80, 30)) < 0.2) + (np.arange(30) == 3) * 4.0
    y, weights = 3 * X[:, 0] - X[:, 5] + rng.normal(size=80), rng.uniform(0.5, 2.0, 80)
    for settings in ({}, {"early_stopping": True, "criterion": None, "random_state": 0}):
        dense, model = (kind(**settings).fit(Z, y, weights) for Z in (X, form(X)))
        np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-12)
        np.testing.assert_allclose(model.predict(form(X)), dense.predict(X), atol=1e-12)
        stages = zip(model.staged_predict(form(X)), dense.staged_predict(X), strict=True)
        for one, other in stages:
            np.testing.assert_allclose(one, other, atol=1e-12)
