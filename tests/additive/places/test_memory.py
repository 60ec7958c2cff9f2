"""Sums over rows in memory, against sums written down."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import TransformClassifier, TransformRegressor
from cgboost.additive.places import joint, memory
from cgboost.additive.places.memory import MemoryPlace
from cgboost.additive.places.place import Aggregates, Place
from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import Transformation
from cgboost.losses import Huber, LogLoss, SquaredError
from cgboost.tables import rows
from cgboost.tables.preparation import SAME, Prepared, intervals_of
from cgboost.tables.rows import TableRows

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


def there() -> Aggregates:
    """With the outputs of two stages, of which the second uses the first."""
    sums = place().aggregates(SquaredError(), Y)
    n_groups, leaf = GROUPS[0].n_groups, np.arange(GROUPS[0].n_groups)
    first = Transformation(
        0, GROUPS[0], leaf, RNG.normal(size=n_groups), np.ones(n_groups), np.zeros((n_groups, 0))
    )
    sums.append(Stage(0.5, [(2.0, first)]))
    second = Transformation(
        1, GROUPS[1], leaf, np.zeros(n_groups), np.ones(n_groups), np.ones((n_groups, 1))
    )
    sums.append(Stage(-0.5, [(1.0, second)]))
    return sums


def test_there_is_a_holdout() -> None:
    """A place says so, and what the parts weigh."""
    assert place().has_holdout
    sums = there()
    assert sums.weight == WEIGHTS[~HELD].sum()
    assert sums.holdout_weight == WEIGHTS[HELD].sum()


def test_outputs_are_those_of_the_stages() -> None:
    """With their extremes over the rows that count."""
    sums = there()
    first = sums.values(0)
    np.testing.assert_allclose(sums.values(1), -0.5 + GROUPS[1].regressor(X[:, 1]) + first)
    counting = first[WEIGHTS > 0]
    assert sums.extremes[0] == (counting.min(), counting.max())


def test_statistics_of_groups() -> None:
    """Of training rows and holdout rows, of an input that is an output too."""
    sums = there()
    sums.intervals(0, 5)
    sums.intervals(1, 5)
    wanted = intervals_of(sums.values(1)[WEIGHTS > 0], WEIGHTS[WEIGHTS > 0], 5, same=SAME)
    np.testing.assert_array_equal(sums.groups[3].edges, wanted.edges)
    sums.move(np.array([1.0]), 0.25)
    response = Y - 0.25 - sums.values(0)
    for number, x in ((0, X[:, 0]), (3, sums.values(1))):
        groups = sums.groups[number]
        parts = sums.by_group([0, 3], 1)[number]
        Z = np.column_stack([groups.regressor(x), sums.values(0), response])
        codes = groups.codes(x)
        for part, chosen in ((parts.training, ~HELD), (parts.holdout, HELD)):
            for g in range(groups.n_groups):
                rows = chosen & (codes == g)
                w = WEIGHTS[rows]
                assert part.count[g] == pytest.approx(w.sum())
                if w.sum() > 0:
                    mean = w @ Z[rows] / w.sum()
                    centred = Z[rows] - mean
                    scatter = (centred * w[:, None]).T @ centred
                    np.testing.assert_allclose(part.mean[g], mean, rtol=1e-9, atol=1e-9)
                    np.testing.assert_allclose(part.scatter[g], scatter, rtol=1e-9, atol=1e-9)


def test_statistics_of_terms() -> None:
    """Of functions of features and outputs, and the response."""
    sums = there()
    sums.intervals(0, 5)
    line = GROUPS[1]
    flat = np.zeros(line.n_groups, dtype=np.intp)
    terms = [Transformation(1, line, flat, np.zeros(1), np.ones(1), np.ones((1, 1)))]
    parts = sums.of_terms(terms, 1, np.zeros(2))
    values = line.regressor(X[:, 1]) + sums.values(0)
    w = np.where(HELD, 0.0, WEIGHTS)
    cross = w @ ((values - w @ values / w.sum()) * (Y - w @ Y / w.sum()))
    np.testing.assert_allclose(parts.training.scatter[0, 0, 1], cross, rtol=1e-9)


@pytest.mark.parametrize("loss", [SquaredError(), Huber(0.2), LogLoss()])
def test_the_loss_along_outputs(loss: SquaredError | Huber | LogLoss) -> None:
    """Value, gradient and Hessian, wherever f was before; the holdout rows apart."""
    target = np.where(Y > 0, 1.0, -1.0) if isinstance(loss, LogLoss) else Y
    sums = place().aggregates(loss, target)
    for stage in (0, 1):
        term = Transformation(
            stage,
            GROUPS[stage],
            np.zeros(GROUPS[stage].n_groups, dtype=np.intp),
            np.zeros(1),
            np.ones(1),
            np.zeros((1, 0)),
        )
        sums.append(Stage(0.0, [(1.0, term)]))
    training = loss.on(target, np.where(HELD, 0.0, WEIGHTS))
    for before in ([], [1.0], [3.0, -1.0]):
        sums.move(np.array(before), 0.5)
        coef = np.array([0.3, -0.2])
        f = 0.1 + 0.3 * sums.values(0) - 0.2 * sums.values(1)
        found = sums.quadratic(coef, 0.1, 1)
        basis = np.column_stack([np.ones(N_ROWS), sums.values(1)])
        assert found.value == pytest.approx(training.value(f), rel=1e-12)
        np.testing.assert_allclose(
            found.gradient, -(basis.T @ training.pseudo_response(f)), rtol=1e-9, atol=1e-9
        )
        bent = basis * training.curvature(f)[:, None]
        np.testing.assert_allclose(found.hessian, bent.T @ basis, rtol=1e-9, atol=1e-9)
        outside = loss.on(target[HELD], WEIGHTS[HELD]).value(f[HELD])
        assert found.holdout == pytest.approx(outside, rel=1e-12)


def test_outputs_can_be_dropped() -> None:
    """With their intervals and extremes; nothing of them is used again."""
    sums = there()
    sums.intervals(0, 5)
    sums.drop(0)
    assert sums.n_outputs == len(sums.extremes) == 0
    assert len(sums.groups) == 2
    sums.append(Stage(1.0, []))
    assert sums.extremes == [(1.0, 1.0)]


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
    monkeypatch.setattr(memory, "LOSS_ROWS", 250)
    monkeypatch.setattr(joint, "JOINT_ROWS", 350)
    monkeypatch.setattr(rows, "BLOCK", 400)
    rng = np.random.default_rng(1)
    table = rng.uniform(-1, 1, size=(1200, 3))
    y = table.sum(axis=1) + 3 * table[:, 0] * table[:, 1] + 0.1 * rng.normal(size=1200)
    if isinstance(model, TransformClassifier):
        y = np.digitize(y, [0.0, 1.0])
    model = clone(model).set_params(n_estimators=3)
    one, other = (clone(model).set_params(n_jobs=k).fit(table, y) for k in (1, 3))
    assert one.n_columns_ > 1
    np.testing.assert_array_equal(other._outputs(table), one._outputs(table))
    np.testing.assert_array_equal(other.column_weights_, one.column_weights_)
    for name in ("objective", "holdout_loss"):
        np.testing.assert_array_equal(other.history_[name], one.history_[name])
