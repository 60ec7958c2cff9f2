"""Linear trees as columns of stagewise masters."""

import numpy as np
import pytest

from cgboost.additive.trees.boosted_tree_growth import TreeGrower
from cgboost.additive.trees.boosted_trees import CodedRows
from cgboost.losses import (
    Huber,
    LogLoss,
    Loss,
    SquaredError,
)
from cgboost.losses.multinomial import Multinomial
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.linear_trees import LEAST_NEWTON_WEIGHT, LinearTreePricer
from cgboost.tables.binning import FeatureGroups, intervals_of
from cgboost.tables.row_blocks import TableRows


def rows(seed: int, n_rows: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three numbers, a response, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    y = X[:, 0] + 3 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, y, rng.choice([0.0, 1.0, 2.0], n_rows)


def pricer(X: np.ndarray, weights: np.ndarray) -> LinearTreePricer:
    """Of trees of two levels."""
    groups: list[FeatureGroups] = [intervals_of(x, np.ones(len(x)), 16) for x in X.T]
    coded = CodedRows.of(TableRows(X), groups)
    grower = TreeGrower(
        coded, weights, max_depth=2, min_samples_leaf=5, max_regressors=3, ridge=1.0
    )
    return LinearTreePricer(grower, weights)


@pytest.mark.parametrize(("own_loss", "newton"), [(LogLoss(), True), (Huber(0.5), False)])
def test_newton_weights_where_there_is_curvature_in_all_rows(own_loss: Loss, newton: bool) -> None:
    """r/h with the weights h, which are not next to 0; r/w where some h are 0."""
    X, y, weights = rows(0)
    loss = own_loss.on(np.where(y > 0, 1.0, -1.0) if newton else y, weights)
    master, own = StagewiseMaster(loss), pricer(X, weights)
    master.output[:50] = 9.0 if newton else 0.0
    state = master.solve()
    working = own._working(state, 0)
    there, h = weights > 0, np.maximum(state.curvature, LEAST_NEWTON_WEIGHT * weights)
    wanted = h if newton else weights
    assert (state.curvature[:50][there[:50]] < h[:50][there[:50]]).all() or not newton
    np.testing.assert_allclose(working.weights, wanted)
    np.testing.assert_allclose(
        working.response[there] * wanted[there], state.pseudo_response[there]
    )
    np.testing.assert_array_equal(working.counts, weights)
    # small weights count as one on average: a row cannot stand for less
    X, y, weights = rows(1)
    small = weights / 1000.0
    mean = weights[weights > 0].mean()
    state = StagewiseMaster(SquaredError().on(y, small)).solve()
    working = pricer(X, small)._working(state, 0)
    np.testing.assert_allclose(working.counts, weights / mean)
    np.testing.assert_allclose(working.weights, weights / mean)


def test_a_tree_for_every_output_and_none_where_nothing_is_left() -> None:
    """As many as asked for, numbered by round; rows without a response make no column."""
    X, y, weights = rows(2)
    classes = np.digitize(y, [-0.5, 0.5]).astype(float)
    master = StagewiseMaster(Multinomial(3).on(classes, weights), step=0.1, start="constant")
    own = pricer(X, weights)
    state = master.solve()
    columns = own.price(state, 3).columns
    assert [column.output for column in columns] == [0, 1, 2]
    assert [column.key[1] for column in columns] == [0, 0, 0]
    assert len(own.price(state, 2).columns) == 2
    assert not own.price(state, 0).columns
    master.add(columns)
    assert {column.key[1] for column in own.price(master.solve(), 3).columns} == {1}
    flat = StagewiseMaster(SquaredError().on(np.ones(200), weights), start="constant").solve()
    assert not own.price(flat, 1).columns
