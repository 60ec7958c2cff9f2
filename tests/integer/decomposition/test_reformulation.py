"""What a model is made into: groups of equal blocks, columns of the master, and rules."""

import numpy as np
import pytest

from cgboost.integer import ComponentBranching, RyanFoster, VariableBranching
from cgboost.integer.decomposition.blocks import Structure, structure_of
from cgboost.integer.decomposition.model import as_model
from cgboost.integer.decomposition.reformulation import reformulated
from solvers import Program

from .cases import model_of


def structure(seed: int, kinds: str) -> Structure:
    """The blocks of such a model."""
    return structure_of(*model_of(seed, kinds))


def test_equal_blocks_are_one_unless_their_columns_could_not_be_parted() -> None:
    """Vanderbeck's rows count columns of whole values; else every block is on its own."""
    whole, quarters = reformulated(structure(0, "sss")), reformulated(structure(0, "qqq"))
    assert whole.groups == [(0, 1, 2)]
    assert any(isinstance(rule, ComponentBranching) for rule in whole.branching)
    assert quarters.groups == [(0,), (1,), (2,)]
    assert not any(isinstance(rule, ComponentBranching) for rule in quarters.branching)


def test_variables_in_no_block_begin_at_a_bound() -> None:
    """A whole one at a whole number, one with an upper bound alone at this, a free one at 0."""
    made = reformulated(structure(0, "nn"))
    np.testing.assert_array_equal(made.base[-3:], [-2.0, 1.5, 0.0])
    steps = [next(iter(column.variables.items())) for column in made.master.columns]
    assert steps == [("x4", 1.0), ("x5", -1.0), ("x6", 1.0), ("x6", -1.0)]
    assert [column.upper for column in made.master.columns] == [5.0, np.inf, np.inf, np.inf]
    assert made.constant == 9.0 * -2 - 5.0 * 1.5


def test_signed_variables_are_named_to_the_branching_rule() -> None:
    """Those of blocks that may be negative, and those of the master."""
    (rule,) = (
        rule
        for rule in reformulated(structure(0, "ns")).branching
        if isinstance(rule, VariableBranching)
    )
    assert rule.signed == {"x2", "x3", "x4", "x5", "x6"}


def covering(sense: str, own: float = 0.0, *, whole: bool = True) -> Structure:
    """Two equal blocks of three 0/1 variables, three rows of ones, a variable in no block."""
    eye = np.eye(3)
    matrix = np.zeros((5, 7))
    matrix[:3] = np.hstack([eye, eye, np.array([[own], [0], [0]])])
    matrix[3, :3] = matrix[4, 3:6] = [2, 3, 4]
    low = np.r_[np.ones(3), np.full(2, -np.inf)]
    high = np.r_[np.ones(3) if sense == "==" else np.full(3, np.inf), np.full(2, 6.0)]
    program = Program(np.ones(7), matrix, low, high, 0, 1, None, np.r_[np.ones(6), float(whole)])
    return structure_of(as_model(program), {"r3": 0, "r4": 1})


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        (covering("=="), True),
        (covering(">="), True),
        (covering("==", 1.0), True),
        (covering("==", 2.0), False),
        (covering("==", 1.0, whole=False), False),
    ],
    ids=["partition", "cover", "a column more", "not 0 or 1", "a continuous column"],
)
def test_pairs_are_taken_where_every_column_is_whole(given: Structure, pairs: bool) -> None:
    """Ryan and Foster's rule needs rows of 0/1 columns; of covers, if less of one is a column."""
    rules = [rule for rule in reformulated(given).branching if isinstance(rule, RyanFoster)]
    assert bool(rules) is pairs
