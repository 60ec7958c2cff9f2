"""Rows that no column tells apart are one row, and nothing is lost by it."""

import numpy as np

from cgboost.generation.columns import Column
from cgboost.losses import Hinge
from cgboost.masters.constrained.constrained_master import ConstrainedMaster


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
