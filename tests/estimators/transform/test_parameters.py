"""Parameters of models of blocks of rows: each does something, and bad values are named."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from cgboost import (
    AdditiveRegressor,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    TransformRegressor,
)
from cgboost.losses import Huber


def rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A product, a kink, and a feature whose few values have levels in any order; noise."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, size=(n_rows, 4))
    X[:, 3] = np.round(X[:, 3] * 3)
    levels = np.array([0.0, 2.0, 1.0, 3.0, 0.0, 1.0, 2.0])[X[:, 3].astype(int) + 3]
    y = np.sin(5 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2]) + levels
    return X, y + 0.3 * rng.normal(size=n_rows)


COMMON = [
    {"max_bins": 4},
    {"validation_fraction": 0.5},
    {"categorical_features": [3]},
    {"random_state": 1},
]
CHANGES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "additive": (
        AdditiveRegressor("backfitting", tol=1e-3),
        [
            {"method": "one-pass"},
            {"smoother": Ridge()},
            {"tol": 0.5},
            {"early_stopping": False, "max_iter": 50},
        ],
    ),
    "tree": (
        LinearTreeRegressor(),
        [{"max_depth": 1}, {"min_samples_leaf": 100}, {"max_regressors": 1}, {"tol": 0.1}],
    ),
    "boosted": (
        LinearTreeBoostingRegressor(n_estimators=12),
        [
            {"loss": Huber(0.5)},
            {"n_estimators": 11},
            {"learning_rate": 0.2},
            {"max_depth": 1},
            {"min_samples_leaf": 100},
            {"max_regressors": 1},
            {"l2_regularization": 0.0},
            {"interaction_cst": "no_interactions"},
            {"early_stopping": False},
        ],
    ),
    "transform": (
        TransformRegressor(n_estimators=8),
        [{"early_stopping": False}, {"tol": 1.0}, {"n_estimators": 1}, {"variant": "initial"}],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_changes_something(name: str) -> None:
    """The model is another one."""
    base, changes = CHANGES[name]
    X, y = rows(1000)
    base = clone(base).set_params(random_state=0)
    plain = clone(base).fit(X, y).predict(X)
    for change in [*changes, *COMMON]:
        model = clone(base).set_params(**change).fit(X, y)
        assert np.max(np.abs(model.predict(X) - plain)) > 1e-6, change
        if name == "tree":
            counts = [model.tree_.nodes[leaf].count for leaf in model.tree_.leaves]
            assert model.depth_ <= model.max_depth
            assert min(counts) >= model.min_samples_leaf
    if name == "boosted":
        long, short = (
            LinearTreeBoostingRegressor(n_iter_no_change=n, random_state=0).fit(X, y).n_iter_
            for n in (10, 1)
        )
        assert short < long


def test_smoothers_that_take_no_weights_need_none() -> None:
    """Different weights need a smoother that knows them; equal ones do not."""
    X, y = rows(200)
    model = AdditiveRegressor(smoother=KNeighborsRegressor())
    plain = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X, y, np.full(200, 3.0)).predict(X), plain)
    with pytest.raises(ValueError, match="KNeighborsRegressor.*takes no sample_weight"):
        model.fit(X, y, np.arange(1.0, 201.0))
