"""Sufficient statistics merge in any order; products that groupings share are those of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.products import SharedGroupProducts, n_products, weighted_means
from tests.effort import examples


def sample(
    seed: int, n_rows: int, offset: float, *, width: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Values at an offset and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    return offset + rng.normal(size=(n_rows, width)), rng.integers(0, 4, size=n_rows).astype(float)


def direct(values: np.ndarray, weights: np.ndarray) -> Moments:
    """By definition, in exact order and with the smallest numbers: about the first row."""
    count = weights.sum()
    if count == 0:
        return Moments.empty(1, values.shape[1])
    away = values - values[0]
    mean = weights @ away / count
    scatter = np.einsum("i,ij,ik->jk", weights, away - mean, away - mean)
    return Moments(np.array([count]), (values[0] + mean)[None], scatter[None])


def check_equal(found: Moments, wanted: Moments, *, size: float = 1.0) -> None:
    """Counts are equal; means to rounding, scatters to 1e-6 of values that vary by 1."""
    np.testing.assert_array_equal(found.count, wanted.count)
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14, atol=1e-12 * size)
    tolerance = 1e-15 * size * max(1.0, float(wanted.count.max())) + 1e-10
    np.testing.assert_allclose(found.scatter, wanted.scatter, rtol=1e-9, atol=tolerance)


OFFSETS = st.sampled_from([0.0, 1.0, -1e8])
SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=6)


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 10**6), offset=OFFSETS, sizes=SIZES)
def test_parts_merge_into_the_whole(seed: int, offset: float, sizes: list[int]) -> None:
    """Any parts, empty ones among them, any two first: what one pass gives, at 1e8 too."""
    values, weights = sample(seed, sum(sizes), offset)
    ends = np.cumsum(sizes)
    parts = [
        Moments.of(values[start:end], weights[start:end])
        for start, end in zip(ends - sizes, ends, strict=True)
    ]
    rng = np.random.default_rng(seed)
    while len(parts) > 1:
        own, other = (parts.pop(int(rng.integers(len(parts)))) for _ in range(2))
        parts.append(own.merged(other))
    wanted = direct(values, weights) if len(values) else Moments.empty(1, 3)
    check_equal(Moments.empty(1, 3).merged(parts[0]), wanted, size=abs(offset) + 1)


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6), offset=OFFSETS, n_groups=st.integers(1, 8))
def test_joining_groups_is_merging_them(seed: int, offset: float, n_groups: int) -> None:
    """Groups that are parts of larger ones, and all of them together; empty ones count nothing."""
    values, weights = sample(seed, 60, offset)
    codes = np.random.default_rng(seed).integers(0, n_groups, size=60)
    moments = SharedGroupProducts(values, weights).grouped(codes, n_groups + 2)
    into = np.arange(n_groups + 2) % 2
    joined = moments.joined(into, 3)
    wanted = [direct(values[into[codes] == k], weights[into[codes] == k]) for k in range(2)]
    for k in range(2):
        check_equal(joined[[k]], wanted[k], size=abs(offset) + 1)
    assert joined.count[2] == 0
    assert not joined.mean[2].any()
    check_equal(moments.together(), direct(values, weights), size=abs(offset) + 1)


def test_no_rows_and_no_weight() -> None:
    """Both give statistics of nothing, without a warning."""
    nothing = SharedGroupProducts(np.zeros((0, 2)), np.zeros(0)).grouped(np.zeros(0, dtype=int), 3)
    check_equal(nothing, Moments.empty(3, 2))
    check_equal(Moments.of(np.ones((4, 2)), np.zeros(4)), Moments.empty(1, 2))
    check_equal(Moments.empty(2, 3).together(), Moments.empty(1, 3))


@pytest.mark.parametrize("level", [0.0, 0.3, 1e3])
def test_what_is_constant_in_a_group_has_no_scatter_there(level: float) -> None:
    """Rounding errors about a distant mean are cleared; what varies stays as it is."""
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3
    z = np.where(codes == 0, level, rng.normal(size=300))
    values = np.column_stack([rng.normal(size=300), z, rng.normal(size=300)])
    parts = [
        SharedGroupProducts(values[rows], np.ones(100)).grouped(codes[rows], 3)
        for rows in (slice(0, 100), slice(100, 200), slice(200, 300))
    ]
    raw = parts[0].merged(parts[1]).merged(parts[2])
    clear = raw.without_noise(slice(1, -1))
    assert not clear.scatter[0, 1].any()
    assert not clear.scatter[0, :, 1].any()
    np.testing.assert_array_equal(clear.scatter[1:], raw.scatter[1:])
    np.testing.assert_array_equal(clear.mean, raw.mean)


def test_what_is_constant_off_the_middle_of_its_group_has_no_scatter() -> None:
    """Nor has the variable that makes the groups, whose sums are about a centre of each."""
    rng = np.random.default_rng(0)
    codes = np.arange(3000) % 3
    x = np.where(codes == 0, 0.1, codes + rng.uniform(-0.5, 0.5, size=3000))
    shared = SharedGroupProducts(rng.normal(size=(3000, 2)), rng.uniform(size=3000))
    centres = np.array([0.4, 1.0, 2.0])
    raw = shared.grouped_with(x, codes, 3, centres)
    clear = raw.without_noise(slice(1, -1), centres)
    assert raw.scatter[0, 0].any()
    assert not clear.scatter[0, 0].any()
    assert not clear.scatter[0, :, 0].any()
    np.testing.assert_array_equal(clear.scatter[1:], raw.scatter[1:])


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
    found = SharedGroupProducts(values, weights).grouped_with(own, codes, 5, centres)
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
    everything = SharedGroupProducts(values, weights, origin=origin).sums(x, codes, 6)
    assert everything.shape == (6, n_products(5))
    first = SharedGroupProducts(values[:, :known], weights, origin=origin[:known]).sums(x, codes, 6)
    new = SharedGroupProducts(values, weights, origin=origin, known=known).sums(x, codes, 6)
    assert new.shape == (6, n_products(5) - n_products(1 + known))
    np.testing.assert_allclose(np.hstack([first, new]), everything, rtol=1e-13, atol=1e-13)


def test_means_of_nothing_are_zero() -> None:
    """Without a row, and without weight."""
    np.testing.assert_array_equal(weighted_means([np.zeros(0)], np.zeros(0)), [0.0])
    np.testing.assert_array_equal(weighted_means([np.ones(3)], np.zeros(3)), [0.0])
    assert weighted_means([], np.ones(3)).shape == (0,)
