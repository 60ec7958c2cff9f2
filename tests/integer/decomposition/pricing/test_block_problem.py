"""Which algorithm solves a block, and when HiGHS is asked in its place."""

from typing import Any

import numpy as np
import pytest

from cgboost.integer.branching.decisions import Apart, ComponentRow, Together, VariableBound
from cgboost.integer.decomposition.pricing.block import BlockRequest
from cgboost.integer.decomposition.pricing.block_problem import BlockProblem
from cgboost.integer.decomposition.pricing.knapsack_block import KnapsackBlock

from .blocks import ROWS, block, least, request

COST = np.array([-1.0, -2.0, -0.5])


@pytest.mark.parametrize(
    ("decisions", "duals"),
    [
        ((Together("a", "b"),), {}),
        ((Apart("a", "b"), VariableBound("x0", 1.0)), {}),
        ((), {ComponentRow(frozenset([("a", 1.0)]), ">=", 1.0): 0.7}),
    ],
    ids=["together", "apart", "counted"],
)
def test_other_decisions_are_left_to_highs(decisions: Any, duals: Any) -> None:
    """Pairs and counted columns are respected although the block is a knapsack."""
    own = block(1, upper=1.0)
    problem = BlockProblem(own, ROWS)
    assert isinstance(problem.special, KnapsackBlock)
    for asked, extra in (((), {}), (decisions, duals), ((), {})):
        found = problem.solve(request(own, COST, asked, extra))
        assert found.bound == pytest.approx(least(own, COST, asked, extra), abs=1e-8)


def test_an_algorithm_may_leave_a_problem_to_highs() -> None:
    """Where it gives no answer HiGHS does, and where bounds are crossed nobody is asked."""
    own = block(1)
    problem = BlockProblem(own, ROWS)

    class Silent:
        calls = 0

        def solve(self, request: BlockRequest) -> None:
            self.calls += 1

    problem.special = silent = Silent()  # type: ignore[assignment]
    assert problem.solve(request(own, COST)).bound == pytest.approx(least(own, COST, (), {}))
    crossed = (VariableBound("x0", 2.0), VariableBound("x0", 0.0, 1.0))
    assert problem.solve(request(own, COST, crossed)).bound == np.inf
    assert silent.calls == 1
