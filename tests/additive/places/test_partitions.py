"""What workers keep of a fit, and what is no partition. Their sums: ``test_elsewhere.py``."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from cgboost.additive.places.partitions import PartitionedPlace, Partitions
from cgboost.additive.stage import Stage
from cgboost.losses import SquaredError
from tests.additive.places.cases import HOW, partitioned
from tests.additive.sql.sql_tables import mixed

DATA = mixed(0)


def place(cuts: list[int]) -> PartitionedPlace:
    """The rows of the data, divided."""
    rows = partitioned(DATA, cuts)
    rows.know(DATA.schema, None, encoded=True)
    return rows.divide(**HOW)


def test_a_worker_that_has_the_rows_alone_makes_the_rest_again() -> None:
    """As after the loss of a worker: it says what it lacks, and gets all calls of the fit."""
    own = place([100, 300])
    whole = own.aggregates(SquaredError(), np.zeros(0))
    (sums,) = whole.parts
    sums.append(Stage(1.0, []))
    sums.intervals(0, 5)
    whole.move([np.ones(1)], np.array([0.25]))
    n_features = sums.n_features
    wanted = sums.by_group([0, n_features], 1)[n_features].training.scatter
    kept = own.rows.kept
    kept[1].__setstate__(kept[1].__getstate__())
    assert not kept[1]._aggregates
    found = sums.by_group([0, n_features], 1)[n_features].training.scatter
    np.testing.assert_array_equal(found, wanted)


def test_workers_drop_aggregates_that_nobody_has() -> None:
    """Those of a class that is done, when the next one asks."""
    own = place([100])
    first, second = (own.aggregates(SquaredError(), np.zeros(0)) for _ in range(2))
    for sums in (first, second):
        sums.parts[0].append(Stage(1.0, []))
        assert sums.parts[0].extremes == [(1.0, 1.0)]
    (kept, _) = own.rows.kept
    assert set(kept._aggregates) == {first.log.number, second.log.number}
    del first, sums
    second.quadratic([np.array([1.0])], np.zeros(1), [1])
    assert set(kept._aggregates) == {second.log.number}


def test_bad_weights_and_partitions_are_refused() -> None:
    """The error names what is wrong, and its value."""
    for weight, message in ((-1.0, "not negative"), (0.0, "not all 0"), (np.inf, "finite")):
        bad = DATA._replace(weights=np.full(len(DATA.y), weight))
        rows = partitioned(bad, [])
        rows.know(bad.schema, None, encoded=True)
        with pytest.raises(ValueError, match=f"weights in the partitions must be.*{message}"):
            rows.divide(**HOW)
    with pytest.raises(ValueError, match="at least one partition, got none"):
        Partitions([])
    X, y = np.ones((2, 1)), np.ones(2)
    items: list[Any] = [X, "rows", (X,), iter([(X, y)]), 3, partial(int, 3)]
    for item in items:
        with pytest.raises(ValueError, match=r"partition 1 must be \(X, y\).*got a"):
            Partitions([(X, y), item])
