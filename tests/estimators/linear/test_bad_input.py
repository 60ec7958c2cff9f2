"""Bad and hard input of linear models: the right answer with its gap, or an error that names it."""

from __future__ import annotations

import inspect
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import NotFittedError

from cgboost import (
    MultiQuantileRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.exceptions import TrivialModelWarning
from cgboost.linear import L1LinearSVR, LADRegressor, QuantileRegressor
from cgboost.tolerances import EPSILON
from tests.estimators.linear.test_sparse_linear import rows

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = rows(0, 50, 8)
SPARSE = sparse.csr_matrix(X)


def with_value(array: Any, value: complex) -> Any:
    """A copy with one entry replaced: of a sparse matrix, of its data."""
    changed = array.astype(np.result_type(array, type(value)))
    (changed.data if sparse.issparse(changed) else changed.flat)[3] = value
    return changed


MODELS = [SparseLinearRegressor(alpha=0.05), SparseLinearClassifier(), QuantileRegressor(alpha=0.1)]

BAD_DATA: list[tuple[dict[str, Any], str]] = [
    ({"X": with_value(X, np.nan)}, "X contains NaN"),
    ({"X": with_value(X, -np.inf)}, "X contains infinity"),
    ({"X": with_value(X, 1j)}, "Complex data not supported"),
    ({"X": with_value(SPARSE, np.nan)}, "X contains NaN"),
    ({"X": with_value(SPARSE, np.inf)}, "X contains infinity"),
    ({"X": with_value(SPARSE, 1j)}, "Complex data not supported"),
    ({"X": X[:, 0]}, "Expected 2D array, got 1D array"),
    ({"X": X[:, :, None]}, "dim 3"),
    ({"X": X[:0], "y": Y[:0]}, "0 sample"),
    ({"X": X[:, :0]}, "0 feature"),
    ({"X": X[:-1]}, r"inconsistent numbers of samples: \[49, 50\]"),
    ({"X": np.full(X.shape, "a")}, r"X must be numbers, but column 0 of X has words, such as 'a'"),
    ({"X": pd.DataFrame({"size": ["big"] * 50})}, r"X must be numbers, but column 'size' .*'big'"),
    ({"X": np.full(X.shape, None)}, "X contains NaN"),
    ({"y": None}, "requires y to be passed, but the target y is None"),
    ({"y": with_value(Y, np.nan)}, "y contains NaN"),
    ({"y": with_value(Y, np.inf)}, "y contains infinity"),
    ({"y": with_value(Y, 1j)}, "Complex data not supported"),
    ({"y": np.column_stack([Y, Y])}, r"y should be a 1d array, got an array of shape \(50, 2\)"),
    ({"sample_weight": np.zeros(50)}, "(?i)sample.weights? must .*(non-zero|not be 0)"),
    ({"sample_weight": with_value(np.ones(50), -2.0)}, "sample_weight must not be negative, got"),
    ({"sample_weight": with_value(np.ones(50), np.nan)}, "sample_weight contains NaN"),
    ({"sample_weight": np.ones(3)}, r"sample_weight.shape == \(3,\), expected \(50,\)"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(("data", "words"), BAD_DATA)
def test_bad_data_are_refused(model: Any, data: dict[str, Any], words: str) -> None:
    """The error names the argument; nothing is fitted, not even n_features_in_."""
    target = Y > 3.0 if isinstance(model, SparseLinearClassifier) else Y
    with pytest.raises(ValueError, match=words):
        model.fit(**({"X": X, "y": target} | data))
    assert set(vars(model)) == set(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=lambda model: type(model).__name__)
def test_words_are_no_response_of_a_regressor(model: Any) -> None:
    """The error names y; numbers that are written as words, or objects, are numbers."""
    for words in (["a"] * 50, [b"a"] * 50, [["a"]] * 50):
        with pytest.raises(ValueError, match=r"y must be numbers, but has words, such as b?'a'"):
            model.fit(X, np.array(words))
    expected = model.fit(X, Y).coef_
    for A, y in ((X.astype(str), Y.astype(str)), (X.astype(object), Y.astype(object))):
        np.testing.assert_allclose(type(model)(**model.get_params()).fit(A, y).coef_, expected)
    model.__dict__ = model.get_params()


BAD_PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"quantile": 0.0}, "quantile must be .* got 0.0"),
    ({"quantile": 1}, "quantile must be .* got 1"),
    ({"quantile": np.nan}, "quantile must be .* got nan"),
    ({"alpha": -1.0}, "alpha must be .* got -1.0"),
    ({"alpha": np.inf}, "alpha must be .* got inf"),
    ({"alpha": "1"}, "alpha must be .* got '1'"),
    ({"epsilon": -0.1}, "epsilon must be .* got -0.1"),
    ({"loss": "hinge"}, "loss.*hinge"),
    ({"penalty": "l2"}, "penalty must be one of .* got 'l2'"),
    ({"l1_ratio": 1.5}, "l1_ratio must be a number > 0 and ≤ 1, got 1.5"),
    ({"l1_ratio": 2, "penalty": "elasticnet"}, "l1_ratio must be a number > 0 and ≤ 1, got 2"),
    ({"l1_ratio": 0.0, "penalty": "elasticnet"}, "l1_ratio must be a number > 0 .* got 0.0"),
    ({"columns_per_round": "all"}, "columns_per_round must be .* got 'all'"),
    ({"standardize": "yes"}, "standardize must be True or False, got 'yes'"),
    ({"penalty_weights": [1.0] * 5}, "penalty_weights must have one entry .* 8 features, got 5"),
    ({"penalty_weights": [1.0] * 7 + [-2.0]}, "penalty_weights must be .* got -2 for feature 7"),
    ({"penalty_weights": [1.0] * 7 + [np.nan]}, "penalty_weights must .* got nan for feature 7"),
    ({"penalty_weights": [1.0] * 7 + [np.inf]}, "penalty_weights must .* got inf for feature 7"),
    ({"penalty_weights": 3.0}, "penalty_weights must be one number for each feature, got 3.0"),
    ({"penalty_weights": "ones"}, "penalty_weights must be .* got 'ones'"),
    ({"penalty_weights": [[1.0] * 8]}, r"penalty_weights must be .* got \[\["),
    ({"penalty_weights": np.ones(8) * 1j}, "penalty_weights must be one number for each feature"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD_PARAMETERS)
def test_bad_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    """The error names the parameter and its value; nothing is fitted."""
    model = SparseLinearRegressor(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y)
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("kind", [type(model) for model in MODELS[:2]] + [MultiQuantileRegressor])
def test_signatures_offer_no_word_for_columns_per_round(kind: Any) -> None:
    """columns_per_round is a number or None here, and its type says so."""
    parameter = inspect.signature(kind).parameters["columns_per_round"]
    assert parameter.annotation == "int | None"


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (X[:, :3], "X has 3 features, but SparseLinearRegressor is expecting 8"),
        (sparse.csr_matrix(X[:, :3]), "X has 3 features, but SparseLinearRegressor is expecting 8"),
        (with_value(X, np.nan), "X contains NaN"),
        (X.astype(complex), "Complex data not supported"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], "0 sample"),
    ],
)
def test_bad_new_rows_are_refused(new: Any, words: str) -> None:
    """Rows to be predicted are checked against those of the fit."""
    model = SparseLinearRegressor(alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match=words):
        model.predict(new)


