"""X, y and weights as they are given: masked values, dates, None, and sizes beyond float64."""

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestClassifier

import cgboost
from cgboost import (
    CGBoostClassifier,
    CGBoostRegressor,
    LPBoostClassifier,
    LPBoostRegressor,
    OrthogonalGreedyRegressor,
    RuleSetRegressor,
    SparseLinearRegressor,
    TransformRegressor,
)
from cgboost.estimators.common.inputs import costs, read_weights
from cgboost.exceptions import DataWarning
from tests.estimators.data import two_classes

X, Y = two_classes()
T = X[:, 0] - 0.5 * X[:, 1]
DAYS = np.datetime64("2020-01-01") + np.arange(X.size).reshape(X.shape)
MASK = np.arange(len(X)) < 3


def model_of(name) -> Any:
    """A small model of a class."""
    model = getattr(cgboost, name)()
    known = model.get_params()
    small = {"max_columns": 4, "n_estimators": 3, "max_iter": 3, "max_rounds": 3}
    if name == "ThinnedEnsemble":
        model.set_params(estimator=RandomForestClassifier(5, random_state=0), size=2)
    return model.set_params(**{key: value for key, value in small.items() if key in known})


MODELS = [name for name in cgboost.__all__ if name.endswith(("Classifier", "Regressor"))]
MODELS.append("ThinnedEnsemble")


def target_of(name):
    """A y that a model of this class takes."""
    return T if is_regressor(model_of(name)) else Y


@pytest.mark.parametrize("name", MODELS)
def test_what_is_no_number_is_an_error(name):
    """Masked values, dates in place of numbers and missing responses are errors of every class."""
    y, row = target_of(name), [*target_of(name)]
    row[5] = None
    masked = np.ma.masked_array(X, mask=X > 1.0)
    bad: list[tuple[Any, Any, Any, str]] = [
        (masked, y, None, "X has .* masked values"),
        (X, np.ma.masked_array(y, mask=MASK), None, "y has 3 masked values of 40"),
        (X, y, np.ma.masked_array(np.ones(40), mask=MASK), "sample_weight has 3 masked values"),
        (DAYS, y, None, "has dates or times"),
        (X, y, DAYS[:, 0], "sample_weight must be numbers, got dates or times"),
        (X, np.array(row, dtype=object), None, "no value in 1 of 40 rows .5., row 5 has None"),
        (X, y, np.full(40, 1e-300), "largest sample_weight must be from 1e-100 to 1e.100"),
        (X, y, np.full(40, 1e300), "largest sample_weight must be from 1e-100 to 1e.100"),
    ]
    if is_regressor(model_of(name)):
        bad.append((X, DAYS[:, 0], None, "y must be numbers, got dates or times"))
    for rows, target, weights, message in bad:
        with pytest.raises(ValueError, match=message):
            model_of(name).fit(rows, target, sample_weight=weights)


@pytest.mark.parametrize("name", ["CGBoostClassifier", "LPBoostRegressor", "TransformRegressor"])
def test_new_rows_that_are_no_numbers(name):
    """Masked values and dates are errors of predictions and of held-out rows too."""
    y = target_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(name).fit(X, y)
    masked = np.ma.masked_array(X, mask=X > 1.0)
    with pytest.raises(ValueError, match="X has .* masked values"):
        model.predict(masked)
    with pytest.raises(ValueError, match="has dates or times"):
        model.predict(DAYS)


def test_held_out_rows_that_are_no_numbers():
    """A masked response of an eval_set is an error that names it."""
    held = (X, np.ma.masked_array(Y, mask=MASK))
    with pytest.raises(ValueError, match="eval_set: y has 3 masked values"):
        CGBoostClassifier().fit(X, Y, eval_set=held)


