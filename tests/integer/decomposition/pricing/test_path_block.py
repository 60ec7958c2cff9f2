"""Flows from one node to another: shortest paths against HiGHS."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgboost.integer.decomposition.pricing.block_problem import BlockProblem
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock

from .blocks import request
from .networks import block_of, decisions_of, flow

ROWS = ("one",)


@given(
    seed=st.integers(0, 2**32 - 1),
    acyclic=st.booleans(),
    integer=st.booleans(),
    amount=st.sampled_from([1.0, 3.0]),
    unlimited=st.booleans(),
    ends=st.integers(0, 2),
    n_decisions=st.integers(0, 4),
    shift=st.sampled_from([0.0, 1.0]),
)
def test_the_answers_are_those_of_highs(
    seed: int,
    acyclic: bool,
    integer: bool,
    amount: float,
    unlimited: bool,
    ends: int,
    n_decisions: int,
    shift: float,
) -> None:
    """With any costs and bounds of a node, whichever algorithm answers, the least cost is right."""
    own = flow(
        seed,
        acyclic=acyclic,
        amount=amount,
        upper=np.inf if unlimited else amount,
        integer=integer,
        ends=ends,
    )
    assume(PathBlock.fits(own))
    rng = np.random.default_rng(seed)
    cost = rng.normal(size=len(own.variables)) + shift
    asked = request(own, cost, decisions_of(seed, own, n_decisions))
    problem = BlockProblem(own, ROWS)
    assert isinstance(problem.special, PathBlock)
    found = problem.special.solve(asked)
    if found is None:  # the algorithm does not claim to know
        assert not acyclic or amount > 1
        return
    expected = HighsBlock(own, ROWS).solve(asked)
    assert found.bound == pytest.approx(expected.bound, abs=1e-8)
    for z in found.points:
        assert cost @ z == found.bound
        rows = own.matrix @ z
        assert (rows >= own.row_lower).all()
        assert (rows <= own.row_upper).all()
        assert (z >= asked.lower).all()
        assert (z <= asked.upper).all()


def test_a_negative_cycle_is_left_to_highs() -> None:
    """A flow along it is cheaper than every path: HiGHS finds it."""
    matrix = [[1.0, 0, 0], [-1, 1, -1], [0, -1, 1]]  # 0 → 1, and the cycle 1 → 2 → 1
    own = block_of(np.vstack([matrix, np.zeros(3)]), [1, -1, 0, 0], [1, -1, 0, 0])
    assert PathBlock.fits(own)
    for cost, expected in (([1.0, 1, 1], 1.0), ([1.0, -2, 1], 0.0)):
        asked = request(own, np.array(cost))
        assert (PathBlock(own).solve(asked) is None) == (expected == 0.0)
        assert BlockProblem(own, ROWS).solve(asked).bound == pytest.approx(expected)


def test_what_does_not_fit() -> None:
    """Lower bounds, narrow arcs, fractional amounts of integers, and two sources."""
    own = flow(0)
    assert PathBlock.fits(own)
    n = len(own.variables)
    assert not PathBlock.fits(replace(own, lower=np.eye(n)[0]))
    assert not PathBlock.fits(flow(0, amount=2.0, upper=1.0))
    assert not PathBlock.fits(flow(0, amount=1.5, upper=2.0))
    assert PathBlock.fits(flow(0, amount=1.5, upper=2.0, integer=False))
    assert not PathBlock.fits(block_of([[1.0, 0], [0, 1], [-1, -1]], [1, 1, -2], [1, 1, -2]))
    with pytest.raises(ValueError, match="'k' is no network"):
        PathBlock(block_of([[2.0]], 1, 1))
