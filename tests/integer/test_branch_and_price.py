"""Searches that end early, false claims, and wrong input."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import BoundError, MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import (
    Apart,
    Branch,
    BranchAndPriceResult,
    BranchingError,
    CountRow,
    RyanFoster,
    Together,
    VariableBranching,
    respects,
)
from cgboost.integer.node_problem import ForbiddenColumnError
from cgboost.integer.search import ObjectiveStepError
from cgboost.masters import LinearMaster, Subgradient

from .tree_problems import KINDS, ROUNDING, Problem, bin_packing, cutting_stock, fixed_charge

SEED = 3
"""A packing whose tree has several nodes."""


def triangle() -> Problem:
    """Three rows and the pairs of them: the relaxation takes a half of each."""
    columns = [
        Column(np.array(values, dtype=float), name, cost=cost)
        for name, values, cost in [
            ("ab", (1, 1, 0), 2.0),
            ("bc", (0, 1, 1), 2.0),
            ("ac", (1, 0, 1), 2.0),
            ("a", (1, 0, 0), 2.0),
            ("b", (0, 1, 0), 2.0),
            ("c", (0, 0, 1), 2.0),
        ]
    ]
    return Problem("abc", "==", [1.0, 1.0, 1.0], columns, least_cost=2.0)


def failing(problem: Problem, calls: int, error: BaseException) -> Callable[[Any], Any]:
    """A pricer that raises after so many calls."""
    honest, left = problem.pricer(), [calls]

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return honest(duals)

    return price


def check_stopped(result: BranchAndPriceResult, problem: Problem) -> None:
    """What is proven is true, and the solution is one."""
    optimum = problem.optimum()
    assert result.bound is None or result.bound <= optimum + ROUNDING
    assert result.objective >= optimum - ROUNDING
    assert result.message
    if math.isfinite(result.objective):
        assert problem.solves(result)


@pytest.mark.parametrize("heuristics", [[], "auto"])
@pytest.mark.parametrize("make", [bin_packing, cutting_stock, fixed_charge])
def test_max_nodes(make: Callable[[int], Problem], heuristics: Any) -> None:
    """A search of few nodes has a bound, and says why it ended."""
    problem = make(SEED)
    rules = [VariableBranching(integer=[("open", k) for k in range(3)])]
    options = {"branching": rules} if make is fixed_charge else {}
    for most in range(4):
        result = problem.search(heuristics=heuristics, **options).run(max_nodes=most)
        assert result.n_nodes <= most
        check_stopped(result, problem)
        done = (StopReason.OPTIMAL, StopReason.GAP)
        assert result.stop_reason is StopReason.MAX_NODES or result.stop_reason in done
        assert most == 0 or result.bound is not None


def test_callback() -> None:
    """A callback sees every node, and a true answer ends the search."""
    problem, seen = cutting_stock(SEED), []

    def enough(state: Any) -> bool:
        seen.append(state)
        return state.n_nodes == 2

    result = problem.search(heuristics=[], callbacks=[enough]).run()
    assert result.stop_reason is StopReason.CALLBACK
    assert [state.n_nodes for state in seen] == [1, 2]
    assert seen[-1].bound == result.bound
    check_stopped(result, problem)


@pytest.mark.parametrize("seconds", [0.0, 1e-4, 1e-2])
def test_time_limit(seconds: float) -> None:
    """Whatever was reached in the time, bounds are true."""
    problem = cutting_stock(SEED)
    result = problem.search().run(time_limit=seconds)
    check_stopped(result, problem)
    assert seconds > 0 or result.stop_reason is StopReason.TIME


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), MasterError("late", timed_out=True)])
def test_stop_within_the_root(stop: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node that was being solved is in the table, with its bound; the words claim no more."""
    problem = cutting_stock(SEED)

    def heuristic(*_: Any) -> None:
        raise stop

    result = problem.search(heuristics=[heuristic]).run()
    late = isinstance(stop, MasterError)
    assert result.stop_reason is (StopReason.TIME if late else StopReason.INTERRUPTED)
    assert result.message.endswith("before a solution was found")
    assert result.error is None
    assert result.n_nodes == 1
    assert result.tree["status"].tolist() == ["unfinished"]
    assert result.tree["bound"].tolist() == [result.bound]
    assert result.seconds >= result.tree["seconds"][0] > 0
    assert f"seconds      {result.seconds:.3f}" in result.summary()
    check_stopped(result, problem)


