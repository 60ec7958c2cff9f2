"""Linear constraints on coefficients: against CVXPY, in words, and where none can hold."""

from __future__ import annotations

import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import cgboost
from cgboost import SparseLinearClassifier, SparseLinearRegressor, certify, load
from cgboost.estimators.linear.linear_constraints import LinearConstraints, read_constraints
from cgboost.exceptions import CertificateError, InfeasibleConstraintsError
from cgboost.linear import SparseLinearClassifierCV, SparseLinearRegressorCV
from cgboost.losses.registry import CLASSIFICATION

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LOSSES = (
    *("quantile", "absolute_error", "squared_error", "huber", "epsilon_insensitive"),
    *("squared_epsilon_insensitive", "expectile", "poisson"),
    *("hinge", "squared_hinge", "log_loss", "exponential"),
)
KINDS = ("sum", "equations", "inequalities", "bounds", "order", "fixed", "signs")
EXACT = 1.5e-6
"""The gap of a fit and what Clarabel leaves of its own."""

ROUNDING = 1e-7
"""What a bound may be above Clarabel's optimum."""

HOLDS = 1e-8
"""A constraint holds to this, relative to its terms."""


def constraints_of(kind: str, beta: np.ndarray, rng: np.random.Generator) -> list[Any]:
    """Constraints of a kind that these coefficients obey."""
    p, (i, j) = len(beta), rng.choice(len(beta), 2, replace=False)
    i, j = (i, j) if beta[i] >= beta[j] else (j, i)
    matrix = rng.normal(size=(6, p))
    scaled = matrix * 10.0 ** rng.integers(-2, 3, size=(6, 1))
    few = sparse.csr_array(np.where(rng.random((6, p)) < 0.3, matrix, 0.0))
    return {
        "sum": [f"sum == {beta.sum():.17g}"],
        "equations": [(matrix[:3], "==", matrix[:3] @ beta)],
        "inequalities": [
            (scaled, "<=", scaled @ beta + 0.3 * rng.exponential(size=6)),
            (few, ">=", few @ beta - 0.1 * rng.exponential(size=6)),
        ],
        "bounds": [f"{beta[i] - 0.1:.17g} <= x{i} <= {beta[i] + 0.2:.17g}"],
        "order": [f"2*x{i} - x{j} >= x{i}"],
        "fixed": [f"x{j} == {beta[j]:.17g}"],
        "signs": [f"x{k} {'>=' if beta[k] >= 0 else '<='} 0" for k in range(p)],
    }[kind]


def drawn(seed: int, loss: str) -> tuple[Any, Any, np.ndarray, np.ndarray, LinearConstraints]:
    """A model with random choices, its rows, weights, and constraints, of two kinds."""
    rng = np.random.default_rng([seed, *loss.encode()])
    n, p = int(rng.integers(20, 70)), int(rng.integers(5, 40))
    X = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p)) + rng.normal(size=p)
    beta = np.where(rng.random(p) < 0.3, np.round(rng.normal(size=p), 2), 0.0) * (seed % 3 > 0)
    options: dict[str, Any] = {
        "loss": loss,
        "standardize": bool(rng.integers(2)),
        "fit_intercept": bool(rng.integers(4)),
        "penalty": rng.choice(["l1", "elasticnet"]).item(),
    }
    if rng.random() < 0.25:
        beta, options["positive"] = np.abs(beta), True
    elif rng.random() < 0.3:
        options["penalty_weights"] = rng.uniform(0.3, 1.0, p) * (rng.random(p) < 0.9)
    given = [
        one
        for kind in rng.choice(KINDS, 2, replace=False).tolist()
        for one in constraints_of(kind, beta, rng)
    ]
    f = X[:, 0] / X[:, 0].std() - X[:, 1] / X[:, 1].std() + rng.standard_t(3, size=n)
    weights, strength = rng.integers(0, 4, size=n) / 2.0, float(10 ** rng.uniform(-2.0, -0.5))
    if loss in CLASSIFICATION:
        y = np.where(f > np.median(f), 1.0, -1.0)
        model: Any = SparseLinearClassifier(C=1 / (n * strength), constraints=given, **options)
    else:
        y = rng.poisson(np.exp(np.clip(f, -2, 2))).astype(float) if loss == "poisson" else f
        model = SparseLinearRegressor(alpha=strength, constraints=given, **options)
    rows = sparse.csc_array(X) if seed % 5 == 0 else X
    return model, rows, y, weights, read_constraints(given, None, p)


