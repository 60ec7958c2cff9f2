"""The data of a block."""

import numpy as np

from cgboost.integer.branching.decisions import (
    Apart,
    ComponentRow,
    CountRow,
    Together,
    VariableBound,
)
from cgboost.integer.decomposition.pricing.block import BlockRequest

from .blocks import block


def test_the_column_of_a_point() -> None:
    """It has the values of the linking rows, 1 in the convexity row, and names what is not 0."""
    column = block(0).column(np.array([2.0, 0.0, 1.0 + 1e-9]))
    assert column.values.tolist() == [2, 0, 1, 1, 0]
    assert column.variables == {"x0": 2.0, "x2": 1.0}
    assert (column.cost, column.block, column.integer) == (3.0, "k", True)


def test_bounds_of_decisions() -> None:
    """Those of the block and of all blocks count, those of others do not."""
    decisions = (
        VariableBound("x0", 1.0, block="k"),
        VariableBound("x1", upper=1.0),
        VariableBound("x2", upper=0.0, block="other"),
        VariableBound("y", upper=0.0),
    )
    lower, upper = block(0).bounds(decisions)
    assert lower.tolist() == [1, 0, 0]
    assert upper.tolist() == [2, 1, 2]


def test_what_bounds_do_not_say() -> None:
    """Pairs and counted columns ask for more than bounds; bounds and counts of a block do not."""
    point = np.zeros(1), np.zeros(1), np.ones(1)
    component = ComponentRow(frozenset([("a", 1.0)]), ">=", 1.0)
    assert BlockRequest(*point, (VariableBound("x"),), {CountRow("<=", 1.0): 2.0}).only_bounds
    for pair in (Together("a", "b"), Apart("a", "b")):
        assert not BlockRequest(*point, (pair,)).only_bounds
    assert not BlockRequest(*point, (), {component: 1.0}).only_bounds
