"""Pricers that lie, or return no columns: refused with names and values, or a right answer."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import FunctionPricer
from cgboost.generation.history import StopReason
from cgboost.generation.stabilization import Wentges
from cgboost.integer import BranchAndPriceResult, Residual, respects

from .tree_problems import (
    KINDS,
    ROUNDING,
    Problem,
    bin_packing,
    colouring,
    cutting_stock,
    generalised_assignment,
)

PROBLEMS = pytest.mark.parametrize("make", [bin_packing, generalised_assignment])
"""With one bound for all columns, and with one for each block."""

SEED = 3

Answer = tuple[list[Column], Any]


def solved(problem: Problem, change: Callable[[Any, list[Column], Any], Any]) -> Any:
    """The search with a pricer whose answers are changed."""
    honest = problem.pricer()

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        return change(duals, *honest(duals))

    return problem.search(price).run()


def check_true(result: BranchAndPriceResult, problem: Problem) -> None:
    """Bound ≤ optimum ≤ objective, and no infeasible problem where there is a solution."""
    optimum = problem.optimum()
    assert result.bound is None or result.bound <= optimum + ROUNDING
    assert result.objective >= optimum - ROUNDING
    assert result.stop_reason is not StopReason.INFEASIBLE


@PROBLEMS
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": np.full(1, 2.0)}, r"has shape \(1,\), the master has"),
        ({"values": [1.0]}, "has a list of values, no array"),
        ({"values": np.array(["a"] * 9)}, "numbers for its values.*type <U1"),
        ({"cost": math.nan}, "has the cost nan, which is not finite"),
        ({"cost": "3"}, "the cost '3'"),
        ({"upper": -1.0}, "has the upper bound -1.0"),
        ({"upper": math.nan}, "has the upper bound nan"),
        ({"variables": {"z": math.nan}}, "has the amount nan of the variable 'z'"),
        ({"variables": {"z": "many"}}, "mapping of names to numbers.*'many'"),
        ({"variables": ["z"]}, r"mapping of names to numbers.*\['z'\]"),
        ({"key": [1]}, r"key must be hashable.*\[1\]"),
        ({"key": ([1],)}, r"key must be hashable.*\(\[1\],\)"),
        ({"block": [1]}, r"block must be hashable.*\[1\]"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_columns_that_are_none(
    make: Callable[[int], Problem], change: dict[str, Any], words: str
) -> None:
    """The key of the column and what is wrong with it."""
    problem = make(SEED)
    change = dict(change)
    if isinstance(change.get("values"), np.ndarray) and change["values"].dtype.kind == "U":
        change["values"] = change["values"][:1].repeat(len(problem.rows))
    with pytest.raises(ValueError, match=words):
        solved(problem, lambda duals, found, bound: ([replace(c, **change) for c in found], bound))


@PROBLEMS
def test_values_that_are_not_finite(make: Callable[[int], Problem]) -> None:
    """The row is named."""

    def spoiled(duals: Any, found: list[Column], bound: Any) -> Answer:
        columns = [replace(column, values=column.values.copy()) for column in found]
        for column in columns:
            column.values[2] = math.nan
        return columns, bound

    with pytest.raises(ValueError, match=r"column .* has the value nan in row 2"):
        solved(make(SEED), spoiled)


def of_bound(bound: Any, change: Callable[[float], Any]) -> Any:
    """The bound, or that of each block, changed."""
    if isinstance(bound, Mapping):
        return {row: change(value) for row, value in bound.items()}
    return change(bound)


@PROBLEMS
@pytest.mark.parametrize("value", [math.nan, None, "zero", 1j, np.zeros(2)], ids=str)
def test_bounds_that_are_no_numbers(make: Callable[[int], Problem], value: Any) -> None:
    """What was returned is shown; None alone says that nothing is known."""

    def change(duals: Any, found: list[Column], bound: Any) -> Answer:
        return found, of_bound(bound, lambda _: value)

    problem = make(SEED)
    if value is None and not isinstance(problem.copies, Mapping):
        result = solved(problem, change)
        assert result.bound is None
        check_true(result, problem)
        return
    with pytest.raises(ValueError, match="bound must be a number, a mapping"):
        solved(problem, change)


@PROBLEMS
@pytest.mark.parametrize("more", [0.5, math.inf])
def test_bounds_above_a_column_of_the_same_answer(
    make: Callable[[int], Problem], more: float
) -> None:
    """The column is named, with its reduced cost."""
    with pytest.raises(BoundError, match="no reduced cost is below .* but its column .* has"):
        solved(
            make(SEED),
            lambda duals, found, bound: (
                found,
                of_bound(bound, lambda v: v + more * max(1, abs(v))),
            ),
        )


@pytest.mark.parametrize("make", [bin_packing, cutting_stock, generalised_assignment, colouring])
def test_columns_that_the_pricer_does_not_know(make: Callable[[int], Problem]) -> None:
    """Columns that the search begins with count, whatever the pricer says of the others."""
    for seed in range(12):
        problem = make(seed)
        optimum = problem.optimum()
        known = np.random.default_rng(seed).random(len(problem.columns)) < 0.5
        every = list(problem.columns)
        problem.columns = [c for c, own in zip(every, known, strict=True) if own]
        master = problem.master()
        master.add([c for c, own in zip(every, known, strict=True) if not own])
        result = BranchAndPrice(
            master, problem.pricer(), heuristics=[], smoothing=Wentges(0.9, decay=1.0)
        ).run()
        assert (result.tree["global_bound"] <= optimum + ROUNDING).all() or optimum == math.inf
        assert result.objective == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("make", [bin_packing, cutting_stock, generalised_assignment, colouring])
def test_bounds_above_a_column_of_the_master(make: Callable[[int], Problem]) -> None:
    """A pricer that bounds those it has not returned yet: at smoothed duals others are cheaper."""
    for seed in range(8):
        problem, returned = make(seed), set[Any]()

        @respects(*KINDS)
        def others(duals: Any) -> Any:
            new = [each for each in problem.reduced_costs(duals) if each[1].key not in returned]  # noqa: B023
            found = [column for reduced, column in new[:2] if reduced < -1e-9]
            returned.update(column.key for column in found)  # noqa: B023
            return found, problem.bound_of(new)  # noqa: B023

        smoothing = Wentges(0.9, decay=1.0)
        result = problem.search(others, heuristics=[], smoothing=smoothing).run()
        optimum = problem.optimum()
        assert result.objective == pytest.approx(optimum, rel=1e-6)
        assert result.bound is not None
        assert result.bound <= optimum + ROUNDING or optimum == math.inf


@PROBLEMS
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda column, k: {"key": "same"}, "have the key 'same': the first had"),
        (lambda column, k: {"cost": column.cost + k}, "the first had the cost .*, now"),
        (
            lambda column, k: {"values": column.values * k, "key": column.key},
            "the first had the value .* in row .*, now",
        ),
        (lambda column, k: {"block": k}, "the first had block=.* now block="),
        (lambda column, k: {"integer": k % 2 == 1}, "the first had .*integer="),
    ],
    ids=["one key", "cost", "values", "block", "integer"],
)
def test_two_columns_with_one_key(make: Callable[[int], Problem], change: Any, words: str) -> None:
    """Both are shown where they differ."""
    answers: list[int] = []

    def differing(duals: Any, found: list[Column], bound: Any) -> Any:
        columns = [replace(c, **change(c, 1 + i)) for i, c in enumerate([*found, *found])]
        answers.append(len(columns))
        return columns

    with pytest.raises(ValueError, match=words):
        solved(make(SEED), differing)
    assert np.count_nonzero(answers) == 1


@PROBLEMS
def test_the_same_column_for_ever(make: Callable[[int], Problem]) -> None:
    """It is no proof that there are no others where the bound says that there may be."""
    problem = make(SEED)
    first: list[Column] = []

    def again(duals: Any, found: list[Column], bound: Any) -> Answer:
        first.extend(found[: 1 - len(first)])
        return first, bound

    result = solved(problem, again)
    check_true(result, problem)
    assert result.stop_reason is StopReason.NO_COLUMN
    assert "the pricer returned no new column, but its bound says" in result.message


@PROBLEMS
def test_nothing_is_ever_found(make: Callable[[int], Problem]) -> None:
    """With an honest bound, or without one, nothing is called infeasible."""
    problem = make(SEED)
    for answer in (lambda bound: ([], bound), lambda bound: []):
        result = solved(problem, lambda duals, found, bound: answer(bound))  # noqa: B023
        check_true(result, problem)
        assert result.stop_reason is StopReason.NO_COLUMN
        assert "which proves nothing" in result.message


def test_a_node_that_is_not_proven_infeasible_is_closed_at_its_bound() -> None:
    """A pricer that finds nothing, with a weak bound, where nodes are infeasible at first."""
    ends = []
    for seed in range(20):
        problem = bin_packing(seed)
        honest = problem.pricer(most=1)

        @respects(*KINDS)
        def weak(duals: Any) -> Any:
            found, bound = honest(duals)  # noqa: B023
            at_node = duals.restrictions or duals.extra
            in_first_phase = np.abs(duals).max() > 1e4
            return ([] if at_node and in_first_phase else found), bound

        result = problem.search(weak, heuristics=[], columns_per_round=1).run()
        check_true(result, problem)
        if "unfinished" in result.tree["status"]:
            ends.append((result.stop_reason, "proves nothing" in result.message))
    assert (StopReason.NO_COLUMN, True) in ends
    assert (StopReason.STALLED, False) in ends


@PROBLEMS
def test_generators_are_lists(make: Callable[[int], Problem]) -> None:
    """Columns may come from a generator."""
    problem = make(SEED)
    result = solved(problem, lambda duals, found, bound: ((c for c in found), bound))
    assert result.objective == pytest.approx(problem.optimum())
    with pytest.raises(ValueError, match="among the columns is a tuple"):
        solved(problem, lambda duals, found, bound: iter([(found, bound)]))


@PROBLEMS
def test_what_a_pricer_is_given_is_its_own(make: Callable[[int], Problem]) -> None:
    """It may overwrite duals and right-hand sides, and go on with its arrays."""
    problem, buffer = make(SEED), np.zeros(len(make(SEED).rows))

    def spoils(duals: Any, found: list[Column], bound: Any) -> Answer:
        duals[:] = 0.0
        duals.rhs[:] = 0.0
        for column in found[:1]:
            buffer[:] = column.values
            found = [replace(column, values=buffer)]
        return found, bound

    assert solved(problem, spoils).objective == pytest.approx(problem.optimum())

    class Overwrites:
        respects = (*KINDS, Residual)

        def price(self, state: Any, limit: int) -> Any:
            answer = FunctionPricer(problem.pricer()).price(state, limit)
            state.pseudo_response[:] = 0.0
            return answer

    problem = make(SEED)
    assert problem.search(Overwrites()).run().objective == pytest.approx(problem.optimum())


def test_pricers_that_are_none() -> None:
    """What they return, or say that they respect, is shown."""

    class Lists:
        respects = KINDS

        def price(self, state: Any, limit: int) -> Any:
            return ["column"]

    with pytest.raises(TypeError, match=r"Lists.price must return a Priced, got \['column'\]"):
        bin_packing(SEED).search(Lists()).run()
    Lists.respects = "Together"  # type: ignore[assignment]
    with pytest.raises(TypeError, match="respects must name kinds of decisions.*'Together'"):
        bin_packing(SEED).search(Lists())
    with pytest.raises(TypeError, match="respects must name kinds of decisions"):
        respects("Together")  # type: ignore[arg-type]