def optimum(
    model: Any, X: Any, y: np.ndarray, w: np.ndarray, read: LinearConstraints
) -> tuple[float, np.ndarray]:
    """CVXPY's optimum of the same problem, and its prices of the right-hand sides."""
    X = X.toarray() if sparse.issparse(X) else X
    beta, b = cp.Variable(X.shape[1]), cp.Variable()
    v = np.ones(X.shape[1]) if model.penalty_weights is None else model.penalty_weights
    if model.standardize:
        means = np.average(X, axis=0, weights=w)
        X = X - means
        v = v * np.sqrt(np.average(X**2, axis=0, weights=w))
    f = X @ beta + (b if model.fit_intercept else 0.0)
    f = f / 2.0 if model.loss == "log_loss" else f  # the loss has half the log-odds
    cost, penalty = w @ model._loss.to_cvxpy(y, f), model._penalty
    charge = penalty.threshold * cp.norm1(cp.multiply(v, beta))
    charge += 0.5 * penalty.quadratic * cp.sum_squares(cp.multiply(v, beta))
    objective = model.C * cost + charge if model.loss in CLASSIFICATION else None
    if objective is None:
        objective = cost / w.sum() + model.alpha * charge
    values, right = read.matrix.toarray() @ beta, read.right
    limits = []
    for k, sense in enumerate(read.sense.tolist()):
        limits.append(
            {1: values[k] <= right[k], 0: values[k] == right[k], -1: values[k] >= right[k]}[sense]
        )
    signs = [beta >= 0] if model.positive else []
    problem = cp.Problem(cp.Minimize(objective), limits + signs)
    exact = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    problem.solve(solver="CLARABEL", **exact)
    return float(problem.value), np.array([limit.dual_value for limit in limits])


def beyond(read: LinearConstraints, coef: np.ndarray) -> float:
    """By how much the worst constraint is exceeded, relative to its terms."""
    over = read.matrix @ coef - read.right
    over = np.where(read.sense == 0, np.abs(over), np.maximum(read.sense * over, 0.0))
    sizes = 1.0 + np.abs(read.right) + abs(read.matrix) @ np.abs(coef)
    return float(np.max(over / sizes))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_optima_are_cvxpys(loss: str, seed: int) -> None:
    """Every loss with two kinds of constraints: they hold, and bound ≤ CVXPY's optimum ≤ objective.

    The objective is within a gap of 1e-6 of the bound.
    """
    model, X, y, w, read = drawn(seed, loss)
    model.fit(X, y, sample_weight=w)
    best, _ = optimum(model, X, y, w, read)
    scale = max(abs(best), 1e-3)
    assert model.gap_ <= 1e-6
    assert beyond(read, np.ravel(model.coef_)) <= HOLDS
    assert -ROUNDING * scale <= model.objective_ - best <= EXACT * scale
    assert model.dual_bound_ <= best + ROUNDING * scale


