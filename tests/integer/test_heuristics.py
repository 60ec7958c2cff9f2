"""Primal heuristics: what they offer are solutions, and on small problems good ones."""

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.integer import (
    BranchDiving,
    Diving,
    Heuristic,
    Node,
    Residual,
    RestrictedMaster,
    Rounding,
    VariableBranching,
    respects,
)
from cgboost.integer.search_state import Search
from cgboost.masters import LinearMaster

from .tree_problems import generalised_assignment, inner_search, large_assignment

WIDTHS, DEMAND, CAPACITY = np.array([45, 36, 31, 14]), np.array([9, 31, 20, 11]), 100
BY_BOUNDS = [VariableBranching(rows=False)]


def pattern(counts: list[int]) -> Column:
    """A column."""
    return Column(np.array(counts, dtype=float), key=tuple(counts), cost=1.0)


def cutting() -> Search:
    """A search for cutting stock; every pattern is looked at."""
    grid = np.indices(CAPACITY // WIDTHS + 1).reshape(4, -1)
    patterns = grid[:, WIDTHS @ grid <= CAPACITY]

    @respects(Residual)
    def price(duals):
        fits = (patterns <= np.maximum(duals.rhs, 0)[:, None]).all(axis=0)
        value = np.where(fits, duals @ patterns, 0.0)
        best = int(value.argmax())
        found = [pattern(patterns[:, best].tolist())] if value[best] > 1 + 1e-9 else []
        return found, 1.0 - value[best]

    master = LinearMaster(4, ">=", DEMAND, least_cost=1.0)
    master.add([pattern(row) for row in np.diag(CAPACITY // WIDTHS).tolist()])
    return inner_search(master, price, 1.0, columns_per_round=5)


def test_dives_by_branches_find_solutions_near_the_optimum() -> None:
    """On half of the problems that have solutions at least; none beats the optimum."""
    found, n_solvable = 0, 0
    for seed in range(20):
        problem = generalised_assignment(seed)
        search = inner_search(problem.master(), problem.pricer(), 1.0, columns_per_round=5)
        optimum = problem.optimum()
        relaxation = search.relaxation(search.problem(()))
        if optimum == np.inf or not relaxation.feasible:
            continue
        n_solvable += 1
        BranchDiving(BY_BOUNDS)(search, Node(0), relaxation)
        assert search.objective >= optimum - 1e-6
        found += search.objective <= 1.1 * optimum
    assert found >= n_solvable / 2 > 3


def test_dives_by_branches_take_several_decisions_at_once() -> None:
    """With a larger share there are fewer relaxations."""
    n_relaxations = []
    for share in (0.01, 1.0):
        what = large_assignment(4, 40, seed=2)
        search = inner_search(what.master, what.pricer, 1.0, smoothing=what.smoothing)
        relaxation = search.relaxation(search.problem(()))
        BranchDiving(BY_BOUNDS, share=share)(search, Node(0), relaxation)
        n_relaxations.append(search.n_relaxations)
    assert n_relaxations[1] < n_relaxations[0]


@pytest.mark.parametrize("heuristic", [Rounding(), RestrictedMaster(), Diving()])
def test_what_is_offered_is_a_solution_within_two_rolls_of_the_bound(heuristic: Heuristic) -> None:
    """Whole numbers of patterns that meet the demand.

    Dives price on for what fixed columns leave: patterns that no relaxation of the whole needs.
    """
    search = cutting()
    relaxation = search.relaxation(search.problem(()))
    before = len(search.pool)
    heuristic(search, Node(0), relaxation)
    total = sum(n * search.pool.columns[j].values for j, n in search.incumbent.items())
    assert (total >= DEMAND).all()
    assert all(n == round(n) for n in search.incumbent.values())
    assert search.rounded(relaxation.bound) <= search.objective <= relaxation.bound + 2
    assert (len(search.pool) > before) is isinstance(heuristic, Diving)


def test_the_restricted_master_is_solved_at_every_so_many_nodes() -> None:
    """Node 4 is not one of them, node 6 is."""
    heuristic = RestrictedMaster(every=3)
    search = cutting()
    relaxation = search.relaxation(search.problem(()))
    heuristic(search, Node(4, depth=1), relaxation)
    assert not search.incumbent
    heuristic(search, Node(6, depth=1), relaxation)
    assert search.incumbent


def test_dives_that_find_nothing_become_rare() -> None:
    """The first is at the root; of those that follow each waits twice as long as the last."""
    search, dived = cutting(), []
    relaxation, heuristic = search.relaxation(search.problem(())), Diving(every=3)
    for number in range(60):
        before = search.n_relaxations
        if number:  # what is found at the root is all there is
            search.objective = 0.0
        heuristic(search, Node(number), relaxation)
        if search.n_relaxations > before:
            dived.append(number)
    assert dived == [0, 3, 9, 21, 45]
