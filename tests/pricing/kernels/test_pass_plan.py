"""How a pass is divided, and which rows of values are kept: within the budget, the right ones."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, Linear
from cgboost.kernels import Kernel
from cgboost.parallel import SerialExecutor, ThreadExecutor
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.pass_plan import LEAST_WIDTH, PassPlan
from cgboost.pricing.kernels.row_cache import RowCache, weighted_rows
from tests.effort import examples

AMPLE = 1e6


def plan(
    shape: tuple[int, int], kernels: list[Kernel], megabytes: float, block_size: int = 64
) -> PassPlan:
    """For rows of a shape in float32, one thread."""
    data = KernelData(
        np.zeros(shape, dtype=np.float32), tuple("LQRS"[: len(kernels)]), kernels, block_size
    )
    return PassPlan(data, SerialExecutor(), megabytes)


@settings(max_examples=examples(60))
@given(
    n_rows=st.integers(1, 30000),
    threads=st.integers(1, 9),
    block_size=st.sampled_from([1, 7, 256, 1024]),
)
def test_parts_are_whole_blocks_and_cover_all_rows(
    n_rows: int, threads: int, block_size: int
) -> None:
    """Each part begins where a block does, none is empty, and small pools are not divided."""
    data = KernelData(np.zeros((n_rows, 1)), ("L",), [Linear()], block_size)
    bounds = PassPlan(data, ThreadExecutor(threads), 0.0).bounds
    assert bounds[0] == 0
    assert bounds[-1] == n_rows
    assert all(a < b for a, b in pairwise(bounds))
    assert all(bound % block_size == 0 for bound in bounds[:-1])
    assert len(bounds) - 1 <= max(1, min(threads, n_rows // LEAST_WIDTH))


@pytest.mark.parametrize("megabytes", [0.0, 1.0, 10.0, 100.0])
def test_memory_stays_within_the_budget(megabytes: float) -> None:
    """Kept values take at most the budget, in equal shares, and no more than a Gram matrix."""
    found = plan((2000, 20), [RBF(0.1), RBF(0.2), RBF(0.3)], megabytes)
    assert sum(found.memory) <= megabytes * 2**20
    assert len(set(found.memory)) == 1
    assert max(found.memory) <= 2000**2 * 4
    assert sum(found.part_memory(0)) <= sum(found.memory)


def test_a_linear_kernel_takes_no_memory_from_the_others() -> None:
    """Its sums need no values, unless there is room for all and they come for nothing."""
    kernels = [Linear(), RBF(0.1)]
    assert plan((2000, 20), kernels, 10.0).memory[0] == 0
    assert plan((2000, 20), kernels, AMPLE).memory[0] > 0
    assert plan((2000, 20), [Linear()], AMPLE).memory == [0]
    assert plan((2000, 1500), [Linear()], AMPLE).memory[0] > 0  # as many features as rows


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
            sums, sizes = weighted_rows(cache.store, slots[there], weights, columns, absolute=True)
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


@pytest.mark.parametrize("count", [5, 60])
def test_sums_over_few_and_over_most_rows_of_a_stretch_agree(count: int) -> None:
    """Rows are read where they stand, or copied together: the sums are the same."""
    matrix = np.random.default_rng(0).integers(-9, 9, size=(64, 3000)).astype(float)
    cache = RowCache(capacity=64, n_rows=64, width=3000, dtype=np.float64)
    fill(cache, matrix, np.arange(64))
    rows = np.random.default_rng(1).permutation(64)[:count]
    weights = np.arange(1.0, count + 1)
    sums, sizes = weighted_rows(cache.store, cache.slots(rows), weights, None, absolute=False)
    np.testing.assert_array_equal(sums, weights @ matrix[rows])
    assert not sizes.any()
