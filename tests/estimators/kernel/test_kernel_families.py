"""Families of kernels in a fitted model: strata by name, predictions by the quickest way."""

import pickle

import numpy as np
import pytest

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
NAMES = ("linear", "polynomial 2", "polynomial 3", "rbf 0.5", "rbf 5", "relative x2")


def plain_outputs(model, X: np.ndarray) -> np.ndarray:
    """Model outputs through the values of every column, shape (n_rows, n_outputs)."""
    outputs = [output for run in model._runs for output in run.outputs]
    return np.column_stack(
        [evaluate(output.hypotheses, X) @ output.coef + output.intercept for output in outputs]
    )


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_families_are_strata_of_their_own(penalty: str) -> None:
    """Every width and degree is a stratum with its own name and count of columns."""
    X, y = two_classes()
    model = CGBoostClassifier(LIBRARY, penalty=penalty).fit(X, y)
    assert tuple(model.columns_per_kernel_) == NAMES
    assert sum(model.columns_per_kernel_.values()) == model.n_columns_ > 0
    assert set(model.columns_["kernel"]) <= set(NAMES)


@pytest.mark.parametrize(
    ("make", "data"),
    [
        (CGBoostClassifier, two_classes),
        (CGBoostClassifier, three_classes),
        (CGBoostRegressor, curve),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_are_the_sums_of_the_columns(make, data, dtype) -> None:
    """For one row or many, before and after pickle, as at the last stage: the plain evaluation."""
    X, y = data()
    X = X.astype(dtype)
    model = make(LIBRARY, C=10.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    tolerance = 1e-10 if dtype is np.float64 else 1e-4
    for rows in (X[:1], np.tile(X, (40, 1))):
        output, expected = model._outputs(rows), plain_outputs(model, rows)
        close = {"rtol": 0, "atol": tolerance * max(1.0, np.abs(expected).max())}
        np.testing.assert_allclose(output, expected, **close)
        np.testing.assert_array_equal(again._outputs(rows), output)
        *_, last = model._staged_outputs(rows)
        np.testing.assert_allclose(last, output, **close)
