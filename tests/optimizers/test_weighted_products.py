"""Products under weights: those of the columns, whichever were asked for before."""

from __future__ import annotations

import numpy as np

from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton.weighted_products import LITTLE, WeightedProducts


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


def test_another_price_takes_no_new_products() -> None:
    """Weights that are all multiplied by a number multiply the products, rounding aside."""
    rng = np.random.default_rng(1)
    store = ColumnStore(30, centred=False)
    store.append(list(rng.normal(size=(4, 30))))
    products, weights, places = WeightedProducts(store), rng.uniform(1.0, 2.0, 30), np.arange(4)
    before = products.of(places, weights)
    products.scale(1.07)
    factors = products._product
    products._product = None  # type: ignore[assignment, method-assign]
    np.testing.assert_allclose(products.of(places, 1.07 * weights), 1.07 * before, rtol=1e-12)
    products._product = factors  # type: ignore[method-assign]
    assert products.exact


def test_earlier_products_do_while_weights_are_near() -> None:
    """They are those asked for where all weights have changed a little, and only if they may."""
    rng = np.random.default_rng(2)
    store = ColumnStore(30, centred=False)
    store.append(list(rng.normal(size=(4, 30))))
    products, weights, places = WeightedProducts(store), rng.uniform(1.0, 2.0, 30), np.arange(4)
    before = products.of(places, weights)
    near = weights * (1.0 + 0.1 * LITTLE * rng.random(30))
    np.testing.assert_array_equal(products.of(places, near, nearly=True), before)
    assert not products.exact
    for other in (near, 2.0 * weights):
        found = products.of(places, other, nearly=other is not near)
        fresh = WeightedProducts(store).of(places, other)
        np.testing.assert_allclose(found, fresh, rtol=1e-12, atol=1e-12)
        assert products.exact
