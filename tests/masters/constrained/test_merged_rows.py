"""Rows that no column tells apart are one row, and nothing is lost by it."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.columns import Column
from cgboost.losses import Hinge, SupportVectorLoss
from cgboost.losses.dual.constraint_rows import with_constraint_rows
from cgboost.masters.constrained.constrained_master import ConstrainedMaster
from cgboost.masters.constrained.merged_rows import MergedRows
from tests.effort import examples


def limited(seed):
    """A hinge loss with weights, two limits, and columns of few values with their rows."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], 60)
    box = Hinge().dual_box(labels, rng.uniform(0.1, 1.0, 60))
    loss = with_constraint_rows(box, np.array([0.1, 0.1]), 30.0)
    columns = [rng.choice([-1.0, 0.0, 1.0], 60) for _ in range(3)]
    part = rng.random(60) / 60
    return loss, [np.append(h, [part @ h, -part @ h]) for h in columns]


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_merged_rows_have_the_same_loss_gain_and_scores(seed):
    """Of outputs that are sums of the columns, and of responses that are shared."""
    loss, columns = limited(seed)
    groups = MergedRows(loss, 60)
    assert groups.take(columns)
    merged = groups.merged()
    assert isinstance(merged, SupportVectorLoss)
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=3)
    output = np.array(columns).T @ alpha
    small = np.array([groups.on_groups(h) for h in columns]).T @ alpha
    np.testing.assert_allclose(groups.on_rows(small), output, atol=1e-12)
    np.testing.assert_allclose(merged.value(small), loss.value(output))
    response = merged.feasible(rng.normal(size=merged.n_rows), balanced=False)
    shared = groups.shared(response)
    assert (shared >= loss.lower - 1e-12).all()
    assert (shared <= loss.upper + 1e-12).all()
    np.testing.assert_allclose(loss.gain(shared), merged.gain(response))
    for column in columns:
        np.testing.assert_allclose(shared @ column, response @ groups.on_groups(column))


def test_a_column_of_many_values_ends_the_merging():
    """It tells nearly all rows apart: the master goes on with all rows, to the same optimum."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1.0, 1.0], 1200)
    box = Hinge().dual_box(labels, np.full(1200, 0.05))
    few, many = rng.choice([-1.0, 1.0], 1200) + 0.5 * labels, rng.normal(size=1200) + labels
    master = ConstrainedMaster(box, np.zeros(0), 1.0)
    master.add([Column(np.round(few), ("a", 0))])
    first = master.solve()
    master.add([Column(many, ("b", 0))])
    second = master.solve()
    plain = ConstrainedMaster(box, np.zeros(0), 1.0)
    plain.add([Column(many, ("b", 0)), Column(np.round(few), ("a", 0))])
    assert second.objective <= first.objective
    np.testing.assert_allclose(second.objective, plain.solve().objective, rtol=1e-7)
