"""Sums over partitions, against those over the same rows in memory."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cgboost.additive.places.memory import MemoryAggregates, in_memory
from cgboost.additive.places.partitions import PartitionedAggregates, PartitionedRows, Partitions
from cgboost.additive.places.workers import EncodedRows
from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses import Huber, LogLoss, Loss, Quantile, SquaredError
from cgboost.parallel import SerialExecutor, ThreadExecutor
from cgboost.tables import holdout_choice as choice
from cgboost.tables.schema import Schema

N_ROWS = 400
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N_ROWS, 2))
X[:, 1] = RNG.integers(0, 4, N_ROWS)
X[50:150] = X[200:300]
Y = X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.1 * RNG.integers(0, 2, N_ROWS)
Y[50:150] = Y[200:300]
WEIGHTS = 0.3 * RNG.integers(0, 3, N_ROWS)
SCHEMA = Schema(None, (None, None))
HOW: dict[str, Any] = {"max_bins": 6, "share": 0.3, "seed": 0}
LOSSES: list[Loss] = [SquaredError(), Huber(1e-3), Quantile(0.3), LogLoss()]


def rows(cuts: list[int], executor: Any = None) -> PartitionedRows:
    """The rows cut at some places, perhaps into empty parts."""
    ends = [0, *cuts, N_ROWS]
    parts = [
        EncodedRows(X[start:stop], Y[start:stop], WEIGHTS[start:stop])
        for start, stop in pairwise(ends)
    ]
    found = PartitionedRows(
        executor or SerialExecutor(), [partial(_itself, part) for part in parts]
    )
    found.know(SCHEMA, None, encoded=True)
    return found


def _itself(part: Any) -> Any:
    return part


def both(
    loss: Loss, cuts: list[int], executor: Any = None
) -> tuple[MemoryAggregates, PartitionedAggregates]:
    """Aggregates of the same rows, with the outputs of two stages, the second moved to."""
    target = np.where(Y > 0, 1.0, -1.0) if isinstance(loss, LogLoss) else Y
    here = in_memory(X, SCHEMA, Y, WEIGHTS, n_jobs=1, **HOW).aggregates(loss, target)
    place = rows(cuts, executor).divide(**HOW)
    there = place.aggregates(loss, np.zeros(0))
    if isinstance(loss, LogLoss):
        kept = place.rows.kept
        for part in kept:
            part.data = EncodedRows(part.data.X, np.where(part.data.y > 0, 1.0, -1.0), part.data[2])
            part._start()
    for sums in (here, there):
        for number in (0, 1):
            groups = sums.groups[number]
            leaf = np.zeros(groups.n_groups, dtype=np.intp)
            line = Transformation(number, groups, leaf, np.ones(1), np.ones(1), np.zeros((1, 0)))
            sums.append(Stage(0.25, [(0.5, line)]))
        sums.intervals(0, 5)
        sums.move(np.array([0.5, -0.25]), 0.125)
    return here, there


CUTS = [[], [200], [0, 100, 100, 399], [1, 2, 3, 4], [N_ROWS]]


@pytest.mark.parametrize("cuts", CUTS)
def test_equal_rows_are_numbered_over_all_partitions(
    cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which rows are held out, and intervals of a sample of the rows, are those of one table."""
    monkeypatch.setattr(choice, "SAMPLE", 150)
    here = in_memory(X, SCHEMA, Y, WEIGHTS, n_jobs=1, **HOW)
    there = rows(cuts).divide(**HOW)
    assert there.has_holdout
    sums = there.aggregates(SquaredError(), np.zeros(0))
    wanted = here.aggregates(SquaredError(), Y)
    assert sums.weight == pytest.approx(wanted.weight, rel=1e-12)
    assert sums.holdout_weight == pytest.approx(wanted.holdout_weight, rel=1e-12)
    for own, other in zip(sums.groups, wanted.groups, strict=True):
        np.testing.assert_array_equal(own.edges, other.edges)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("cuts", CUTS)