def test_table_of_a_search_without_a_node() -> None:
    """Its columns are empty, and of their kinds."""
    tree = cutting_stock(SEED).search().run(max_nodes=0).tree
    assert {len(own) for own in tree.values()} == {0}
    assert tree["status"].dtype.kind == "U"
    assert tree["node"].dtype.kind == "i"


def test_a_gap_is_said_as_it_is() -> None:
    """A search that ends with a gap does not claim that all nodes are done."""
    problem = cutting_stock(SEED)
    problem.step = None
    wide = next(
        result
        for gap in (0.05, 0.1, 0.2, 0.4)
        if (result := problem.search().run(gap=gap)).gap > 1e-6
    )
    assert wide.stop_reason is StopReason.GAP
    assert wide.message == f"relative gap {wide.gap:.1e}: no solution is better by more"
    check_stopped(wide, problem)


def test_a_gap_of_rounding_is_none() -> None:
    """Without objective_step a bound with the rounding errors of its duals proves an optimum."""
    gaps = []
    for seed in range(6):
        problem = bin_packing(seed)
        problem.step, problem.least_cost = None, 1.0
        problem.columns = [replace(c, cost=c.cost / 3.0) for c in problem.columns]
        result = problem.search().run(gap=0)
        assert result.stop_reason is StopReason.OPTIMAL
        assert type(result.bound) is float
        gaps.append(result.gap)
    assert 0 < max(gaps) <= 1e-9


def test_a_forgotten_bound_is_asked_for() -> None:
    """Where a node's rows are not met, the message says what to return."""
    problem = triangle()
    problem.columns = [column for column in problem.columns if column.key in ("ab", "b")]
    honest = problem.pricer()
    result = problem.search(respects(*KINDS)(lambda duals: honest(duals)[0])).run()
    assert result.stop_reason is StopReason.NO_COLUMN
    assert "meet the rows of node 0" in result.message
    assert "return (columns, bound)" in result.message


@pytest.mark.parametrize("heuristics", [[], "auto"])
@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), KeyboardInterrupt()])
def test_failing_pricer(error: BaseException, heuristics: Any) -> None:
    """What a pricer raises, at any call, is passed on or ends the search with what is proven."""
    problem = cutting_stock(SEED)
    interrupted = isinstance(error, KeyboardInterrupt)
    reasons = []
    for calls in range(30):
        try:
            pricer = failing(problem, calls, error)
            result = problem.search(pricer, heuristics=heuristics).run()
        except type(error):
            reasons.append(None)
            continue
        check_stopped(result, problem)
        reasons.append(result.stop_reason)
        if result.stop_reason is StopReason.PRICER_FAILED:
            assert result.error is error
            assert "oh" in result.message
    wanted = StopReason.INTERRUPTED if interrupted else StopReason.PRICER_FAILED
    assert wanted in reasons
    assert reasons[0] is None
    assert set(reasons) <= {None, wanted, StopReason.OPTIMAL, StopReason.GAP}


def test_claim_above_a_column() -> None:
    """A bound that a column of the same answer refutes raises a BoundError."""
    problem = bin_packing(SEED)
    honest = problem.pricer()
    liar = respects(*KINDS)(lambda duals: (honest(duals)[0], 0.0))
    with pytest.raises(BoundError, match="the pricer says that no reduced cost is below 0"):
        problem.search(liar).run()


