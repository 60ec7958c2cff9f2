"""Columns without a penalty: the optimum of the full problem, with a bound that holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from cgboost import ColumnGeneration
from cgboost.generation.history import Result
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Quantile,
    SquaredError,
    SquaredHinge,
)
from cgboost.masters import FreeColumns, MatrixColumns, SupportVectorMaster
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.penalties import L1, L2, Penalty
from cgboost.pricing import FeaturePricer
from tests.effort import examples
from tests.problems import PENALTIES, assert_certified, columns_of, optimum

LOSSES = [
    Quantile(0.3),
    AbsoluteError(),
    EpsilonInsensitive(0.2),
    Hinge(),
    Huber(0.5),
    SquaredError(),
    LogLoss(),
    SquaredHinge(),
]


def fitted(
    loss: Loss,
    X: np.ndarray,
    y: np.ndarray,
    n_free: int,
    *,
    weights: np.ndarray | None = None,
    penalty: Penalty | None = None,
    tol: float = 1e-7,
    **options: str,
) -> Result:
    """A run over the columns of X, of which the first ones are free."""
    weights = np.ones(len(y)) if weights is None else weights
    free = FreeColumns(columns_of(X)[:n_free], MatrixColumns(X[:, :n_free]))
    bound = loss.on(y, weights)
    master = SupportVectorMaster(bound, penalty or L1(), free_columns=free, **options)
    return ColumnGeneration(master, FeaturePricer(X), tol=tol).run()


def data(loss: Loss, seed: int, n_rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Features, of which the second repeats the first and the third is constant; targets.

    Those that may be free are of very different scale, and what one of them adds is negative.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 9))
    X[:, :5] *= 10.0 ** rng.integers(-6, 7, 5)
    X[:, 1], X[:, 2] = 3.0 * X[:, 0], 5.0
    effects = np.array([-1.0, 1.0]) / np.abs(X[:, [3, 5]]).max(axis=0)
    y = X[:, [3, 5]] @ effects + 0.5 * rng.normal(size=n_rows)
    if loss.classification:
        y = np.where(y + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return X, y


def best(loss: Loss, X: np.ndarray, y: np.ndarray, penalty: str, coef: str, offset: str) -> float:
    """Of the full problem with five free columns, by CVXPY, which sees them at one size."""
    scale = np.append(np.abs(X[:, :5]).max(axis=0), np.ones(X.shape[1] - 5))
    cost, charge = loss.on(y, np.ones(len(y))).to_cvxpy, PENALTIES[penalty][1]
    return optimum(X / scale, cost, charge, coef=coef, offset=offset, n_free=5)


FORMS = [(coef, offset) for offset in ("none", "penalized", "free") for coef in ("free", "nonneg")]
"""Sign rules and offsets."""


@pytest.mark.parametrize(("place", "penalty"), list(enumerate(["l1", "l2", "elasticnet"])))
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_optimum_beside_penalised_columns(loss: Loss, place: int, penalty: str) -> None:
    """Of columns that depend on each other, too; each loss and penalty with all forms in turn."""
    X, y = data(loss, seed=0)
    first = LOSSES.index(loss) + place
    for coef, offset in (FORMS[first % 6], FORMS[(first + 3) % 6]):
        result = fitted(loss, X, y, 5, penalty=PENALTIES[penalty][0], coef=coef, offset=offset)
        assert_certified(result, best(loss, X, y, penalty, coef, offset))


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_no_backend_is_needed_where_free_coefficients_are_negative(penalty: str) -> None:
    """The interior point method gets to the end, though all others must be at least 0."""
    X, y = data(Quantile(0.3), seed=0)
    loss, own = Quantile(0.3).on(y, np.ones(len(y))), PENALTIES[penalty][0]
    master = SupportVectorMaster(loss, own, free_columns=columns_of(X)[:5], coef="nonneg")
    result = ColumnGeneration(master, FeaturePricer(X), tol=1e-7).run()
    assert isinstance(master._live.session, InteriorSession)
    assert result.coef[:5].min() < 0


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_solvers_by_name(solver: str) -> None:
    """A free column is a row of bounds 0 to any solver."""
    X, y = data(Quantile(0.3), seed=1)
    result = fitted(Quantile(0.3), X, y, 5, solver=solver)
    assert_certified(result, best(Quantile(0.3), X, y, "l1", "free", "free"))


def quantile_optimum(X: np.ndarray, y: np.ndarray, level: float, weights: np.ndarray) -> float:
    """Of quantile regression without a penalty, as a linear program over both parts of errors."""
    n, p = X.shape
    cost = np.concatenate([np.zeros(p + 1), level * weights, (1.0 - level) * weights])
    matrix = np.hstack([np.ones((n, 1)), X, np.eye(n), -np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (2 * n)
    return float(linprog(cost, A_eq=matrix, b_eq=y, bounds=bounds, method="highs").fun)


@settings(max_examples=examples(25), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    p=st.integers(1, 8),
    level=st.sampled_from([0.05, 0.5, 0.8]),
    whole=st.booleans(),
)
def test_quantile_regression_without_a_penalty(
    seed: int, n: int, p: int, level: float, whole: bool
) -> None:
    """Ties, repeated rows, more columns than rows: the optimum of the linear program, proven."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, p)).astype(float) if whole else rng.normal(size=(n, p))
    y = X.sum(axis=1) + rng.standard_t(2, n)
    y = np.round(y) if whole else y
    weights = rng.choice([0.0, 1.0, 2.5], n)
    result = fitted(Quantile(level), X, y, p, weights=weights)
    assert_certified(result, quantile_optimum(X, y, level, weights))


