"""Hinges are scored as by brute force, and opposites as what they are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.pricing.constrained.hinges import HingePool, ShapePool
from cgboost.pricing.constrained.oriented import OrientedPool
from cgboost.pricing.univariate.stumps import StumpPool
from tests.effort import examples


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_scores_are_sums_over_the_rows(seed):
    """Of stumps and hinges, either way round, with what they draw on budgets."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(25, 3)), 1)
    X[:, 2] = X[:, 2] > 0
    allowed = {("stump", 0): (True, False), ("rising hinge", 1): (False, True)}
    pool = OrientedPool(
        ShapePool(StumpPool(X), HingePool(X, [1])), allowed, [frozenset({0, 1}), frozenset({2})]
    )
    response = rng.normal(size=27)
    for stratum, name in enumerate(pool.strata):
        size = pool.size(stratum)
        values = pool.values(stratum, np.arange(size))
        scores = pool.scores(stratum, None, response)
        features = np.tile(pool.pool.features(stratum), 2)
        signs = np.repeat([0, 1], size // 2)
        for j in range(size):
            open_ = allowed.get((name, int(features[j])), (True, True))[signs[j]]
            expected = values[j] @ response if open_ else 0.0
            np.testing.assert_allclose(scores[j], expected, atol=1e-9)
        column = pool.column(stratum, size - 1)
        own = column.hypothesis.family.outputs(X, [column.hypothesis])[:, 0]
        np.testing.assert_allclose(own, values[-1][:25])
