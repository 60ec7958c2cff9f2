"""Pricing problems of blocks: HiGHS and dynamic programming against enumeration."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost.integer.decisions import Apart, ComponentRow, Together, VariableBound
from cgboost.integer.decomposition.pricing import Block, BlockError, HighsBlock, KnapsackBlock

ROWS = ("a", "b", "c", "one", "other")
"""The last two are the convexity rows of this block and of another one."""


def block(seed: int, *, switch: bool = False, lower: float = 0.0, upper: float = 2.0) -> Block:
    """A knapsack of three items, with a variable that opens its capacity or without.

    Where amounts may be negative it has two sides.
    """
    rng = np.random.default_rng(seed)
    n = 3 + switch
    weights = rng.integers(1, 5, n).astype(float)
    right = 6.0
    ends = np.full(n, upper)
    linking = sp.lil_array((5, n))
    linking[[0, 1, 2], [0, 1, 2]] = 1
    if switch:
        weights[3], right, ends[3] = -6, 0.0, 1
    return Block(
        "k", tuple(f"x{j}" for j in range(n)), np.ones(n), np.full(n, lower), ends,
        np.ones(n, dtype=bool), sp.csr_array(weights[None]), np.array([-5.0 if lower else -np.inf]),
        np.array([right]), sp.csr_array(linking), 3,
    )  # fmt: skip


def least(own: Block, cost: Any, decisions: Any, duals: Any) -> float:
    """The least cost over all points, one after another."""
    rows, best = {name: k for k, name in enumerate(ROWS)}, np.inf
    low = np.maximum(own.lower, -20)
    for point in product(*(range(int(a), int(b) + 1) for a, b in zip(low, own.upper, strict=True))):
        z = np.array(point, dtype=float)
        column = own.column(z)
        if (own.matrix @ z > own.row_upper).any() or (own.matrix @ z < own.row_lower).any():
            continue
        if any(not each.allows(column, rows) for each in decisions):
            continue
        earned = sum(dual * row.coefficient(column, rows) for row, dual in duals.items())
        best = min(best, float(cost @ z) - earned)
    return best


@pytest.mark.parametrize("switch", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_both_solvers_find_the_least_cost(seed: int, switch: bool) -> None:
    """With new costs and bounds each time, both give the least cost, and a point that has it."""
    own = block(seed, switch=switch)
    assert KnapsackBlock.fits(own)
    solvers = [HighsBlock(own, ROWS), KnapsackBlock(own, ROWS)]
    rng = np.random.default_rng(seed)
    for decisions in ((), (VariableBound("x0", 1.0, block="k"),), (VariableBound("x1", 0, 1),)):
        cost = np.round(rng.normal(size=len(own.variables)), 3)
        expected = least(own, cost, decisions, {})
        for solver in solvers:
            found = solver.solve(cost, own.bounds(decisions), decisions, {}, None)
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
        ends = own.bounds((), np.array([*left, 1.0, 1.0]))
        for solver in (HighsBlock(own, ROWS), KnapsackBlock(own, ROWS)):
            assert solver.solve(cost, ends, (), {}, None).bound == pytest.approx(expected)


@pytest.mark.parametrize(
    "decision", [Together("a", "b"), Apart("a", "b"), Together("a", "one"), Apart("one", "b")]
)
def test_pairs_are_respected(decision: Any) -> None:
    """Rows of Ryan and Foster's pairs come and go with the decisions of a node."""
    own = block(1, upper=1.0)
    solver, cost = KnapsackBlock(own, ROWS), np.array([-1.0, -2.0, -0.5])
    for decisions in ((), (decision,), ()):
        found = solver.solve(cost, own.bounds(decisions), decisions, {}, None)
        assert found.bound == pytest.approx(least(own, cost, decisions, {}), abs=1e-8)


@pytest.mark.parametrize("dual", [1.5, -1.5])
@pytest.mark.parametrize("lower", [0.0, -1.0, -np.inf])
@pytest.mark.parametrize(
    "conditions",
    [
        {("a", 1.0)},
        {("a", 1.0), ("b", 2.0)},
        {("a", -1.0), ("c", 0.0)},
        {("one", 1.0), ("b", 1.0)},
        {("other", 1.0)},
    ],
    ids=["one row", "two rows", "negative", "the convexity row", "that of another block"],
)
def test_counted_columns_earn_their_dual(conditions: Any, lower: float, dual: float) -> None:
    """A column earns the dual of Vanderbeck's rows exactly if it meets all conditions."""
    own, row = block(2, lower=lower), ComponentRow(frozenset(conditions), ">=", 1.0)
    solver, cost = HighsBlock(own, ROWS), np.array([-0.3, -0.4, -0.2])
    found = solver.solve(cost, own.bounds(()), (), {row: dual}, None)
    assert found.bound == pytest.approx(least(own, cost, (), {row: dual}), abs=1e-8)
    without = solver.solve(cost, own.bounds(()), (), {}, None)
    assert without.bound == pytest.approx(least(own, cost, (), {}), abs=1e-8)


def test_columns_are_not_counted_by_a_row_without_ends() -> None:
    """A block that a row of the master has no range over is refused by name."""
    own = replace(block(2, lower=-np.inf), row_lower=np.array([-np.inf]))
    row = ComponentRow(frozenset([("a", 1.0)]), ">=", 1.0)
    with pytest.raises(BlockError, match="no finite range over block 'k'"):
        HighsBlock(own, ROWS).solve(-np.ones(3), own.bounds(()), (), {row: 1.0}, None)


def test_no_point_and_an_unbounded_block() -> None:
    """Where no point is left the bound is inf; an unbounded block is refused by name."""
    own = block(0)
    bounds = (VariableBound("x0", 2.0), VariableBound("x0", 0.0, 1.0))
    ends = own.bounds(bounds)
    assert HighsBlock(own, ROWS).solve(np.ones(3), ends, bounds, {}, None).bound == np.inf
    free = Block(
        "k", ("x",), np.ones(1), np.zeros(1), np.array([np.inf]), np.array([True]),
        sp.csr_array([[-1.0]]), np.array([-np.inf]), np.array([0.0]), sp.csr_array((5, 1)), 3,
    )  # fmt: skip
    assert not KnapsackBlock.fits(free)
    with pytest.raises(BlockError, match="block 'k' is unbounded"):
        HighsBlock(free, ROWS).solve(-np.ones(1), free.bounds(()), (), {}, None)