def test_rule_that_loses_solutions() -> None:
    """Children without the best solution are refused, as their bounds are above its cost."""

    class Loses:
        makes = (CountRow,)

        def branches(self, solution: Any, most: int) -> list[Branch]:
            rows = (CountRow("<=", 0.0), CountRow("<=", 1.0))
            return [Branch("count", 0.5, tuple((row,) for row in rows))]

    problem = triangle()
    start = [column for column in problem.columns if column.key in ("ab", "c")]
    assert problem.search(start=start).run().objective == 4.0
    with pytest.raises(BoundError, match="a branching rule or a cut has cut off solutions"):
        problem.search(branching=Loses(), start=start, heuristics=[]).run()


def test_forbidden_column() -> None:
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
    check_stopped(result, problem)


def test_infeasible_relaxation() -> None:
    """Rows that no columns meet: no solution, and the rows are named."""
    problem = triangle()
    problem.columns = [column for column in problem.columns if column.key in ("ab", "b")]
    result = problem.search().run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert result.objective == math.inf
    assert result.bound is not None
    assert result.bound >= 1e6
    assert "'c' (by 1)" in result.message
    assert "any solution costs at least" in result.message
    assert result.message.endswith("explain branch-and-price)")
    assert result.columns == ()


def test_columns_of_very_different_cost() -> None:
    """A column of 10⁹ times the cost of the others is not found, but what is claimed is true."""
    problem = triangle()
    problem.columns[3] = replace(problem.columns[3], cost=2e9)
    del problem.columns[4:]
    result = problem.search().run()
    assert problem.optimum() == pytest.approx(2e9 + 2)
    assert result.bound is not None
    assert result.bound <= problem.optimum()
    assert "or costs at least 1e+06" in result.message


@pytest.mark.parametrize("heuristics", [[], "auto"])
def test_infeasible_in_integers(heuristics: Any) -> None:
    """A feasible relaxation without integer solution: every leaf is infeasible."""
    problem = triangle()
    problem.columns = problem.columns[:3]
    assert math.isfinite(problem.optimum(integer=False))
    assert problem.optimum() == math.inf
    result = problem.search(heuristics=heuristics).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert result.message == "no integer solution exists, or costs at least 1e+06"
    assert result.tree["status"].tolist()[0] == "branched"
    assert set(result.tree["status"].tolist()[1:]) <= {"branched", "infeasible"}


def test_wrong_objective_step() -> None:
    """A step that does not divide the cost of a solution is refused, with the column's name."""
    with pytest.raises(ObjectiveStepError, match="no multiple of objective_step=3"):
        triangle().search(objective_step=3.0).run()


def test_rule_that_the_pricer_does_not_respect() -> None:
    """Refused before anything is computed; "auto" takes the others."""
    problem = triangle()
    pairs = problem.pricer(kinds=(Together, Apart))
    with pytest.raises(BranchingError, match="VariableBound, VariableRow.*names Together, Apart"):
        problem.search(pairs, branching=VariableBranching())
    assert problem.search(pairs).run().objective == 4.0


def test_nothing_to_branch_with() -> None:
    """Where no rule is left at a fractional node the search says so, with a bound."""
    problem = triangle()
    result = problem.search(problem.pricer(kinds=()), heuristics=[]).run()
    assert result.stop_reason is StopReason.NO_BRANCHING
    assert result.bound == pytest.approx(3.0)
    check_stopped(result, problem)


def test_start() -> None:
    """A start is the incumbent from the beginning; one that misses rows is refused."""
    problem = triangle()
    own = {column.key: column for column in problem.columns}
    result = problem.search(start=[own["ab"], own["c"]], heuristics=[]).run(max_nodes=1)
    assert result.tree["incumbent"][0] == 4.0
    with pytest.raises(ValueError, match="start is no solution"):
        problem.search(start=[own["ab"]]).run()
    with pytest.raises(ValueError, match="has shape"):
        problem.search(start=[Column(np.ones(2), "short", cost=2.0)]).run()


def test_pricer_without_a_bound() -> None:
    """The search ends with a solution, without a bound, and says that nothing is proven."""
    problem = bin_packing(SEED)
    honest = problem.pricer()
    problem.least_cost = None
    result = problem.search(respects(*KINDS)(lambda duals: honest(duals)[0])).run()
    assert result.stop_reason is StopReason.NO_COLUMN
    assert result.bound is None
    assert result.gap == math.inf
    check_stopped(result, problem)


