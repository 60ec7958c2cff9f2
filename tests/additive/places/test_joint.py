"""The joint loss of several classes by sums: against its equations, in memory and on workers."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from cgboost.additive.builder import StageBuilder
from cgboost.additive.places import spilled
from cgboost.additive.places.joint import JointMemoryAggregates
from cgboost.additive.places.memory import in_memory
from cgboost.additive.places.partitions import PartitionedRows
from cgboost.additive.places.workers import EncodedRows
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.multinomial import Multinomial
from cgboost.parallel import SerialExecutor
from cgboost.tables.rows import SourceRows
from cgboost.tables.schema import Schema

N_ROWS, N_CLASSES = 400, 3
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N_ROWS, 3))
Y = np.digitize(X @ [1.0, -1.0, 0.3] + X[:, 0] * X[:, 1] + RNG.normal(size=N_ROWS), [-0.7, 0.8])
WEIGHTS = RNG.uniform(0.5, 2.0, N_ROWS)
SCHEMA = Schema(None, (None, None, None))
HOW = {"max_bins": 16, "share": 0.3, "seed": 0}
COUNTS = (2, 1, 0)
"""Stages of each class."""
COEFS = [np.array([0.7, -0.4]), np.array([1.1]), np.zeros(0)]
LEVELS = np.array([0.3, -0.2, 0.5])


def memory(y: np.ndarray = Y, n_classes: int = N_CLASSES) -> JointMemoryAggregates:
    """Rows of this process."""
    place = in_memory(X, SCHEMA, y.astype(float), WEIGHTS, n_jobs=1, **HOW)
    return place.joint(Multinomial(n_classes), y.astype(float))


def grown(sums: JointMemoryAggregates) -> list[list]:
    """Stages of each class, appended."""
    stages: list[list] = [[] for _ in COUNTS]
    for k, count in enumerate(COUNTS):
        for _ in range(count):
            stages[k].append(StageBuilder(16).stage(sums.parts[k]))
            sums.parts[k].append(stages[k][-1])
    return stages


def held(sums: JointMemoryAggregates) -> np.ndarray:
    """Rows that are held out."""
    return sums.parts[0].passes.held


def scores(sums: JointMemoryAggregates, point: np.ndarray) -> np.ndarray:
    """Outputs f of all classes by all intercepts and coefficients, shape (n_rows, n_classes)."""
    f, place = np.tile(point[:N_CLASSES], (N_ROWS, 1)), N_CLASSES
    for k, part in enumerate(sums.parts):
        for values in part.outputs.values:
            f[:, k] += point[place] * values
            place += 1
    return f


def test_value_gradient_and_hessian_are_those_of_the_multinomial_deviance() -> None:
    """Against the loss of the rows, and differences of it and of the gradient."""
    sums = memory()
    grown(sums)
    training = np.where(held(sums), 0.0, WEIGHTS)
    loss = Multinomial(N_CLASSES).on(Y.astype(float), training)
    outside = Multinomial(N_CLASSES).on(Y.astype(float), WEIGHTS - training)
    assert sums.weight == pytest.approx(training.sum(), rel=1e-12)
    assert sums.holdout_weight == pytest.approx(WEIGHTS.sum() - training.sum(), rel=1e-12)
    point = np.concatenate([LEVELS, *COEFS])

    def at(point: np.ndarray):
        return sums.quadratic([point[3:5], point[5:6], point[6:]], point[:3], COUNTS)

    here = at(point)
    assert here.value == pytest.approx(loss.value(scores(sums, point)), rel=1e-12)
    assert here.holdout == pytest.approx(outside.value(scores(sums, point)), rel=1e-12)
    slope = approx_fprime(point, lambda p: loss.value(scores(sums, p)), 1e-6)
    np.testing.assert_allclose(here.gradient, slope, atol=1e-3, rtol=1e-5)
    bend = approx_fprime(point, lambda p: at(p).gradient, 1e-6)
    np.testing.assert_allclose(here.hessian, bend, atol=1e-3, rtol=1e-5)
    few = sums.quadratic(COEFS, LEVELS, [1, 0, 0])
    chosen = [0, 1, 2, 4]
    np.testing.assert_allclose(few.gradient, here.gradient[chosen], rtol=1e-12)
    np.testing.assert_allclose(few.hessian, here.hessian[np.ix_(chosen, chosen)], rtol=1e-10)


def test_responses_are_those_of_the_loss_and_sum_to_zero() -> None:
    """[y = k] − p_k of every row, held out or not; the master's have the weights."""
    sums = memory()
    grown(sums)
    output, response = sums.move(COEFS, LEVELS)
    np.testing.assert_allclose(output, scores(sums, np.concatenate([LEVELS, *COEFS])), rtol=1e-12)
    everyone = Multinomial(N_CLASSES).on(Y.astype(float), np.ones(N_ROWS))
    own = np.array([part.response for part in sums.parts]).T
    np.testing.assert_allclose(own, everyone.pseudo_response(output), atol=1e-14)
    np.testing.assert_allclose(own.sum(axis=1), 0.0, atol=1e-14)
    training = np.where(held(sums), 0.0, WEIGHTS)
    np.testing.assert_allclose(response, training[:, None] * own, atol=1e-14)