def optimum(X: np.ndarray, y: np.ndarray, quantile: float, alpha: float) -> float:
    """Of ℓ1 quantile regression by the whole linear program, in columns of size 1, u of y."""
    n = len(X)
    size = np.abs(X).max(axis=0)
    size[size == 0] = 1.0
    unit = float(np.median(np.abs(y - np.median(y)))) or 1.0
    ones = np.ones((n, 1))
    eye = sparse.eye_array(n)
    solved = linprog(
        np.concatenate(
            [*[n * alpha / size] * 2, [0, 0], np.full(n, quantile), np.full(n, 1 - quantile)]
        ),
        A_eq=sparse.hstack([X / size, -X / size, ones, -ones, eye, -eye], format="csc"),
        b_eq=(y - np.median(y)) / unit,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0
    return float(solved.fun) / n * unit


RNG = np.random.default_rng(1)
OUTLIERS = np.where(np.arange(50) == 7, 1e12, np.where(np.arange(50) == 9, -1e12, Y))

HARD: dict[str, tuple[Any, Any]] = {
    "outliers of 1e12 in y": (X, OUTLIERS),
    "scales of 1e9 and 1e-9": (X * np.where(np.arange(8) == 0, 1e9, 1e-9), Y),
    "one feature at 1e9": (X * np.where(np.arange(8) == 0, 1e9, 1.0), Y),
    "every scale": (X * 10.0 ** np.arange(-9, 9, 2.25), Y),
    "X tiny": (X * 1e-12, Y),
    "X huge": (X * 1e12, Y),
    "y tiny": (X, Y * 1e-9),
    "y huge": (X, Y * 1e9),
    "constant features": (np.column_stack([X, np.full(50, 3.0), np.zeros(50)]), Y),
    "only constant features": (np.ones((50, 3)), Y),
    "duplicate features": (np.hstack([X, X[:, :4], -X[:, :4]]), Y),
    "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], Y[:2]),
    "one feature": (X[:, :1], Y),
    "more features than rows": (RNG.normal(size=(10, 300)), Y[:10]),
    "y constant": (X, np.full(50, 2.0)),
    "y 0": (X, np.zeros(50)),
    "y of two values": (X, (Y > 3.0).astype(float)),
    "y mostly 0": (X, np.where(np.arange(50) % 5, 0.0, Y)),
    "whole numbers": (RNG.integers(-3, 4, (50, 20)), RNG.integers(0, 5, 50)),
    "bools": (X > 0.3, Y > 3.0),
    "float32": (X.astype(np.float32), Y.astype(np.float32)),
    "a data frame": (pd.DataFrame(X), pd.Series(Y)),
    "lists": (X.tolist(), Y.tolist()),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(("quantile", "share"), [(0.5, 0.3), (0.9, 0.01)])
def test_hard_data_have_the_right_answer(name: str, quantile: float, share: float) -> None:
    """Objective to 1e-7 of the whole linear program's, with its gap, and of its coefficients."""
    given, response = HARD[name]
    A, y = np.asarray(given, dtype=float), np.asarray(response, dtype=float)
    largest = SparseLinearRegressor(quantile=quantile, alpha=1.0).fit(given, response).alpha_max_
    alpha = share * (largest or 1.0)
    model = SparseLinearRegressor(quantile=quantile, alpha=alpha, tol=1e-8).fit(given, response)
    best = optimum(A, y, quantile, alpha)
    room = 1e-7 * best + 1e-9 * (1.0 + abs(float(np.median(y))))  # of a loss of 0
    assert abs(model.objective_ - best) <= room
    assert model.dual_bound_ <= best + room
    assert model.gap_ <= 1e-7
    error = y - model.predict(given)
    loss = np.maximum(quantile * error, (quantile - 1.0) * error).mean()
    own = loss + alpha * np.abs(model.coef_).sum()
    assert own == pytest.approx(model.objective_, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "squared_epsilon_insensitive", "huber"])
@pytest.mark.parametrize("share", [2.0, 0.5, 1e-3])
def test_outliers_leave_curved_losses_their_gap(loss: Any, share: float) -> None:
    """With an outlier of 1e12 the gap is closed, whether the model has features or not."""
    y = np.where(np.arange(50) == 7, 1e12, Y)
    largest = SparseLinearRegressor(loss=loss, alpha=1.0).fit(X, y).alpha_max_
    model = SparseLinearRegressor(loss=loss, alpha=share * largest).fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.dual_bound_ <= model.objective_


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
def test_sparse_matrices_with_explicit_zeros(form: str) -> None:
    """Stored zeros, unsorted and repeated entries: the model of the dense matrix."""
    dense = np.where(np.abs(X) < 0.4, 0.0, X)
    i, j = (dense != 0).nonzero()
    order = np.random.default_rng(0).permutation(len(i))
    values = np.concatenate([0.5 * dense[i, j][order], 0.5 * dense[i, j][order], np.zeros(20)])
    places = (
        np.concatenate([i[order], i[order], np.arange(20)]),
        np.concatenate([j[order], j[order], np.arange(20) % 8]),
    )
    given = sparse.coo_matrix((values, places), shape=dense.shape)
    if form != "coo":
        given = given.asformat(form)
    model = SparseLinearRegressor(alpha=0.1).fit(given, Y)
    expected = SparseLinearRegressor(alpha=0.1).fit(dense, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    np.testing.assert_allclose(model.predict(given), expected.predict(dense))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.slow
def test_a_matrix_is_not_copied(kind: Any, order: Any) -> None:
    """A fit takes less memory than another X would: none in float64 of one in float32 either."""
    rng = np.random.default_rng(0)
    big = np.asarray(rng.normal(size=(500, 20_000)), dtype=kind, order=order)
    y = 2.0 * big[:, 3].astype(float) + rng.normal(size=500)
    tracemalloc.start()
    model = SparseLinearRegressor(alpha=0.2, columns_per_round=20).fit(big, y)
    model.predict(big)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < big.nbytes
    assert np.flatnonzero(model.coef_).tolist() == [3]


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("loss", ["quantile", "squared_error"])
def test_the_default_alpha_is_in_the_units_of_the_data(loss: Any, unit: float) -> None:
    """alpha=None finds the same α in every unit of X, and of y."""
    expected = SparseLinearRegressor(loss=loss).fit(X, Y).alpha_
    of_features = SparseLinearRegressor(loss=loss).fit(X * unit, Y).alpha_
    assert of_features / unit == pytest.approx(expected, rel=1e-6)
    of_targets = SparseLinearRegressor(loss=loss).fit(X, Y * unit).alpha_
    assert of_targets / (1.0 if loss == "quantile" else unit) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["squared_error", "squared_epsilon_insensitive", "poisson"])
def test_a_constant_within_rounding_leaves_nothing_to_fit(loss: Any, penalty: Any) -> None:
    """Objective and bound are 0 for a constant y whose mean is rounded, or inside ε of one."""
    features = np.random.default_rng(0).normal(size=(20, 3))
    for constant in (7.0, 1.3, 7.7, 100.0):
        model = SparseLinearRegressor(loss=loss, penalty=penalty, alpha=0.1)
        model.fit(features, np.full(20, constant))
        assert (model.objective_, model.dual_bound_) == (0.0, 0.0)
        assert not model.coef_.any()
    if loss == "squared_epsilon_insensitive":
        inside = model.set_params(epsilon=0.5).fit(features, 0.1 * np.sin(features[:, 0]))
        assert (inside.objective_, inside.n_columns_) == (0.0, 0)


OF_CONSTANTS = [
    QuantileRegressor(quantile=0.9, alpha=0.1),
    QuantileRegressor(quantile=0.9, alpha=0.0),
    SparseLinearRegressor(quantile=0.1, alpha=0.01),
    SparseLinearRegressor(quantile=0.9, alpha=0.01, penalty="elasticnet"),
    SparseLinearRegressor(quantile=0.9),
    LADRegressor(alpha=0.01),
    L1LinearSVR(epsilon=0.0),
    MultiQuantileRegressor(alpha=0.01),
]


@pytest.mark.parametrize("model", OF_CONSTANTS, ids=repr)
def test_a_constant_response_is_answered_by_its_constant(model: Any) -> None:
    """Whatever the constant, the number of rows and their weights, the fit ends at its optimum."""
    rng = np.random.default_rng(0)
    for n_rows in (6, 44):
        features, random = rng.normal(size=(n_rows, 3)), rng.uniform(0.05, 3.0, n_rows)
        for constant in (1.0, 0.1, 3.3, -7.0, 1e6, 1e-6):
            for weights in (None, random):
                model.fit(features, np.full(n_rows, constant), sample_weight=weights)
                assert model.converged_, (n_rows, constant, weights)
                np.testing.assert_allclose(model.predict(features), constant, rtol=1e-9)


@pytest.mark.parametrize("noise", [1e-10, 1e-13])
def test_a_nearly_constant_response_is_solved_to_the_rounding_of_y(noise: float) -> None:
    """Of y = 5 + noise, objective and bound are the optimum of the noise up to roundings of 5."""
    rng = np.random.default_rng(2)
    features, y = rng.normal(size=(50, 3)), 5.0 + noise * rng.normal(size=50)
    model = QuantileRegressor(quantile=0.9, alpha=0.1).fit(features, y)
    best = np.sort(y)[45] - y  # no feature pays; y - 5 is exact
    optimum = float(np.mean(np.where(best > 0, 0.1 * best, -0.9 * best)))
    rounding = 20 * EPSILON * 5.0
    assert model.converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-6, abs=rounding)
    assert model.dual_bound_ <= optimum + rounding


