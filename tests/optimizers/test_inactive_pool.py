"""The inactive column pool against pricing by hand."""

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.optimizers.linear.restricted_primal import InactivePool


@pytest.mark.parametrize("with_costs", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_columns_of_negative_reduced_cost_are_taken_out(
    seed: int, with_costs: bool
) -> None:
    """By number, with the costs or without; what is left is priced again at other duals."""
    rng = np.random.default_rng(seed)
    H, costs, numbers = rng.normal(size=(4, 12)), rng.normal(size=12), rng.permutation(40)[:12]
    columns = [Column(H[:, j], j, cost=costs[j]) for j in range(12)]
    pool = InactivePool(4)
    pool.deactivate(numbers[:5], columns[:5])
    pool.deactivate(numbers[5:], columns[5:])
    left = set(numbers)
    for _ in range(3):
        duals = rng.normal(size=4)
        reduced = (costs if with_costs else 0.0) - duals @ H
        expected = set(numbers[reduced < 0]) & left
        assert set(pool.take_improving(duals, with_costs=with_costs)) == expected
        left -= expected
        assert len(pool) == len(left)


def test_rounding_brings_nothing_back() -> None:
    """A reduced cost that is 0 but for rounding leaves the column where it is."""
    pool = InactivePool(1)
    pool.deactivate(np.array([7]), [Column(np.ones(1), 0, cost=1.0)])
    assert pool.take_improving(np.array([1.0 + 1e-12]), with_costs=True).size == 0
    assert pool.take_improving(np.array([1.0 + 1e-6]), with_costs=True).tolist() == [7]
