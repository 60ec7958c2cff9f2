"""Products that many groupings share have the sums that each grouping has by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.products import (
    SharedProducts,
    n_products,
    origins,
    weighted_means,
)
from tests.additive.statistics.test_moments import OFFSETS, check_equal, direct, sample
from tests.effort import examples


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6), offset=OFFSETS)
def test_shared_products_are_direct_statistics(seed: int, offset: float) -> None:
    """In every group, empty ones included, with a variable more about centres of the groups."""
    values, weights = sample(seed, 80, offset)
    rng = np.random.default_rng(seed)
    own = offset + np.sort(rng.uniform(size=80))
    codes = np.minimum((4 * (own - offset)).astype(int), 3)
    codes[codes == 2] = 4  # group 2 is empty
    centres = offset + np.array([0.125, 0.375, 0.0, 0.875, 0.625])
    found = SharedProducts(values, weights).grouped_with(own, codes, 5, centres)
    for k in range(5):
        rows = codes == k
        both = np.column_stack([own, values])[rows]
        wanted = direct(both, weights[rows]) if rows.any() else Moments.empty(1, 4)
        check_equal(found[[k]], wanted, size=abs(offset) + 1)
        if wanted.count[0]:
            # nothing of the variable is lost to the offset, thanks to the centres
            np.testing.assert_allclose(
                found.scatter[k, 0, 0], wanted.scatter[0, 0, 0], rtol=1e-7, atol=1e-12
            )


@pytest.mark.parametrize("known", [0, 1, 3])
@pytest.mark.parametrize("with_x", [True, False])
def test_known_sums_and_new_ones_are_all_sums(known: int, with_x: bool) -> None:
    """Of the first variables, then of all: what comes in front is what the first had."""
    values, weights = sample(7, 60, 3.0, width=4)
    codes, x = np.arange(60) % 5, np.linspace(-1, 1, 60) if with_x else None
    origin = weighted_means(values.T, weights)
    everything = SharedProducts(values, weights, origin=origin).sums(x, codes, 6)
    assert everything.shape == (6, n_products(5))
    first = SharedProducts(values[:, :known], weights, origin=origin[:known]).sums(x, codes, 6)
    new = SharedProducts(values, weights, origin=origin, known=known).sums(x, codes, 6)
    assert new.shape == (6, n_products(5) - n_products(1 + known))
    np.testing.assert_allclose(np.hstack([first, new]), everything, rtol=1e-13, atol=1e-13)


def test_sums_of_parts_add_up() -> None:
    """About one origin, in any blocks."""
    values, weights = sample(8, 90, -1e8)
    own, codes, centres = np.arange(90.0), np.arange(90) // 30, np.array([15.0, 45.0, 75.0])
    origin = weighted_means(values.T, weights)
    total = np.zeros((3, n_products(4)))
    for rows in (slice(0, 41), slice(41, 42), slice(42, 90)):
        shared = SharedProducts(values[rows], weights[rows], origin=origin)
        total += shared.sums(own[rows] - centres[codes[rows]], codes[rows], 3)
    found = Moments.from_sums(total, origins(centres, origin))
    for k in range(3):
        both = np.column_stack([own, values])[codes == k]
        check_equal(found[[k]], direct(both, weights[codes == k]), size=1e8)


def test_means_of_nothing_are_zero() -> None:
    """Without a row, and without weight."""
    np.testing.assert_array_equal(weighted_means([np.zeros(0)], np.zeros(0)), [0.0])
    np.testing.assert_array_equal(weighted_means([np.ones(3)], np.zeros(3)), [0.0])
    assert weighted_means([], np.ones(3)).shape == (0,)