@pytest.mark.parametrize("noise", [1e-12, 1e-11, 1e-10])
def test_huber_of_a_nearly_constant_response_is_bounded_by_its_optimum(noise: float) -> None:
    """A box that is 1e12 times as wide as the response leaves bounds below the optimum."""
    rng = np.random.default_rng(1)
    features, y = rng.normal(size=(30, 3)), 5.0 + noise * rng.normal(size=30)
    model = SparseLinearRegressor(loss="huber").fit(features, y)
    of_constant = 0.5 * float(np.var(y - 5.0))
    assert model.dual_bound_ <= model.objective_ <= of_constant * (1.0 + 1e-3)
    np.testing.assert_allclose(model.predict(features), 5.0, atol=5.0 * noise)


@pytest.mark.parametrize("noise", [1e-12, 1e-11, 1e-9])
@pytest.mark.parametrize("kind", [QuantileRegressor, SparseLinearRegressor, MultiQuantileRegressor])
def test_gap_and_bounds_of_a_nearly_constant_response_agree(kind: Any, noise: float) -> None:
    """Where the constant meets every row the gap is that of objective and bound."""
    rng = np.random.default_rng(1)
    features, y = rng.normal(size=(30, 3)), 5.0 + noise * rng.normal(size=30)
    model = kind().fit(features, y)
    assert model.converged_
    assert 0 <= model.objective_ - model.dual_bound_ <= 1e-6 * model.objective_


