"""Symmetric matrices by one triangle."""

import numpy as np
import pytest

from cgboost.generation.packed import PackedMatrix, places

K = np.random.default_rng(0).normal(size=(7, 7))
K = K + K.T


def test_a_packed_matrix_is_the_whole_one() -> None:
    """Products, forms, rows, parts and all entries are those of the matrix."""
    packed, vector = PackedMatrix.of(K), np.random.default_rng(1).normal(size=7)
    assert len(packed.triangle) == 28
    assert len(packed) == 7
    assert packed.shape == (7, 7)
    assert packed @ vector == pytest.approx(K @ vector)
    assert packed.form(vector) == pytest.approx(vector @ K @ vector)
    np.testing.assert_array_equal(np.asarray(packed), K)
    np.testing.assert_array_equal(packed.diagonal(), np.diagonal(K))
    np.testing.assert_array_equal(packed.row(3), K[3])
    rows = np.array([5, 0, 3])
    np.testing.assert_array_equal(packed.part(rows), K[np.ix_(rows, rows)])


def test_sums_of_packed_matrices() -> None:
    """Σ weight·K, without changing a K."""
    total = PackedMatrix.combined(np.array([2.0, -0.5]), [PackedMatrix.of(K), PackedMatrix.of(K)])
    assert np.asarray(total) == pytest.approx(1.5 * K)


def test_places_are_those_of_the_lower_triangle_row_by_row() -> None:
    """K_ij and K_ji stand at one place, and none is left out."""
    lower = np.tril_indices(7)
    np.testing.assert_array_equal(places(*lower), np.arange(28))
    np.testing.assert_array_equal(places(*lower[::-1]), np.arange(28))
    np.testing.assert_array_equal(PackedMatrix.of(K).triangle, K[lower])


def test_what_is_not_copied_and_not_made() -> None:
    """A packed matrix is passed on, and its triangle; vector @ K would make the whole matrix."""
    packed = PackedMatrix.of(K)
    assert PackedMatrix.of(packed) is packed
    triangle = np.arange(28.0)
    assert PackedMatrix(triangle, 7).triangle is triangle
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(7) @ packed  # type: ignore[operator]
