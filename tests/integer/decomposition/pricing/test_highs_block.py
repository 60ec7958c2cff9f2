"""Blocks in HiGHS against enumeration."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost.integer.branching.decisions import Apart, ComponentRow, Together, VariableBound
from cgboost.integer.decomposition.pricing.block import Block, BlockError
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock

from .blocks import ROWS, block, least, request


@pytest.mark.parametrize(
    "decision", [Together("a", "b"), Apart("a", "b"), Together("a", "one"), Apart("one", "b")]
)
def test_pairs_are_respected(decision: Any) -> None:
    """Rows of Ryan and Foster's pairs come and go with the decisions of a node."""
    own = block(1, upper=1.0)
    solver, cost = HighsBlock(own, ROWS), np.array([-1.0, -2.0, -0.5])
    for decisions in ((), (decision,), ()):
        found = solver.solve(request(own, cost, decisions))
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
    found = solver.solve(request(own, cost, duals={row: dual}))
    assert found.bound == pytest.approx(least(own, cost, (), {row: dual}), abs=1e-8)
    without = solver.solve(request(own, cost))
    assert without.bound == pytest.approx(least(own, cost, (), {}), abs=1e-8)


def test_columns_are_not_counted_by_a_row_without_ends() -> None:
    """A block that a row of the master has no range over is refused by name."""
    own = replace(block(2, lower=-np.inf), row_lower=np.array([-np.inf]))
    row = ComponentRow(frozenset([("a", 1.0)]), ">=", 1.0)
    with pytest.raises(BlockError, match="no finite range over block 'k'"):
        HighsBlock(own, ROWS).solve(request(own, -np.ones(3), duals={row: 1.0}))


def test_no_point_and_an_unbounded_block() -> None:
    """Where no point is left the bound is inf; an unbounded block is refused by name."""
    own = block(0)
    bounds = (VariableBound("x0", 2.0), VariableBound("x0", 0.0, 1.0))
    assert HighsBlock(own, ROWS).solve(request(own, np.ones(3), bounds)).bound == np.inf
    free = Block(
        "k", ("x",), np.ones(1), np.zeros(1), np.array([np.inf]), np.array([True]),
        sp.csr_array([[-1.0]]), np.array([-np.inf]), np.array([0.0]), sp.csr_array((5, 1)), 3,
    )  # fmt: skip
    with pytest.raises(BlockError, match="block 'k', with the variables 'x', is unbounded"):
        HighsBlock(free, ROWS).solve(request(free, -np.ones(1)))


@pytest.mark.parametrize(("whole", "used"), [(False, 100.0), (True, 0.0)])
def test_each_request_has_its_own_time(
    whole: bool, used: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS's clock goes on for linear programs, and starts anew for integer ones."""
    own = replace(block(0), integer=np.full(3, whole))
    problem = HighsBlock(own, ROWS)
    monkeypatch.setattr(problem._highs, "getRunTime", lambda: 100.0, raising=False)
    for _ in range(2):
        problem.solve(replace(request(own, -np.ones(3)), seconds=5.0))
        assert problem._highs.getOptionValue("time_limit")[1] == used + 5.0