def test_an_array_without_masked_values_is_an_array():
    """A masked array in which nothing is masked gives the model of its numbers."""
    plain = CGBoostRegressor(max_columns=5).fit(X, T).predict(X)
    model = CGBoostRegressor(max_columns=5).fit(np.ma.masked_array(X), np.ma.masked_array(T))
    np.testing.assert_array_equal(model.predict(X), plain)


def test_dates_as_labels():
    """Dates are labels like others: predictions are dates."""
    days = np.where(Y > 0, DAYS[0, 0], DAYS[1, 0])
    model = LPBoostClassifier(max_columns=5).fit(X, days)
    assert set(model.predict(X)) <= {DAYS[0, 0], DAYS[1, 0]}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels(missing):
    """Whatever stands for a missing label among objects: the message says in which rows."""
    y = np.array(["a", "b"] * 20, dtype=object)
    y[[2, 7]] = missing
    with pytest.raises(ValueError, match=r"no value in 2 of 40 rows \(2, 7\)"):
        CGBoostClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"no value in 2 of 40 rows \(2, 7\)"):
        LPBoostClassifier().fit(X, y)


def test_columns_of_dates_are_named():
    """Of a data frame the message names the column of dates, for models of numbers."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(day=DAYS[:, 0])
    for model in (LPBoostClassifier(), SparseLinearRegressor()):
        with pytest.raises(ValueError, match="column 'day' of X has dates or times"):
            model.fit(frame, Y)


@pytest.mark.parametrize("estimator", [LPBoostClassifier, SparseLinearRegressor])
def test_columns_with_words_or_without_values_are_named(estimator):
    """Of frames and arrays, with what to do and which models take them."""
    digits = pd.Series(["1", "2"] * 4, dtype=object)
    frame = pd.DataFrame({"age": np.arange(8.0), "town": ["west", "east"] * 4})
    y = np.arange(8) % 2
    for X, column in ((frame.assign(age=digits), "'town'"), (frame.to_numpy().astype("S"), "1")):
        with pytest.raises(ValueError, match=f"column {column} of X has words, such as b?'west'"):
            estimator().fit(X, y)
    for X, column in ((frame, "'town'"), (frame.to_numpy(), "1")):
        with pytest.raises(ValueError, match=f"column {column} of X has words, such as 'west'"):
            estimator().fit(X, y)
    gaps = frame[["age"]].where(frame["age"] > 2)
    for X, column in ((gaps, "'age'"), (gaps.to_numpy(), "0")):
        words = f"X contains NaN: column {column} has no value in 3 of 8 rows: .*rule sets"
        with pytest.raises(ValueError, match=words):
            estimator().fit(X, y)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ThinnedEnsemble"])
def test_two_columns_of_one_name(name):
    """An error that names them, whatever the estimator."""
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    with pytest.raises(
        ValueError, match="X has 2 columns called 'a': give every column another name"
    ):
        model_of(name).fit(frame, target_of(name))


@pytest.mark.parametrize("kind", [np.array, list, lambda y: np.array(y, dtype=object)])
@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith("Regressor")])
def test_words_in_the_y_of_a_regressor(name, kind):
    """An error that shows one; numbers that are written out are numbers, as in scikit-learn."""
    words = kind(["low", "high"] * (len(X) // 2))
    with pytest.raises(ValueError, match="y must be numbers, but has words, such as 'low'"):
        model_of(name).fit(X, words)


VALUES = {
    "huge integer": 10**400,
    "signaling": Decimal("sNaN"),
    "period": pd.Period("2020"),
    "interval": pd.Interval(0, 1),
    "list": [0, 1],
    "complex": 1j,
    "set": {1},
    "object": object(),
}


@pytest.mark.parametrize("estimator", [CGBoostRegressor, LPBoostRegressor, TransformRegressor])
@pytest.mark.parametrize("name", VALUES)
def test_values_that_are_no_numbers_are_named(estimator, name):
    """Columns, responses and weights of them, in fits and predictions: no error of others."""
    value, size = VALUES[name], 8
    column = pd.Series([value] * size, dtype=object)
    odd = pd.DataFrame({"a": column, "b": np.arange(size)})
    good, y = pd.DataFrame({"a": np.arange(size) % 3, "b": np.arange(size)}), np.arange(size) / size
    model = estimator().fit(good, y)
    told = r"column '?[a0]'? of X has .* of type|feature 'a' (has|was)|builtins\.list of something"
    as_categories = ("period", "interval", "object", "signaling")
    if estimator is not TransformRegressor or name not in as_categories:
        with pytest.raises((ValueError, TypeError), match=told):
            estimator().fit(odd, y)
    if estimator is not TransformRegressor or name != "signaling":
        with pytest.raises((ValueError, TypeError), match=told):
            model.predict(odd)
    if name != "list":  # several responses
        with pytest.raises(ValueError, match=r"y must be numbers|contains NaN|Complex data"):
            estimator().fit(good, column)
        with pytest.raises(ValueError, match=r"sample_weight (must be numbers|contains)|NaN"):
            estimator().fit(good, y, sample_weight=column)


@pytest.mark.parametrize("model", [CGBoostRegressor(), LPBoostRegressor(), SparseLinearRegressor()])
def test_infinity_is_told_with_its_column_and_row(model):
    """In arrays, frames and sparse matrices, of training rows and of others."""
    odd = np.array(X[:9, :2], dtype=float)
    good, odd[5, 1] = odd.copy(), -np.inf
    frame, words = pd.DataFrame(odd, columns=["u", "v"]), "X contains infinity .*: column {} has "
    kinds = [(odd, "1"), (frame, "'v'")]
    if isinstance(model, CGBoostRegressor):
        kinds.append((sparse.csr_array(odd), "1"))
    for given, name in kinds:
        with pytest.raises(ValueError, match=f"{words.format(name)}-inf in row 5: give a finite"):
            clone(model).fit(given, T[:9])
    with pytest.raises(ValueError, match=f"{words.format(1)}-inf in row 5"):
        clone(model).fit(good, T[:9]).predict(odd)


def test_complex_numbers_are_refused():
    """Of arrays, frames and their objects: with the column, no dump, scikit-learn's words."""
    z, y = np.arange(8) + 1j, np.arange(8.0)
    objects = pd.DataFrame({"a": y, "c": pd.Series([*z], dtype=object)})
    for model in (CGBoostRegressor(), LPBoostRegressor(), SparseLinearRegressor()):
        for frame in (pd.DataFrame({"a": y, "c": z}), objects):
            with pytest.raises(ValueError, match="column 'c' of X has .*Complex data not"):
                model.fit(frame, y)
    for model in (TransformRegressor(), RuleSetRegressor(), LPBoostRegressor()):
        good = model.fit(y[:, None], y)
        with pytest.raises(ValueError, match=r"column 0 of X has 1j .*Complex data not"):
            good.predict(z[:, None])
        for odd in (z, pd.Series([*z], dtype=object)):
            with pytest.raises(ValueError, match="Complex data not supported: y must .* has .*1j"):
                model.fit(y[:, None], odd)
            with pytest.raises(ValueError, match="supported: sample_weight must .* has .*1j"):
                model.fit(y[:, None], y, sample_weight=odd)


