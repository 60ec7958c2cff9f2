"""Sums over rows that are elsewhere are those in memory: stage after stage, for every loss."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost.additive.builder import StageBuilder
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees.transformation import Transformation, straight
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import Huber, LogLoss, Poisson, Quantile, SquaredError
from cgboost.losses.multinomial import Multinomial
from cgboost.tables.binning import FeatureGroups, Intervals
from tests.additive.places.cases import PLACES, Elsewhere
from tests.additive.sql.sql_tables import Data, mixed
from tests.cases import law

CLOSE = 1e-9
"""What statistics may differ by, relative to their scale."""


def assert_close(found: Moments, wanted: Moments, groups: FeatureGroups | None = None) -> None:
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


def both_close(
    found: SplitMoments, wanted: SplitMoments, groups: FeatureGroups | None = None
) -> None:
    """The same of the training rows, and of those held out."""
    assert_close(found.training, wanted.training, groups)
    assert_close(found.holdout, wanted.holdout, groups)


def same_groups(found: Any, wanted: Any) -> None:
    """The groups of features are equal to the last bit, those of outputs to rounding."""
    for number, (own, groups) in enumerate(zip(found.groups, wanted.groups, strict=True)):
        assert (type(own), own.n_groups) == (type(groups), groups.n_groups)
        if isinstance(groups, Intervals):
            rtol = 0.0 if number < wanted.n_features else 1e-9
            for name in ("edges", "low", "high"):
                one, other = getattr(own, name), getattr(groups, name)
                np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-3 * rtol)


def compare_stage(found: Any, wanted: Any, builder: StageBuilder) -> Any:
    """A stage, after its sums have been compared."""
    if builder.feed_forward:
        for k in range(len(wanted.groups) - wanted.n_features, wanted.n_outputs):
            found.intervals(k, builder.max_bins)
    n_regressors = wanted.n_outputs if builder.regressors else 0
    stage = builder.stage(wanted)
    same_groups(found, wanted)
    inputs = range(wanted.n_features + (wanted.n_outputs if builder.feed_forward else 0))
    sums, others = found.by_group(inputs, n_regressors), wanted.by_group(inputs, n_regressors)
    assert list(sums) == list(others)
    for number, parts in others.items():
        both_close(sums[number], parts, wanted.groups[number])
    terms = [term for _, term in stage.terms]
    terms += [straight(k, wanted.groups[k], others[k].training) for k in (0, 2)] + terms[:1]
    if n_regressors:  # a function of outputs alone, the same for all values of its input
        flat, none = np.zeros(wanted.groups[0].n_groups, dtype=np.intp), np.zeros(1)
        coef = np.ones((1, n_regressors))
        terms.append(Transformation(0, wanted.groups[0], flat, none + 0.5, none, coef))
    near = np.full(len(terms) + 1, 0.01)
    for _ in range(2):  # the second time products of terms are known
        both_close(*(a.of_terms(terms, n_regressors, near) for a in (found, wanted)))
    if builder.link:
        alone = replace(stage, link=None)
        (own, parts), (groups, others) = (a.linking(alone, 16) for a in (found, wanted))
        np.testing.assert_allclose(own.edges, groups.edges, rtol=1e-9, atol=1e-12)
        both_close(parts, others, groups)
    return stage


def compare_quadratic(found: Any, wanted: Any, *at: Any) -> None:
    """The loss, its gradient and its Hessian, of training rows; the loss of those held out."""
    one, other = (a.quadratic(*at) for a in (found, wanted))
    np.testing.assert_allclose(one.value, other.value, rtol=CLOSE)
    np.testing.assert_allclose(one.holdout, other.holdout, rtol=CLOSE)
    size = np.abs(other.gradient).max() + np.abs(other.hessian).max()
    np.testing.assert_allclose(one.gradient, other.gradient, atol=CLOSE * size)
    scale = np.sqrt(np.diag(other.hessian))
    limit = CLOSE * scale[:, None] * scale + 1e-12
    assert (np.abs(one.hessian - other.hessian) <= limit).all()


def same_weights(found: Any, wanted: Any) -> None:
    """Of both parts."""
    np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-12)
    np.testing.assert_allclose(found.holdout_weight, wanted.holdout_weight, rtol=1e-12)


def far() -> Data:
    """A response and features of 1e9 ± 1, and one that is near 1e6 but for one row."""
    data = mixed(0)
    frame = data.frame.assign(plain=data.frame["plain"] + 1e9, far=data.frame["far"].to_numpy())
    frame.loc[0, "far"] = -1e10
    return Data(frame, data.y + 1e9, np.maximum(data.weights, 0.5))


def labels(data: Data) -> Data:
    """Three classes of uneven sizes."""
    return data._replace(y=np.digitize(data.y, np.quantile(data.y, [0.3, 0.8])).astype(float))


MODELS: dict[str, tuple[Any, dict[str, bool], Data]] = {
    "squared error": (SquaredError(), {"regressors": True}, mixed(0)),
    "with a link": (SquaredError(), {"regressors": False, "link": True}, mixed(1)),
    "gradient, small weights": (
        SquaredError(),
        {"regressors": False, "feed_forward": False},
        mixed(0)._replace(weights=mixed(0).weights / 100),
    ),
    "classes": (LogLoss(), {"regressors": True}, labels(mixed(0))),
    "huber": (Huber(0.3), {"regressors": True}, mixed(1)),
    "narrow huber": (Huber(1e-3), {"regressors": True}, mixed(0)),
    "poisson": (
        Poisson(),
        {"regressors": True},
        mixed(0)._replace(y=np.floor(np.abs(mixed(0).y) * 3)),
    ),
    "quantile": (Quantile(0.3), {"regressors": True}, mixed(0)),
}


@law(PLACES)
@pytest.mark.parametrize("model", MODELS)
def test_stage_after_stage_the_sums_are_those_in_memory(
    case: Elsewhere, model: str, server: str
) -> None:
    """By groups, of terms, of links, extremes, quadratics; also after outputs were dropped."""
    loss, options, data = MODELS[model]
    classes = model == "classes"
    y = data.y[data.weights > 0]
    y = np.where(y == 1.0, 1.0, -1.0) if classes else y
    known = data.in_memory().aggregates(loss, y)
    (wanted,) = known.parts
    with case.make(data, server, 3 if classes else 1) as place:
        target = np.array([-1.0, 1.0, -1.0]) if classes else np.zeros(0)
        if case.in_sql and model == "quantile":
            with pytest.raises(UnsupportedLossError, match=r"Quantile.* takes SquaredError, Huber"):
                place.aggregates(loss, target)
            return
        sums = place.aggregates(loss, y if case.row_by_row else target)
        (found,) = sums.parts
        assert place.has_holdout
        builder = StageBuilder(16, **options)
        coef, level = np.zeros(0), np.array([0.3])
        for turn in range(4):
            for last in range(len(coef) + 1):
                compare_quadratic(sums, known, [coef], level, [last])
            for own in (sums, known):
                own.move([coef], level)
            stage = compare_stage(found, wanted, builder)
            for part in (found, wanted):
                part.append(stage)
            np.testing.assert_allclose(found.extremes, wanted.extremes, rtol=1e-9, atol=1e-12)
            coef = np.append(coef, 0.7)
            if turn == 2:  # as a pricer does when a column was not kept
                coef = coef[:1]
                for own in (sums, known):
                    own.move([coef], level)
                    own.parts[0].drop(1)
            assert found.n_outputs == wanted.n_outputs == len(coef)
        if not case.row_by_row:
            assert found.values(0).shape == (0,)
        same_weights(sums, known)
        assert sums.attains_minimum == known.attains_minimum
        assert sums.is_smooth == known.is_smooth


@law(PLACES)
def test_rows_far_from_zero_lose_no_digits(case: Elsewhere, server: str) -> None:
    """Sums are taken about something near."""
    data = far()
    wanted = data.in_memory().aggregates(SquaredError(), data.y)
    with case.make(data, server) as place:
        found = place.aggregates(SquaredError(), data.y if case.row_by_row else np.zeros(0))
        for sums in (found, wanted):
            sums.move([np.zeros(0)], np.array([1e9]))
        compare_stage(found.parts[0], wanted.parts[0], StageBuilder(16))


@law(PLACES)
def test_the_same_rows_are_held_out_and_sampled(
    case: Elsewhere, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a sample of the rows, with copies and weights; nothing where nothing would be left."""
    monkeypatch.setattr("cgboost.tables.holdout_choice.SAMPLE", 100)
    data = mixed(1)
    y = data.y[data.weights > 0]
    wanted = data.in_memory(seed=1).aggregates(SquaredError(), y)
    with case.make(data, server, seed=1) as place:
        found = place.aggregates(SquaredError(), y if case.row_by_row else np.zeros(0))
        same_weights(found, wanted)
        compare_stage(found.parts[0], wanted.parts[0], StageBuilder(16))
    for share in (0.0, 1.0):
        with case.make(mixed(0, 50), server, share=share) as place:
            assert not place.has_holdout


