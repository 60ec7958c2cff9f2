"""Every tree ends at the optimum of the whole problem, and is right at every node on the way."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import BranchAndPrice
from cgboost.exceptions import BoundError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import (
    BestBound,
    ComponentBranching,
    CountBranching,
    DepthFirst,
    RestrictedMaster,
    RyanFoster,
    SetBranching,
    StrongBranching,
    VariableBranching,
    VariableFixing,
)
from tests.effort import examples

from . import tree_problems as problems
from .tree_problems import Problem, check_tree

OPEN = VariableBranching(integer=[("open", k) for k in range(3)])
ON = ["on", *(("on", k) for k in range(3))]

CASES: dict[str, tuple[Callable[[int], Problem], Sequence[Any]]] = {
    "packing, pairs": (problems.bin_packing, [RyanFoster()]),
    "packing, count, pairs": (problems.bin_packing, [CountBranching(), RyanFoster()]),
    "packing, components": (problems.bin_packing, [ComponentBranching()]),
    "packing, arcs, pairs": (problems.bin_packing, [VariableBranching(), RyanFoster()]),
    "cutting, components": (problems.cutting_stock, [ComponentBranching()]),
    "cutting, count": (problems.cutting_stock, [CountBranching(), ComponentBranching()]),
    "partly continuous, components": (problems.partly_continuous, [ComponentBranching()]),
    "partly continuous, count": (
        problems.partly_continuous,
        [CountBranching(), ComponentBranching()],
    ),
    "assignment, variables": (problems.generalised_assignment, [VariableBranching()]),
    "assignment, negative variables": (problems.negative_assignment, [VariableBranching()]),
    "assignment, sets": (
        problems.generalised_assignment,
        [SetBranching([(i, j) for i in range(3)] for j in range(6))],
    ),
    "assignment, pairs": (problems.generalised_assignment, [RyanFoster()]),
    "signed amounts, variables": (problems.signed_amounts, [VariableBranching()]),
    "equal agents, arcs": (problems.identical_agents, [VariableBranching(), RyanFoster()]),
    "equal agents, count": (
        problems.identical_agents,
        [CountBranching(by_block=True), VariableBranching(), ComponentBranching()],
    ),
    "equal agents, signed variables": (
        problems.signed_agents,
        [VariableBranching(signed=range(3)), RyanFoster()],
    ),
    "signed rows, components": (problems.signed_rows, [ComponentBranching()]),
    "agents with a variable in common": (
        problems.shared_variables,
        [VariableBranching(), RyanFoster()],
    ),
    "colouring, pairs": (problems.colouring, [RyanFoster()]),
    "colouring by covers, pairs": (problems.covering_colouring, [RyanFoster(subset_closed=True)]),
    "covering, components": (problems.set_covering, [ComponentBranching()]),
    "covering, variables": (problems.set_covering, [CountBranching(), VariableBranching()]),
    "fixed charge, variables": (problems.fixed_charge, [OPEN]),
    "fixed charge, count": (problems.fixed_charge, [CountBranching(by_block=True), OPEN]),
    "mixed blocks, bounds": (problems.mixed_blocks, [VariableBranching(integer=ON, rows=False)]),
    "mixed blocks, all rules": (
        problems.mixed_blocks,
        [
            CountBranching(by_block=True),
            RyanFoster(),
            VariableBranching(integer=ON, first=["on"]),
            ComponentBranching(),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=examples(10))
@given(
    seed=st.integers(0, 10_000),
    selection=st.sampled_from([BestBound, DepthFirst]),
    alone=st.booleans(),
    strong=st.sampled_from([None, 0, 2]),
)
def test_optimum_of_the_whole_problem(
    case: str, seed: int, selection: Callable[[], Any], alone: bool, strong: int | None
) -> None:
    """Tree and branch and cut over all columns agree, with heuristics and strong branching or not.

    A drawn number is that of the rounds of a trial; 0 stands for all of them.
    """
    make, rules = CASES[case]
    problem = make(seed)
    optimum = problem.optimum()
    result = problem.search(
        branching=rules,
        node_selection=selection(),
        heuristics=[] if alone else "auto",
        strong_branching=None
        if strong is None
        else StrongBranching(4, reliability=2, max_rounds=strong or None),
    ).run(max_nodes=2000)
    check_tree(result, optimum)
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    if math.isfinite(optimum):
        assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
        assert result.bound == pytest.approx(optimum, rel=1e-6)
        assert problem.solves(result)
    else:
        assert result.stop_reason is StopReason.INFEASIBLE


@pytest.mark.parametrize("values", [(0, 0, 0.5, 1), (0, 0, 1, 2), (0, 0, 1, -1)], ids=str)
def test_rows_that_several_columns_meet_are_no_pairs(values: Sequence[float]) -> None:
    """Halves, twos and negative values: the optimum with pairs too; what comes late is refused."""
    refused: list[str] = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(values, (25, 5)).astype(float)
        columns = [Column(row, j, cost=float(rng.integers(1, 9))) for j, row in enumerate(drawn)]
        problem = Problem(range(5), "==", np.ones(5), columns, least_cost=1.0)
        optimum = problem.optimum()
        rules = [RyanFoster(), ComponentBranching()]
        master = problem.master()
        master.add([c for c in columns if not np.isin(c.values, (0, 1)).all()])
        search = BranchAndPrice(master, problem.pricer(), branching=rules, heuristics=[])
        check_tree(result := search.run(max_nodes=500), optimum)
        assert result.objective == pytest.approx(optimum)
        try:
            result = problem.search(branching=rules, heuristics=[]).run(max_nodes=500)
        except BoundError as error:
            refused.append(str(error))
            continue
        assert result.objective == pytest.approx(optimum)
    assert refused or 0.5 not in values
    assert all("take a rule other than RyanFoster" in words for words in refused)


def test_variables_of_fractional_amounts_are_not_divided() -> None:
    """Halves of a variable need not add up to a whole number, unless a rule is told so."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns = [
            Column(
                rng.choice([0.0, 0.0, 1.0], 5),
                j,
                cost=float(rng.integers(1, 9)),
                variables=dict(enumerate(rng.choice([0.0, 0.5, 1.0, 1.5], 3).tolist())),
            )
            for j in range(25)
        ]
        problem = Problem(range(5), "==", np.ones(5), columns, least_cost=1.0)
        optimum = problem.optimum()
        rules = [VariableBranching(), ComponentBranching()]
        result = problem.search(branching=rules, heuristics=[]).run(max_nodes=500)
        check_tree(result, optimum)
        assert result.objective == pytest.approx(optimum)


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
    two = [replace(c, key=(k, c.key), block=k) for k in "ab" for c in SHARES.columns]
    rows, columns = ["demand", "a", "b"], [
        replace(c, values=np.r_[c.values[0], c.block == "a", c.block == "b"]) for c in two
    ]  # fmt: skip
    at_most = Problem(rows, [">=", "<=", "<="], [2.0, 1.0, 1.0], columns, {"a": 1.0, "b": 1.0})
    at_most.columns = [replace(c, upper=0.5) for c in columns]
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