@pytest.mark.parametrize("loss", ["squared_error", "quantile", "huber", "log_loss"])
def test_prices_are_the_slopes_of_the_optimum(loss: str) -> None:
    """A unit of each right-hand side changes the objective by its price: differences say so."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] - 2 * X[:, 1] + rng.normal(size=60)
    y = np.where(y > 0, 1.0, -1.0) if loss == "log_loss" else y

    def fitted(step: np.ndarray) -> Any:
        right = np.array([0.3, -0.5, 0.2]) + step
        rows = [([1.0] + 7 * [0.0], "<=", right[0]), ([0.0, 1.0] + 6 * [0.0], ">=", right[1])]
        rows.append((np.ones(8), "==", right[2]))
        kind = {"C": 0.5} if loss == "log_loss" else {"alpha": 0.05}
        maker = SparseLinearClassifier if loss == "log_loss" else SparseLinearRegressor
        return maker(loss=loss, constraints=rows, tol=1e-9, **kind).fit(X, y)

    prices, step = fitted(np.zeros(3)).constraint_prices_, 1e-4
    assert prices[0] < 0 < prices[1]
    for k in range(3):
        up, down = (fitted(sign * step * np.eye(3)[k]).objective_ for sign in (1.0, -1.0))
        assert (up - down) / (2 * step) == pytest.approx(prices[k], rel=0.02, abs=1e-4)


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_prices_of_signs_are_what_allowing_more_gains(loss: str, penalty: str) -> None:
    """Of features outside of the master, too; CVXPY's differ by twice a coefficient's price.

    A coefficient at 0 has a kink there, so that multipliers of its sign are not unique.
    """
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 40))
    y = X[:, :8] @ rng.normal(size=8) + rng.normal(size=150)
    y = np.where(y > 0, 1.0, -1.0) if loss == "log_loss" else y
    kind = {"C": 0.1} if loss == "log_loss" else {"alpha": 0.1}
    maker: Any = SparseLinearClassifier if loss == "log_loss" else SparseLinearRegressor
    given = [f"x{j} {'>=' if j % 2 else '<='} 0" for j in range(40)]
    options = {"loss": loss, "penalty": penalty, "columns_per_round": 5, "tol": 1e-9, **kind}
    model = maker(constraints=given, **options).fit(X, y)
    read = read_constraints(given, None, 40)
    best, duals = optimum(model, X, y, np.ones(150), read)
    assert model.objective_ == pytest.approx(best, rel=EXACT)
    prices = model.constraint_prices_
    kink = model._penalty.threshold * kind.get("alpha", 1.0)
    assert np.abs(prices + read.sense * duals).max() <= 2 * kink + 1e-4
    assert (-read.sense * prices >= 0).all()
    for k in np.argsort(-np.abs(prices))[:3].tolist():
        more = f"x{k} {'>= -' if k % 2 else '<= '}0.001"
        relaxed = maker(constraints=[*given[:k], more, *given[k + 1 :]], **options).fit(X, y)
        gained = (model.objective_ - relaxed.objective_) / 0.001
        assert gained == pytest.approx(abs(prices[k]), rel=0.03)
    assert model.history_["columns"][-1] <= 30


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_paths_are_fits(loss: str) -> None:
    """Every model of a path has the objective of a fit of its own, and keeps to the constraints."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 80))
    y = X[:, 0] - X[:, 1] + rng.normal(size=50)
    model = SparseLinearRegressor(loss=loss, constraints=["sum == 1", "x0 <= 0.5"])
    for point in model.path(X, y, [0.5, 0.05, 0.01]):
        alone = clone(model).set_params(alpha=point.alpha).fit(X, y)
        assert point.objective_ == pytest.approx(alone.objective_, rel=2e-6)
        assert point.gap_ <= 1e-6
        assert point.coef_.sum() == pytest.approx(1.0, abs=1e-7)
        assert point.constraint_prices_ == pytest.approx(alone.constraint_prices_, abs=1e-3)


def test_words_are_rows() -> None:
    """Sums, products with numbers, back quotes, chains and the reserved word, as a matrix."""
    names = ["age", "body mass", "sum", "income"]
    read = read_constraints(
        [
            "2*age - income/2 <= 3 + age",
            "`body mass` >= income - 1",
            "sum == 0",
            "`sum` <= 1",
            "sum(age, -income) <= 1",
            "0 <= age <= 1",
            (sparse.eye_array(4), "<=", 2.0),
        ],
        names,
        4,
    )
    assert read.matrix.toarray()[:7].tolist() == [
        [1.0, 0.0, 0.0, -0.5],
        [0.0, 1.0, 0.0, -1.0],
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, -1.0],
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
    ]
    assert read.right.tolist() == [3.0, -1.0, 0.0, 1.0, 1.0, 0.0, 1.0] + 4 * [2.0]
    assert read.sense.tolist() == [1, -1, 0, 1, 1, -1, 1] + 4 * [1]
    assert read.words[4:8] == (
        "sum(age, -income) <= 1",
        "0 <= age",
        "age <= 1",
        "row 0 of constraints[6]",
    )


def test_long_words_and_letters_that_python_normalises() -> None:
    """Sums of a thousand names are read, and µ (U+00B5), which Python takes for U+03BC."""
    names = ["\u00b5g", "class", *(f"v{j}" for j in range(1200))]
    long = " - ".join(names[2:])
    read = read_constraints([f"0 <= {long} <= 1", "\u00b5g >= `class`"], names, len(names))
    assert read.matrix.sum(axis=1).tolist() == [-1198.0, -1198.0, 0.0]
    assert read.matrix[[2], :2].toarray().tolist() == [[1.0, -1.0]]
    assert read.words == (f"0 <= {long}", f"{long} <= 1", "\u00b5g >= `class`")
    with pytest.raises(ValueError, match="put it in back quotes"):
        read_constraints(["\u00b5g >= 0"], ["\u00b5g", "\u03bcg"], 2)
    assert read_constraints(["`\u00b5g` >= 0"], ["\u00b5g", "\u03bcg"], 2).matrix.nnz == 1


