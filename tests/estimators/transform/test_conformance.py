"""What additive models, transform regression and linear trees promise alike about their rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from cgboost import (
    AdditiveRegressor,
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.estimators.transform.variants import VARIANTS
from tests.estimators.transform.transform_data import binary, blocks, few_values, mixed, target

MODELS: dict[str, Any] = {
    **{variant: TransformRegressor(variant=variant, n_estimators=4) for variant in VARIANTS},
    "classes": TransformClassifier(n_estimators=4),
    "one pass": AdditiveRegressor(tol=1e-2),
    "backfitting": AdditiveRegressor("backfitting", tol=1e-2),
    "tree": LinearTreeRegressor(min_samples_leaf=7),
    "boosting": LinearTreeBoostingRegressor(n_estimators=8, learning_rate=0.5),
    "boosted classes": LinearTreeBoostingClassifier(n_estimators=8, learning_rate=0.5),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    """An estimator, with rows held out."""
    return clone(MODELS[request.param])


def without_holdout(model: Any) -> Any:
    """The same with all rows for the fit."""
    tree = isinstance(model, LinearTreeRegressor)
    return clone(model).set_params(**{"validation_fraction": 0.0} if tree else OFF)


OFF = {"early_stopping": False}


def outputs(model: Any, X: Any) -> np.ndarray:
    """Probabilities of classes, or numbers."""
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "name", [name for name in MODELS if name not in VARIANTS or name == "transform"]
)
def test_the_holdout_does_not_depend_on_y(name: str, seed: int) -> None:
    """Few different rows, each thousands of times: means within the sampling noise."""
    model = clone(MODELS[name]).set_params(random_state=seed).fit(*binary(seed))
    means = outputs(model, [[0.0], [1.0]])
    means = means[:, 1] if is_classifier(model) else means
    np.testing.assert_allclose(means, [0.3, 0.7], atol=0.035)


def test_equal_rows_in_any_order_give_the_same_model(model: Any) -> None:
    """Which copies are held out depends on the order, the model does not; weight 0 is no row."""
    X, y, weights = few_values(0)
    there = weights > 0
    wanted = outputs(clone(model).fit(X, y, weights), X)
    alone = outputs(clone(model).fit(X[there], y[there], weights[there]), X)
    np.testing.assert_allclose(alone, wanted, rtol=0, atol=1e-9)
    for n_blocks in (1, 9):
        found = clone(model).fit(blocks(X, y, weights, n_blocks, n_blocks))
        np.testing.assert_allclose(outputs(found, X), wanted, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("held_out", [True, False])
def test_partitions_and_threads_give_the_same_model(model: Any, held_out: bool) -> None:
    """Numbers, categories and gaps, in blocks of any size, on one thread or three."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.round(rng.uniform(-1, 1, size=(800, 2)), 2), columns=["a", "b"])
    y = X["a"].to_numpy() * (1 + 3 * X["b"].to_numpy()) + 0.2 * rng.normal(size=800)
    X = X.assign(group=rng.choice(list("pqr"), 800)).mask(rng.uniform(size=(800, 3)) < 0.05)
    y = np.digitize(y, [0.0]) if is_classifier(model) else y
    model = model if held_out else without_holdout(model)
    wanted = outputs(clone(model).fit(X, y), X)
    for n_jobs in (1, 3):
        parts = blocks(X, y, np.ones(800), 7, n_jobs)
        found = clone(model).set_params(n_jobs=n_jobs).fit(parts)
        np.testing.assert_allclose(outputs(found, X), wanted, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_repetitions(model: Any) -> None:
    """Without a holdout a row of weight 2 is a row that comes twice, one of weight 0 is none."""
    X, y, _ = mixed(0, 600)
    y = target(TransformClassifier, y) if is_classifier(model) else y
    times = np.random.default_rng(4).integers(0, 3, size=600)
    many = np.repeat(np.arange(600), times)
    model = without_holdout(model)
    heavy = outputs(clone(model).fit(X, y, times.astype(float)), X)
    long = outputs(clone(model).fit(X.iloc[many], y[many]), X)
    np.testing.assert_allclose(heavy, long, rtol=0, atol=1e-9)
