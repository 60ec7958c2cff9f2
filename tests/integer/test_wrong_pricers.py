"""Pricers that know less than they say, or return no columns: a right answer, or none."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import FunctionPricer
from cgboost.generation.history import StopReason
from cgboost.generation.stabilization import Wentges
from cgboost.integer import Residual, RyanFoster, respects
from cgboost.integer.node_problem import ForbiddenColumnError

from .tree_problems import (
    KINDS,
    ROUNDING,
    Problem,
    bin_packing,
    check,
    cutting_stock,
    generalised_assignment,
    set_covering,
    triangle,
)

Answer = tuple[Any, Any]
Change = Callable[[Any, list[Column], Any], Any]

TWO_KINDS = pytest.mark.parametrize("make", [bin_packing, generalised_assignment])
"""With one bound for all columns, and with one for each block."""

FOUR_KINDS = pytest.mark.parametrize(
    "make", [bin_packing, cutting_stock, generalised_assignment, set_covering]
)


def solved(problem: Problem, change: Change, **options: Any) -> Any:
    """The search with a pricer whose answers are changed; what it says is true."""
    honest = problem.pricer()
    price = respects(*KINDS)(lambda duals: change(duals, *honest(duals)))
    result = problem.search(price, **options).run()
    check(result, problem)
    return result


@FOUR_KINDS
def test_columns_that_the_pricer_does_not_know(make: Callable[[int], Problem]) -> None:
    """Columns that the search begins with count, whatever the pricer says of the others."""
    for seed in range(8):
        problem = make(seed)
        known = np.random.default_rng(seed).random(len(problem.columns)) < 0.5
        master = problem.master()
        master.add([c for c, own in zip(problem.columns, known, strict=True) if not own])
        rest = [c for c, own in zip(problem.columns, known, strict=True) if own]
        smoothing, pricer = Wentges(0.9, decay=1.0), replace(problem, columns=rest).pricer()
        result = BranchAndPrice(master, pricer, heuristics=[], smoothing=smoothing).run()
        optimum = problem.optimum()
        assert (result.tree["global_bound"] <= optimum + ROUNDING).all() or optimum == math.inf
        assert result.objective == pytest.approx(optimum, rel=1e-6)


@FOUR_KINDS
def test_bounds_above_a_column_of_the_master(make: Callable[[int], Problem]) -> None:
    """A pricer that bounds those it has not returned yet: at smoothed duals others are cheaper."""
    for seed in range(8):
        problem, returned = make(seed), set[Any]()
        every = problem.pricer()

        @respects(*KINDS)
        def others(duals: Any) -> Any:
            reduced = every.reduced_costs(duals)  # noqa: B023
            reduced[[c.key in returned for c in every.columns]] = math.inf  # noqa: B023
            best = [j for j in np.argsort(reduced)[:2].tolist() if reduced[j] < -1e-9]
            returned.update(every.columns[j].key for j in best)  # noqa: B023
            return [every.columns[j] for j in best], every.bound(reduced)  # noqa: B023

        smoothing = Wentges(0.9, decay=1.0)
        result = problem.search(others, heuristics=[], smoothing=smoothing).run()
        optimum = problem.optimum()
        assert result.objective == pytest.approx(optimum, rel=1e-6)
        assert result.bound is not None
        assert result.bound <= optimum + ROUNDING or optimum == math.inf


def test_columns_with_one_key_are_refused_in_their_first_answer() -> None:
    """Nothing is priced with them."""
    answers: list[int] = []

    def differing(duals: Any, found: list[Column], bound: Any) -> Any:
        columns = [replace(c, key="same") for c in [*found, *found]]
        answers.append(len(columns))
        return columns

    with pytest.raises(ValueError, match="have the key 'same'"):
        solved(bin_packing(3), differing)
    assert np.count_nonzero(answers) == 1


@TWO_KINDS
def test_pricers_that_find_nothing_new(make: Callable[[int], Problem]) -> None:
    """The same column for ever, or none, with an honest bound or without: nothing is proven."""
    first: list[Column] = []

    def again(duals: Any, found: list[Column], bound: Any) -> Answer:
        first.extend(found[: 1 - len(first)])
        return first, bound

    nothing = "which proves nothing"
    for change, words in (
        (again, "the pricer returned no new column, but its bound says"),
        (lambda duals, found, bound: ([], bound), nothing),
        (lambda duals, found, bound: [], nothing),
    ):
        result = solved(make(3), change)
        assert result.stop_reason is StopReason.NO_COLUMN
        assert words in result.message


def test_a_node_that_is_not_proven_infeasible_is_closed_at_its_bound() -> None:
    """A pricer that finds nothing, with a weak bound, where nodes are infeasible at first."""
    ends = []
    for seed in range(20):
        problem = bin_packing(seed)

        def weak(duals: Any, found: list[Column], bound: Any) -> Answer:
            at_node = duals.restrictions or duals.extra
            in_first_phase = np.abs(duals).max() > 1e4
            return ([] if at_node and in_first_phase else found[:1]), bound

        result = solved(problem, weak, heuristics=[], columns_per_round=1)
        if "unfinished" in result.tree["status"]:
            ends.append((result.stop_reason, "proves nothing" in result.message))
    assert (StopReason.NO_COLUMN, True) in ends
    assert (StopReason.STALLED, False) in ends


@TWO_KINDS
def test_what_a_pricer_is_given_is_its_own(make: Callable[[int], Problem]) -> None:
    """It may overwrite duals and right-hand sides, return a generator, and reuse its arrays."""
    buffer = np.zeros(len(make(3).rows))

    def spoils(duals: Any, found: list[Column], bound: Any) -> Answer:
        duals[:] = 0.0
        duals.rhs[:] = 0.0
        for column in found[:1]:
            buffer[:] = column.values
            found = [replace(column, values=buffer)]
        return (column for column in found), bound

    assert solved(make(3), spoils).stop_reason is StopReason.OPTIMAL

    class Overwrites:
        respects = (*KINDS, Residual)

        def price(self, state: Any, limit: int) -> Any:
            answer = FunctionPricer(problem.pricer()).price(state, limit)
            state.pseudo_response[:] = 0.0
            return answer

    problem = make(3)
    assert problem.search(Overwrites()).run().objective == pytest.approx(problem.optimum())


def test_pricers_without_a_bound() -> None:
    """The search ends with a solution, without a bound, and says that nothing is proven.

    Where a node's rows are not met, the message says what to return.
    """
    problem = replace(bin_packing(3), least_cost=None)
    for change in (
        lambda duals, found, bound: found,
        lambda duals, found, bound: (found, None),
    ):
        result = solved(problem, change)
        assert result.stop_reason is StopReason.NO_COLUMN
        assert result.bound is None
        assert result.gap == math.inf
    few = [column for column in triangle().columns if column.key in ("ab", "b")]
    result = solved(replace(triangle(), columns=few), lambda duals, found, bound: found)
    assert result.stop_reason is StopReason.NO_COLUMN
    assert "meet the rows of node 0" in result.message
    assert "return (columns, bound)" in result.message


def test_forbidden_columns() -> None:
    """A column that a node forbids ends the search, with both names."""
    problem = triangle()
    columns = list(problem.columns)

    @respects(*KINDS)
    def ignorant(duals: Any) -> Any:
        return columns, min(column.cost - float(duals @ column.values) for column in columns)

    result = problem.search(ignorant, branching=RyanFoster(), heuristics=[]).run()
    assert result.stop_reason is StopReason.PRICER_FAILED
    assert isinstance(result.error, ForbiddenColumnError)
    assert "forbids at this node" in result.message
    check(result, problem)