@pytest.mark.parametrize("noise", ["normal", "heavy", "whole", "repeated", "none"])
@pytest.mark.parametrize("level", [0.1, 0.5])
def test_many_rows_from_a_sample_of_them(noise: str, level: float) -> None:
    """The optimum over all rows, as the simplex of a named solver has it on those near it."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50000, 4))
    errors = {
        "normal": rng.normal(size=50000),
        "heavy": rng.standard_t(2, 50000),
        "whole": rng.normal(size=50000),
        "repeated": np.repeat(rng.normal(size=500), 100),
        "none": np.zeros(50000),
    }
    y = X.sum(axis=1) + errors[noise]
    if noise == "whole":
        y = np.round(y)
    if noise == "repeated":
        X = np.repeat(X[:500], 100, axis=0)
        y = X.sum(axis=1) + errors[noise]
    result = fitted(Quantile(level), X, y, 4, weights=np.full(len(y), 1.0 / len(y)), tol=1e-8)
    assert result.gap <= 1e-8
    if noise == "repeated":
        each = np.full(500, 0.002)
        expected = quantile_optimum(X[::100], y[::100], level, each)
        assert result.objective == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("n_free", [0, 2])
@pytest.mark.parametrize("loss", [AbsoluteError(), Huber(0.3)], ids=repr)
@pytest.mark.slow
def test_many_rows_with_a_penalty(loss: Loss, n_free: int) -> None:
    """A sample leads to a proven optimum, no worse than that over fewer features."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40000, 6))
    y = X[:, :3].sum(axis=1) + rng.standard_t(2, 40000)
    weights = np.full(40000, 1e-3)
    result = fitted(loss, X, y, n_free, weights=weights, tol=1e-8)
    fewer = fitted(loss, X[:, :3], y, n_free, weights=weights, tol=1e-8)
    assert max(result.gap, fewer.gap) <= 1e-8
    assert result.objective <= (1.0 + 1e-8) * fewer.objective


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_separable_classes_cost_nothing(loss: Loss) -> None:
    """Without a penalty any large scale is optimal, at a loss of 0."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    result = fitted(loss, X, np.sign(X[:, 0] + 0.5 * X[:, 1]), 3)
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert result.gap <= 1e-6


def test_only_the_rows_near_their_margin_are_gathered() -> None:
    """Of many rows few are in the session, and none of the columns is copied."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50000, 4))
    y = X.sum(axis=1) + rng.normal(size=50000)
    free = FreeColumns(columns_of(X), MatrixColumns(X))
    master = SupportVectorMaster(AbsoluteError().on(y, np.ones(50000)), L1(), free_columns=free)
    ColumnGeneration(master, FeaturePricer(X)).run()
    assert len(master._live.session.kept) <= 0.3 * 2 * 50000
    assert master._live.columns.free_columns.matrix.X is X


def test_start_from_a_similar_problem() -> None:
    """Free columns keep their place, whatever their place was there."""
    X, y = data(AbsoluteError(), seed=4)
    columns = columns_of(X)
    start = WarmStart([columns[7], columns[0]], np.array([0.3, -1.0]), 0.1)
    master = SupportVectorMaster(
        AbsoluteError().on(y, np.ones(len(y))), L1(), free_columns=columns[:5]
    )
    master.start_from(start)
    assert [column.key for column in master.columns] == [("feature", j) for j in (0, 1, 2, 3, 4, 7)]
    result = ColumnGeneration(master, FeaturePricer(X), tol=1e-7).run()
    assert_certified(result, best(AbsoluteError(), X, y, "l1", "free", "free"))


def test_what_free_columns_may_not_be() -> None:
    """A ball has no place for columns that cost nothing; an entry that is none is named."""
    X, y = data(AbsoluteError(), seed=0)
    with pytest.raises(ValueError, match="free_columns"):
        fitted(AbsoluteError(), X, y, 2, penalty=PENALTIES["ball"][0])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"free column \('feature', 1\)"):
        fitted(AbsoluteError(), X, y, 2, penalty=L2())
