"""Kernels of sets and of rows of zeros and ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost import Jaccard, KernelLibrary, Tanimoto
from cgboost.exceptions import KernelError
from cgboost.kernels import kernel_values
from cgboost.pricing import KernelPool

SETS = st.lists(st.frozensets(st.integers(0, 6)), min_size=1, max_size=6)


def column(sets: Any) -> np.ndarray:
    """Sets as an array of objects."""
    objects = np.empty(len(sets), dtype=object)
    objects[:] = sets
    return objects


def indicators(sets: Any) -> np.ndarray:
    """Sets as rows of zeros and ones."""
    return np.array([[float(j in own) for j in range(7)] for own in sets])


@given(SETS, SETS)
def test_values_are_shares_of_common_elements(rows: list, centres: list) -> None:
    """|a ∩ b| / |a ∪ b|, for sets, for lists of elements and for rows of zeros and ones."""
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in centres] for a in rows]
    np.testing.assert_allclose(Jaccard()(column(rows), column(centres)), expected)
    listed = Jaccard()(column(list(map(list, rows))), column(list(map(sorted, centres))))
    np.testing.assert_allclose(listed, expected)
    for kernel in (Jaccard(), Tanimoto()):
        np.testing.assert_allclose(kernel(indicators(rows), indicators(centres)), expected)
    np.testing.assert_array_equal(Jaccard().diagonal(column(rows)), 1.0)


@given(st.lists(st.frozensets(st.integers(0, 6)), min_size=2, max_size=8, unique=True))
def test_values_are_positive_semidefinite(sets: list) -> None:
    """No eigenvalue of the matrix of different sets is negative."""
    values = Jaccard()(column(sets), column(sets))
    assert np.linalg.eigvalsh(values).min() > -1e-12


def test_other_things_than_sets_are_named() -> None:
    """Words and numbers are no sets; a matrix has zeros and ones or is for Tanimoto."""
    for wrong in ("word", 3):
        with pytest.raises(KernelError, match="Jaccard takes sets, got"):
            kernel_values("own", Jaccard(), column([{1}, wrong]), column([{1}]))
    with pytest.raises(KernelError, match=r"zeros and ones, got .*0.5.*Tanimoto"):
        kernel_values("own", Jaccard(), np.array([[0.5]]), np.array([[1.0]]))


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1e-6), (np.float64, 1e-13)])
def test_scores_have_the_digits_of_the_rows(dtype: type, off: float) -> None:
    """Values are ratios of whole numbers; scores are exact up to the precision of the rows."""
    X = (np.random.default_rng(0).random((20, 9)) < 0.4).astype(dtype)
    response = np.random.default_rng(1).normal(size=20)
    for kernel in (Jaccard(), Tanimoto()):
        pool = KernelPool(KernelLibrary({"sets": kernel}), X)
        expected = kernel(X.astype(float), X.astype(float)) @ response
        np.testing.assert_allclose(pool.scores(0, None, response), expected, atol=off)
