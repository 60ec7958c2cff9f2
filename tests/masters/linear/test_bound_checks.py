"""A bound that rests on something false is found out where the run can see it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice, ColumnGeneration
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.history import Result, StopReason
from cgboost.masters import LinearMaster

WIDTHS, DEMAND, CAPACITY = [20, 34, 41, 52, 63], [44.0, 27.0, 35.0, 18.0, 12.0], 150


def best_pattern(values: np.ndarray) -> np.ndarray:
    """The most valuable pattern, by enumeration of what fits."""
    best, found = 0.0, np.zeros(len(WIDTHS))

    def extend(i: int, left: int, pattern: list[int]) -> None:
        nonlocal best, found
        if i == len(WIDTHS):
            if (value := float(np.dot(pattern, values))) > best:
                best, found = value, np.array(pattern, dtype=float)
            return
        for count in range(left // WIDTHS[i] + 1):
            extend(i + 1, left - count * WIDTHS[i], [*pattern, count])

    extend(0, CAPACITY, [])
    return found


def run(claim: Callable[[float], Any], **master: Any) -> Result:
    """Cutting stock whose pricer says ``claim(least reduced cost)``."""

    def price(duals: Duals) -> Any:
        pattern = best_pattern(duals)
        least = 1.0 - float(pattern @ duals)
        column = Column(pattern, key=tuple(pattern), cost=1.0)
        return ([column] if least < -1e-9 else []), claim(least)

    linear = LinearMaster(WIDTHS, ">=", DEMAND, **master)
    linear.add(
        [
            Column(np.eye(len(WIDTHS))[i] * (CAPACITY // width), ("single", width), cost=1.0)
            for i, width in enumerate(WIDTHS)
        ]
    )
    return ColumnGeneration(linear, price, tol=1e-9).run()


def test_the_truth_is_certified() -> None:
    """With the right claims the run ends at the optimum, by either bound."""
    for options in ({"least_cost": 1.0}, {"copies": 100.0}):
        result = run(lambda least: least, **options)
        assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
        assert result.objective == pytest.approx(33.642857, abs=1e-6)


@pytest.mark.parametrize(
    "claim",
    [lambda least: -least, lambda least: 0.0, lambda least: 0.5 * least],
    ids=["wrong sign", "zero", "half"],
)
@pytest.mark.parametrize("options", [{"least_cost": 1.0}, {"copies": 100.0}], ids=str)
def test_a_bound_that_the_pricers_own_column_refutes(
    claim: Callable[[float], float], options: dict[str, float]
) -> None:
    """Wrong sign, a flat 0, half the truth: the first answer gives it away."""
    with pytest.raises(BoundError, match=r"no reduced cost is below .* has the reduced cost"):
        run(claim, **options)


def test_costs_below_the_least_cost_are_refused() -> None:
    """The master was told that columns cost at least 2; one costs 1."""
    with pytest.raises(ValueError, match=r"costs 1, less than least_cost=2"):
        run(lambda least: least, least_cost=2.0)


def test_a_solution_of_more_copies_than_allowed() -> None:
    """The restricted solution itself uses more columns than ``copies`` says."""
    with pytest.raises(BoundError, match=r"uses [\d.]+ columns, more than the 10 of copies"):
        run(lambda least: least, copies=10.0)


def test_a_bound_that_a_later_objective_refutes() -> None:
    """Where only the falling objective shows that a bound was wrong, it is dropped and said so."""
    patterns = [np.array([7.0, 0, 0, 0, 0]), np.array([0, 0, 2.0, 1.0, 0])]

    def price(duals: Duals) -> Any:
        # a pricer that knows two patterns and claims, falsely, that there are no others
        offered = [Column(p, key=tuple(p), cost=1.0) for p in patterns]
        helpful = [column for column in offered if column.values @ duals > 1 + 1e-9]
        if helpful:
            return helpful[:1], min(1.0 - float(c.values @ duals) for c in helpful)
        pattern = best_pattern(duals)
        return [Column(pattern, key=tuple(pattern), cost=1.0)], None

    master = LinearMaster(WIDTHS, ">=", DEMAND, least_cost=1.0)
    master.add(
        [Column(row, ("one", k), cost=1.0) for k, row in enumerate(np.diag([7.0, 4, 3, 2, 2]))]
    )
    result = ColumnGeneration(master, price, tol=0.0).run()
    assert result.stop_reason is StopReason.INVALID_BOUND
    assert "above the objective" in result.message
    assert result.bound is None


def test_a_bound_per_row_must_name_every_row() -> None:
    """A convexity row without a number is the pricer's fault, and named."""
    master = LinearMaster(["a", "b"], "==", [1.0, 1.0], copies={"a": 1.0, "b": 1.0})
    master.add([Column(np.array([1.0, 0.0]), "x", cost=2.0)])
    master.add([Column(np.array([0.0, 1.0]), "y", cost=2.0)])
    with pytest.raises(BoundError, match=r"leaves out the convexity rows \['b'\]"):
        ColumnGeneration(master, lambda duals: ([], {"a": 0.0}, True)).run()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, r"must return columns, \(columns, bound\).*got None"),
        (Column(np.ones(5), "x"), "got a single Column: put it in a list"),
        (([np.ones(5)], 0.0), "among the columns is a ndarray"),
        (([Column(np.ones(5), ["x"])], 0.0), r"key must be hashable .* got \['x'\]"),
        (([], math.nan), "bound must be a number, a mapping .*, got nan"),
    ],
    ids=["none", "column", "array", "key", "nan"],
)
def test_what_a_pricing_function_may_not_return(answer: Any, message: str) -> None:
    """The error says what it should have been."""
    master = LinearMaster(5, ">=", DEMAND)
    with pytest.raises(ValueError, match=message):
        ColumnGeneration(master, lambda duals: answer).run()