def test_infinite_limits_are_none() -> None:
    """A b of inf leaves a row without a limit or price; of the wrong sign it is refused."""
    rng = np.random.default_rng(0)
    X, b = rng.normal(size=(40, 3)), np.array([0.1, np.inf, 0.2])
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=40)
    options: dict[str, Any] = {"loss": "huber", "alpha": 0.01}
    few = SparseLinearRegressor(constraints=["x0 <= 0.1", "x2 <= 0.2"], **options).fit(X, y)
    for given in ((np.eye(3), "<=", b), (-np.eye(3), ">=", -b)):
        model = SparseLinearRegressor(constraints=[given], **options).fit(X, y)
        assert model.coef_ == pytest.approx(few.coef_, abs=1e-6)
        assert model.constraint_prices_[1] == 0.0
    for sense, value in (("<=", -np.inf), (">=", np.inf), ("==", np.inf)):
        with pytest.raises(ValueError, match="b must be finite"):
            read_constraints([(np.ones(3), sense, value)], None, 3)


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ("sum == 0", "put it in a list"),
        ([3], r"constraints\[0\] must be a string"),
        (["sum = 0"], "cannot be read"),
        (["age < 1"], "<=, == and >= alone"),
        (["agee <= 1"], "did you mean 'age'"),
        (["age*bmi <= 1"], "not linear: 'age\\*bmi'"),
        (["__import__('os') == 1"], "no number, name or sum"),
        (["1 <= 2"], "no coefficient left"),
        (["`age <= 1"], "back quote"),
        (["age / 0 <= 1"], "divide by numbers"),
        (["age <= 1e999"], "finite"),
        (["age"], "needs <=, == or >="),
        ([(np.ones(5), "<=", 1.0)], "a column for each of 3 features"),
        ([(np.full(3, np.nan), "<=", 1.0)], "A must be finite, got nan"),
        ([(np.ones(3), "<=", [1.0, 2.0])], "one for each of 1 rows"),
        ([(np.ones((1, 1, 3)), "<=", 1.0)], "one or two dimensions"),
        ([("a", "<=", 1.0)], "must have numbers"),
        ([(np.ones(3) * 1j, "<=", 1.0)], "must have numbers"),
        ([(sparse.coo_array(np.ones(4)), "<=", 1.0)], "a column for each of 3 features"),
        ([(np.ones(3), np.array(["<=", "<="]), 1.0)], r"constraints\[0\] must be a string"),
        ([(pd.Series([1.0] * 3, ["age", "bp", "bmi"]), "<=", 1)], "got 'bp' where 'bmi' stands"),
        (["age <= 1 and bmi >= 0"], "nothing around them"),
        (["\u00b5 <= 1"], "names '\u03bc'"),
        (["class <= 1"], "Python reserves"),
        (["`age``bmi` <= 1"], "names '`age``bmi`', and"),
        (["-" * 100_000 + "age <= 1"], "too long or too deep: write sum"),
        (["age + " * 100_000 + "age <= 1"], "too long or too deep: write sum"),
        (["1e-320*age <= 1"], "sizes between 1e-120"),
        (["age <= " + "1 + " * 500 + "agee"], r"\.\.\. names 'agee'"),
    ],
)
def test_errors_name_the_words(constraints: Any, words: str) -> None:
    """What cannot be read is refused with the constraint, the word in it and the known names."""
    X = pd.DataFrame(np.eye(6, 3), columns=["age", "bmi", "bp"])
    with pytest.raises(ValueError, match=words):
        SparseLinearRegressor(alpha=0.1, constraints=constraints).fit(X, np.arange(6.0))


