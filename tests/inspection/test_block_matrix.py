"""Pictures of models with blocks: every entry is there, and blocks touch in the corners alone."""

from itertools import pairwise

import numpy as np
import pytest

from cgboost import decompose
from cgboost.inspection import plot_blocks
from cgboost.integer.decomposition import Decomposition
from cgboost.integer.decomposition.blocks import MASTER, structure_of
from solvers import Program

from ..integer.decomposition.test_decomposition import assignment


def test_every_entry_is_drawn_in_its_block_or_above() -> None:
    """Linking rows come first, and no block has a row or a variable of another."""
    model, blocks = assignment(0)
    structure = structure_of(model, blocks)
    [axis] = plot_blocks(structure).axes
    above, below = (np.asarray(own.get_offsets()) for own in axis.collections)
    assert len(above) + len(below) == model.matrix.nnz
    n_linking = len(structure.linking_rows)
    assert above[:, 1].max() == n_linking - 1
    assert below[:, 1].min() == n_linking
    boxes = [np.asarray(line.get_xydata()) for line in axis.lines[1:]]
    assert len(boxes) == structure.n_blocks
    for first, second in pairwise(boxes):
        assert first.max(axis=0).tolist() == second.min(axis=0).tolist()
    dense = np.zeros(model.matrix.shape, dtype=bool)
    points = np.r_[above, below].astype(int)
    dense[points[:, 1], points[:, 0]] = True
    rows = np.argsort(structure.block_of_row, kind="stable")
    last = np.where(structure.block_of_variable == MASTER, 99, structure.block_of_variable)
    expected = model.matrix.toarray()[rows][:, np.argsort(last, kind="stable")] != 0
    np.testing.assert_array_equal(dense, expected)


def test_blocks_that_are_not_decomposed_are_drawn_as_such() -> None:
    """The title says it."""
    program = Program([1, 1, 1], np.eye(3) + 1, 2, 9, 0, 5, None, [1, 0, 1])
    [axis] = plot_blocks(decompose(program, {"r0": None, "r1": 0})).axes
    assert axis.get_title(loc="left").endswith(", not decomposed")
    [axis] = plot_blocks(decompose(*assignment(0))).axes
    assert axis.get_title(loc="left").endswith("of its blocks")


def test_a_model_without_blocks_is_refused() -> None:
    """The error says why there are none."""
    model, _ = assignment(0)
    with pytest.raises(ValueError, match=r"no blocks \(one piece\)"):
        plot_blocks(Decomposition(model, None, "one piece"))
