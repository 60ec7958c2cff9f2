"""Hard input of linear models: the right answer, with its gap."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from cgboost import (
    MultiQuantileRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
from cgboost.exceptions import DataWarning, TrivialModelWarning
from cgboost.linear import L1LinearSVR, LADRegressor, QuantileRegressor
from cgboost.tolerances import EPSILON
from tests.estimators.linear.test_sparse_linear import rows

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = rows(0, 50, 8)


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


UNITS: dict[str, Callable[[float, float], Any]] = {
    "quantile": lambda x, y: SparseLinearRegressor(alpha=0.1 * x),
    "squared": lambda x, y: SparseLinearRegressor(loss="squared_error", alpha=0.1 * x * y),
    "quantiles": lambda x, y: MultiQuantileRegressor(alpha=0.05 * x),
    "joint": lambda x, y: MultiQuantileRegressor(alpha=0.05 * x, noncrossing="rows"),
    "box": lambda x, y: MultiQuantileRegressor(alpha=0.05 * x, noncrossing="box"),
}
"""Models of features in units of x and targets in units of y."""


@pytest.mark.parametrize("unit", [9e-120, 1e-9, 1e9, 1e118])
@pytest.mark.parametrize("name", UNITS)
def test_units_of_y_and_of_features_do_not_matter(name: str, unit: float) -> None:
    """Up to the limits the model is that of other units, with its gap; so is the default α."""
    expected = UNITS[name](1.0, 1.0).fit(X, Y)
    for x, y in ((unit, 1.0), (1.0, unit)):
        model = UNITS[name](x, y).fit(X * x, Y * y, sample_weight=np.full(len(Y), 7.0))
        np.testing.assert_allclose(model.coef_ * x / y, expected.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.predict(X * x) / y, expected.predict(X), rtol=1e-4)
        assert model.gap_ <= 1e-6
    if name not in ("quantiles", "joint", "box"):
        loss = expected.loss
        expected = SparseLinearRegressor(loss=loss).fit(X, Y).alpha_
        found = SparseLinearRegressor(loss=loss).fit(X * unit, Y).alpha_ / unit
        assert found == pytest.approx(expected, rel=1e-6)
        found = SparseLinearRegressor(loss=loss).fit(X, Y * unit).alpha_
        assert found / (1.0 if name == "quantile" else unit) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
def test_sparse_matrices_with_explicit_zeros(form: str) -> None:
    """Stored zeros, unsorted and repeated entries: the dense model; odd formats are warned of."""
    dense = np.where(np.abs(X) < 0.4, 0.0, X)
    i, j = (dense != 0).nonzero()
    order = np.random.default_rng(0).permutation(len(i))
    i, j = i[order], j[order]
    values = np.concatenate([0.5 * dense[i, j], 0.5 * dense[i, j], np.zeros(20)])
    places = [np.concatenate([k, k, np.arange(20) % n]) for k, n in ((i, 20), (j, 8))]
    given = sparse.coo_matrix((values, places), shape=dense.shape)
    given = given if form == "coo" else given.asformat(form)
    for kind in (SparseLinearRegressor, QuantileRegressor):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = kind(alpha=0.1).fit(given, Y)
        told = [w for w in caught if f"X is sparse in the format '{form}'" in str(w.message)]
        assert {w.category for w in told} == (set() if form in ("csr", "csc") else {DataWarning})
        expected = kind(alpha=0.1).fit(dense, Y)
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


def test_the_last_stage_of_a_model_without_features_is_the_model() -> None:
    """Where any constant between two values of y is best, an interior point stops between them."""
    rows, y = np.random.default_rng(0).normal(size=(2, 3)), np.array([0.0, 1e5])
    model = SparseLinearRegressor(alpha=9.0)
    with pytest.warns(TrivialModelWarning):
        model.fit(rows, y)
    *_, last = model.staged_predict(rows)
    np.testing.assert_array_equal(last, model.predict(rows))


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


def test_probabilities_of_a_source_are_calibrated_on_an_eval_set() -> None:
    """Its rows cannot be cut into folds; the log loss needs none."""
    blocks = [(X[:25], Y[:25] > 3.0), (X[25:], Y[25:] > 3.0)]
    model = SparseLinearClassifier(probability=True, early_stopping=True)
    model.fit(blocks, eval_set=(X, Y > 3.0))
    assert model.predict_proba(X).shape == (50, 2)
    log_odds = SparseLinearClassifier(probability=True, loss="log_loss").fit(blocks)
    odds = log_odds.decision_function(X)
    np.testing.assert_allclose(log_odds.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-odds)))


def test_without_a_penalty_no_smaller_one_is_advised() -> None:
    """The warning of a model without features names y, or the features, or a smaller alpha."""
    with pytest.warns(TrivialModelWarning, match="every y is met by a constant"):
        SparseLinearRegressor(alpha=0.1).fit(X, np.full(50, 7.0))
    model = SparseLinearRegressor(loss="squared_error", alpha=0)
    with pytest.warns(TrivialModelWarning, match="alpha=0; every y is met by a constant"):
        model.fit(X, np.full(50, 7.0))
    with pytest.warns(TrivialModelWarning, match="alpha=0; without a penalty, no feature lowers"):
        model.fit(np.ones((50, 2)), Y)