def test_frames_of_odd_columns():
    """Several values in a row, none at all, sparse ones of nan: what is wrong, and where."""
    y = np.arange(8.0)
    several = pl.DataFrame({"a": y, "c": [{"u": value} for value in y]})
    sparse = pd.DataFrame({"a": pd.arrays.SparseArray(y, fill_value=np.nan)})
    for model in (TransformRegressor(), RuleSetRegressor()):
        with pytest.raises(ValueError, match="feature 'c' has several values in a row, of type S"):
            model.fit(several, y)
        good = model.fit(several.select("a", c="a"), y)
        with pytest.raises(ValueError, match="feature 'c' has several values in a row, of type S"):
            good.predict(several[:1])
    for model in (CGBoostRegressor(), LPBoostRegressor(), SparseLinearRegressor()):
        with pytest.raises(ValueError, match=r"rows and columns, got a data frame of shape .8, 0"):
            model.fit(pd.DataFrame(index=range(8)), y)
        with pytest.raises(ValueError, match="column 'a' of X is sparse, .* does not store is nan"):
            model.fit(sparse, y)


def test_frames_that_are_not_read_and_complex_columns_are_refused():
    """With what to do."""
    frame = pl.DataFrame({"a": np.arange(8.0)})
    for model in (CGBoostRegressor(), LPBoostRegressor(), TransformRegressor()):
        with pytest.raises(ValueError, match=r"got a polars.*LazyFrame: give X\.collect\(\)"):
            model.fit(frame.lazy(), np.arange(8.0))
        with pytest.raises(ValueError, match=r"got a polars.*LazyFrame: give X\.collect\(\)"):
            model.fit(frame, np.arange(8.0)).predict(frame.lazy())
    with pytest.raises(ValueError, match="feature 'a' has complex numbers: give their real and"):
        TransformRegressor().fit(pd.DataFrame({"a": np.arange(8) + 1j}), np.arange(8.0))


