"""Features that earlier passes prove not to price out are not scored, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost.penalties.elastic_net import ElasticNetEntry
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.features.earlier_scores import (
    FEWEST_REMEMBERED,
    PASSES_OF_LENGTHS,
)
from cgboost.pricing.features.features import FeaturePool
from cgboost.pricing.scans.candidates import Held, PricingRequest

N_ROWS, N_FEATURES = 40, 2 * FEWEST_REMEMBERED
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES)) * RNG.uniform(0.3, 1.0, N_FEATURES)
X[RNG.random(X.shape) < 0.3] = 0.0
CENTRES, SCALES = RNG.normal(size=N_FEATURES), RNG.uniform(1.0, 2.0, N_FEATURES)
FORMS: dict[str, Any] = {
    "by rows": X,
    "by columns": np.asfortranarray(X),
    "single precision": np.asfortranarray(X, dtype=np.float32),
    "sparse": sparse.csc_array(X),
}
RULES = {
    "l1": OneNormEntry(two_sided=True),
    "l1, positive": OneNormEntry(two_sided=False),
    "elastic net": ElasticNetEntry(two_sided=True, threshold=0.8, quadratic=0.2),
}


def request_of(response: np.ndarray, rule: Any, reach: float = 0.0) -> PricingRequest:
    """A request for the 20 best features."""
    return PricingRequest(response, rule, [Held(np.array([3, 8]))], 20, reach=reach)


def responses(n: int) -> list[np.ndarray]:
    """A sequence that comes to rest where five features price out."""
    scores = (X - CENTRES) / SCALES
    end = RNG.normal(size=N_ROWS)
    end /= np.sort(np.abs(end @ scores))[-5]
    start = RNG.normal(size=N_ROWS) / 5.0
    return [end + 0.2**k * start for k in range(n)]


@pytest.mark.parametrize("reach", [0.0, 0.3])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("form", FORMS)
def test_a_search_finds_the_same_with_fewer_scores(form: str, rule: Any, reach: float) -> None:
    """Candidates and the violations of all features are those of a pool without memory."""
    pool = FeaturePool(FORMS[form], centres=CENTRES, scales=SCALES)
    fewest = N_FEATURES
    for response in responses(12):
        request = request_of(response, rule, reach)
        fresh = FeaturePool(FORMS[form], centres=CENTRES, scales=SCALES)
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
    pool, response = FeaturePool(X), RNG.normal(size=N_ROWS) / 10.0
    near = response + 1e-9 * RNG.normal(size=(PASSES_OF_LENGTHS + 1, N_ROWS))
    seen = [pool.search([0], None, request_of(r, RULES["l1"])).n_evaluated for r in near]
    assert seen[:-1] == [N_FEATURES] * PASSES_OF_LENGTHS
    assert seen[-1] < 0.05 * N_FEATURES
    pool, response = FeaturePool(X), RNG.normal(size=N_ROWS) / 10.0
    for near in response + 1e-9 * RNG.normal(size=(PASSES_OF_LENGTHS + 1, N_ROWS)):
        pool.search([0], None, request_of(near, RULES["l1"]))
    other = pool.rescaled(0.01)
    found = other.search([0], None, request_of(response, RULES["l1"]))
    assert found.n_evaluated == N_FEATURES
    assert found.max_excess > 0


@pytest.mark.parametrize("factor", [1.0, 0.3, 1.07])
def test_a_multiple_of_the_last_response_is_not_scored_again(factor: float) -> None:
    """Its scores are those of the last pass times the factor, and no violation is smaller."""
    pool, response = FeaturePool(X[:, :50]), RNG.normal(size=N_ROWS) / 10.0
    pool.search([0], None, request_of(response, RULES["l1"]))
    request = request_of(factor * response, RULES["l1"])
    known, whole = (
        pool.search([0], None, request),
        FeaturePool(X[:, :50]).search([0], None, request),
    )
    assert (known.n_evaluated, whole.n_evaluated) == (0, 50)
    np.testing.assert_array_equal(known.indices, whole.indices)
    np.testing.assert_allclose(known.scores, whole.scores, rtol=1e-12)
    np.testing.assert_allclose(known.max_excess, whole.max_excess, atol=1e-12)
