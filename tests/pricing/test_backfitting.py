"""Backfitting: functions of one feature at a time, as columns."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cgboost import ColumnGeneration
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.smoothers import AdditiveFunction, RegressorSmoother
from cgboost.generation.columns import Term, evaluate, weighted_sum
from cgboost.generation.history import StopReason
from cgboost.losses import SquaredError
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.additive import BackfittingPricer, Change, Changes, MostTurns
from cgboost.tables.rows import TableRows


def correlated(n_rows: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three correlated features, a response, weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, 3)) + 5.0
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=n_rows)
    return X, y, rng.integers(1, 4, size=n_rows).astype(float)


def backfitted(X, y, weights, held=None, *, tol=1e-10, most=10_000):
    """A run with straight lines as smooths, and its pricer."""
    held = np.zeros(len(y), dtype=bool) if held is None else held
    passes = Passes(TableRows(X), weights, held)
    smoother = RegressorSmoother(passes, LinearRegression())
    pricer = BackfittingPricer(
        smoother, passes, SquaredError().on(y, np.ones(len(y))), X.shape[1], tol=tol
    )
    training = SquaredError().on(y, np.where(held, 0.0, weights))
    master = StagewiseMaster(training, step=1.0, start="constant")
    loop = ColumnGeneration(master, pricer, tol=0.0, callbacks=[MostTurns(pricer, most)])
    return loop.run(), pricer


def test_straight_lines_end_at_the_joint_fit():
    """Coordinate descent of a least-squares problem reaches its solution, with weights."""
    X, y, weights = correlated()
    result, _ = backfitted(X, y, weights)
    wanted = LinearRegression().fit(X, y, weights).predict(X)
    np.testing.assert_allclose(result.output, wanted, atol=1e-7)
    assert result.stop_reason is StopReason.NO_COLUMN


def test_one_round_is_the_published_one():
    """After one round the functions are those that the loop of Table 2 gives."""
    X, y, weights = correlated()
    result, _ = backfitted(X, y, weights, most=1)
    f = np.full(len(y), np.average(y, weights=weights))
    for j in range(3):
        x = X[:, [j]]
        f = f + LinearRegression().fit(x, y - f, weights).predict(x)
    np.testing.assert_allclose(result.output, f, atol=1e-10)
    assert result.stop_reason is StopReason.MAX_ROUNDS
    assert [column.hypothesis.feature for column in result.columns] == [0, 1, 2]


def test_held_rows_are_predicted_and_not_learnt_from():
    """Responses of held rows change nothing; their columns are those of the functions."""
    X, y, weights = correlated()
    held = np.arange(len(y)) % 3 == 0
    result, _ = backfitted(X, y, weights, held)
    other, _ = backfitted(X, np.where(held, 0.0, y), weights, held)
    np.testing.assert_allclose(other.output, result.output, atol=1e-9)
    wanted = LinearRegression().fit(X[~held], y[~held], weights[~held]).predict(X)
    np.testing.assert_allclose(result.output, wanted, atol=1e-7)


def test_columns_are_their_hypotheses():
    """Values of columns are those of the hypotheses; their sum is that of the last functions.

    In the sum of all changes the functions on the way cancel and are not called.
    """
    X, y, weights = correlated()
    result, _ = backfitted(X, y, weights, tol=1e-3)
    hypotheses = [column.hypothesis for column in result.columns]
    values = np.column_stack([column.values for column in result.columns])
    np.testing.assert_allclose(evaluate(hypotheses, X), values, atol=1e-9)
    for coef in (np.ones(len(hypotheses)), np.linspace(0.0, 1.0, len(hypotheses))):
        np.testing.assert_allclose(weighted_sum(hypotheses, coef, X), values @ coef, atol=1e-9)
    calls = []

    def counted(name):
        def term(x, regressors):
            calls.append(name)
            return x

        return AdditiveFunction(term)

    first, second, family = counted("first"), counted("second"), Changes()
    changes = [
        Change(family, 0, first, AdditiveFunction(), 1),
        Change(family, 0, second, first, 2),
    ]
    total = family.weighted_sum(np.ones((4, 1)), [Term(family, changes, np.ones(2))])
    np.testing.assert_array_equal(total, 1.0)
    assert calls == ["second"]


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_it_stops_when_no_change_is_appreciable(tol):
    """The last change is larger than tol, that of the next round of any function is not."""
    X, y, weights = correlated()
    result, pricer = backfitted(X, y, weights, tol=tol)
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    sizes = [np.sqrt(np.average(c.values**2, weights=weights)) for c in result.columns]
    assert min(sizes) > tol * scale
    again, _ = backfitted(X, y, weights, tol=tol, most=pricer.turn + 5)
    assert len(again.columns) == len(result.columns)


def test_without_appreciable_response_there_is_no_column():
    """A constant response leaves nothing to smooth; a certificate is not offered."""
    X, y, weights = correlated()
    result, pricer = backfitted(X, np.ones(len(y)), weights)
    assert result.columns == ()
    assert not pricer.price(result, 0).columns