def test_a_common_shift_of_all_scores_changes_nothing() -> None:
    """The gradient has no part along it, and the Hessian neither."""
    here = memory().quadratic([np.zeros(0)] * 3, LEVELS, [0, 0, 0])
    assert abs(here.gradient.sum()) < 1e-10 * np.abs(here.gradient).sum()
    assert np.abs(here.hessian.sum(axis=0)).max() < 1e-10 * np.abs(here.hessian).max()


def test_two_classes_are_the_log_loss() -> None:
    """Scores −f and f, whose value, slopes and responses are those of f."""
    y = (Y > 1).astype(int)
    joint, place = memory(y, 2), in_memory(X, SCHEMA, 1.0 * y, WEIGHTS, n_jobs=1, **HOW)
    one = place.aggregates(LogLoss(), np.where(y == 1, 1.0, -1.0))
    for f in (-0.4, 0.0, 1.3):
        here = joint.quadratic([np.zeros(0)] * 2, np.array([-f, f]), [0, 0])
        there = one.quadratic(np.zeros(0), f, 0)
        assert here.value == pytest.approx(there.value, rel=1e-12)
        assert here.holdout == pytest.approx(there.holdout, rel=1e-12)
        along = here.along(np.array([[-1.0], [1.0]]))
        np.testing.assert_allclose(along.gradient, there.gradient, rtol=1e-10)
        np.testing.assert_allclose(along.hessian, there.hessian, rtol=1e-10)
        joint.move([np.zeros(0)] * 2, np.array([-f, f]))
        one.move(np.zeros(0), f)
        np.testing.assert_allclose(2.0 * joint.parts[1].response, one.response, atol=1e-14)


def itself(part: EncodedRows) -> EncodedRows:
    """What a worker loads."""
    return part


@pytest.mark.parametrize("cuts", [[], [1, 130, 130, 399]])
def test_partitions_have_the_sums_of_all_rows(cuts: list[int]) -> None:
    """Stages, responses and the loss of all classes, from parts of any size."""
    here = memory()
    loaders = [
        partial(itself, EncodedRows(X[a:b], 1.0 * Y[a:b], WEIGHTS[a:b]))
        for a, b in pairwise([0, *cuts, N_ROWS])
    ]
    rows = PartitionedRows(SerialExecutor(), loaders)
    rows.know(SCHEMA, None, encoded=True)
    there = rows.divide(**HOW).joint(Multinomial(N_CLASSES), np.arange(3))
    for part, own in zip(there.parts, grown(here), strict=True):
        for stage in own:
            part.append(stage)
    assert (there.weight, there.holdout_weight) == pytest.approx(
        (here.weight, here.holdout_weight), rel=1e-12
    )
    one, two = (sums.quadratic(COEFS, LEVELS, COUNTS) for sums in (here, there))
    assert two.value == pytest.approx(one.value, rel=1e-12)
    assert two.holdout == pytest.approx(one.holdout, rel=1e-12)
    np.testing.assert_allclose(two.gradient, one.gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two.hessian, one.hessian, rtol=1e-9, atol=1e-9)
    for sums in (here, there):
        sums.move(COEFS, LEVELS)
    for part, own in zip(there.parts, here.parts, strict=True):
        np.testing.assert_allclose(part.extremes, own.extremes, rtol=1e-12)
        one, two = (sums.by_group([0], 0)[0].training for sums in (own, part))
        np.testing.assert_allclose(two.mean, one.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(two.scatter, one.scatter, rtol=1e-9, atol=1e-9)


def test_outputs_in_files_have_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Responses are made by blocks then, and f is not at hand."""
    here = memory()
    stages = grown(here)
    monkeypatch.setattr(spilled, "LARGEST_HELD", 10)
    source = SourceRows([(X[:150], Y[:150]), (X[150:], Y[150:])], SCHEMA, Y)
    place = in_memory(source, SCHEMA, 1.0 * Y, WEIGHTS, n_jobs=1, **HOW)
    there = place.joint(Multinomial(N_CLASSES), 1.0 * Y)
    for part, own in zip(there.parts, stages, strict=True):
        for stage in own:
            part.append(stage)
    here.move(COEFS, LEVELS)
    assert there.move(COEFS, LEVELS)[0].shape == (0,)
    for part, own in zip(there.parts, here.parts, strict=True):
        np.testing.assert_allclose(np.asarray(part.response), own.response, atol=1e-13)
    one, two = (sums.quadratic(COEFS, LEVELS, COUNTS) for sums in (here, there))
    assert two.value == pytest.approx(one.value, rel=1e-12)
    np.testing.assert_allclose(two.hessian, one.hessian, rtol=1e-9, atol=1e-9)
