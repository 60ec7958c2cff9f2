"""Rows that are kept: the right ones, whole, and no more than there is room for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.pricing.kernels.row_cache import RowCache
from tests.effort import examples


def fill(cache: RowCache, matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Ask for rows, and keep as many of those that are missing as there is room for."""
    slots = cache.slots(rows)
    missing = rows[slots < 0]
    places = cache.places(len(missing))
    kept = missing[: len(places)]
    cache.store[places] = matrix[kept]
    cache.keep(kept, places)
    return slots


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10**6),
    capacity=st.integers(0, 25),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_what_is_kept_is_what_was_put_in(seed: int, capacity: int, dtype: type) -> None:
    """After any requests, kept rows have their values, and sums over them are exact."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-9, 9, size=(20, 6)).astype(dtype)
    cache = RowCache(capacity=capacity, n_rows=20, width=6, dtype=dtype)
    for _ in range(12):
        rows = np.sort(rng.permutation(20)[: rng.integers(1, 20)])
        fill(cache, matrix, rows)
        slots = cache.slots(np.arange(20))
        there = np.flatnonzero(slots >= 0)
        assert len(there) <= capacity
        assert len(set(slots[there])) == len(there)
        np.testing.assert_array_equal(cache.store[slots[there]], matrix[there])
        weights = rng.integers(-5, 5, size=len(there)).astype(float)
        for columns in (None, np.array([1, 4])):
            wanted = matrix if columns is None else matrix[:, columns]
            sums, sizes = cache.weighted_sums(slots[there], weights, columns, absolute=True)
            np.testing.assert_array_equal(sums, weights @ wanted[there])
            np.testing.assert_array_equal(sizes, np.abs(weights) @ np.abs(wanted[there]))


def test_rows_that_were_not_needed_for_longest_make_room() -> None:
    """Of four rows in three places, the one asked for least recently goes."""
    matrix = np.arange(20.0).reshape(5, 4)
    cache = RowCache(capacity=3, n_rows=5, width=4, dtype=np.float64)
    for rows in ([0, 1, 2], [0], [2], [4]):
        fill(cache, matrix, np.array(rows))
    assert [slot >= 0 for slot in cache.slots(np.arange(5))] == [True, False, True, False, True]
    # what is needed now never makes room
    cache = RowCache(capacity=2, n_rows=5, width=4, dtype=np.float64)
    fill(cache, matrix, np.array([1, 3]))
    slots = fill(cache, matrix, np.arange(5))
    assert [slot >= 0 for slot in slots] == [False, True, False, True, False]
    assert [slot >= 0 for slot in cache.slots(np.arange(5))] == [False, True, False, True, False]


def test_rows_are_given_back_only_all_together() -> None:
    """Rows, or columns of all rows, in the order asked for; None where a row is missing."""
    matrix = np.arange(20.0).reshape(5, 4)
    cache = RowCache(capacity=2, n_rows=5, width=4, dtype=np.float64)
    fill(cache, matrix, np.array([1, 3]))
    np.testing.assert_array_equal(cache.kept(np.array([3, 1])), matrix[[3, 1]])
    assert cache.kept(np.array([1, 2])) is None
    assert cache.kept_columns(np.array([0])) is None
    whole = RowCache(capacity=5, n_rows=5, width=4, dtype=np.float64)
    fill(whole, matrix, np.array([4, 0, 1]))
    fill(whole, matrix, np.array([2, 3]))
    np.testing.assert_array_equal(whole.kept_columns(np.array([3, 1])), matrix[:, [3, 1]].T)
    assert RowCache(capacity=0, n_rows=5, width=4, dtype=float).kept(np.array([1])) is None


@pytest.mark.parametrize("count", [5, 60])
def test_sums_over_few_and_over_most_rows_of_a_stretch_agree(count: int) -> None:
    """Rows are read where they stand, or copied together: the sums are the same."""
    matrix = np.random.default_rng(0).integers(-9, 9, size=(64, 3000)).astype(float)
    cache = RowCache(capacity=64, n_rows=64, width=3000, dtype=np.float64)
    fill(cache, matrix, np.arange(64))
    rows = np.random.default_rng(1).permutation(64)[:count]
    weights = np.arange(1.0, count + 1)
    sums, sizes = cache.weighted_sums(cache.slots(rows), weights, None, absolute=False)
    np.testing.assert_array_equal(sums, weights @ matrix[rows])
    assert not sizes.any()
