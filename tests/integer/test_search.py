"""Incumbents, and what closes a node."""

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import as_pricer
from cgboost.integer import VariableBound, VariableBranching
from cgboost.integer.search import Search

from .tree_problems import Problem

EXAMPLE = Path(__file__).parents[2] / "examples" / "generalised_assignment.py"


def search_of(columns: list[Column], step: float | None = None, sense: str = ">=") -> Search:
    """A search over two rows with these columns in its pool."""
    problem = Problem("ab", sense, [2.0, 2.0], columns, copies=4.0)
    search = Search(
        problem.master(),
        as_pricer(problem.pricer()),
        objective_step=step,
        columns_per_round=20,
        smoothing=None,
        gap=1e-6,
        time_limit=None,
    )
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
    """Taken are whole solutions that meet the rows and are better."""
    search = search_of([column("both", (1, 1), 3.0), column("a", (1, 0), 1.0)])
    assert not search.closes(1e9)
    assert not search.offer({0: 1.0}, "misses the rows")
    assert not search.offer({0: 2.5}, "fractional")
    assert search.offer({0: 3.0}, "first")
    assert not search.offer({0: 3.0}, "the same")
    assert search.offer({0: 2.0 + 1e-8}, "better")
    assert (search.incumbent, search.objective, search.found_by) == ({0: 2.0}, 6.0, "better")
    assert search.closes(6.0)
    assert not search.closes(5.9)


def test_upper_bounds_of_columns() -> None:
    """A column is not taken more often than it may be."""
    search = search_of([column("both", (1, 1), 3.0, upper=1.0)])
    assert not search.offer({0: 2.0}, "too often")


def test_bound_above_a_solution() -> None:
    """Such a bound is refused; one within rounding is not."""
    search = search_of([column("both", (1, 1), 3.0)])
    search.check_bound(math.inf)
    search.offer({0: 2.0}, "test")
    search.check_bound(6.0 + 1e-7)
    with pytest.raises(BoundError, match="above the objective 6"):
        search.check_bound(6.1)


def test_equal_columns_are_merged() -> None:
    """What equal columns have goes to the cheapest, as far as its upper bound, then the next."""
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


def test_columns_of_other_variables_are_not_merged_for_rules() -> None:
    """A rule on variables sees them as they are."""
    search = search_of(
        [
            column("x", (1, 1), 3.0, variables={"x": 1.0}),
            column("y", (1, 1), 1.0, variables={"y": 1.0}),
        ]
    )
    numbers, coef = [0, 1], np.array([0.5, 0.5])
    assert search.merged(numbers, coef) == {1: 1.0}
    assert search.merged(numbers, coef, by_variables=True) == {0: 0.5, 1: 0.5}


def test_equal_columns_with_upper_bounds() -> None:
    """Two equal columns that may be taken once each are a solution together."""
    columns = [column("cheap", (2, 0), 1.0, upper=1.0), column("dear", (2, 0), 2.0, upper=1.0)]
    problem = Problem("ab", [">=", "<="], [4.0, 2.0], columns, copies=2.0)
    result = problem.search(heuristics=[], branching=VariableBranching()).run()
    assert result.objective == result.bound == 3.0


def test_relaxations_end_where_rounded_bounds_can_rise_no_more() -> None:
    """With whole costs the rounded bound is the same as without, after fewer pricing passes."""
    assign = runpy.run_path(str(EXAMPLE))["assign"]
    rng = np.random.default_rng(0)
    weight = rng.integers(5, 26, (5, 50))
    cost = 111.0 - weight + rng.integers(-10, 11, weight.shape)
    bounds, n_passes = [], []
    for step in (None, 1.0):
        what = assign(cost, weight, (0.8 * weight.sum(axis=1) / 5).astype(int)).options
        own = Search(
            what.master,
            what.pricer,
            objective_step=step,
            columns_per_round=20,
            smoothing=what.smoothing,
            gap=1e-6,
            time_limit=None,
        )
        decision = VariableBound((0, 0), upper=0.0, block=("agent", 0))
        bounds.append(math.ceil(own.relaxation(own.problem([decision])).bound - 1e-6))
        n_passes.append(own.n_pricings)
    assert bounds[0] == bounds[1]
    assert n_passes[1] < n_passes[0]
