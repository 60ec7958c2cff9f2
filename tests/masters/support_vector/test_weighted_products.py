"""Products under weights: those of the columns, whichever were asked for before."""

from __future__ import annotations

import numpy as np

from cgboost.masters.column_store import ColumnStore
from cgboost.masters.support_vector.weighted_products import WeightedProducts


def test_products_are_those_of_the_columns_after_every_change() -> None:
    """New columns, other places, equal weights, weights of few and of all rows: always HᵀWH."""
    rng = np.random.default_rng(0)
    store = ColumnStore(30, centred=False)
    products = WeightedProducts(store)
    weights, H = np.ones(30), np.zeros((30, 0))
    for change in (30, 0, 4, 0, 12, 30, 3):
        new = rng.normal(size=(30, 5)) * rng.uniform(0.1, 10.0, size=5)
        store.append(list(new.T))
        H = np.hstack([H, new])
        weights = weights.copy()
        weights[rng.permutation(30)[:change]] = rng.choice([0.0, 1.0, 2.5], size=change)
        places = np.flatnonzero(rng.random(H.shape[1]) < 0.6)
        with_ones = np.column_stack([H[:, places], np.ones(30)])
        expected = with_ones.T @ (weights[:, None] * with_ones)
        np.testing.assert_allclose(products.of(places, weights), expected, atol=1e-10)
