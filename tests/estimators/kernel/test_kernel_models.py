"""Kernel models of every penalty: strata by name, predictions by the quickest way, paths."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Polynomial
from cgboost.generation.columns import evaluate
from tests.estimators.data import curve, three_classes, two_classes

LIBRARY = KernelLibrary(
    {
        "linear": Linear(),
        **Polynomial.family([2, 3], coef0=1.0),
        **RBF.family([0.5, 5.0]),
        **RBF.family(factors=[2.0], name="relative"),
    },
    normalize=True,
)
NAMES = ["linear", "polynomial 2", "polynomial 3", "rbf 0.5", "rbf 5", "relative x2"]
TWO = {"linear": Linear(), "rbf": RBF()}
FREE = {"penalty": "rkhs", "centers": "free", "max_columns": 12, "random_state": 0}
MODELS: list[tuple[Any, Any]] = [
    (CGBoostClassifier(LIBRARY, C=10.0), two_classes),
    (CGBoostClassifier(LIBRARY, C=10.0), three_classes),
    (CGBoostRegressor(LIBRARY, C=10.0), curve),
    (CGBoostClassifier(TWO, penalty="rkhs", tol=1e-6), three_classes),
    (CGBoostClassifier(TWO, **FREE), two_classes),
    (CGBoostClassifier(TWO, penalty="group", tol=1e-6), two_classes),
]


def plain_outputs(model, X: np.ndarray) -> np.ndarray:
    """Model outputs through the values of every column, shape (n_rows, n_outputs)."""
    outputs = [output for run in model._runs for output in run.outputs]
    return np.column_stack(
        [evaluate(output.hypotheses, X) @ output.coef + output.intercept for output in outputs]
    )


@pytest.mark.parametrize(("model", "data"), MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_are_the_sums_of_the_columns(model, data, dtype) -> None:
    """For one row or many, before and after pickle, as at the last stage: the plain evaluation.

    So is the last score of an eval_set. Every kernel, width and degree is a stratum with its own
    name and count of columns.
    """
    X, y = data()
    X = X.astype(dtype)
    model = clone(model).fit(X, y, eval_set=(X[:30], y[:30]))
    if "class" not in model.history_:
        apart = model.predict(X[:30]) - y[:30]
        scores = {"validation_error": np.mean(apart != 0), "validation_mae": np.abs(apart).mean()}
        (name,) = scores.keys() & model.history_.keys()
        assert model.history_[name][-1] == pytest.approx(scores[name], rel=1e-5)
    names = NAMES if len(model.library_.names) > 2 else [*TWO]
    assert list(model.columns_per_kernel_) == names
    assert set(model.columns_["kernel"]) <= set(names)
    assert np.sum(list(model.columns_per_kernel_.values())) == np.sum(model.n_columns_) > 0
    again = pickle.loads(pickle.dumps(model))
    tolerance = 1e-10 if dtype is np.float64 else 1e-4
    for rows in (X[:1], np.tile(X, (40, 1))):
        output, expected = model._outputs(rows), plain_outputs(model, rows)
        close = {"rtol": 0, "atol": tolerance * max(1.0, np.abs(expected).max())}
        np.testing.assert_allclose(output, expected, **close)
        np.testing.assert_array_equal(again._outputs(rows), output)
        *_, last = model._staged_outputs(rows)
        np.testing.assert_allclose(last, output, **close)


def test_a_path_of_free_centres_ends_near_separate_fits() -> None:
    """Started from each other, in any order, each has its own bound."""
    X, y = two_classes(60)
    model = CGBoostClassifier({"rbf": RBF(0.5)}, **FREE)
    costs = [10.0, 0.1, 1.0]
    path = model.path(X, y, costs)
    for C, found in zip(costs, path, strict=True):
        alone = clone(model).set_params(C=C).fit(X, y)
        assert found.dual_bound_ <= alone.objective_ * (1 + 1e-8)
        assert found.n_columns_ == 12
        assert np.diff(found.history_["columns"]).min() >= 0
        assert found.objective_ <= 1.1 * alone.objective_
