"""X, y and weights that are taken as they are given, and sizes that are warned of."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from cgboost import (
    CGBoostRegressor,
    LPBoostClassifier,
    OrthogonalGreedyRegressor,
    SparseLinearRegressor,
    TransformRegressor,
)
from cgboost.estimators.common.input_checks import read_weights
from cgboost.estimators.common.objective import row_costs
from cgboost.exceptions import DataWarning
from tests.estimators.data import two_classes

X, Y = two_classes()
T = X[:, 0] - 0.5 * X[:, 1]


def test_what_looks_odd_and_is_none_is_taken() -> None:
    """Masked arrays without masked values, numbers written as words, dates as labels."""
    plain = CGBoostRegressor(max_columns=5).fit(X, T).predict(X)
    masked = np.ma.masked_array
    for A, y in ((masked(X), masked(T)), (X.astype(object), T.astype(str))):
        model = CGBoostRegressor(max_columns=5).fit(A, y)
        np.testing.assert_array_equal(model.predict(X), plain)
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    assert set(LPBoostClassifier(max_columns=5).fit(X, days[Y]).predict(X)) <= set(days)


def test_tuples_of_numbers_are_rows():
    """Also of NumPy's numbers, which have a shape, where blocks (X, y) could be."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    for rows in ([*map(tuple, X)], [*map(tuple, X.tolist())], tuple(map(tuple, X))):
        for model in (TransformRegressor(n_estimators=1), SparseLinearRegressor()):
            wanted = clone(model).fit(X, X[:, 0]).predict(X)
            found = clone(model).fit(rows, X[:, 0])
            np.testing.assert_array_equal(found.predict(rows), wanted)


def test_limits_of_costs_and_weights():
    """At the limits weights and costs are taken, beyond them not."""
    ones = np.ones(4)
    assert (row_costs(2.5e299, ones) == 2.5e299).all()
    assert (row_costs(2.6e-101, ones) > 0.0).all()
    for C in (2.6e299, 2.4e-101):
        with pytest.raises(ValueError, match="C times the sum"):
            row_costs(C, ones)
    for size in (1e-100, 1e100):
        assert (read_weights(size * ones, X[:4]) == size).all()
    for size in (0.9e-100, 1.1e100):
        with pytest.raises(ValueError, match="largest sample_weight"):
            read_weights(size * ones, X[:4])


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (CGBoostRegressor(), "C=1 multiplies each"),
        (LPBoostClassifier(C=0.5), "C=0.5 multiplies each"),
        (OrthogonalGreedyRegressor(), "criterion='hdbic' takes that for the number of rows"),
        (LPBoostClassifier(nu=0.3), None),
        (SparseLinearRegressor(), None),
        (OrthogonalGreedyRegressor(criterion=None), None),
    ],
    ids=repr,
)
def test_weights_far_from_the_number_of_rows_warn(model, what):
    """Of a mean below 1/10 or above 10, where a parameter is multiplied by them; else never."""
    y = T if is_regressor(model) else Y
    for mean in (0.09, 0.2, 5.0, 12.0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y, sample_weight=np.full(len(X), mean))
        told = [str(own.message) for own in caught if "add up to" in str(own.message)]
        assert len(told) == (what is not None and not 0.1 <= mean <= 10.0)
        assert all(what in words and f"their mean, {mean:g}" in words for words in told)
    assert {own.category for own in caught if "add up to" in str(own.message)} <= {DataWarning}
