"""Laws of estimators of blocks of rows: tables with gaps, and rows that are held out."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

from tests.cases import law
from tests.estimators.cases import BLOCKS, EstimatorCase
from tests.estimators.data import curve, two_classes
from tests.estimators.transform.transform_data import binary, blocks, few_values, mixed

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CASES = [case for case in BLOCKS if case.data in (two_classes, curve)]
"""Those of two classes, or of numbers."""


def held_out(case: EstimatorCase) -> dict[str, Any]:
    """Parameters that hold rows out."""
    return {"early_stopping": True} if case.has("early_stopping") else {"validation_fraction": 0.1}


def outputs(model: Any, X: Any) -> np.ndarray:
    """Probabilities of classes, or numbers."""
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@law(
    CASES, lambda case: not case.name.startswith("TransformR") or case.name.endswith(", transform")
)
@pytest.mark.parametrize("seed", range(4))
def test_the_holdout_does_not_depend_on_y(case: EstimatorCase, seed: int) -> None:
    """Few different rows, each thousands of times: means within the sampling noise."""
    model = case.make(random_state=seed, **held_out(case)).fit(*binary(seed))
    means = outputs(model, [[0.0], [1.0]])
    means = means[:, 1] if is_classifier(model) else means
    np.testing.assert_allclose(means, [0.3, 0.7], atol=0.035)


@law(CASES)
def test_equal_rows_in_any_order_give_the_same_model(case: EstimatorCase) -> None:
    """Which copies are held out depends on the order, the model does not; weight 0 is no row."""
    X, y, weights = few_values(0)
    there = weights > 0
    wanted = outputs(case.make(**held_out(case)).fit(X, y, weights), X)
    alone = case.make(**held_out(case)).fit(X[there], y[there], weights[there])
    np.testing.assert_allclose(outputs(alone, X), wanted, rtol=0, atol=1e-9)
    for n_blocks in (1, 9):
        found = case.make(**held_out(case)).fit(blocks(X, y, weights, n_blocks, n_blocks))
        np.testing.assert_allclose(outputs(found, X), wanted, rtol=0, atol=1e-9)


@law(CASES)
@pytest.mark.parametrize("with_holdout", [True, False])
def test_partitions_and_threads_give_the_same_model(
    case: EstimatorCase, with_holdout: bool
) -> None:
    """Numbers, categories and gaps, in blocks of any size, on one thread or three."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.round(rng.uniform(-1, 1, size=(800, 2)), 2), columns=["a", "b"])
    y = X["a"].to_numpy() * (1 + 3 * X["b"].to_numpy()) + 0.2 * rng.normal(size=800)
    X = X.assign(group=rng.choice(list("pqr"), 800)).mask(rng.uniform(size=(800, 3)) < 0.05)
    own = held_out(case) if with_holdout else {}
    y = np.digitize(y, [0.0]) if is_classifier(case.make()) else y
    wanted = outputs(case.make(**own).fit(X, y), X)
    for n_jobs in (1, 3):
        found = case.make(**own, n_jobs=n_jobs).fit(blocks(X, y, np.ones(800), 7, n_jobs))
        np.testing.assert_allclose(outputs(found, X), wanted, rtol=0, atol=1e-9)


@law(CASES)
def test_weights_are_repetitions_with_gaps(case: EstimatorCase) -> None:
    """Of tables with categories: a row of weight 2 comes twice, one of weight 0 is none."""
    X, y, _ = mixed(0, 600)
    y = (y > 1).astype(int) if is_classifier(case.make()) else y
    times = np.random.default_rng(4).integers(0, 3, size=600)
    many = np.repeat(np.arange(600), times)
    heavy = outputs(case.make().fit(X, y, times.astype(float)), X)
    long = outputs(case.make().fit(X.iloc[many], y[many]), X)
    np.testing.assert_allclose(heavy, long, rtol=0, atol=1e-9)
