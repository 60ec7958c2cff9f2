"""The mean loss on held-out rows, by which paths and cross-validation choose alike."""

from typing import Any

import numpy as np
import pytest

from cgboost import MultiQuantileRegressor, SparseLinearClassifier, SparseLinearRegressor
from cgboost.linear import SparseLinearClassifierCV, SparseLinearRegressorCV
from tests.estimators.linear.test_sparse_linear import rows


@pytest.mark.parametrize("name", ["absolute_error", "quantile", "poisson", "hinge", "balanced"])
def test_scores_are_those_of_cross_validation(name: str) -> None:
    """Minus the mean held-out loss, so that path and cross-validation choose the same model."""
    X, y = rows(3)
    train, held = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    cv: Any = [(train, held)]
    values = [0.3, 0.1, 0.03, 0.01]
    if name in ("hinge", "balanced"):
        own: dict[str, Any] = {"loss": "hinge" if name == "hinge" else "squared_hinge"}
        own["class_weight"] = None if name == "hinge" else "balanced"
        y = np.digitize(y, [2.0, 5.0]) if name == "hinge" else y > 5.0
        path = SparseLinearClassifier(**own).path(
            X[train], y[train], values, eval_set=(X[held], y[held])
        )
        chosen: Any = SparseLinearClassifierCV(Cs=values, cv=cv, **own).fit(X, y)
    else:
        y = np.exp(0.2 * y) if name == "poisson" else y + 100.0 * (np.arange(len(y)) % 7 == 3)
        own = {"loss": name} | ({"quantile": 0.9} if name == "quantile" else {})
        path = SparseLinearRegressor(**own).path(
            X[train], y[train], values, eval_set=(X[held], y[held])
        )
        chosen = SparseLinearRegressorCV(alphas=values, cv=cv, **own).fit(X, y)
    np.testing.assert_allclose(path.scores, chosen.scores_[:, 0])
    assert path.score_name == "−mean loss"
    assert getattr(path.best, path.parameter) == getattr(chosen, f"{path.parameter}_")


def test_several_quantiles_are_scored_by_their_mean_loss() -> None:
    """A path of MultiQuantileRegressor has minus the mean of the pinball losses."""
    X, y = rows(3)
    path = MultiQuantileRegressor(quantiles=[0.2, 0.7]).path(X, y, [0.3, 0.03], eval_set=(X, y))
    for model, score in zip(path, path.scores, strict=True):
        errors = y[:, None] - model.predict(X)
        losses = np.maximum(np.array([0.2, 0.7]) * errors, np.array([-0.8, -0.3]) * errors)
        assert score == pytest.approx(-losses.mean())
