"""Knapsacks by dynamic programming and in HiGHS, against enumeration."""

from dataclasses import replace

import numpy as np
import pytest

from cgboost.integer.branching.decisions import VariableBound
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock

from .blocks import ROWS, block, least, request


@pytest.mark.parametrize("switch", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_both_solvers_find_the_least_cost(seed: int, switch: bool) -> None:
    """With new costs and bounds each time, both give the least cost, and a point that has it."""
    own = block(seed, switch=switch)
    assert KnapsackBlock.fits(own)
    solvers = [HighsBlock(own, ROWS), KnapsackBlock(own)]
    rng = np.random.default_rng(seed)
    for decisions in ((), (VariableBound("x0", 1.0, block="k"),), (VariableBound("x1", 0, 1),)):
        cost = np.round(rng.normal(size=len(own.variables)), 3)
        expected = least(own, cost, decisions, {})
        for solver in solvers:
            found = solver.solve(request(own, cost, decisions))
            assert found.bound == pytest.approx(expected, abs=1e-8)
            assert cost @ found.points[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("switch", [False, True])
def test_no_row_gets_more_than_is_left(switch: bool) -> None:
    """With what is left of the rows the least cost is that over the points that keep to it."""
    own, rng = block(3, switch=switch), np.random.default_rng(3)
    for left in ([1.0, 0.0, 2.0], [0.5, 3.0, -1.0]):
        cost = np.round(rng.normal(size=len(own.variables)) - 0.5, 3)
        expected = least(
            replace(own, upper=np.r_[np.clip(np.floor(left), 0, own.upper[:3]), own.upper[3:]]),
            cost, (), {},
        )  # fmt: skip
        asked = request(own, cost, left=np.array([*left, 1.0, 1.0]))
        for solver in (HighsBlock(own, ROWS), KnapsackBlock(own)):
            assert solver.solve(asked).bound == pytest.approx(expected)


def test_what_is_no_such_knapsack() -> None:
    """Fractional or two negative weights, two rows and lower bounds do not fit."""
    own = block(0)
    assert KnapsackBlock.fits(own)
    for data in ([[0.5, 1, 1]], [[-1.0, -1, 1]]):
        assert not KnapsackBlock.fits(replace(own, matrix=type(own.matrix)(np.array(data))))
    assert not KnapsackBlock.fits(replace(own, lower=np.array([-1.0, 0, 0])))
    assert not KnapsackBlock.fits(replace(own, integer=np.array([True, False, True])))
