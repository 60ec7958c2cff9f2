"""Matrices of features in every form: the same sums, columns, extremes and moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost.pricing.features.features import FeaturePool
from cgboost.pricing.features.matrices import BlockMatrix, FeatureStorage, matrix_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(57, 9)) * np.exp(RNG.normal(size=9))
X[RNG.random(X.shape) < 0.5] = 0.0
X[:, 4] = 7.0


class Blocks:
    """Rows of X, ten at a time."""

    def __iter__(self) -> Iterator[tuple[slice, Any]]:
        for start in range(0, len(X), 10):
            rows = slice(start, min(start + 10, len(X)))
            yield rows, X[rows]


FORMS: dict[str, Any] = {
    "dense": matrix_of(X),
    "by columns": matrix_of(np.asfortranarray(X)),
    "csr": matrix_of(sparse.csr_array(X)),
    "csc": matrix_of(sparse.csc_matrix(X)),
    "blocks": BlockMatrix(Blocks(), X.shape),
}


@pytest.fixture(params=list(FORMS))
def matrix(request: pytest.FixtureRequest) -> FeatureStorage:
    """X in one of its forms."""
    form: FeatureStorage = FORMS[request.param]
    return form


def test_every_form_is_the_same_matrix(matrix: FeatureStorage) -> None:
    """Products, lengths, columns and extremes are those of the dense array."""
    r, rows = RNG.normal(size=len(X)), np.array([3, 50, 7])
    np.testing.assert_allclose(matrix.product(r), X.T @ r, atol=1e-12)
    some, centres = np.array([1, 4, 8]), np.arange(9.0)
    np.testing.assert_allclose(matrix.product(r, some), X[:, some].T @ r, atol=1e-12)
    for moved in (centres, np.zeros(9)):
        np.testing.assert_allclose(matrix.lengths(moved), np.linalg.norm(X - moved, axis=0))
    np.testing.assert_array_equal(matrix.columns([5, 1]), X[:, [5, 1]])
    np.testing.assert_array_equal(matrix.columns([5, 1], rows), X[rows][:, [5, 1]])
    least, most = matrix.extremes()
    np.testing.assert_array_equal(least, X.min(axis=0))
    np.testing.assert_array_equal(most, X.max(axis=0))


def test_moments_are_weighted_and_constants_have_none(matrix: FeatureStorage) -> None:
    """Mean and standard deviation count rows by their weights; of a constant feature it is 0."""
    for seed in range(20):  # in some of them the shares of all rows add up to less than 1
        weights = np.random.default_rng(seed).uniform(size=len(X))
        means, deviations = matrix.moments(weights)
        shares = weights / weights.sum()
        np.testing.assert_allclose(means, shares @ X, atol=1e-12)
        variances = shares @ (X - shares @ X) ** 2
        np.testing.assert_allclose(deviations[:4], np.sqrt(variances[:4]), rtol=1e-10)
        assert deviations[4] == 0.0


def test_rounding_of_scores_is_bounded_and_scales_can_change(matrix: FeatureStorage) -> None:
    """Scores are those of the columns up to what is said; scales go up as scores go down."""
    means, deviations = matrix.moments(np.ones(len(X)))
    pool = FeaturePool(matrix, centres=means, scales=np.where(deviations > 0, deviations, 1.0))
    r = RNG.normal(size=len(X))
    own = np.array([column.values @ r for column in pool.columns([0] * 9, range(9))])
    assert np.all(np.abs(pool.scores(0, None, r) - own) <= pool.errors(None, r))
    np.testing.assert_allclose(pool.rescaled(2.0).scores(0, None, r), 0.5 * own, atol=1e-12)
    single = X.astype(np.float32)  # added up in double
    expected = single.astype(np.float64).T @ r
    np.testing.assert_allclose(matrix_of(single).product(r), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("H", "words"),
    [(np.ones(3), "two-dimensional"), (np.array([[1.0, np.nan]]), "finite, but feature 1")],
)
def test_bad_matrices_are_refused(H: np.ndarray, words: str) -> None:
    """X must be two-dimensional and finite; the error names the shape or the feature."""
    with pytest.raises(ValueError, match=words):
        FeaturePool(H)
