"""Sums in a database are those in memory, stage after stage, for every loss."""

from typing import Any

import numpy as np
import pytest

from cgboost.additive.builder import StageBuilder
from cgboost.additive.places.memory import MemoryAggregates
from cgboost.additive.sql.aggregates import SQLAggregates
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.trees.transformation import straight
from cgboost.losses import Huber, LogLoss, Poisson, SquaredError
from cgboost.tables.preparation import Groups, Intervals
from tests.additive.sql.sql_tables import DATABASES, Data, mixed, place_of

CLOSE = 1e-9
"""What statistics may differ by, relative to their scale."""


def assert_close(found: Moments, wanted: Moments, groups: Groups | None = None) -> None:
    """Statistics are equal to rounding: of the whole, and of x in the width of its group."""
    np.testing.assert_allclose(found.count, wanted.count, rtol=CLOSE)
    spread = np.abs(np.einsum("gkk->gk", wanted.together().scatter))
    scale = np.tile(spread, (len(wanted), 1))
    if isinstance(groups, Intervals):
        ends = np.concatenate([[groups.low], groups.edges, [groups.high]])
        scale[:, 0] = wanted.count * np.append(np.diff(ends), 0.0) ** 2
    size = np.sqrt(scale)
    limit = CLOSE * size[:, :, None] * size[:, None, :] + 1e-25
    assert (np.abs(found.scatter - wanted.scatter) <= limit).all()
    level = CLOSE * (1.0 + np.abs(wanted.mean).max(axis=0))
    assert (np.abs(found.mean - wanted.mean) <= level).all()


def both(place: Any, data: Data, loss: Any, label: int | None = None) -> tuple[Any, Any]:
    """Sums of the same rows in a database and in memory."""
    y = data.y[data.weights > 0]
    memory = data.in_memory()
    if label is None:
        return place.aggregates(loss, np.zeros(0)), memory.aggregates(loss, y)
    classes = np.unique(data.y)
    own = np.where(np.arange(len(classes)) == label, 1.0, -1.0)
    return place.aggregates(loss, own), memory.aggregates(loss, np.where(y == label, 1.0, -1.0))


def compare_stage(found: SQLAggregates, wanted: MemoryAggregates, builder: StageBuilder) -> Any:
    """A stage, after its sums have been compared."""
    if builder.feed_forward:
        for k in range(len(wanted.groups) - wanted.n_features, wanted.n_outputs):
            found.intervals(k, builder.max_bins)
    n_regressors = wanted.n_outputs if builder.regressors else 0
    stage = builder.stage(wanted)
    for own, groups in zip(found.groups, wanted.groups, strict=True):
        if isinstance(own, Intervals):
            np.testing.assert_allclose(own.edges, groups.edges, rtol=1e-9, atol=1e-12)
    inputs = range(wanted.n_features + (wanted.n_outputs if builder.feed_forward else 0))
    sums, others = found.by_group(inputs, n_regressors), wanted.by_group(inputs, n_regressors)
    assert list(sums) == list(others)
    for number, parts in others.items():
        assert_close(sums[number].training, parts.training, wanted.groups[number])
        assert_close(sums[number].holdout, parts.holdout, wanted.groups[number])
    terms = [term for _, term in stage.terms]
    near = np.full(len(terms) + 1, 0.01)
    for _ in range(2):  # the second time products of terms are known
        own, parts = (a.of_terms(terms, n_regressors, near) for a in (found, wanted))
        assert_close(own.training, parts.training)
        assert_close(own.holdout, parts.holdout)
    return stage


def compare_quadratic(found: Any, wanted: Any, coef: np.ndarray, intercept: float) -> None:
    """The loss, its gradient and its Hessian by the last coefficients."""
    for last in range(len(coef) + 1):
        one, other = (a.quadratic(coef, intercept, last) for a in (found, wanted))
        np.testing.assert_allclose(one.value, other.value, rtol=CLOSE)
        np.testing.assert_allclose(one.holdout, other.holdout, rtol=CLOSE)
        np.testing.assert_allclose(one.hessian, other.hessian, rtol=CLOSE, atol=1e-12)
        size = np.abs(other.gradient).max() + np.abs(other.hessian).max()
        np.testing.assert_allclose(one.gradient, other.gradient, atol=CLOSE * size)


CASES = {
    "squared error": (SquaredError(), {"regressors": True}),
    "with a link": (SquaredError(), {"regressors": False, "link": True}),
    "gradient": (SquaredError(), {"regressors": False, "feed_forward": False}),
    "classes": (LogLoss(), {"regressors": True}),
    "huber": (Huber(0.3), {"regressors": True}),
    "poisson": (Poisson(), {"regressors": True}),
}


