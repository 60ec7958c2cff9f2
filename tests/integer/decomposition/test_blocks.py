"""Blocks of a model."""

import numpy as np
import pytest

from cgboost.integer.decomposition.blocks import MASTER, structure_of
from cgboost.integer.decomposition.model import Model
from cgboost.integer.decomposition.structure_files import StructureError, StructureFile
from solvers import Program

ROWS = ("link", "a", "b", "c")
NAMES = ("x1", "x2", "y1", "y2", "z1", "z2", "free")


def model(third: float = 2.0) -> Model:
    """Three knapsacks, of which the last may be another, and one linking row."""
    matrix = np.zeros((4, 7))
    matrix[0] = 1
    matrix[1, :2] = matrix[2, 2:4] = [2, 3]
    matrix[3, 4:6] = [third, 3]
    program = Program(
        np.ones(7), matrix, [4, -np.inf, -np.inf, -np.inf], [4, 5, 5, 5], 0, 3, None, np.ones(7)
    )
    return Model(program, ROWS, NAMES)


def test_rows_give_variables_their_block() -> None:
    """Rows without a block are linking rows, variables in linking rows alone are in no block."""
    structure = structure_of(model(), {"a": "A", "b": "B", "c": "C"})
    assert structure.block_of_row.tolist() == [MASTER, 0, 1, 2]
    assert structure.block_of_variable.tolist() == [0, 0, 1, 1, 2, 2, MASTER]
    assert structure.linking_rows.tolist() == [0]
    assert structure.master_variables.tolist() == [6]


def test_variables_give_rows_their_block() -> None:
    """A row is in the block of all its variables."""
    given = StructureFile(variables={"x1": 1, "x2": 1, "y1": 2, "y2": 2})
    structure = structure_of(model(), given)
    assert structure.block_of_row.tolist() == [MASTER, 0, 1, MASTER]


@pytest.mark.parametrize(("third", "groups"), [(2.0, [(0, 1, 2)]), (2.5, [(0, 1), (2,)])])
def test_equal_blocks_are_found(third: float, groups: list[tuple[int, ...]]) -> None:
    """Blocks are in one group if and only if all their data are equal."""
    structure = structure_of(model(third), {"a": 1, "b": 2, "c": 3})
    assert structure.groups() == groups


def test_a_linking_variable_is_named() -> None:
    """A variable with rows in two blocks is refused, with both rows."""
    with pytest.raises(StructureError, match=r"'x1' is in two blocks.*'(link|a)'.*'(link|a)'"):
        structure_of(model(), {"a": 1, "link": 2})


def test_an_unknown_row_is_named() -> None:
    """A row that the model lacks is refused."""
    with pytest.raises(StructureError, match="no row 'd'"):
        structure_of(model(), {"d": 1})