@pytest.mark.parametrize(
    ("constraints", "positive", "named"),
    [
        (["x0 >= 1", "sum(x0, x1) <= 0.5", "x1 >= 0", "x2 <= 9"], False, ["x0 >= 1", "x1 >= 0"]),
        (["sum == 1", "sum == 2"], False, ["sum == 1", "sum == 2"]),
        (["sum == -1"], True, ["sum == -1", "positive=True"]),
        ([(np.zeros(3), ">=", 1.0)], False, ["constraints[0]"]),
    ],
)
@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_contradictions_are_named(
    constraints: list[Any], positive: bool, named: list[str], loss: str
) -> None:
    """Constraints that cannot hold together are named, others not, and the model is unchanged."""
    X, y = np.random.default_rng(0).normal(size=(9, 3)), np.arange(9.0)
    model = SparseLinearRegressor(loss=loss, alpha=0.1, constraints=constraints, positive=positive)
    with pytest.raises(InfeasibleConstraintsError, match="cannot hold") as error:
        model.fit(X, y)
    assert all(name in str(error.value) for name in named)
    assert "x2 <= 9" not in str(error.value)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("loss", ["squared_error", "quantile", "poisson"])
@pytest.mark.parametrize(
    "rows", [np.ones((1, 4)), np.ones((7, 4)), np.eye(7, 4)], ids=["one", "equal", "sparse"]
)
def test_odd_rows(loss: str, rows: np.ndarray) -> None:
    """One row, equal rows, constant features, repeated constraints: the optimum, proven."""
    y = np.arange(1.0, len(rows) + 1.0)
    given = [(np.ones((3, 4)), "==", 1.0), "sum <= 1", "x3 == 0.25", (np.zeros(4), "<=", 1.0)]
    model = SparseLinearRegressor(loss=loss, alpha=0.1, constraints=given).fit(rows, y)
    assert model.gap_ <= 1e-6
    assert model.coef_.sum() == pytest.approx(1.0, abs=1e-9)
    assert model.coef_[3] == pytest.approx(0.25, abs=1e-9)
    assert model.constraint_prices_.shape == (6,)


