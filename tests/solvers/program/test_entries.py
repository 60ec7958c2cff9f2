"""`solvers.program.growing`: single entries of a matrix that grows."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.program.growing import ColumnEntries
from tests.effort import examples


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(st.sampled_from(["columns", "rows", "drop columns"]), max_size=8),
    is_sparse=st.booleans(),
)
def test_entries_of_a_growing_matrix(seed, moves, is_sparse):
    """Counts, and the rows of single entries, are those of the whole matrix."""
    rng = np.random.default_rng(seed)

    def block(m, n):
        dense = rng.integers(1, 3, size=(m, n)) * (rng.random((m, n)) < 0.3)
        return sp.csr_array(dense) if is_sparse else dense

    matrix = block(rng.integers(0, 3), rng.integers(0, 4))
    entries = ColumnEntries.of(matrix)
    stack = (sp.hstack, sp.vstack) if is_sparse else (np.hstack, np.vstack)
    for move in moves:
        m, n = matrix.shape
        if move == "columns":
            new = block(m, 2)
            matrix, entries = stack[0]([matrix, new]), entries.with_columns(new)
        elif move == "rows":
            new = block(2, n)
            matrix, entries = stack[1]([matrix, new]), entries.with_rows(new)
        elif n:
            gone = rng.permutation(n)[:1]
            kept = np.delete(np.arange(n), gone)
            matrix, entries = sp.csr_array(matrix)[:, kept], entries.without_columns(gone)
            matrix = matrix if is_sparse else matrix.toarray()
    dense = matrix.toarray() if is_sparse else matrix
    np.testing.assert_array_equal(entries.count, (dense != 0).sum(axis=0))
    single = np.flatnonzero(entries.count == 1)
    assert np.all(dense[entries.row[single], single] != 0)
    assert entries.n_rows == dense.shape[0]
