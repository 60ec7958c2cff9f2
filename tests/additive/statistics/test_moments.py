"""Sufficient statistics merge in any order into those of one pass over everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.products import SharedProducts
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


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), offset=OFFSETS, sizes=SIZES)
def test_parts_merge_into_the_whole(seed: int, offset: float, sizes: list[int]) -> None:
    """Any parts, empty ones among them, give what one pass gives; also at an offset of 1e8."""
    values, weights = sample(seed, sum(sizes), offset)
    ends = np.cumsum(sizes)
    total = Moments.empty(1, 3)
    for start, end in zip(ends - sizes, ends, strict=True):
        total = total.merged(Moments.of(values[start:end], weights[start:end]))
    wanted = direct(values, weights) if len(values) else Moments.empty(1, 3)
    check_equal(total, wanted, size=abs(offset) + 1)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6), offset=OFFSETS, sizes=st.tuples(*[st.integers(0, 20)] * 3))
def test_merging_is_associative_and_commutative(
    seed: int, offset: float, sizes: tuple[int, int, int]
) -> None:
    """(a + b) + c = a + (b + c) = c + (b + a), to rounding."""
    a, b, c = (Moments.of(*sample(seed + k, n, offset)) for k, n in enumerate(sizes))
    left = a.merged(b).merged(c)
    check_equal(left, a.merged(b.merged(c)), size=abs(offset) + 1)
    check_equal(left, c.merged(b.merged(a)), size=abs(offset) + 1)


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6), offset=OFFSETS, n_groups=st.integers(1, 8))
def test_joining_groups_is_merging_them(seed: int, offset: float, n_groups: int) -> None:
    """Groups that are parts of larger ones, and all of them together; empty ones count nothing."""
    values, weights = sample(seed, 60, offset)
    codes = np.random.default_rng(seed).integers(0, n_groups, size=60)
    moments = SharedProducts(values, weights).grouped(codes, n_groups + 2)
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
    nothing = SharedProducts(np.zeros((0, 2)), np.zeros(0)).grouped(np.zeros(0, dtype=int), 3)
    check_equal(nothing, Moments.empty(3, 2))
    check_equal(Moments.of(np.ones((4, 2)), np.zeros(4)), Moments.empty(1, 2))
    check_equal(Moments.empty(2, 3).together(), Moments.empty(1, 3))


def test_variables_and_groups_are_chosen() -> None:
    """Some variables, some groups."""
    values, weights = sample(0, 50, 0.0)
    moments = SharedProducts(values, weights).grouped(np.arange(50) % 4, 4)
    fewer = moments.of_variables([2, 0])[[3, 1]]
    check_equal(fewer[[0]], direct(values[3::4][:, [2, 0]], weights[3::4]))
    assert len(fewer) == 2


@pytest.mark.parametrize("level", [0.0, 0.3, 1e3])
def test_what_is_constant_in_a_group_has_no_scatter_there(level: float) -> None:
    """Rounding errors about a distant mean are cleared; what varies stays as it is."""
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3
    z = np.where(codes == 0, level, rng.normal(size=300))
    values = np.column_stack([rng.normal(size=300), z, rng.normal(size=300)])
    parts = [
        SharedProducts(values[rows], np.ones(100)).grouped(codes[rows], 3)
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
    shared = SharedProducts(rng.normal(size=(3000, 2)), rng.uniform(size=3000))
    centres = np.array([0.4, 1.0, 2.0])
    raw = shared.grouped_with(x, codes, 3, centres)
    clear = raw.without_noise(slice(1, -1), centres)
    assert raw.scatter[0, 0].any()
    assert not clear.scatter[0, 0].any()
    assert not clear.scatter[0, :, 0].any()
    np.testing.assert_array_equal(clear.scatter[1:], raw.scatter[1:])