@law(PLACES)
def test_classes_that_would_have_no_training_row_are_not_held_out(
    case: Elsewhere, server: str
) -> None:
    """The rest of many classes of one or two rows is, row by row as in memory."""
    data = mixed(3, 200)
    there = data.weights > 0
    codes = np.unique(np.round(data.y[there], 1), return_inverse=True)[1].astype(float)
    n_classes = int(codes.max()) + 1
    data = Data(data.frame[there], codes, data.weights[there])
    wanted = data.in_memory(n_classes=n_classes)
    held = wanted.passes().held
    assert (data.prepared().held & ~held).any()
    assert set(codes[~held]) == set(codes)
    assert held.any()
    loss = Multinomial(n_classes)
    with case.make(data, server, n_classes) as place:
        found = place.aggregates(loss, codes if case.row_by_row else np.arange(n_classes))
        known = wanted.aggregates(loss, codes)
        same_weights(found, known)
        for one, other in zip(found.parts, known.parts, strict=True):
            own, parts = (a.by_group([0], 0)[0] for a in (one, other))
            for name in ("training", "holdout"):
                rows, others = getattr(own, name), getattr(parts, name)
                np.testing.assert_allclose(rows.count, others.count, rtol=1e-12)
                np.testing.assert_allclose(rows.mean, others.mean, rtol=1e-9, atol=1e-12)


