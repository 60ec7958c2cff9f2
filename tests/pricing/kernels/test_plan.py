"""The division of a pass: whole blocks, memory within the budget, and structure where it pays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, Linear, Polynomial
from cgboost.kernels import Kernel
from cgboost.parallel import SerialExecutor, ThreadExecutor
from cgboost.pricing.kernels.blocks import KernelData
from cgboost.pricing.kernels.plan import LEAST_WIDTH, PassPlan
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


def test_structure_is_used_where_it_takes_fewer_operations() -> None:
    """Linear kernels always; quadratic ones when many rows have changed and no product is there.

    Where structure is a little cheaper now, values that will be needed again are preferred, and a
    kernel whose Gram matrix fits is summed up from memory.
    """
    both = plan((5000, 50), [Linear(), Polynomial(2), RBF(0.1)], 0.0)
    assert both.by_structure([0, 1, 2], 10, 5000)[0]
    assert not both.by_structure([1], 10, 5000)[0]
    assert both.by_structure([1], 2000, 5000)[0]
    assert not both.by_structure([1, 2], 100, 5000)[0]  # the product is there for the RBF
    assert both.by_structure([1, 2], 5000, 5000)[0]
    assert not both.by_structure([0, 1, 2], 5000, 5000)[2]
    without, memory = (plan((5000, 50), [Polynomial(2)], megabytes) for megabytes in (0.0, 60.0))
    assert without.by_structure([0], 60, 5000)[0]
    assert not memory.by_structure([0], 60, 5000)[0]
    assert memory.by_structure([0], 5000, 5000)[0]
    assert not plan((3000, 50), [Polynomial(2)], AMPLE).by_structure([0], 3000, 3000)[0]