@pytest.mark.parametrize("search", [ColumnGeneration, BranchAndPrice])
def test_a_column_cheaper_than_least_cost_leaves_no_bound(search: Any) -> None:
    """Bounds before it rest on what it refutes: it is raised, and not kept beside them."""
    master = LinearMaster(2, ">=", 1.0, least_cost=4.9)
    columns = [Column(np.eye(2)[k], k, cost=5.0) for k in range(2)]
    master.add(columns)
    columns.append(Column(np.ones(2), "both", cost=1.0))

    def price(duals: Any) -> Any:
        reduced = [column.cost - float(duals @ column.values) for column in columns]
        best = int(np.argmin(reduced))
        return [columns[best]] if reduced[best] < -1e-9 else [], reduced[best]

    with pytest.raises(ValueError, match="'both' costs 1, less than least_cost=4.9") as caught:
        search(master, price).run()
    assert caught.value.refutes_bounds


def test_columns_that_no_convexity_row_counts() -> None:
    """A bound per convexity row would not hold for them."""
    master = LinearMaster(["row", "machines"], [">=", "<="], [1.0, 1.0], copies={"machines": 1.0})

    def price(duals: Any) -> Any:
        forgotten = Column(np.array([1.0, 0.0]), "alone", cost=1.0)
        return [forgotten], {"machines": 1.0 - float(duals[0])}

    with pytest.raises(BoundError, match="'alone', which is in none of the rows of copies"):
        ColumnGeneration(master, price).run()


@pytest.mark.parametrize("options", [{"least_cost": 1.0}, {}])
def test_a_bound_per_row_names_rows_of_the_master(options: dict[str, float]) -> None:
    """Another name, of a block that has no row for example, is the pricer's fault."""
    master = LinearMaster(["a", "b"], "==", [1.0, 1.0], **options)
    master.add([Column(row, k, cost=2.0) for k, row in enumerate(np.eye(2))])
    with pytest.raises(BoundError, match=r"names \['c'\], which are no rows of the master"):
        ColumnGeneration(master, lambda duals: ([], {"a": 0.0, "c": 0.0})).run()
