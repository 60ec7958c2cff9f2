"""Every tree ends at the optimum of the whole problem, and is right at every node on the way."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.history import StopReason
from cgboost.integer import (
    BestBound,
    ComponentBranching,
    CountBranching,
    DepthFirst,
    RyanFoster,
    StrongBranching,
    VariableBranching,
)

from . import tree_problems as problems
from .tree_problems import Problem, check_tree

OPEN = VariableBranching(integer=[("open", k) for k in range(3)])

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
}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=10)
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
