"""Matrices of features in every form, and what earlier passes prove of their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost.penalties.elastic_net import ElasticNetEntry
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.scans.candidates import HeldColumns, PricingRequest
from cgboost.pricing.univariate.feature_pricer import (
    FEWEST_REMEMBERED,
    PASSES_OF_LENGTHS,
    FeaturePool,
)
from cgboost.pricing.univariate.matrices import FeatureStorage, matrix_of
from tests.pricing.cases import FORMS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(57, 9)) * np.exp(RNG.normal(size=9))
X[RNG.random(X.shape) < 0.5] = 0.0
X[:, 4] = 7.0


@pytest.fixture(params=list(FORMS))
def matrix(request: pytest.FixtureRequest) -> FeatureStorage:
    """X in one of its forms."""
    return matrix_of(FORMS[request.param](X))


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
    least, most = matrix.extremes
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


N_ROWS, N_FEATURES = 40, 2 * FEWEST_REMEMBERED
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(N_ROWS, N_FEATURES)) * RANDOM.uniform(0.3, 1.0, N_FEATURES)
FEATURES[RANDOM.random(FEATURES.shape) < 0.3] = 0.0
CENTRES, SCALES = RANDOM.normal(size=N_FEATURES), RANDOM.uniform(1.0, 2.0, N_FEATURES)
KINDS: dict[str, Any] = {
    "by rows": FEATURES,
    "by columns": np.asfortranarray(FEATURES),
    "single precision": np.asfortranarray(FEATURES, dtype=np.float32),
    "sparse": sparse.csc_array(FEATURES),
}
RULES = {
    "l1": OneNormEntry(two_sided=True),
    "l1, positive": OneNormEntry(two_sided=False),
    "elastic net": ElasticNetEntry(two_sided=True, threshold=0.8, quadratic=0.2),
}


def request_of(response: np.ndarray, rule: Any, reach: float = 0.0) -> PricingRequest:
    """A request for the 20 best features."""
    return PricingRequest(response, rule, [HeldColumns(np.array([3, 8]))], 20, reach=reach)


def responses(n: int) -> list[np.ndarray]:
    """A sequence that comes to rest where five features price out."""
    scores = (FEATURES - CENTRES) / SCALES
    end = RANDOM.normal(size=N_ROWS)
    end /= np.sort(np.abs(end @ scores))[-5]
    start = RANDOM.normal(size=N_ROWS) / 5.0
    return [end + 0.2**k * start for k in range(n)]


@pytest.mark.parametrize("reach", [0.0, 0.3])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("form", KINDS)
def test_a_search_finds_the_same_with_fewer_scores(form: str, rule: Any, reach: float) -> None:
    """Candidates and the violations of all features are those of a pool without memory."""
    pool = FeaturePool(KINDS[form], centres=CENTRES, scales=SCALES)
    fewest = N_FEATURES
    for response in responses(12):
        request = request_of(response, rule, reach)
        fresh = FeaturePool(KINDS[form], centres=CENTRES, scales=SCALES)
        own, whole = pool.search([0], None, request), fresh.search([0], None, request)
        np.testing.assert_array_equal(own.indices, whole.indices)
        np.testing.assert_allclose(own.scores, whole.scores, atol=1e-12)
        np.testing.assert_allclose(own.max_excess, whole.max_excess, atol=1e-12)
        np.testing.assert_allclose(own.total_excess, whole.total_excess, atol=1e-12)
        fewest = min(fewest, own.n_evaluated)
    assert fewest < 0.1 * N_FEATURES


def test_lengths_wait_until_they_would_have_paid() -> None:
    """All features are scored in the first passes, also where r stays nearly the same.

    What is known of features in other units says nothing of these.
    """
    pool, response = FeaturePool(FEATURES), RANDOM.normal(size=N_ROWS) / 10.0
    near = response + 1e-9 * RANDOM.normal(size=(PASSES_OF_LENGTHS + 1, N_ROWS))
    seen = [pool.search([0], None, request_of(r, RULES["l1"])).n_evaluated for r in near]
    assert seen[:-1] == [N_FEATURES] * PASSES_OF_LENGTHS
    assert seen[-1] < 0.05 * N_FEATURES
    other = pool.rescaled(0.01)
    found = other.search([0], None, request_of(response, RULES["l1"]))
    assert found.n_evaluated == N_FEATURES
    assert found.max_excess > 0


@pytest.mark.parametrize("factor", [1.0, 0.3, 1.07])
def test_a_multiple_of_the_last_response_is_not_scored_again(factor: float) -> None:
    """Its scores are those of the last pass times the factor, and no violation is smaller."""
    pool, response = FeaturePool(FEATURES[:, :50]), RANDOM.normal(size=N_ROWS) / 10.0
    pool.search([0], None, request_of(response, RULES["l1"]))
    request = request_of(factor * response, RULES["l1"])
    known, whole = (
        pool.search([0], None, request),
        FeaturePool(FEATURES[:, :50]).search([0], None, request),
    )
    assert (known.n_evaluated, whole.n_evaluated) == (0, 50)
    np.testing.assert_array_equal(known.indices, whole.indices)
    np.testing.assert_allclose(known.scores, whole.scores, rtol=1e-12)
    np.testing.assert_allclose(known.max_excess, whole.max_excess, atol=1e-12)