@pytest.mark.parametrize("loss", ["squared_error", "quantile", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("value", [1e-6, 1e-9, -1e-9, 1e-11])
def test_tiny_right_hand_sides_are_met(loss: str, value: float) -> None:
    """A coefficient fixed next to 0, on whichever side of it a relaxation ends, is there."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 8))
    y = X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0, 0.0, 0.0] + rng.standard_t(3, size=100)
    given = [f"x5 == {value}", "sum <= 1e12"]
    model = SparseLinearRegressor(loss=loss, alpha=0.05, constraints=given).fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.coef_[5] == pytest.approx(value, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "squared_error"])
def test_far_limits_are_none(loss: str) -> None:
    """A b of 1e9 leaves the optimum of the problem without it, proven; one that is met counts."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(31, 16)), rng.normal(size=31)
    half = np.arange(16) % 2.0
    near = [(half, ">=", 0.0), (half, "<=", 0.01), (1 - half, "==", 0.8), "x0 <= 1e-7"]
    near += [f"x{j} >= 0" for j in range(16)]
    options: dict[str, Any] = {"loss": loss, "alpha": 0.02}
    fits = [
        SparseLinearRegressor(constraints=given, **options).fit(X, y)
        for given in (near, [*near, "sum <= 1e9"], ["sum <= 1e5", "x0 >= 1e7", "x1 >= -1e9"])
    ]
    assert max(model.gap_ for model in fits) <= 1e-6
    assert fits[1].objective_ == pytest.approx(fits[0].objective_, rel=2e-6)
    assert fits[1].constraint_prices_[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("loss", ["quantile", "epsilon_insensitive", "huber", "squared_error"])
@pytest.mark.parametrize("case", ["large alpha", "one row", "equal rows", "constant y"])
def test_no_feature_is_no_feature(loss: str, case: str) -> None:
    """Where the best constant obeys and is optimal, no coefficient is left, not even of 1e-11."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 8)), rng.normal(size=60)
    if case == "one row":
        X, y = X[:1], y[:1]
    X = X[[0] * len(X)] if case == "equal rows" else X
    y = np.full(len(y), 3.0) if case == "constant y" else y
    alpha = 1e6 if case == "large alpha" else 0.05
    given = ["sum == 0", "x0 <= 0.5", "x1 >= x3", "0 <= x4 <= 1"]
    model = SparseLinearRegressor(loss=loss, alpha=alpha, constraints=given).fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.n_columns_ == np.count_nonzero(model.coef_) == 0


@pytest.mark.parametrize("loss", ["squared_error", "quantile", "huber"])
def test_without_a_penalty(loss: str) -> None:
    """alpha=0 with constraints is the constrained regression that CVXPY solves."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 6))
    y = X.sum(axis=1) + rng.normal(size=40)
    given = ["sum == 3", "x0 <= 0.2", "x1 >= 0.5"]
    model = SparseLinearRegressor(loss=loss, alpha=0.0, constraints=given).fit(X, y)
    best, _ = optimum(model, X, y, np.ones(40), read_constraints(given, None, 6))
    assert model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(best, rel=EXACT)


def test_several_classes_and_kept_models(tmp_path: Any) -> None:
    """Each class keeps to the constraints; copies, pickles and files have them and the prices."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    y = np.argmax(X.to_numpy()[:, :3] + 0.3 * rng.normal(size=(60, 3)), axis=1)
    given = ["sum == 0", "a >= b", (sparse.eye_array(5).tocsr()[:1], "<=", 1.0)]
    model = SparseLinearClassifier(C=0.3, constraints=given).fit(X, y)
    assert np.abs(model.coef_.sum(axis=1)).max() < 1e-9
    assert (model.coef_[:, 0] >= model.coef_[:, 1] - 1e-9).all()
    assert model.constraint_prices_.shape == (3, 3)
    model.save(tmp_path / "model.cgb")
    again = clone(model).fit(X, y)
    for other in (load(tmp_path / "model.cgb"), pickle.loads(pickle.dumps(model)), again):
        assert np.array_equal(other.constraint_prices_, model.constraint_prices_)
        assert other.constraint_rows_.tolist() == [*given[:2], "constraints[2]"]
        assert np.array_equal(other.predict(X), model.predict(X))
    without = model.set_params(constraints=None).fit(X, y)
    assert not hasattr(without, "constraint_prices_")


@pytest.mark.parametrize("cv", [SparseLinearRegressorCV(), SparseLinearClassifierCV()])
def test_cross_validation_knows_the_names(cv: Any) -> None:
    """Folds and the final model keep to constraints on names that frames alone have."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(40, 4)), columns=["a b", "c", "d", "e"])
    y = X["c"] - X["d"] + 0.1 * rng.normal(size=40)
    y = (y > 0).astype(int) if isinstance(cv, SparseLinearClassifierCV) else y
    name = "n_Cs" if isinstance(cv, SparseLinearClassifierCV) else "n_alphas"
    cv.set_params(cv=2, constraints=["sum == 0", "`a b` >= 0.1"], **{name: 3}).fit(X, y)
    coef = np.ravel(cv.coef_)
    assert abs(coef.sum()) < 1e-8
    assert coef[0] >= 0.1 - 1e-8
    assert cv.constraint_rows_.tolist() == ["sum == 0", "`a b` >= 0.1"]
    assert cv.constraint_prices_.shape == (2,)
    assert cv.model_.constraints == cv.constraints
    with pytest.raises(InfeasibleConstraintsError, match="'c >= 1' and 'c <= 0' cannot hold tog"):
        cv.set_params(constraints=["c >= 1", "c <= 0"]).fit(X, y)
    cv.set_params(constraints=None).fit(X, y)
    assert not hasattr(cv, "constraint_rows_")


def test_what_does_not_know_constraints_says_so() -> None:
    """Certify would prove another problem, and refuses."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0)
    model = SparseLinearRegressor(alpha=0.1, constraints=["sum == 0"]).fit(X, y)
    with pytest.raises(CertificateError, match="constraints"):
        certify(model, X, y)
    assert not hasattr(cgboost.MultiQuantileRegressor(), "constraints_")


def test_blocks_of_a_source_are_rows() -> None:
    """A source of blocks has the model of its rows in memory."""
    X = np.random.default_rng(0).normal(size=(40, 30))
    y = X[:, 0] + np.random.default_rng(1).normal(size=40)

    class Parts:
        def __iter__(self) -> Any:
            return ((X[k::4], y[k::4]) for k in range(4))

    model = SparseLinearRegressor(loss="squared_error", alpha=0.05, constraints=["sum == 1"])
    whole, parts = clone(model).fit(X, y), model.fit(Parts())
    assert parts.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert parts.coef_.sum() == pytest.approx(1.0, abs=1e-9)
