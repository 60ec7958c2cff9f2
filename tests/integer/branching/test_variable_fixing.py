"""Variable fixing: no solution that counts is lost, and trees get smaller."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost.generation.function_pricer import as_pricer
from cgboost.generation.stabilization import Wentges
from cgboost.integer import BranchDiving, VariableBranching, VariableFixing
from cgboost.integer.search import Relaxation, Search

from ..tree_problems import (
    Problem,
    generalised_assignment,
    keeps_to,
    shared_variables,
    signed_amounts,
)

MAKERS = [generalised_assignment, shared_variables]


def root(problem: Problem) -> tuple[Search, Relaxation]:
    """A search, and the relaxation of its root."""
    search = Search(
        problem.master(),
        as_pricer(problem.pricer()),
        objective_step=1.0,
        columns_per_round=20,
        smoothing=Wentges(0.5),
        gap=1e-6,
        time_limit=None,
    )
    relaxation = search.relaxation(search.problem(()))
    search.n_pricings = 10_000  # as after a long search
    return search, relaxation


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("make", MAKERS)
def test_bounds_with_a_variable_held_are_bounds(make: Any, seed: int) -> None:
    """At most the optimum over all columns that keep to the decision, by HiGHS."""
    problem = make(seed)
    search, relaxation = root(problem)
    if not relaxation.feasible:
        assert problem.optimum() == math.inf
        return
    probes = VariableFixing().probes(search, (), relaxation)
    assert probes is not None
    numbers = {name: i for i, name in enumerate(problem.rows)}
    for decision, bound in probes.held:
        kept = [column for column in problem.columns if keeps_to(column, [decision], numbers)]
        assert bound <= problem.optimum(kept) + 1e-6


@pytest.mark.parametrize("seed", range(15))
def test_solutions_up_to_the_cost_keep_to_what_is_implied(seed: int) -> None:
    """With all implied decisions the optimum is the same; without solutions there is none."""
    problem = generalised_assignment(seed)
    search, relaxation = root(problem)
    optimum = problem.optimum()
    probes = VariableFixing().probes(search, (), relaxation)
    if optimum == math.inf:
        assert not relaxation.feasible or probes is not None
        return
    assert probes is not None
    implied = probes.implied(search, optimum)
    numbers = {name: i for i, name in enumerate(problem.rows)}
    kept = [column for column in problem.columns if keeps_to(column, implied, numbers)]
    assert problem.optimum(kept) == pytest.approx(optimum)
    assert len(probes.implied(search, optimum - 1)) >= len(implied)


OFTEN: dict[str, float] = {"least_share": 0.0, "most_steps": math.inf}
"""Nodes are divided by the objective wherever a variable is fixed."""


@pytest.mark.parametrize("seed", range(40))
def test_dividing_by_the_objective_loses_nothing(seed: int) -> None:
    """The same optimum, bounds below it at every node; and nodes are divided that way."""
    problem = generalised_assignment(seed)
    optimum = problem.optimum()
    rule = VariableBranching(rows=False)
    for heuristics in ([], [BranchDiving([rule])]):
        search = problem.search(
            branching=rule, heuristics=heuristics, variable_fixing=VariableFixing(**OFTEN)
        )
        result = search.run()
        assert result.objective == pytest.approx(optimum)
        assert (result.tree["global_bound"] <= optimum + 1e-6).all()
        assert optimum == math.inf or problem.solves(result)


def test_many_steps_are_searched_in_parts_that_double() -> None:
    """Parts of the root begin at bounds that are 1, 2, 4, … steps apart, and each is searched."""
    n_parts = []
    for seed in range(40):
        problem = generalised_assignment(seed)
        search = problem.search(heuristics=[], variable_fixing=VariableFixing(**OFTEN))
        tree = search.run().tree
        parts, node = [], 0
        while True:
            children = np.flatnonzero(tree["parent"] == node)
            others = [k for k in children.tolist() if tree["bound"][k] > tree["bound"][0]]
            if not others:
                break
            node = int(tree["node"][others[-1]])
            parts.append(float(tree["bound"][others[-1]]))
        n_parts.append(len(parts))
        assert parts == sorted(parts)
    assert max(n_parts) >= 1


@pytest.mark.parametrize("seed", range(10))
def test_amounts_of_either_sign_are_left_alone(seed: int) -> None:
    """Holding a variable at 0 says nothing of negative amounts."""
    problem = signed_amounts(seed)
    search, relaxation = root(problem)
    if not relaxation.feasible:
        assert problem.optimum() == math.inf
        return
    search.pool.add(problem.columns)
    probes = VariableFixing().probes(search, (), relaxation)
    assert probes is None or not probes.held


def test_variables_that_need_not_be_whole_are_left_alone() -> None:
    """Only those that are named are held."""
    search, relaxation = root(generalised_assignment(1))
    named = {(0, 0), (1, 2)}
    probes = VariableFixing(integer=named).probes(search, (), relaxation)
    assert probes is not None
    assert {decision.variable for decision, _ in probes.held} <= named


def test_no_more_passes_than_the_search_has_made() -> None:
    """Where pricing is dear, fixing does not take over."""
    search, relaxation = root(generalised_assignment(1))
    search.n_pricings = 1
    assert VariableFixing().probes(search, (), relaxation) is None


def test_pricers_without_the_bound_of_each_block() -> None:
    """There is nothing to compare with."""
    problem = generalised_assignment(1)
    search, relaxation = root(problem)
    honest = problem.pricer()
    search.pricer = as_pricer(lambda duals: honest(duals)[0])
    assert VariableFixing().probes(search, (), relaxation) is None


def test_columns_of_no_block_that_price_out() -> None:
    """The bound does not count them, so nothing is concluded."""
    problem = generalised_assignment(1)
    search, relaxation = root(problem)
    free = replace(problem.columns[-1], key="free", cost=-1000.0, block=None)
    search.pool.add([free])
    assert VariableFixing().probes(search, (), relaxation) is None
