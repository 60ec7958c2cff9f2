"""`solvers.program.growing`: growing equals building from scratch."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import Program
from solvers.program.growing import (
    DenseMatrix,
    GrowingProgram,
    SparseMatrix,
    check_columns,
    growing_matrix,
)
from tests.effort import examples


def dense(matrix):
    """The matrix as an array."""
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans(), st.booleans()), max_size=12
    ),
    starts_sparse=st.booleans(),
)
def test_any_growth_equals_stacking(seed, moves, starts_sparse):
    """Whatever mixture of dense, sparse, zero and empty blocks arrives, nothing is lost."""
    rng = np.random.default_rng(seed)
    expected = rng.normal(size=(2, 3))
    growing = growing_matrix(sp.csr_array(expected) if starts_sparse else expected)
    earlier = []
    for axis, k, is_sparse, is_zero in moves:
        shape = (k, expected.shape[1]) if axis == 0 else (expected.shape[0], k)
        block = np.zeros(shape) if is_zero else rng.normal(size=shape)
        earlier.append((growing.snapshot(), expected))
        growing = growing.grown(sp.csr_array(block) if is_sparse else block, axis)
        expected = np.concatenate([expected, block], axis=axis)
    np.testing.assert_array_equal(dense(growing.whole()), expected)
    for snapshot, was in earlier:
        np.testing.assert_array_equal(dense(snapshot()), was)


def test_the_form_of_a_growing_matrix():
    """Dense stays so beside empty sparse blocks; sparse without entries takes that of its rows.

    The first growth copies the caller's matrix, and what a session hands out is read-only.
    """
    matrix = growing_matrix(np.ones((1, 4)))
    matrix = matrix.grown(sp.csr_array((1, 2)), axis=1).grown(np.ones((3, 6)), axis=0)
    assert isinstance(matrix, DenseMatrix)
    assert isinstance(matrix.grown(sp.csr_array(np.ones((4, 1))), axis=1), SparseMatrix)
    empty = growing_matrix(sp.csr_array((0, 4)))
    assert isinstance(empty.grown(np.ones((2, 4)), axis=0), DenseMatrix)
    mine = np.zeros((4, 4))[:2, :2]
    view = growing_matrix(mine).grown(np.ones((2, 2)), axis=0).whole()
    assert not mine.base.any()
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 5.0


@pytest.mark.parametrize("form", [None, "diagonal", "dense", "sparse"])
@pytest.mark.parametrize("added", [None, [3.0, 4.0]])
def test_the_quadratic_part_grows_in_its_own_form(form, added):
    """New columns extend the diagonal of P, whichever way P is stored; removal cuts it."""
    whole = np.array([[2.0, 1.0], [1.0, 2.0]])
    forms = {None: None, "diagonal": [2.0, 2.0], "dense": whole, "sparse": sp.csc_array(whole)}
    growing = GrowingProgram(Program([1.0, 1.0], quadratic=forms[form]))
    growing.add_columns(check_columns(0, [0.0, 0.0], np.zeros((0, 2)), 0.0, 1.0, added))
    growing.remove_columns(np.array([0]))
    corner = {None: 0.0}.get(form, 2.0)
    expected = np.diag([corner, *(added or [0.0, 0.0])])
    found = growing.quadratic
    if found is None:
        assert not expected.any()
    else:
        np.testing.assert_array_equal(np.diag(found) if found.ndim == 1 else dense(found), expected)
        assert sp.issparse(found) == (form == "sparse")
