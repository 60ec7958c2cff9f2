"""What a search says of its end: gaps, infeasible problems, starts, units and the table."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import (
    Branch,
    ComponentBranching,
    CountBranching,
    CountRow,
    RestrictedMaster,
    RyanFoster,
    SetBranching,
    SubsetRow,
    Together,
    VariableBranching,
    VariableFixing,
)
from cgboost.integer.branching.decisions import Apart
from cgboost.masters import LinearMaster, Subgradient
from cgboost.parallel import ThreadExecutor

from .tree_problems import (
    PROVEN,
    Problem,
    bin_packing,
    check,
    cutting_stock,
    fixed_charge,
    generalised_assignment,
    triangle,
)

SEED = 3
"""A packing whose tree has several nodes."""

OPEN = VariableBranching(integer=[("open", k) for k in range(3)])


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
    check(result, problem)


def test_the_table_and_the_summary() -> None:
    """One entry for each node in every column; the root's bound is that of its relaxation.

    The original variables of an assignment give every job to one agent.
    """
    problem = replace(generalised_assignment(1), step=None)
    result = problem.search(branching=RyanFoster()).run()
    assert sorted(job for _, job in result.variables) == list(range(6))
    assert set(result.variables.values()) == {1.0}
    assert {len(own) for own in result.tree.values()} == {result.n_nodes}
    assert abs(result.tree["bound"][0] - problem.optimum(integer=False)) < 1e-4
    for line in (
        f"objective    {result.objective:.8g}",
        f"lower bound  {result.bound:.8g}",
        f"nodes        {result.n_nodes}",
        f"stopped      {result.stop_reason}: {result.message}",
    ):
        assert line in result.summary()
    tree = {name: np.tile(own, 1000) for name, own in result.tree.items()}
    large = replace(
        result, columns=1000 * result.columns, coef=np.tile(result.coef, 1000), tree=tree
    )
    assert repr(large) == repr(result)
    assert f"objective={result.objective!r}" in repr(result)
    assert len(repr(result)) < 500


def test_the_table_and_the_summary_of_a_search_without_a_node() -> None:
    """Columns are empty, and of their kinds."""
    result = cutting_stock(SEED).search().run(max_nodes=0)
    assert {len(own) for own in result.tree.values()} == {0}
    assert result.tree["status"].dtype.kind == "U"
    assert result.tree["node"].dtype.kind == "i"
    assert "lower bound  none" in result.summary()
    assert "objective    inf" in result.summary()


def test_a_gap_is_said_as_it_is() -> None:
    """A search that ends with a gap does not claim that all nodes are done."""
    problem = replace(cutting_stock(SEED), step=None)
    wide = next(
        result
        for gap in (0.05, 0.1, 0.2, 0.4)
        if (result := problem.search().run(gap=gap)).gap > 1e-6
    )
    assert wide.stop_reason is StopReason.GAP
    assert wide.message == f"relative gap {wide.gap:.1e}: no solution is better by more"
    assert wide.objective >= problem.optimum() - 1e-6 >= wide.bound - 2e-6
    problem.check(wide)


def test_a_gap_of_rounding_is_none() -> None:
    """Without objective_step a bound with the rounding errors of its duals proves an optimum."""
    gaps = []
    for seed in range(6):
        problem = replace(bin_packing(seed), step=None, least_cost=1.0)
        problem.columns = [replace(c, cost=c.cost / 3.0) for c in problem.columns]
        result = problem.search().run(gap=0)
        assert result.stop_reason is StopReason.OPTIMAL
        assert type(result.bound) is float
        gaps.append(result.gap)
    assert 0 < max(gaps) <= 1e-9
    for seed in range(4):  # a whole relaxation ends a node, rounding or not
        problem = fixed_charge(seed)
        result = problem.search(branching=OPEN).run(gap=0)
        check(result, problem)
        assert result.stop_reason in PROVEN


def test_rule_that_loses_solutions() -> None:
    """Children without the best solution are refused, as their bounds are above its cost.

    That solution was given: a start is the incumbent from the beginning.
    """

    class Loses:
        makes = (CountRow,)

        def branches(self, solution: Any, most: int) -> list[Branch]:
            rows = (CountRow("<=", 0.0), CountRow("<=", 1.0))
            return [Branch("count", 0.5, tuple((row,) for row in rows))]

    problem = triangle()
    start = [column for column in problem.columns if column.key in ("ab", "c")]
    result = problem.search(start=start, heuristics=[]).run(max_nodes=1)
    assert result.tree["incumbent"][0] == 4.0
    with pytest.raises(BoundError, match="a branching rule or a cut has cut off solutions"):
        problem.search(branching=Loses(), start=start, heuristics=[]).run()


FEW = [column for column in triangle().columns if column.key in ("ab", "b")]
DEAR = [*triangle().columns[:3], replace(triangle().columns[3], cost=2e9)]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (FEW, r"the rows 'c' \(by 1\);.*any solution costs at least .*explain branch-and-price\)$"),
        (triangle().columns[:3], r"^no integer solution exists, or costs at least 1e\+06$"),
        (DEAR, r"or costs at least 1e\+06"),
    ],
    ids=["relaxation", "in integers", "but for a column of 1e9 times the cost"],
)
@pytest.mark.parametrize("options", [{"heuristics": []}, {}], ids=["alone", "heuristics"])
def test_infeasible_problems(columns: Any, words: str, options: dict[str, Any]) -> None:
    """No solution is found, what is claimed is true; rows that nothing meets are named alone."""
    problem = replace(triangle(), columns=columns)
    result = problem.search(**options).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert (result.objective, result.columns) == (math.inf, ())
    assert result.bound is not None
    assert 1e6 <= result.bound <= problem.optimum()
    assert re.search(words, result.message), result.message
    relaxation = problem.optimum(integer=False)
    assert set(result.tree["status"].tolist()[math.isfinite(relaxation) :]) <= {
        "branched",
        "infeasible",
    }
    if columns is FEW:
        blocks = replace(problem, copies=5.0).search(**options).run()
        assert "the rows 'c' (by 1);" in blocks.message


def test_auto_takes_the_rules_that_the_pricer_respects() -> None:
    """Pairs alone are enough for a packing."""
    problem = triangle()
    pairs = problem.pricer(respects=(Together, Apart))
    assert problem.search(pairs).run().objective == 4.0


def test_a_subgradient_method_begins_where_rows_are_many() -> None:
    """From a hundred rows on, and four for each block; or as it is asked for."""
    for n_rows, n_blocks, begins in ((99, 5, False), (100, 5, True), (120, 40, False)):
        blocks = dict.fromkeys(range(n_blocks), 1.0)
        master = LinearMaster(n_rows, "==", 1.0, copies=blocks)
        for option, steps in (("auto", None), (Subgradient(7), 7), (None, None)):
            found = BranchAndPrice(master, lambda duals: [], subgradient=option).options.subgradient
            assert (found is not None) is (begins if option == "auto" else option is not None)
            assert steps is None or (found is not None and found.max_steps == steps)


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
    result = scaled.search(scaled.pricer(unit=unit)).run()
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


@pytest.mark.parametrize("executor", [None, ThreadExecutor(4)], ids=["alone", "at once"])
@pytest.mark.parametrize("multiplier", [0.5, 0.6])
def test_subset_rows_as_cuts(multiplier: float, executor: Any) -> None:
    """The optimum stays, also beside columns that need not be whole.

    These are in no such cut, unless they give what others need.
    """
    rows = [SubsetRow(frozenset(own), multiplier) for own in combinations(range(5), 3)]
    added: list[int] = []

    def violated(solution: Any) -> list[SubsetRow]:
        pairs = list(zip(solution.columns, solution.coef, strict=True))
        used = [sum(x * row.coefficient(c, solution.rows) for c, x in pairs) for row in rows]
        found = [row for row, total in zip(rows, used, strict=True) if total > row.rhs + 1e-6]
        added.append(len(found))
        return found

    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = bin_packing(seed)
        n = len(problem.rows)
        mixed = [
            replace(c, cost=float(rng.integers(6, 12)), integer=bool(rng.random() < 0.6))
            for c in problem.columns
        ] + [
            Column(-np.eye(n)[i], ("back", i), cost=float(rng.integers(6, 9)), integer=False)
            for i in range(n)
        ]
        for own in (problem, replace(problem, columns=mixed, step=None)):
            options = {"cuts": [violated], "heuristics": [], "executor": executor}
            check(own.search(**options).run(max_nodes=300), own)
    assert sum(added) > 0


@pytest.mark.parametrize("values", [(0, 0, 0.5, 1), (0, 0, 1, 2), (0, 0, 1, -1)], ids=str)
def test_rows_that_several_columns_meet_are_no_pairs(values: Sequence[float]) -> None:
    """Halves, twos and negative values: the optimum with pairs too; what comes late is refused."""
    refused: list[str] = []
    for seed in range(30 if 0.5 in values else 12):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(values, (25, 5)).astype(float)
        columns = [Column(row, j, cost=float(rng.integers(1, 9))) for j, row in enumerate(drawn)]
        problem = Problem(range(5), "==", np.ones(5), columns, least_cost=1.0)
        optimum = problem.optimum()
        rules = [RyanFoster(), ComponentBranching()]
        master = problem.master()
        master.add([c for c in columns if not np.isin(c.values, (0, 1)).all()])
        search = BranchAndPrice(master, problem.pricer(), branching=rules, heuristics=[])
        result = search.run(max_nodes=500)
        check(result, problem, optimum)
        assert result.stop_reason in PROVEN
        try:
            result = problem.search(branching=rules, heuristics=[]).run(max_nodes=500)
        except BoundError as error:
            refused.append(str(error))
            continue
        check(result, problem, optimum)
        assert result.stop_reason in PROVEN
    assert refused or 0.5 not in values
    assert all("take a rule other than RyanFoster" in words for words in refused)


SHARES = Problem(
    ["demand", "m"],
    [">=", "=="],
    [1.0, 1.0],
    [
        Column(
            np.array([x, 1.0]), (x, y), cost=y, integer=False, variables={"y": y, x: 1.0}, block="m"
        )
        for x, y in ((0.0, 0.0), (2.0, 1.0), (0.0, 1.0))
    ],
    copies={"m": 1.0},
)
"""Half of the dear column meets the demand, and half of it is on."""


@pytest.mark.parametrize("heuristics", [[], [RestrictedMaster()], "auto"])
@pytest.mark.parametrize(
    "rules",
    [
        [VariableBranching(integer=["y"], rows=False)],
        [VariableBranching(integer=["y"])],
        [SetBranching([(0.0, 2.0)])],
        [CountBranching(by_block=True), SetBranching([("y",), (0.0, 2.0)])],
    ],
)
def test_columns_in_shares_whose_variables_must_be_whole(rules: Any, heuristics: Any) -> None:
    """What a rule says of solutions holds for columns in any shares; without it they cost half."""
    result = SHARES.search(branching=rules, heuristics=heuristics).run()
    assert (result.objective, result.bound) == (1.0, 1.0)
    assert result.variables["y"] == 1.0
    other = SHARES.search(branching=VariableBranching(integer=["Y"])).run()
    assert other.objective == SHARES.search(branching=VariableBranching()).run().objective == 0.5
    assert "no column has 'Y', or another variable that must be integer" in other.message


def test_whole_variables_that_no_rule_divides() -> None:
    """The search does not call it a solution, and says which variable is fractional."""
    fixing = VariableFixing(integer=["y"])
    rules = [CountBranching(), RyanFoster()]
    result = SHARES.search(branching=rules, variable_fixing=fixing, heuristics=[]).run()
    assert result.stop_reason is StopReason.NO_BRANCHING
    assert (result.objective, result.bound) == (math.inf, 0.5)
    assert "the variable 'y' must be integer, and is 0.5 in the block 'm'" in result.message
    columns = [
        replace(
            c,
            key=(block, c.key),
            block=block,
            values=np.r_[c.values[0], block == "a", block == "b"],
            upper=0.5,
        )
        for block in "ab"
        for c in SHARES.columns
    ]
    rows, senses = ["demand", "a", "b"], [">=", "<=", "<="]
    at_most = Problem(rows, senses, [2.0, 1.0, 1.0], columns, {"a": 1.0, "b": 1.0})
    result = at_most.search(branching=VariableBranching(integer=["y"]), heuristics=[]).run()
    assert result.stop_reason is StopReason.NO_BRANCHING
    assert "name a variable after its block, too" in result.message


def test_a_start_with_parts_of_variables() -> None:
    """It is no solution if a rule says that the variable is integer, or of a set."""
    column = Column(np.ones(2), "half", cost=1.0, variables={"y": 0.5, "z": 1.0}, block="m")
    for rule, words in (
        (VariableBranching(integer=["y"]), "'y' must be integer, and is 0.5 in the block 'm'"),
        (SetBranching([("y", "z")]), "SetBranching does not admit it"),
    ):
        with pytest.raises(ValueError, match=f"start is no solution: .*{words}"):
            SHARES.search(branching=rule, start=[column]).run()
    assert SHARES.search(start=[column]).run(max_nodes=0).objective == 1.0
