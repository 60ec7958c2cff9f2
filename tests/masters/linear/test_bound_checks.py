"""A bound that rests on something false is found out where the run can see it."""

import math
from collections.abc import Callable
from itertools import product
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
PATTERNS = [
    np.array(pattern, dtype=float)
    for pattern in product(*(range(CAPACITY // width + 1) for width in WIDTHS))
    if np.dot(pattern, WIDTHS) <= CAPACITY
]


def best_pattern(values: np.ndarray) -> np.ndarray:
    """The most valuable pattern, by enumeration of what fits."""
    return max(PATTERNS, key=lambda pattern: float(pattern @ values))


def run(claim: Callable[[float], Any], **master: Any) -> Result:
    """Cutting stock whose pricer says ``claim(least reduced cost)``."""

    def price(duals: Duals) -> Any:
        pattern = best_pattern(np.asarray(duals))
        least = 1.0 - float(pattern @ duals)
        column = Column(pattern, key=tuple(pattern), cost=1.0)
        return ([column] if least < -1e-9 else []), claim(least)

    linear = LinearMaster(WIDTHS, ">=", DEMAND, **master)
    singles = np.diag([float(CAPACITY // width) for width in WIDTHS])
    linear.add([Column(row, ("single", i), cost=1.0) for i, row in enumerate(singles)])
    return ColumnGeneration(linear, price, tol=1e-9).run()


@pytest.mark.parametrize("options", [{"least_cost": 1.0}, {"copies": 100.0}], ids=str)
def test_the_truth_is_certified_and_what_is_false_refuted(options: dict[str, float]) -> None:
    """By either bound; a wrong sign, a flat 0, half the truth: the first answer gives it away."""
    result = run(lambda least: least, **options)
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    assert result.objective == pytest.approx(33.642857, abs=1e-6)
    for claim in (lambda least: -least, lambda least: 0.0, lambda least: 0.5 * least):
        with pytest.raises(BoundError, match=r"no reduced cost is below .* has the reduced cost"):
            run(claim, **options)


def test_a_master_that_was_told_something_false() -> None:
    """Columns cost at least 2 while one costs 1; a solution of more columns than copies says."""
    with pytest.raises(ValueError, match=r"costs 1, less than least_cost=2"):
        run(lambda least: least, least_cost=2.0)
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
        pattern = best_pattern(np.asarray(duals))
        return [Column(pattern, key=tuple(pattern), cost=1.0)], None

    master = LinearMaster(WIDTHS, ">=", DEMAND, least_cost=1.0)
    master.add(
        [Column(row, ("one", k), cost=1.0) for k, row in enumerate(np.diag([7.0, 4, 3, 2, 2]))]
    )
    result = ColumnGeneration(master, price, tol=0.0).run()
    assert result.stop_reason is StopReason.INVALID_BOUND
    assert "above the objective" in result.message
    assert result.bound is None


FORGOTTEN = Column(np.array([1.0, 0.0]), "alone", cost=1.0)
EACH = {"copies": {"a": 1.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("options", "answer", "words"),
    [
        (EACH, ([], {"a": 0.0}, True), r"leaves out the convexity rows \['b'\]"),
        (EACH | {"copies": {"b": 1.0}}, ([FORGOTTEN], {"b": 1.0}), "'alone', which is in none of"),
        ({"least_cost": 1.0}, ([], {"a": 0.0, "c": 0.0}), r"names \['c'\], which are no rows"),
        ({}, ([], {"a": 0.0, "c": 0.0}), r"names \['c'\], which are no rows of the master"),
        ({}, None, r"must return columns, \(columns, bound\).*got None"),
        ({}, Column(np.ones(2), "x"), "got a single Column: put it in a list"),
        ({}, ([np.ones(2)], 0.0), "among the columns is a ndarray"),
        ({}, ([Column(np.ones(2), ["x"])], 0.0), r"key must be hashable .* got \['x'\]"),
        ({}, ([], math.nan), "bound must be a number, a mapping .*, got nan"),
    ],
    ids=range(9),
)
def test_what_a_pricing_function_may_not_return(
    options: dict[str, Any], answer: Any, words: str
) -> None:
    """A bound that misses a row, names none, or forgets a column; and what is no answer at all."""
    master = LinearMaster(["a", "b"], "==", [1.0, 1.0], **options)
    if not (isinstance(answer, tuple) and any(own is FORGOTTEN for own in answer[0])):
        master.add([Column(row, k, cost=2.0) for k, row in enumerate(np.eye(2))])
    with pytest.raises((BoundError, ValueError), match=words):
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
