"""Additive models as columns of the common loop."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.additive.builder import StageBuilder
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.tables.preparation import intervals_of
from cgboost.additive.tables.rows import TableRows
from cgboost.losses import LogLoss, SquaredError
from cgboost.losses.base import DifferentiableLoss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.additive import StagePricer

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(1500, 2))
Y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1]
HELD = np.arange(1500) % 3 == 0
TRAINING = np.where(HELD, 0.0, 1.0)


def pricer(loss: DifferentiableLoss, **choices: bool) -> StagePricer:
    """Over two features."""
    groups = [intervals_of(X[:, j], np.ones(1500), 20) for j in range(2)]
    passes = Passes(TableRows(X), np.ones(1500), HELD, 1)
    return StagePricer(StageBuilder(passes, groups, np.arange(1500), 20, **choices), loss)


@pytest.mark.parametrize("refitted", [False, True])
def test_stages_lower_the_loss_and_predict_as_their_columns(refitted: bool) -> None:
    """In every round; on the rows of the fit the hypotheses have the values of the columns."""
    loss = SquaredError().on(Y, TRAINING)
    master = (
        CorrectiveMaster(loss, offset="free")
        if refitted
        else StagewiseMaster(loss, start="constant")
    )
    stages = pricer(SquaredError().on(Y, np.ones(1500)))
    result = ColumnGeneration(master, stages, max_columns=4).run()
    assert len(result.columns) == 4
    assert (np.diff(result.history["objective"]) < 0).all()
    values = np.column_stack([column.values for column in result.columns])
    np.testing.assert_allclose(stages.family.all_outputs(X, 4), values, atol=1e-12)
    if refitted:  # the residual of the training rows is orthogonal to every stage
        left = TRAINING * (Y - result.output)
        assert (np.abs(values.T @ left) < 1e-7 * np.linalg.norm(values, axis=0)).all()


def test_the_outputs_of_transform_regression_are_nearly_orthogonal_by_themselves() -> None:
    """Earlier outputs in the leaves: a refit of all stages changes next to nothing ([P] 6)."""
    ends = []
    for master in (
        StagewiseMaster(SquaredError().on(Y, TRAINING), start="constant"),
        CorrectiveMaster(SquaredError().on(Y, TRAINING), offset="free"),
    ):
        everyone = SquaredError().on(Y, np.ones(1500))
        ends.append(ColumnGeneration(master, pricer(everyone), max_columns=3).run().objective)
    assert ends[0] < 1.05 * ends[1]


def test_the_line_search_of_squared_error_finds_a_step_of_one() -> None:
    """A stage ends with least squares on the training rows: λ = 1 ([P] section 2)."""
    master = StagewiseMaster(SquaredError().on(Y, TRAINING), start="constant")
    result = ColumnGeneration(
        master, pricer(SquaredError().on(Y, np.ones(1500))), max_columns=3
    ).run()
    np.testing.assert_allclose(result.coef, 1.0, rtol=1e-9)


def test_holdout_rows_have_pseudo_responses_too() -> None:
    """Those of the log loss; their weights are 0 in the master alone."""
    labels = np.where(Y > 0, 1.0, -1.0)
    master = StagewiseMaster(LogLoss().on(labels, TRAINING), start="constant")
    seen = []
    stages = pricer(LogLoss().on(labels, np.ones(1500)))
    build = stages.builder.stage
    stages.builder.stage = lambda response, outputs: (
        seen.append(response) or build(response, outputs)
    )
    result = ColumnGeneration(master, stages, max_columns=2).run()
    assert (np.diff(result.history["objective"]) < 0).all()
    loss = LogLoss().on(labels, np.ones(1500))
    np.testing.assert_allclose(seen[0], loss.pseudo_response(np.full(1500, master.intercept)))
    assert seen[0][HELD].any()


def test_a_constant_stage_is_no_column() -> None:
    """Where the residual is nothing, the run ends; a limit of 0 asks for nothing."""
    loss = SquaredError().on(np.full(1500, 0.1), TRAINING)
    master = StagewiseMaster(loss, start="constant")
    stages = pricer(SquaredError().on(np.full(1500, 0.1), np.ones(1500)))
    result = ColumnGeneration(master, stages, max_columns=2).run()
    assert len(result.columns) == 0
    assert stages.price(master.solve(), 0).columns == ()


@pytest.mark.parametrize(("feed_forward", "wanted"), [(True, [2, 3, 4]), (False, [2, 2, 2])])
def test_inputs_are_counted(feed_forward: bool, wanted: list[int]) -> None:
    """Features, and the outputs so far where they are inputs."""
    master = StagewiseMaster(SquaredError().on(Y, TRAINING), start="constant")
    stages = pricer(SquaredError().on(Y, np.ones(1500)), feed_forward=feed_forward, regressors=True)
    counts = []
    for _ in range(3):
        priced = stages.price(master.solve(), 1)
        counts.append(priced.n_evaluated)
        master.add(priced.columns)
    assert counts == wanted
