"""Features with rows of constraints: scores are products with the columns that enter."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost.pricing.univariate.constrained_features import ConstrainedFeaturePool
from cgboost.pricing.univariate.feature_pricer import FeaturePool


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("centred", [True, False])
def test_scores_are_products_with_columns(kind: Any, centred: bool) -> None:
    """Of all features and of some, for one response and several; lengths and sizes are theirs."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 7)) < 0.5, rng.normal(size=(20, 7)), 0.0)
    centres, scales = X.mean(axis=0) * centred, rng.uniform(0.5, 2.0, 7)
    below = sparse.random_array((3, 7), density=0.5, rng=rng, format="csr")
    inner = FeaturePool(kind(X), centres=centres, scales=scales)
    pool = ConstrainedFeaturePool(inner, below, np.zeros(0, dtype=np.intp), np.ones(3))
    columns = np.vstack([(X - centres) / scales, below.toarray()])
    responses = rng.normal(size=(23, 2))
    some = np.array([5, 0, 2])
    assert pool.values(0, np.arange(7)) == pytest.approx(columns.T)
    assert pool.all_scores(responses) == pytest.approx(columns.T @ responses)
    assert pool.scores(0, some, responses[:, 0]) == pytest.approx(
        columns[:, some].T @ responses[:, 0]
    )
    lengths = pool.matrix.lengths(np.zeros(7)) / scales
    assert lengths == pytest.approx(np.linalg.norm(columns, axis=0))
    least, most = (end / scales for end in pool.matrix.extremes)
    assert (least <= columns.min(axis=0) + 1e-12).all()
    assert (most >= columns.max(axis=0) - 1e-12).all()
    assert pool.feature(3) == inner.feature(3)
    assert pool.rescaled(2.0).all_scores(responses) == pytest.approx(columns.T @ responses / 2.0)
