"""Weighted medians and quantiles, whatever rounding does to the sums of the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost.losses.dual.support_vector import weighted_median, weighted_quantile

SEEDS = st.integers(0, 10**6)


@given(SEEDS)
def test_weighted_median_minimises_the_absolute_error(seed: int) -> None:
    """No value has a smaller Σ w|v − c|, with weights of 0 and with ties."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    values = rng.integers(-3, 4, size).astype(float)
    weights = rng.integers(0, 3, size).astype(float)
    if not weights.any():
        weights[0] = 1.0
    median = weighted_median(values, weights)
    costs = [weights @ np.abs(values - c) for c in values]
    assert weights @ np.abs(values - median) <= min(costs) + 1e-12


@given(SEEDS)
def test_the_middle_of_a_gap_is_found_whatever_the_unit_of_the_weights(seed: int) -> None:
    """Weights of 0.1, whose sums are not exact, and of 10⁻³⁰⁰ count rows as weights of 1 do."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=2 * int(rng.integers(1, 200)))
    for unit in (0.1, 1.0, 1e-300):
        weights = np.full(len(values), unit)
        assert weighted_median(values, weights) == np.median(values)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_the_order_of_the_rows_does_not_matter(share: float) -> None:
    """Sums that meet the level up to rounding are equal to it, in any order of equal values."""
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(10.0), 10)
    weights = np.concatenate([own / own.sum() for own in rng.uniform(0.1, 1.0, (10, 10))])
    expected = 10.0 * share - 0.5
    for _ in range(50):
        order = rng.permutation(100)
        assert weighted_quantile(values[order], weights[order], 10.0 * share) == expected