def test_sums_are_those_of_one_table(loss: Loss, cuts: list[int]) -> None:
    """Of groups, terms, a sum and its intervals, and of the loss along outputs."""
    here, there = both(loss, cuts, ThreadExecutor(2))
    assert there.n_outputs == here.n_outputs == 2
    assert there.is_smooth == here.is_smooth
    assert there.attains_minimum == here.attains_minimum
    assert len(there.values(0)) == 0
    np.testing.assert_allclose(there.extremes, here.extremes, rtol=1e-12)
    np.testing.assert_allclose(there.groups[2].edges, here.groups[2].edges, rtol=1e-12)
    found, wanted = there.by_group([0, 1, 2], 2), here.by_group([0, 1, 2], 2)
    flat = Transformation(
        0, here.groups[0], np.zeros(8, dtype=np.intp), np.ones(1), np.ones(1), np.ones((1, 2))
    )
    pairs = [(found[number], wanted[number]) for number in wanted]
    near = np.zeros(2)
    pairs.append((there.of_terms([flat], 2, near), here.of_terms([flat], 2, near)))
    stage = Stage(0.0, [(2.0, flat)])
    (groups, parts), (known, other) = there.linking(stage, 5), here.linking(stage, 5)
    np.testing.assert_allclose(groups.edges, known.edges, rtol=1e-12)
    pairs.append((parts, other))
    for part, whole in pairs:
        for one, two in ((part.training, whole.training), (part.holdout, whole.holdout)):
            np.testing.assert_allclose(one.count, two.count, rtol=1e-12)
            np.testing.assert_allclose(one.mean, two.mean, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(one.scatter, two.scatter, rtol=1e-9, atol=1e-9)
    for coef in (np.zeros(0), np.array([0.5]), np.array([5.0, -3.0])):
        one, two = (sums.quadratic(coef, 0.5, len(coef)) for sums in (there, here))
        for name in ("value", "gradient", "hessian", "holdout"):
            np.testing.assert_allclose(
                getattr(one, name), getattr(two, name), rtol=1e-10, atol=1e-10
            )


def test_outputs_can_be_dropped() -> None:
    """With their intervals and extremes, here and on the workers."""
    here, there = both(SquaredError(), [100])
    for sums in (here, there):
        sums.move(np.zeros(0), 0.0)
        sums.drop(1)
        assert sums.n_outputs == len(sums.extremes) == 1
        assert len(sums.groups) == 3
        sums.append(Stage(1.0, []))
        assert sums.extremes[1] == (1.0, 1.0)
    one, two = (sums.quadratic(np.array([1.0, 2.0]), 0.5, 2) for sums in (here, there))
    np.testing.assert_allclose(one.hessian, two.hessian)


def test_a_worker_that_has_the_rows_alone_makes_the_rest_again() -> None:
    """As after the loss of a worker: it says what it lacks, and gets all calls of the fit."""
    here, there = both(SquaredError(), [100, 300])
    there.by_group([0], 1)
    kept = there.log.place.rows.kept
    kept[1].__setstate__(kept[1].__getstate__())
    assert not kept[1]._aggregates
    one, two = (sums.by_group([0, 2], 2)[2].training.scatter for sums in (here, there))
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


def test_workers_drop_aggregates_that_nobody_has() -> None:
    """Those of a class that is done, when the next one asks."""
    place = rows([100]).divide(**HOW)
    first = place.aggregates(SquaredError(), np.zeros(0))
    second = place.aggregates(SquaredError(), np.zeros(0))
    for sums in (first, second):
        sums.append(Stage(1.0, []))
    (kept, _) = place.rows.kept
    assert set(kept._aggregates) == {first.log.number, second.log.number}
    del first, sums
    second.quadratic(np.array([1.0]), 0.0, 1)
    assert set(kept._aggregates) == {second.log.number}


def test_bad_weights_and_partitions_are_refused() -> None:
    """The error names what is wrong, and its value."""
    for weights, message in ((-1.0, "not negative"), (0.0, "not all 0"), (np.inf, "finite")):
        item = EncodedRows(X, Y, np.full(N_ROWS, weights))
        bad = PartitionedRows(SerialExecutor(), [partial(_itself, item)])
        bad.know(SCHEMA, None, encoded=True)
        with pytest.raises(ValueError, match=f"weights in the partitions must be.*{message}"):
            bad.divide(**HOW)
    with pytest.raises(ValueError, match="at least one partition, got none"):
        Partitions([])
    for item in (X, "rows", (X,), iter([(X, Y)]), 3):
        with pytest.raises(ValueError, match=r"partition 1 must be \(X, y\).*got a"):
            Partitions([(X, Y), item])


def test_partitions_are_closed() -> None:
    """Nothing of them is left with the executor."""
    place = rows([100]).divide(**HOW)
    place.close()
    assert place.rows.kept == []
