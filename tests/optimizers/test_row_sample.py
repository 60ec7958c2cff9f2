"""The size of a sample of rows, and what is near the margin of its solution."""

import numpy as np
import pytest

from cgboost.optimizers.row_sample import sample_of


@pytest.mark.parametrize(("n_rows", "n_columns"), [(10**5, 10), (10**6, 50), (10**6, 1)])
def test_both_problems_are_much_smaller(n_rows: int, n_columns: int) -> None:
    """Rows in order, none twice, and few of all are near."""
    rows, near = sample_of(n_rows, n_columns)
    assert 10 * n_columns < len(rows) < n_rows / 4
    assert np.all(np.diff(rows) > 0)
    assert 0 < near < 0.25


@pytest.mark.parametrize(("n_rows", "n_columns"), [(100, 10), (5000, 1), (5000, 5000), (0, 1)])
def test_few_rows_are_not_sampled(n_rows: int, n_columns: int) -> None:
    """Where a sample would be as large or the problem is small."""
    rows, near = sample_of(n_rows, n_columns)
    assert rows.size == 0
    assert near == 1.0
