"""Additive models as columns of the common loop."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.additive.builder import StageBuilder
from cgboost.additive.places.memory import MemoryAggregates
from cgboost.additive.statistics.passes import Passes
from cgboost.losses import LogLoss, SquaredError
from cgboost.losses.base import Loss
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.pricing.additive import StagePricer
from cgboost.tables.preparation import intervals_of
from cgboost.tables.rows import TableRows

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(1500, 2))
Y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1]
HELD = np.arange(1500) % 3 == 0
TRAINING = np.where(HELD, 0.0, 1.0)


def run_of(loss: Loss, target: np.ndarray, **choices: bool) -> tuple[AggregateMaster, StagePricer]:
    """Master and pricer over two features."""
    corrective = choices.pop("corrective", False)
    groups = [intervals_of(X[:, j], np.ones(1500), 20) for j in range(2)]
    passes = Passes(TableRows(X), np.ones(1500), HELD)
    sums = MemoryAggregates(passes, loss, target, np.ones(1500), groups, np.arange(1500))
    master = AggregateMaster(sums, corrective=corrective)
    return master, StagePricer(StageBuilder(20, **choices), sums)


@pytest.mark.parametrize("corrective", [False, True])
def test_stages_lower_the_loss_and_predict_as_their_columns(corrective: bool) -> None:
    """In every round; on the rows of the fit the hypotheses have the values of the columns."""
    master, stages = run_of(SquaredError(), Y, corrective=corrective)
    result = ColumnGeneration(master, stages, max_columns=4).run()
    assert len(result.columns) == 4
    assert (np.diff(result.history["objective"]) < 0).all()
    values = np.column_stack([column.values for column in result.columns])
    np.testing.assert_allclose(stages.family.all_outputs(X, 4), values, atol=1e-12)
    if corrective:  # the residual of the training rows is orthogonal to every stage
        left = TRAINING * (Y - result.output)
        assert (np.abs(values.T @ left) < 1e-7 * np.linalg.norm(values, axis=0)).all()


def test_the_outputs_of_transform_regression_are_nearly_orthogonal_by_themselves() -> None:
    """Earlier outputs in the leaves: a refit of all stages changes next to nothing ([P] 6).

    A stage ends with least squares on the training rows: λ = 1 ([P] section 2).
    """
    ends = [
        ColumnGeneration(*run_of(SquaredError(), Y, corrective=corrective), max_columns=3).run()
        for corrective in (False, True)
    ]
    assert ends[0].objective < 1.05 * ends[1].objective
    np.testing.assert_allclose(ends[0].coef, 1.0, rtol=1e-9)


def test_holdout_rows_have_pseudo_responses_too() -> None:
    """Those of the log loss; their weights are 0 in the master alone."""
    labels = np.where(Y > 0, 1.0, -1.0)
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
    master, stages = run_of(SquaredError(), Y)
    first = stages.price(master.solve(), 1)
    again = stages.price(master.solve(), 1)
    np.testing.assert_array_equal(first.columns[0].values, again.columns[0].values)
    assert stages.sums.n_outputs == len(stages.family.stages) == 1


@pytest.mark.parametrize(("feed_forward", "wanted"), [(True, [2, 3, 4]), (False, [2, 2, 2])])
def test_inputs_are_counted(feed_forward: bool, wanted: list[int]) -> None:
    """Features, and the outputs so far where they are inputs."""
    master, stages = run_of(SquaredError(), Y, feed_forward=feed_forward, regressors=True)
    counts = []
    for _ in range(3):
        priced = stages.price(master.solve(), 1)
        counts.append(priced.n_evaluated)
        master.add(priced.columns)
    assert counts == wanted