def data_for(case: str, seed: int) -> Data:
    """With a target that suits the loss."""
    data = mixed(seed)
    if case == "classes":
        return data._replace(y=np.digitize(data.y, [-0.5, 0.5]).astype(float))
    return data._replace(y=np.floor(np.abs(data.y) * 3)) if case == "poisson" else data


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_stage_after_stage_the_sums_are_those_in_memory(
    case: str, seed: int, database: str, server: str
) -> None:
    """By groups, of terms, of links, extremes, quadratics; also after outputs were dropped."""
    loss, options = CASES[case]
    data = data_for(case, seed)
    classes = case == "classes"
    with place_of(database, server, data, classification=classes) as place:
        found, wanted = both(place, data, loss, 1 if classes else None)
        builder = StageBuilder(16, **options)
        coef, level = np.zeros(0), 0.3
        for turn in range(4):
            compare_quadratic(found, wanted, coef, level)
            for sums in (found, wanted):
                sums.move(coef, level)
            stage = compare_stage(found, wanted, builder)
            if builder.link:
                (groups, own), (others, parts) = (
                    sums.linking(stage, 16) for sums in (found, wanted)
                )
                assert len(groups.edges) == len(others.edges)
                assert_close(own.training, parts.training, others)
                assert_close(own.holdout, parts.holdout, others)
            for sums in (found, wanted):
                sums.append(stage)
            np.testing.assert_allclose(found.extremes, wanted.extremes, rtol=1e-9, atol=1e-12)
            coef = np.append(coef, 0.7)
            if turn == 2:  # as a pricer does when a column was not kept
                coef = coef[:1]
                for sums in (found, wanted):
                    sums.move(coef, level)
                    sums.drop(1)
            assert found.n_outputs == wanted.n_outputs == len(coef)
        assert found.values(0).shape == (0,)
        np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-12)
        np.testing.assert_allclose(found.holdout_weight, wanted.holdout_weight, rtol=1e-12)
        assert (found.attains_minimum, found.is_smooth) == (wanted.attains_minimum, True)


def test_small_weights_count_as_one_on_average(server: str) -> None:
    """In the statistics of stages; the loss has them as they are."""
    data = mixed(0)
    small = data._replace(weights=data.weights / 100)
    with place_of("duckdb", server, small) as place:
        found, wanted = both(place, small, SquaredError())
        compare_stage(found, wanted, StageBuilder(16))
        compare_quadratic(found, wanted, np.zeros(0), 0.0)


def test_rows_far_from_zero_lose_no_digits(server: str) -> None:
    """A response and features of 1e8 ± 1, and one that is near 1e6 but for one row."""
    data = mixed(0)
    frame = data.frame.assign(plain=data.frame["plain"] + 1e8, far=data.frame["far"].to_numpy())
    frame.loc[0, "far"] = -1e9
    far = Data(frame, data.y + 1e8, np.maximum(data.weights, 0.5))
    with place_of("duckdb", server, far) as place:
        found, wanted = both(place, far, SquaredError())
        for sums in (found, wanted):
            sums.move(np.zeros(0), 1e8)
        compare_stage(found, wanted, StageBuilder(16))


def test_a_fit_reads_sums_and_never_rows(server: str) -> None:
    """What leaves does not grow with the rows; two reads a stage at most are of all columns.

    Of the terms of one input nothing is read: their products follow from sums by group.
    """
    fetched = []
    for n_rows in (1000, 4000):
        data = mixed(0, n_rows)
        with place_of("duckdb", server, data) as place:
            found, wanted = both(place, data, SquaredError())
            builder = StageBuilder(16)
            stage = builder.stage(wanted)
            before = place.session.n_reads
            found.by_group(range(found.n_features), 0)
            assert place.session.n_reads - before == 1
            _, term = stage.terms[0]
            found.of_terms([term], 0, np.zeros(2))
            assert place.session.n_reads - before == 1
            features = [number for number in range(3) if number != term.feature]
            lines = [
                straight(k, found.groups[k], found.by_group([k], 0)[k].training) for k in features
            ]
            before += 2
            for n_reads in (2, 2):  # products of features are known from then on
                found.of_terms(lines, 0, np.zeros(3))
                assert place.session.n_reads - before == n_reads
            found.append(stage)
            assert place.session.n_reads - before == 3
            found.move(np.ones(1), 0.0)
            assert place.session.n_reads - before == 3
            found.intervals(0, 16)
            found.by_group(range(found.n_features + 1), 1)
            assert place.session.n_reads - before == 5
            fetched.append(place.session.n_fetched)
    groups = 2 * sum(own.n_groups for own in found.groups)
    assert max(fetched) <= 4 * groups + 100
    assert abs(fetched[1] - fetched[0]) < 40