def test_huber_of_zeros_converges_to_them() -> None:
    """What a solver leaves where nothing is lost at 0 is compared with 1, not with itself."""
    features = np.random.default_rng(1).normal(size=(30, 3))
    model = SparseLinearRegressor(loss="huber").fit(features, np.zeros(30))
    assert model.converged_
    assert model.gap_ <= 1e-9
    np.testing.assert_allclose(model.predict(features), 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 2])
def test_counts_that_are_nearly_equal_are_solved_to_the_rounding_of_their_terms(seed: int) -> None:
    """The terms e^f, y f and y log y of the Poisson loss cancel: only rounding is left of them."""
    rng = np.random.default_rng(seed)
    features, y = rng.normal(size=(44, 3)), 5.0 + 1e-10 * rng.normal(size=44)
    model = SparseLinearRegressor(loss="poisson", alpha=0.01).fit(features, y)
    assert model.converged_
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(np.log(5.0))


SMOOTH = [
    SparseLinearRegressor(loss="squared_error", alpha=0.01),
    SparseLinearRegressor(loss="poisson", alpha=0.01),
    SparseLinearClassifier(loss="log_loss"),
    SparseLinearClassifier(loss="squared_hinge"),
]


@pytest.mark.parametrize(
    "shift", [1e6, 1e8, 1e6 * np.arange(5.0), 1e6 * (np.arange(5) == 2)], ids=str
)
@pytest.mark.parametrize("model", SMOOTH, ids=repr)
def test_features_far_from_0_have_the_optimum_of_centred_ones(model: Any, shift: Any) -> None:
    """The intercept takes up any shift: smooth losses end at the same objective, certified."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 5))
    y = features[:, 0] - 0.5 * features[:, 2] + 0.3 * rng.normal(size=60)
    if model.loss == "poisson":
        y = rng.poisson(np.exp(0.5 * y)).astype(float)
    elif isinstance(model, SparseLinearClassifier):
        y = y > 0
    optimum = model.fit(features, y).objective_
    assert model.fit(features + shift, y).converged_
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.dual_bound_ == pytest.approx(optimum, rel=3e-6)


def test_an_elastic_net_of_large_features_is_an_l1_penalty() -> None:
    """Where ½(1 − ρ)β² is below rounding beside ρ|β|, the model is that of the ℓ1 norm."""
    own = {"loss": "squared_error", "alpha": 1e98}
    net = SparseLinearRegressor(penalty="elasticnet", l1_ratio=0.5, **own).fit(X * 1e100, Y)
    l1 = SparseLinearRegressor(**own | {"alpha": 0.5e98}).fit(X * 1e100, Y)
    np.testing.assert_allclose(net.coef_, l1.coef_)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_sizes_without_squares_are_refused(model: Any, size: float) -> None:
    """The error names X or y and its largest value: squares of it are no numbers of float64."""
    labels = isinstance(model, SparseLinearClassifier)
    cases = [("X", {"X": X * size}), ("X", {"X": SPARSE * size}), ("y", {"y": Y * size})]
    for name, data in cases[: 2 if labels else 3]:
        largest = np.abs(data[name]).max()
        words = rf"{name} must have its largest absolute value between 1e-120 .* {largest:g}: take"
        with pytest.raises(ValueError, match=words.replace("+", r"\+")):
            model.fit(**({"X": X, "y": Y > 3.0 if labels else Y} | data))


@pytest.mark.parametrize("loss", ["quantile", "squared_error"])
@pytest.mark.parametrize("unit", [9e-120, 1e118])
def test_sizes_within_the_limits_have_the_right_answer(loss: Any, unit: float) -> None:
    """Nearly at the limits the model is that of other units, with its gap."""
    expected = SparseLinearRegressor(loss=loss, alpha=0.1).fit(X, Y)
    model = SparseLinearRegressor(loss=loss, alpha=0.1 * unit).fit(X * unit, Y)
    np.testing.assert_allclose(model.coef_ * unit, expected.coef_, rtol=1e-6, atol=1e-9)
    assert model.gap_ <= 1e-6
    alpha = 0.1 if loss == "quantile" else 0.1 * unit
    model = SparseLinearRegressor(loss=loss, alpha=alpha).fit(X, Y * unit)
    np.testing.assert_allclose(model.coef_ / unit, expected.coef_, rtol=1e-6, atol=1e-9)
    assert model.gap_ <= 1e-6


def test_probabilities_of_a_source_of_blocks_need_an_eval_set() -> None:
    """Its rows cannot be cut into folds, which the error says; held-out rows calibrate them."""
    blocks = [(X[:25], Y[:25] > 3.0), (X[25:], Y[25:] > 3.0)]
    words = "probability='isotonic' cannot hold out rows of a source .* early_stopping=True with an"
    with pytest.raises(ValueError, match=words):
        SparseLinearClassifier(probability="isotonic").fit(blocks)
    model = SparseLinearClassifier(probability=True, early_stopping=True)
    model.fit(blocks, eval_set=(X, Y > 3.0))
    assert model.predict_proba(X).shape == (50, 2)
    log_odds = SparseLinearClassifier(probability=True, loss="log_loss").fit(blocks)
    assert log_odds.predict_proba(X).shape == (50, 2)


def test_sources_of_no_rows_or_of_other_widths_are_refused() -> None:
    """The error says that a list is empty, and how many columns which block has."""
    for model in MODELS:
        with pytest.raises(ValueError, match="X must have rows, or blocks .* got an empty list"):
            model.fit([])
    words = "a block has 5 columns, and the first one 8: all blocks must have the same"
    with pytest.raises(ValueError, match=words):
        SparseLinearRegressor().fit([(X[:25], Y[:25]), (X[25:, :5], Y[25:])])


def test_without_a_penalty_no_smaller_one_is_advised() -> None:
    """With alpha=0 the warning of a model without features names y, or the features."""
    model = SparseLinearRegressor(loss="squared_error", alpha=0)
    with pytest.warns(TrivialModelWarning, match="alpha=0; every y is met by a constant"):
        model.fit(X, np.full(50, 7.0))
    with pytest.warns(TrivialModelWarning, match="alpha=0; without a penalty, no feature lowers"):
        model.fit(np.ones((50, 2)), Y)
