"""The deficit against the linear program that it solves."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.masters.linear.lagrangian_bound import Capped, deficit_of
from solvers import Program, solve
from tests.effort import examples


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


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_counts_are_filled_with_the_cheapest_columns(seed: int) -> None:
    """One count for all, or one a row with its own bound; a column of no row counts for itself."""
    columns = capped(seed, [None])
    bound = float(np.random.default_rng(seed).normal())
    assert deficit_of(3.0, bound, columns) == pytest.approx(least(3.0, bound, columns))
    columns = capped(seed, ["a", "b", None])
    counts, bounds = {"a": 2.0, "b": 1.0}, {"a": -0.5, "b": 0.3}
    expected = least(100.0, 0.0, [c for c in columns if c.row is None])
    for row in counts:
        expected += least(counts[row], bounds[row], [c for c in columns if c.row == row])
    assert deficit_of(counts, bounds, columns) == pytest.approx(expected)


def test_an_unknown_bound_stays_unknown() -> None:
    """Neither a full count nor a missing row turns nan into a number."""
    full = [Capped("a", 5.0, -1.0)]
    assert math.isnan(deficit_of({"a": 1.0}, math.nan, full))
    assert math.isnan(deficit_of({"a": 1.0, "b": 1.0}, {"a": 0.0}))
    assert math.isnan(deficit_of(1.0, {}))
