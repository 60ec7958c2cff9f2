"""Assignments in bipartite graphs against HiGHS."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgboost.integer.branching.decisions import VariableBound
from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock

from .blocks import request
from .networks import assignment, block_of, decisions_of


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 5),
    m=st.integers(1, 5),
    integer=st.booleans(),
    n_decisions=st.integers(0, 4),
)
def test_the_answers_are_those_of_highs(
    seed: int, n: int, m: int, integer: bool, n_decisions: int
) -> None:
    """With any costs and bounds of a node the least cost is right, and a point has it."""
    own = assignment(seed, n=n, m=m, integer=integer)
    assume(AssignmentBlock.fits(own))
    cost = np.random.default_rng(seed).normal(size=len(own.variables))
    asked = request(own, cost, decisions_of(seed, own, n_decisions))
    found = AssignmentBlock(own).solve(asked)
    assert found is not None
    assert found.bound == pytest.approx(HighsBlock(own, ("one",)).solve(asked).bound, abs=1e-8)
    for z in found.points:
        assert cost @ z == found.bound
        rows = own.matrix @ z
        assert (rows >= own.row_lower).all()
        assert (rows <= own.row_upper).all()
        assert (z >= asked.lower).all()
        assert (z <= asked.upper).all()


def square(n: int = 2) -> np.ndarray:
    """The rows of a square assignment."""
    return np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])


def test_bounds_that_nothing_meets() -> None:
    """Two variables of one row, and amounts of 2, leave no point."""
    own = block_of(square(), 1.0, 1.0, upper=np.inf)
    for decisions in (
        (VariableBound("x0", 1.0), VariableBound("x1", 1.0)),
        (VariableBound("x0", 2.0),),
        (VariableBound("x0", 1.0), VariableBound("x3", upper=0.0)),
    ):
        found = AssignmentBlock(own).solve(request(own, np.ones(4), decisions))
        assert found is not None
        assert found.bound == np.inf


def test_fractional_bounds_of_continuous_variables_are_left_to_highs() -> None:
    """A bound of 0.5 has fractional vertices."""
    own = block_of(square(), 1.0, 1.0, integer=False)
    for decision in (VariableBound("x0", 0.5), VariableBound("x0", upper=0.5)):
        assert AssignmentBlock(own).solve(request(own, np.ones(4), (decision,))) is None


@pytest.mark.parametrize(
    ("matrix", "low", "high"),
    [
        (2 * square(), 1, 1),
        (square(), 0.5, 1),
        (square(), 1, np.inf),
        (square(), 2, 2),
        ([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]], 1, 1),
        ([[1.0, -1]], 1, 1),
        (np.hstack([square(), np.zeros((4, 1))]), 1, 1),
    ],
    ids=["twos", "a half", "at least", "two", "odd cycle", "signs", "a variable alone"],
)
def test_what_is_no_assignment(matrix: np.ndarray, low: float, high: float) -> None:
    """Other coefficients and sides, and rows that fall into no two classes."""
    assert not AssignmentBlock.fits(block_of(matrix, low, high))
    with pytest.raises(ValueError, match="'k' is no assignment"):
        AssignmentBlock(block_of(matrix, low, high))


def test_bounds_that_do_not_fit() -> None:
    """Variables with a lower bound or half of an upper one are left to HiGHS."""
    own = block_of(square(), 1.0, 1.0)
    assert AssignmentBlock.fits(own)
    assert not AssignmentBlock.fits(replace(own, lower=np.full(4, 1.0)))
    assert not AssignmentBlock.fits(replace(own, upper=np.full(4, 0.5)))
