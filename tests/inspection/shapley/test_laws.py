"""Contributions are Shapley values by their definition, for every estimator."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from cgboost.inspection import contributions
from cgboost.inspection.model_forms import tree_of
from cgboost.inspection.shapley.contributions import Contributions, _form_of, scores_of
from tests.cases import law
from tests.estimators.cases import CASES, THINNED, EstimatorCase
from tests.inspection.shapley.games import interventional, path_dependent

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

EVERY = [*CASES, THINNED]


def fitted(case: EstimatorCase) -> tuple[Any, np.ndarray]:
    """A model of at most four features and a constant one; shap is there, if it needs it."""
    X, y = case.data(60)
    X = np.column_stack([X[:, :4], np.full(len(X), 0.7)])
    model = case.make().fit(X, y)
    if _form_of(model, X).rest is not None:
        pytest.importorskip("shap", reason="it evaluates models that have no closed form")
    return model, X


def parts_of(found: Contributions) -> tuple[np.ndarray, np.ndarray]:
    """Values and base values with an axis for the outputs."""
    values = found.values.reshape(*found.values.shape[:2], -1)
    return values, found.base_values.reshape(len(found), -1)


@law(EVERY)
def test_contributions_are_shapley_values_over_all_sets_of_features(case: EstimatorCase) -> None:
    """They add up to the scores to 1e-12, are those of the definition, and 0 for a constant."""
    model, X = fitted(case)
    rows, background = X[:6], X[::9]
    values, base = parts_of(found := contributions(model, rows, background))
    scores = scores_of(model, rows)
    size = np.abs(scores).max()
    np.testing.assert_allclose(base + values.sum(axis=1), scores, rtol=0, atol=1e-12 * size)
    expected = interventional(partial(scores_of, model), rows, background)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * size)
    assert np.abs(values[:, -1]).max() <= 1e-14 * size
    assert found.exact
    assert found.feature_perturbation == "interventional"


@law(EVERY)
def test_without_a_background_the_rows_are_it_or_the_covers_of_trees(case: EstimatorCase) -> None:
    """By default values are path-dependent for trees with covers alone, and add up either way."""
    model, X = fitted(case)
    values, base = parts_of(found := contributions(model, X))
    scores = scores_of(model, X)
    np.testing.assert_allclose(
        base + values.sum(axis=1), scores, rtol=0, atol=1e-12 * np.abs(scores).max()
    )
    if found.feature_perturbation == "interventional":
        others, _ = parts_of(contributions(model, X, X))
        np.testing.assert_array_equal(values, others)
        return
    np.testing.assert_array_equal(values[:, -1], 0.0)
    if case is THINNED or case.name.endswith("orthonormal") or "orthogonal" in case.name:
        return  # sums of these trees with other weights
    outputs = [output for run in model._runs for output in run.outputs]
    expected = np.zeros((6, X.shape[1], len(outputs)))
    for k, output in enumerate(outputs):
        for own, weight in zip(output.hypotheses, output.coef, strict=False):
            if (known := tree_of(own)) is not None:
                expected[..., k] += weight * path_dependent(known[0], known[1], X[:6])
    if type(model).__name__ == "GradientBoostingClassifier" and len(outputs) > 1:
        expected -= expected.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(values[:6], expected, rtol=0, atol=1e-12 * np.abs(scores).max())