def test_tuples_of_numbers_are_rows():
    """Also of NumPy's numbers, which have a shape, where blocks (X, y) could be."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    for rows in ([*map(tuple, X)], [*map(tuple, X.tolist())], tuple(map(tuple, X))):
        for model in (TransformRegressor(n_estimators=1), SparseLinearRegressor()):
            wanted = clone(model).fit(X, X[:, 0]).predict(X)
            found = clone(model).fit(rows, X[:, 0])
            np.testing.assert_array_equal(found.predict(rows), wanted)


@pytest.mark.parametrize("formulation", ["lp", "qp", "nm"])
@pytest.mark.parametrize("C", [1e300, 10**305, 1e-302])
def test_costs_beyond_float64(formulation, C):
    """C·Σw outside of 1e-100 to 1e300 is an error that has C and the sum of the weights."""
    with pytest.raises(ValueError, match=r"from 1e-100 to 1e\+300, got C=1e.* a sum of 40"):
        LPBoostClassifier(formulation=formulation, C=C).fit(X, Y)
    with pytest.raises(ValueError, match=r"from 1e-100 to 1e\+300, got C=1e"):
        CGBoostRegressor(C=C).fit(X, T)


@pytest.mark.parametrize("C", [1e-90, 1e-99])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet", "rkhs", "group"])
def test_tiny_costs(penalty, C):
    """With next to no costs the optimum is 0 for every penalty, and most rows decide the class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CGBoostClassifier(penalty=penalty, C=C).fit(X, Y)
    assert model.converged_
    assert 0.0 <= model.objective_ <= 40.0 * C * (1.0 + 1e-12)
    assert model.score(X, Y) >= max(np.mean(Y), 1.0 - np.mean(Y)) - 1e-9


def test_limits_of_costs_and_weights():
    """At the limits weights and costs are taken, beyond them not."""
    ones = np.ones(4)
    assert (costs(2.5e299, ones) == 2.5e299).all()
    assert (costs(2.6e-101, ones) > 0.0).all()
    for C in (2.6e299, 2.4e-101):
        with pytest.raises(ValueError, match="C times the sum"):
            costs(C, ones)
    for size in (1e-100, 1e100):
        assert (read_weights(size * ones, X[:4]) == size).all()
    for size in (0.9e-100, 1.1e100):
        with pytest.raises(ValueError, match="largest sample_weight"):
            read_weights(size * ones, X[:4])
    with pytest.raises(ValueError, match="sample_weight must not be negative, got -1"):
        read_weights(-ones, X[:4])


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
