"""Additive models as columns: backfitting, and stages of transform regression."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cgboost import ColumnGeneration
from cgboost.additive.builder import StageBuilder
from cgboost.additive.places.memory import MemoryAggregates
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.smoothers import AdditiveFunction, RegressorSmoother
from cgboost.generation.columns import Term, evaluate, weighted_sum
from cgboost.generation.history import StopReason
from cgboost.losses import LogLoss, SquaredError
from cgboost.losses.loss import Loss
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.additive import (
    BackfittingPricer,
    FunctionChange,
    FunctionChanges,
    MostTurns,
    StagePricer,
)
from cgboost.tables.binning import intervals_of
from cgboost.tables.row_blocks import TableRows


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

    first, second, family = counted("first"), counted("second"), FunctionChanges()
    changes = [
        FunctionChange(family, 0, first, AdditiveFunction(), 1),
        FunctionChange(family, 0, second, first, 2),
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


RNG = np.random.default_rng(0)
POINTS = RNG.uniform(-1, 1, size=(1500, 2))
SURFACE = POINTS[:, 0] + POINTS[:, 1] + 3 * POINTS[:, 0] * POINTS[:, 1]
HELD = np.arange(1500) % 3 == 0
TRAINING = np.where(HELD, 0.0, 1.0)


def run_of(loss: Loss, target: np.ndarray, **choices: bool) -> tuple[AggregateMaster, StagePricer]:
    """Master and pricer over two features."""
    corrective = choices.pop("corrective", False)
    groups = [intervals_of(POINTS[:, j], np.ones(1500), 20) for j in range(2)]
    passes = Passes(TableRows(POINTS), np.ones(1500), HELD)
    sums = MemoryAggregates(passes, loss, target, np.ones(1500), groups, np.arange(1500))
    master = AggregateMaster(sums, corrective=corrective)
    return master, StagePricer(StageBuilder(20, **choices), sums.parts)


@pytest.mark.parametrize("corrective", [False, True])
def test_stages_lower_the_loss_and_predict_as_their_columns(corrective: bool) -> None:
    """In every round; on the rows of the fit the hypotheses have the values of the columns."""
    master, stages = run_of(SquaredError(), SURFACE, corrective=corrective)
    result = ColumnGeneration(master, stages, max_columns=4).run()
    assert len(result.columns) == 4
    assert (np.diff(result.history["objective"]) < 0).all()
    values = np.column_stack([column.values for column in result.columns])
    np.testing.assert_allclose(stages.families[0].all_outputs(POINTS, 4), values, atol=1e-12)
    if corrective:  # the residual of the training rows is orthogonal to every stage
        left = TRAINING * (SURFACE - result.output)
        assert (np.abs(values.T @ left) < 1e-7 * np.linalg.norm(values, axis=0)).all()


def test_the_outputs_of_transform_regression_are_nearly_orthogonal_by_themselves() -> None:
    """Earlier outputs in the leaves: a refit of all stages changes next to nothing ([P] 6).

    A stage ends with least squares on the training rows: λ = 1 ([P] section 2).
    """
    ends = [
        ColumnGeneration(
            *run_of(SquaredError(), SURFACE, corrective=corrective), max_columns=3
        ).run()
        for corrective in (False, True)
    ]
    assert ends[0].objective < 1.05 * ends[1].objective
    np.testing.assert_allclose(ends[0].coef, 1.0, rtol=1e-9)


def test_holdout_rows_have_pseudo_responses_too() -> None:
    """Those of the log loss; their weights are 0 in the master alone."""
    labels = np.where(SURFACE > 0, 1.0, -1.0)
    master, stages = run_of(LogLoss(), labels)
    constant = master.solve().intercept
    seen = []
    build = stages.builder.stage
    stages.builder.stage = lambda sums, *rest: seen.append(sums.response) or build(sums, *rest)
    result = ColumnGeneration(master, stages, max_columns=2).run()
    assert (np.diff(result.history["objective"]) < 0).all()
    training = LogLoss().on(labels, TRAINING)
    assert constant == pytest.approx(training.constant(), rel=1e-12)
    everyone = LogLoss().on(labels, np.ones(1500))
    np.testing.assert_allclose(seen[0], everyone.pseudo_response(np.full(1500, constant)))
    assert seen[0][HELD].any()


def test_what_is_no_column() -> None:
    """Where the residual is nothing, the run ends; a limit of 0 asks for nothing.

    A column that was not taken is forgotten: the next search begins where the master is.
    """
    master, stages = run_of(SquaredError(), np.full(1500, 0.1))
    result = ColumnGeneration(master, stages, max_columns=2).run()
    assert len(result.columns) == 0
    assert stages.price(master.solve(), 0).columns == ()
    master, stages = run_of(SquaredError(), SURFACE)
    first = stages.price(master.solve(), 1)
    again = stages.price(master.solve(), 1)
    np.testing.assert_array_equal(first.columns[0].values, again.columns[0].values)
    assert stages.outputs[0].n_outputs == len(stages.families[0].stages) == 1


@pytest.mark.parametrize(("feed_forward", "wanted"), [(True, [2, 3, 4]), (False, [2, 2, 2])])
def test_inputs_are_counted(feed_forward: bool, wanted: list[int]) -> None:
    """Features, and the outputs so far where they are inputs."""
    master, stages = run_of(SquaredError(), SURFACE, feed_forward=feed_forward, regressors=True)
    counts = []
    for _ in range(3):
        priced = stages.price(master.solve(), 1)
        counts.append(priced.n_evaluated)
        master.add(priced.columns)
    assert counts == wanted
