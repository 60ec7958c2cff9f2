"""Incumbents, and what closes a node."""

import math
from typing import Any

import numpy as np
import pytest

from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.integer import VariableBound, VariableBranching
from cgboost.integer.search_state import Search

from .tree_problems import Problem, inner_search, large_assignment


def search_of(columns: list[Column], step: float | None = None) -> Search:
    """A search over two rows with these columns in its pool."""
    problem = Problem("ab", ">=", [2.0, 2.0], columns, copies=4.0)
    search = inner_search(problem.master(), problem.pricer(), step)
    search.pool.add(columns)
    return search


def column(key: str, values: tuple[float, float], cost: float, **more: Any) -> Column:
    """A column on two rows."""
    return Column(np.array(values), key, cost=cost, **more)


def test_rounding_of_bounds() -> None:
    """Up to the next multiple of the step, but not where a rounding error is above one."""
    search = search_of([], step=0.5)
    assert search.rounded(3.1) == 3.5
    assert search.rounded(3.0 + 1e-9) == pytest.approx(3.0)
    assert search.rounded(-math.inf) == -math.inf
    assert search_of([]).rounded(3.1) == 3.1


def test_offer() -> None:
    """Taken are whole solutions that meet the rows and are better, no column too often.

    Bounds above them are refused, but for rounding.
    """
    columns = [
        column("both", (1, 1), 3.0),
        column("a", (1, 0), 1.0),
        column("once", (1, 1), 1.0, upper=1.0),
    ]
    search = search_of(columns)
    search.check_bound(math.inf)
    assert not search.closes(1e9)
    assert not search.offer({0: 1.0}, "misses the rows")
    assert not search.offer({0: 2.5}, "fractional")
    assert not search.offer({2: 2.0}, "too often")
    assert search.offer({0: 3.0}, "first")
    assert not search.offer({0: 3.0}, "the same")
    assert search.offer({0: 2.0 + 1e-8}, "better")
    assert (search.incumbent, search.objective, search.found_by) == ({0: 2.0}, 6.0, "better")
    assert search.closes(6.0)
    assert not search.closes(5.9)
    search.check_bound(6.0 + 1e-7)
    with pytest.raises(BoundError, match="above the objective 6"):
        search.check_bound(6.1)


def test_equal_columns_are_merged() -> None:
    """What equal columns have goes to the cheapest, as far as its upper bound, then the next.

    A rule on variables sees those of other variables as they are.
    """
    search = search_of(
        [
            column("dear", (1, 1), 3.0),
            column("cheap", (1, 1), 1.0, upper=1.0),
            column("other", (1, 0), 1.0),
            column("part", (1, 1), 1.0, integer=False),
        ]
    )
    merged = search.merged([0, 1, 2, 3], np.array([1.0, 0.5, 0.5, 0.25]))
    assert merged == {1: 1.0, 0: 0.5, 2: 0.5, 3: 0.25}
    costs = {"x": 3.0, "y": 1.0}
    named = search_of([column(v, (1, 1), cost, variables={v: 1.0}) for v, cost in costs.items()])
    numbers, coef = [0, 1], np.array([0.5, 0.5])
    assert named.merged(numbers, coef) == {1: 1.0}
    assert named.merged(numbers, coef, by_variables=True) == {0: 0.5, 1: 0.5}


def test_equal_columns_with_upper_bounds() -> None:
    """Two equal columns that may be taken once each are a solution together."""
    columns = [column("cheap", (2, 0), 1.0, upper=1.0), column("dear", (2, 0), 2.0, upper=1.0)]
    problem = Problem("ab", [">=", "<="], [4.0, 2.0], columns, copies=2.0)
    result = problem.search(heuristics=[], branching=VariableBranching()).run()
    assert result.objective == result.bound == 3.0


def test_relaxations_end_where_rounded_bounds_can_rise_no_more() -> None:
    """With whole costs the rounded bound is the same as without, after fewer pricing passes."""
    bounds, n_passes = [], []
    for step in (None, 1.0):
        what = large_assignment(5, 50, seed=0)
        own = inner_search(what.master, what.pricer, step, smoothing=what.smoothing)
        decision = VariableBound((0, 0), upper=0.0, block=("agent", 0))
        bounds.append(math.ceil(own.relaxation(own.problem([decision])).bound - 1e-6))
        n_passes.append(own.n_pricings)
    assert bounds[0] == bounds[1]
    assert n_passes[1] < n_passes[0]
