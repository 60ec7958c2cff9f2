"""The deficit against the linear program that it solves."""

import math

import numpy as np
import pytest

from cgboost.masters.linear.lagrangian_bound import Capped, deficit_of
from solvers import Program, solve


def capped(seed: int, rows: list[str | None]) -> list[Capped]:
    """Six columns with bounds, in some of the rows."""
    rng = np.random.default_rng(seed)
    return [
        Capped(rows[rng.integers(len(rows))], float(rng.uniform(0, 2)), float(rng.normal()))
        for _ in range(6)
    ]


def least(count: float, bound: float, columns: list[Capped]) -> float:
    """Least sum over ``count`` copies of these columns and of one of reduced cost ``bound``."""
    return solve(
        Program(
            cost=np.array([bound, *(c.reduced_cost for c in columns)]),
            matrix=np.ones((1, 1 + len(columns))),
            row_upper=np.array([count]),
            upper=np.array([np.inf, *(c.upper for c in columns)]),
        )
    ).objective


@pytest.mark.parametrize("seed", range(20))
def test_one_count_is_shared_by_all_columns(seed: int) -> None:
    """Cheaper columns first, up to their bounds, then the unknown ones."""
    columns = capped(seed, [None])
    count, bound = 3.0, float(np.random.default_rng(seed).normal())
    assert deficit_of(count, bound, columns) == pytest.approx(least(count, bound, columns))


@pytest.mark.parametrize("seed", range(20))
def test_every_row_has_its_own_count_and_bound(seed: int) -> None:
    """Rows add up; a column of no row counts up to its own bound."""
    columns = capped(seed, ["a", "b", None])
    counts, bounds = {"a": 2.0, "b": 1.0}, {"a": -0.5, "b": 0.3}
    expected = least(100.0, 0.0, [c for c in columns if c.row is None])
    for row in counts:
        own = [c for c in columns if c.row == row]
        expected += least(counts[row], bounds[row], own)
    assert deficit_of(counts, bounds, columns) == pytest.approx(expected)


def test_an_unknown_bound_stays_unknown() -> None:
    """Neither a full count nor a missing row turns nan into a number."""
    full = [Capped("a", 5.0, -1.0)]
    assert math.isnan(deficit_of({"a": 1.0}, math.nan, full))
    assert math.isnan(deficit_of({"a": 1.0, "b": 1.0}, {"a": 0.0}))
    assert math.isnan(deficit_of(1.0, {}))