@law(PLACES)
@pytest.mark.parametrize("weighted", [True, False])
def test_joint_sums_of_classes_are_those_in_memory(
    case: Elsewhere, weighted: bool, server: str
) -> None:
    """Responses, value, gradient and Hessian, before and after f has moved, of uneven classes."""
    data = labels(mixed(6))
    data = data if weighted else data._replace(weights=np.ones(len(data.y)))
    y = data.y[data.weights > 0]
    memory = data.in_memory().aggregates(Multinomial(3), y)
    with case.make(data, server, 3) as place:
        sums = place.aggregates(Multinomial(3), y if case.row_by_row else np.arange(3))
        same_weights(sums, memory)
        builder = StageBuilder(16)
        coefs, levels = [np.zeros(0) for _ in range(3)], np.array([0.4, -0.1, -0.3])
        for counts in ([1, 1, 0], [1, 0, 1]):
            for k, count in enumerate(counts):
                own, other = sums.parts[k], memory.parts[k]
                both_close(own.by_group([0], 0)[0], other.by_group([0], 0)[0], other.groups[0])
                if count:
                    stage = builder.stage(other)
                    builder.feed_forward = False
                    own.append(stage)
                    other.append(stage)
                    np.testing.assert_allclose(own.extremes, other.extremes, rtol=1e-9)
                    coefs[k] = np.append(coefs[k], 0.8 - 0.3 * k)
            for last in (counts, [len(coef) for coef in coefs], [0, 0, 0]):
                compare_quadratic(sums, memory, coefs, levels, last)
            for a in (sums, memory):
                a.move(coefs, levels)
        before = sums.quadratic(coefs, levels, counts)
        sums.parts[1].append(stage)
        sums.parts[1].drop(len(coefs[1]))
        after = sums.quadratic(coefs, levels, counts)
        np.testing.assert_allclose(after.gradient, before.gradient, rtol=CLOSE, atol=CLOSE)
