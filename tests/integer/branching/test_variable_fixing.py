"""Variable fixing: no solution that counts is lost, and trees get smaller."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cgboost.generation import Column
from cgboost.generation.function_pricer import as_pricer
from cgboost.generation.stabilization import Wentges
from cgboost.integer import Node, VariableFixing
from cgboost.integer.search_state import Relaxation, Search
from cgboost.integer.tree_search import TreeSearch
from cgboost.masters import LinearMaster

from ..compact_models import example_assignment
from ..tree_problems import (
    PROVEN,
    AllColumns,
    Problem,
    check,
    generalised_assignment,
    inner_search,
    keeps_to,
    shared_variables,
    signed_amounts,
)


def root(problem: Problem) -> tuple[Search, Relaxation]:
    """A search, and the relaxation of its root."""
    options = {"step": 1.0, "smoothing": Wentges(0.5)}
    search = inner_search(problem.master(), problem.pricer(), **options)
    relaxation = search.relaxation(search.problem(()))
    search.n_pricings = 10_000  # as after a long search
    return search, relaxation


@pytest.mark.parametrize("make", [generalised_assignment, shared_variables])
def test_what_probes_say_is_true(make: Any) -> None:
    """A bound with a variable held is below the optimum of what keeps to it, by HiGHS.

    With all implied decisions the optimum is the same; without solutions there is none.
    """
    for seed in range(15):
        problem = make(seed)
        search, relaxation = root(problem)
        optimum = problem.optimum()
        probes = VariableFixing().probes(search, (), relaxation)
        if not relaxation.feasible:
            assert optimum == math.inf
            continue
        assert probes is not None
        numbers = {name: i for i, name in enumerate(problem.rows)}
        for decision, bound in probes.held:
            kept = [column for column in problem.columns if keeps_to(column, [decision], numbers)]
            assert bound <= problem.optimum(kept) + 1e-6
        if make is generalised_assignment and optimum < math.inf:
            implied = probes.implied(search, optimum)
            kept = [column for column in problem.columns if keeps_to(column, implied, numbers)]
            assert problem.optimum(kept) == pytest.approx(optimum)
            assert len(probes.implied(search, optimum - 1)) >= len(implied)


def test_nodes_are_divided_by_the_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solutions up to some cost, with variables fixed, and the others, 1, 2, 4, … steps above.

    Nothing is lost by it.
    """
    divided, divide = [], TreeSearch._by_objective

    def watched(self: TreeSearch, node: Node, relaxation: Relaxation) -> list[Node]:
        children = divide(self, node, relaxation)
        divided.extend([(node, *children)] if children else [])
        return children

    monkeypatch.setattr(TreeSearch, "_by_objective", watched)
    often = VariableFixing(least_share=0.0, most_steps=math.inf)
    for seed in (16, 17):
        problem = example_assignment(np.random.default_rng(seed), "whole", 10)
        for heuristics, fixing in (([], often), ("auto", often), ([], "auto")):
            result = problem.search(heuristics=heuristics, variable_fixing=fixing).run()
            check(result, problem)
            assert result.stop_reason in PROVEN
    assert len(divided) >= 5
    for node, low, high in divided:
        assert high.bound == low.at_most + 1.0 == pytest.approx(node.bound + 2**node.n_divided)
        assert (low.bound, high.n_divided) == (node.bound, node.n_divided + 1)
        assert len(low.decisions) > len(node.decisions) == len(high.decisions)


@pytest.mark.parametrize("seed", range(4))
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


def test_what_is_not_held() -> None:
    """Variables that need not be whole; nothing where pricing is dear, or a bound says too little.

    That is a pricer without the bound of each block, and a column of no block that prices out.
    """
    problem = generalised_assignment(1)
    search, relaxation = root(problem)
    named = {(0, 0), (1, 2)}
    probes = VariableFixing(integer=named).probes(search, (), relaxation)
    assert probes is not None
    assert {decision.variable for decision, _ in probes.held} <= named
    honest = problem.pricer()

    def without_bounds(search: Search) -> None:
        search.pricer = as_pricer(lambda duals: honest(duals)[0])

    def after_one_pass(search: Search) -> None:
        search.n_pricings = 1

    def with_a_free_column(search: Search) -> None:
        own = problem.columns[-1]
        values = own.values.copy()
        values[search.pool.numbers[own.block]] = 0.0
        search.pool.add([replace(own, key="free", cost=-1000.0, block=None, values=values)])

    for change in (without_bounds, after_one_pass, with_a_free_column):
        search, relaxation = root(problem)
        assert VariableFixing().probes(search, (), relaxation) is not None
        change(search)
        assert VariableFixing().probes(search, (), relaxation) is None


def test_a_column_that_the_pricer_does_not_know_is_not_passed_over() -> None:
    """It may stand where another of its block would: held variables have no bound above it."""
    rows, once = ["k", "m"], {"k": 1.0, "m": 1.0}

    def column(values: list[float], key: str, cost: float, of: str | None, **held: float) -> Column:
        return Column(np.array(values), key, cost=cost, block=of, variables=held)

    family = [
        column([1, 0], "A", 10, "k", x=1.0),
        column([1, 0], "B", 14, "k"),
        column([0, 1], "C", 10, "m", y=1.0),
        column([0, 1], "D", 12, "m"),
    ]
    given = column([1, 0], "I", 6, "k")  # the pricer does not know it
    master = LinearMaster(rows, "==", [1, 1], copies=once)
    master.add([*family, given])
    search = inner_search(master, AllColumns(rows, family, once), step=1.0, smoothing=None)
    search.n_pricings = 10_000
    near = SimpleNamespace(near=(np.array([5.0, 10.0]), {}), feasible=True)
    probes: Any = VariableFixing().probes(search, [], near)  # type: ignore[arg-type]
    for decision, bound in probes.held if probes else []:
        best = min(
            one.cost + two.cost
            for one in (*family[:2], given)
            for two in family[2:]
            if all(decision.allows(own, search.pool.numbers) for own in (one, two))
        )
        assert bound <= best