def test_gap_of_zero() -> None:
    """A whole relaxation ends a node even where its bound has rounding errors."""
    rule = VariableBranching(integer=[("open", k) for k in range(3)])
    for seed in range(4):
        problem = fixed_charge(seed)
        result = problem.search(branching=rule).run(gap=0)
        assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
        assert result.objective == pytest.approx(problem.optimum(), rel=1e-6)


def test_same_tree_twice() -> None:
    """Two runs, of one object or of two, have the same tree but for its seconds."""
    search = cutting_stock(SEED).search()
    trees = [search.run().tree, search.run().tree, cutting_stock(SEED).search().run().tree]
    assert len(trees[0]["node"]) > 1
    for tree in trees[1:]:
        for name in set(tree) - {"seconds"}:
            np.testing.assert_array_equal(tree[name], trees[0][name])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objective_step": 0.0}, "objective_step must be positive"),
        ({"columns_per_round": 0}, "columns_per_round must be a whole number"),
        ({"branching": "best"}, "branching must be rules"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str) -> None:
    """Options are checked at once."""
    with pytest.raises(ValueError, match=words):
        triangle().search(**options)


def test_wrong_master_and_gap() -> None:
    """Only a linear master has integer columns; a gap is not negative."""
    with pytest.raises(TypeError, match="LinearMaster"):
        BranchAndPrice(None, triangle().pricer())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gap must be a number of at least 0, got -1.0"):
        triangle().search().run(gap=-1.0)


def test_a_subgradient_method_begins_where_rows_are_many() -> None:
    """From a hundred rows on, and four for each block; or as it is asked for."""
    for n_rows, n_blocks, begins in ((99, 5, False), (100, 5, True), (120, 40, False)):
        blocks = dict.fromkeys(range(n_blocks), 1.0)
        master = LinearMaster(n_rows, "==", 1.0, copies=blocks)
        auto = BranchAndPrice(master, lambda duals: []).options.subgradient
        assert (auto is not None) == begins
        asked = BranchAndPrice(master, lambda duals: [], subgradient=Subgradient(7)).options
        assert asked.subgradient is not None
        assert asked.subgradient.max_steps == 7
        assert (
            BranchAndPrice(master, lambda duals: [], subgradient=None).options.subgradient is None
        )
    with pytest.raises(ValueError, match="an object, None or \"auto\", got 'no'"):
        BranchAndPrice(master, lambda duals: [], subgradient="no")


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e6])
@pytest.mark.parametrize("make", [bin_packing, fixed_charge])
def test_costs_of_any_size_have_the_same_tree(make: Callable[[int], Problem], unit: float) -> None:
    """The integer optimum is the unit times that of costs near 1, with its gap closed."""
    problem = make(3)
    scaled = replace(
        problem,
        columns=[replace(c, cost=unit * c.cost) for c in problem.columns],
        least_cost=None if problem.least_cost is None else unit * problem.least_cost,
        step=None if problem.step is None else unit * problem.step,
    )

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        found = scaled.reduced_costs(duals)
        return [c for r, c in found if r < -1e-9 * unit][:3], scaled.bound_of(found)

    result = scaled.search(price).run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective / unit == pytest.approx(problem.optimum(), rel=1e-6)
    assert result.gap <= 1e-6


@pytest.mark.parametrize("copies", [None, 2.0])
def test_a_whole_column_uses_the_whole_part_of_its_upper_bound(copies: float | None) -> None:
    """With the upper bound 1.5 it is used once, by the relaxation of the tree too."""

    def price(duals: Any) -> tuple[list[Column], float]:
        if "one" in duals.capped:
            return [], 0.0
        return [Column(np.ones(1), "one", cost=-1.0, upper=1.5)], -1.0 - float(duals[0])

    result = BranchAndPrice(LinearMaster(["r"], ">=", [1], copies=copies), price).run()
    assert result.objective == pytest.approx(-1.0)
    assert result.bound == pytest.approx(-1.0)
    assert result.stop_reason == "optimal"
