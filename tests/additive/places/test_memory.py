"""Sums over rows in memory, against sums written down and against the equations of the losses."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone

from cgboost import TransformClassifier, TransformRegressor
from cgboost.additive.builder import StageBuilder
from cgboost.additive.places import memory
from cgboost.additive.places.memory import MemoryAggregates, MemoryPlace, in_memory
from cgboost.additive.places.place import Aggregates, Place
from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses import Huber, LogLoss, SquaredError
from cgboost.losses.multinomial import Multinomial
from cgboost.tables import row_blocks
from cgboost.tables.binning import SAME, Prepared, intervals_of
from cgboost.tables.row_blocks import TableRows
from cgboost.tables.table_encoding import Schema

N_ROWS = 300
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N_ROWS, 2))
Y = X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=N_ROWS)
HELD = RNG.random(N_ROWS) < 0.3
WEIGHTS = RNG.integers(0, 3, N_ROWS).astype(float)
GROUPS = [intervals_of(X[:, j], WEIGHTS, 6) for j in range(2)]


def place() -> Place:
    """Rows with two features."""
    sample = np.flatnonzero(WEIGHTS > 0)
    return MemoryPlace(Prepared(TableRows(X), HELD, GROUPS, sample), WEIGHTS)


def there(loss: Any = None, target: np.ndarray = Y) -> Aggregates:
    """With the outputs of two stages, of which the second uses the first."""
    whole = place().aggregates(loss or SquaredError(), target)
    (sums,) = whole.parts
    n_groups, leaf = GROUPS[0].n_groups, np.arange(GROUPS[0].n_groups)
    level, ones = np.random.default_rng(6).normal(size=n_groups), np.ones(n_groups)
    first = Transformation(0, GROUPS[0], leaf, level, ones, np.zeros((n_groups, 0)))
    sums.append(Stage(0.5, [(2.0, first)]))
    second = Transformation(1, GROUPS[1], leaf, 0 * ones, ones, np.ones((n_groups, 1)))
    sums.append(Stage(-0.5, [(1.0, second)]))
    return whole


def test_outputs_are_those_of_the_stages() -> None:
    """With extremes over the rows that count, until they are dropped; and what the parts weigh."""
    whole = there()
    assert place().has_holdout
    assert (whole.weight, whole.holdout_weight) == (WEIGHTS[~HELD].sum(), WEIGHTS[HELD].sum())
    (sums,) = whole.parts
    first = sums.values(0)
    np.testing.assert_allclose(sums.values(1), -0.5 + GROUPS[1].regressor(X[:, 1]) + first)
    counting = first[WEIGHTS > 0]
    assert sums.extremes[0] == (counting.min(), counting.max())
    sums.intervals(0, 5)
    sums.drop(0)
    assert sums.n_outputs == len(sums.extremes) == 0
    assert len(sums.groups) == 2
    sums.append(Stage(1.0, []))
    assert sums.extremes == [(1.0, 1.0)]


def test_statistics_of_groups_and_terms() -> None:
    """Of training rows and holdout rows, of an input that is an output too, and of a function."""
    whole = there()
    (sums,) = whole.parts
    sums.intervals(0, 5)
    sums.intervals(1, 5)
    wanted = intervals_of(sums.values(1)[WEIGHTS > 0], WEIGHTS[WEIGHTS > 0], 5, same=SAME)
    np.testing.assert_array_equal(sums.groups[3].edges, wanted.edges)
    flat = np.zeros(GROUPS[1].n_groups, dtype=np.intp)
    terms = [Transformation(1, GROUPS[1], flat, np.zeros(1), np.ones(1), np.ones((1, 1)))]
    parts = sums.of_terms(terms, 1, np.zeros(2))
    values = GROUPS[1].regressor(X[:, 1]) + sums.values(0)
    w = np.where(HELD, 0.0, WEIGHTS)
    cross = w @ ((values - w @ values / w.sum()) * (Y - w @ Y / w.sum()))
    np.testing.assert_allclose(parts.training.scatter[0, 0, 1], cross, rtol=1e-9)
    whole.move([np.array([1.0])], np.array([0.25]))
    response = Y - 0.25 - sums.values(0)
    for number, x in ((0, X[:, 0]), (3, sums.values(1))):
        groups = sums.groups[number]
        parts = sums.by_group([0, 3], 1)[number]
        Z = np.column_stack([groups.regressor(x), sums.values(0), response])
        codes = groups.codes(x)
        for part, chosen in ((parts.training, ~HELD), (parts.holdout, HELD)):
            for g in range(groups.n_groups):
                mine = chosen & (codes == g)
                w = WEIGHTS[mine]
                assert part.count[g] == pytest.approx(w.sum())
                if w.sum() > 0:
                    mean = w @ Z[mine] / w.sum()
                    centred = Z[mine] - mean
                    scatter = (centred * w[:, None]).T @ centred
                    np.testing.assert_allclose(part.mean[g], mean, rtol=1e-9, atol=1e-9)
                    np.testing.assert_allclose(part.scatter[g], scatter, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", [SquaredError(), Huber(0.2), LogLoss()])
def test_the_loss_along_outputs(loss: SquaredError | Huber | LogLoss) -> None:
    """Value, gradient and Hessian, wherever f was before; the holdout rows apart."""
    target = np.where(Y > 0, 1.0, -1.0) if isinstance(loss, LogLoss) else Y
    whole = there(loss, target)
    (sums,) = whole.parts
    training = loss.on(target, np.where(HELD, 0.0, WEIGHTS))
    for before in ([], [1.0], [3.0, -1.0]):
        whole.move([np.array(before)], np.array([0.5]))
        coef = np.array([0.3, -0.2])
        f = 0.1 + 0.3 * sums.values(0) - 0.2 * sums.values(1)
        found = whole.quadratic([coef], np.array([0.1]), [1])
        basis = np.column_stack([np.ones(N_ROWS), sums.values(1)])
        assert found.value == pytest.approx(training.value(f), rel=1e-12)
        np.testing.assert_allclose(
            found.gradient, -(basis.T @ training.pseudo_response(f)), rtol=1e-9, atol=1e-9
        )
        bent = basis * training.curvature(f)[:, None]
        np.testing.assert_allclose(found.hessian, bent.T @ basis, rtol=1e-9, atol=1e-9)
        outside = loss.on(target[HELD], WEIGHTS[HELD]).value(f[HELD])
        assert found.holdout == pytest.approx(outside, rel=1e-12)


LABELS = np.digitize(Y + RNG.normal(size=N_ROWS), [-0.9, 0.3])
CLASSES = Multinomial(3)
COUNTS = (2, 1, 0)
"""Stages of each class."""
COEFS = [np.array([0.7, -0.4]), np.array([1.1]), np.zeros(0)]
LEVELS = np.array([0.3, -0.2, 0.5])
POINT = np.concatenate([LEVELS, *COEFS])


def jointly(y: np.ndarray, n_classes: int) -> tuple[MemoryPlace, MemoryAggregates]:
    """Rows with classes."""
    how = {"max_bins": 16, "share": 0.3, "seed": 0, "n_jobs": 1}
    own = in_memory(X, Schema(None, (None, None)), 1.0 * y, WEIGHTS + 1.0, **how)
    return own, own.aggregates(Multinomial(n_classes), 1.0 * y)


def test_joint_sums_are_those_of_the_multinomial_deviance() -> None:
    """Value, gradient and Hessian against the loss of the rows and differences of it.

    The responses are [y = k] − p_k of every row; the master's have the weights of training rows.
    """
    _, sums = jointly(LABELS, 3)
    for part, count in zip(sums.parts, COUNTS, strict=True):
        for _ in range(count):
            part.append(StageBuilder(16).stage(part))

    def scores(point: np.ndarray) -> np.ndarray:
        f, place = np.tile(point[:3], (N_ROWS, 1)), 3
        for k, part in enumerate(sums.parts):
            for values in part.outputs.values:
                f[:, k] += point[place] * values
                place += 1
        return f

    def at(point: np.ndarray) -> Any:
        return sums.quadratic([point[3:5], point[5:6], point[6:]], point[:3], COUNTS)

    weights = WEIGHTS + 1.0
    training = np.where(sums.parts[0].passes.held, 0.0, weights)
    loss, outside = (CLASSES.on(1.0 * LABELS, own) for own in (training, weights - training))
    assert sums.weight == pytest.approx(training.sum(), rel=1e-12)
    assert sums.holdout_weight == pytest.approx(weights.sum() - training.sum(), rel=1e-12)
    here = at(POINT)
    assert here.value == pytest.approx(loss.value(scores(POINT)), rel=1e-12)
    assert here.holdout == pytest.approx(outside.value(scores(POINT)), rel=1e-12)
    slope = approx_fprime(POINT, lambda p: loss.value(scores(p)), 1e-6)
    np.testing.assert_allclose(here.gradient, slope, atol=1e-3, rtol=1e-5)
    bend = approx_fprime(POINT, lambda p: at(p).gradient, 1e-6)
    np.testing.assert_allclose(here.hessian, bend, atol=1e-3, rtol=1e-5)
    few, chosen = sums.quadratic(COEFS, LEVELS, [1, 0, 0]), [0, 1, 2, 4]
    np.testing.assert_allclose(few.gradient, here.gradient[chosen], rtol=1e-12)
    np.testing.assert_allclose(few.hessian, here.hessian[np.ix_(chosen, chosen)], rtol=1e-10)
    output, response = sums.move(COEFS, LEVELS)
    np.testing.assert_allclose(output, scores(POINT), rtol=1e-12)
    own = np.array([part.response for part in sums.parts]).T
    everyone = CLASSES.on(1.0 * LABELS, np.ones(N_ROWS))
    np.testing.assert_allclose(own, everyone.pseudo_response(output), atol=1e-14)
    np.testing.assert_allclose(response, training[:, None] * own, atol=1e-14)


def test_two_classes_are_the_log_loss() -> None:
    """Scores −f and f, whose value, slopes and responses are those of f."""
    y = (LABELS > 1).astype(int)
    own, both = jointly(y, 2)
    one = own.aggregates(LogLoss(), np.where(y == 1, 1.0, -1.0))
    for f in (-0.4, 0.0, 1.3):
        here = both.quadratic([np.zeros(0)] * 2, np.array([-f, f]), [0, 0])
        wanted = one.quadratic([np.zeros(0)], np.array([f]), [0])
        assert here.value == pytest.approx(wanted.value, rel=1e-12)
        assert here.holdout == pytest.approx(wanted.holdout, rel=1e-12)
        along = here.along(np.array([[-1.0], [1.0]]))
        np.testing.assert_allclose(along.gradient, wanted.gradient, rtol=1e-10)
        np.testing.assert_allclose(along.hessian, wanted.hessian, rtol=1e-10)
        both.move([np.zeros(0)] * 2, np.array([-f, f]))
        one.move([np.zeros(0)], np.array([f]))
        response = one.parts[0].response
        np.testing.assert_allclose(2.0 * both.parts[1].response, response, atol=1e-14)


@pytest.mark.parametrize(
    "model",
    [
        TransformRegressor(),
        TransformRegressor(loss="huber", variant="orthogonal"),
        TransformRegressor(loss="quantile"),
        TransformClassifier(),
        TransformClassifier(multi_class="ovr"),
    ],
    ids=["squared error", "huber", "quantile", "joint", "ovr"],
)
def test_threads_change_no_digit(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of slices and blocks of the rows are added up in their order, whoever made them."""
    monkeypatch.setattr(memory, "LOSS_ROWS", 150)
    monkeypatch.setattr(memory, "JOINT_ROWS", 200)
    monkeypatch.setattr(row_blocks, "BLOCK", 240)
    rng = np.random.default_rng(1)
    table = rng.uniform(-1, 1, size=(1000, 3))
    y = table.sum(axis=1) + 3 * table[:, 0] * table[:, 1] + 0.1 * rng.normal(size=1000)
    if isinstance(model, TransformClassifier):
        y = np.digitize(y, [0.0, 1.0])
    model = clone(model).set_params(n_estimators=3)
    one, other = (clone(model).set_params(n_jobs=k).fit(table, y) for k in (1, 3))
    assert one.n_columns_ > 1
    np.testing.assert_array_equal(other._outputs(table), one._outputs(table))
    np.testing.assert_array_equal(other.column_weights_, one.column_weights_)
    for name in ("objective", "holdout_loss"):
        np.testing.assert_array_equal(other.history_[name], one.history_[name])
