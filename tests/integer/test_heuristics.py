"""Primal heuristics: what they offer are solutions, good ones on small problems, and early ones."""

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.generation.callbacks import Callback
from cgboost.generation.columns import Column
from cgboost.integer import (
    Apart,
    BranchDiving,
    Diving,
    Heuristic,
    Node,
    Residual,
    RestrictedMaster,
    Rounding,
    Together,
    TreeState,
    VariableBranching,
    respects,
    search_state,
    tree_search,
)
from cgboost.integer.search_state import Search
from cgboost.masters import LinearMaster, solve_integer

from .tree_problems import (
    Problem,
    bin_packing,
    generalised_assignment,
    indicator,
    inner_search,
    large_assignment,
    mixed_blocks,
    subsets,
)

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


# ---------------------------------------------------------------------- first solutions


def packing(seed: int, n: int = 14) -> Problem:
    """Items in bins of equal price; all bins of up to three items."""
    size = np.random.default_rng(seed).integers(20, 50, n)
    columns = [
        Column(indicator(n, own), own, cost=1.0)
        for own in subsets(n)
        if len(own) <= 3 and size[list(own)].sum() <= 100
    ]
    return Problem(range(n), "==", np.ones(n), columns, least_cost=1.0, step=1.0)


def with_singles(problem: Problem) -> LinearMaster:
    """The master with a bin for each item."""
    master = problem.master()
    master.add([column for column in problem.columns if len(column.key) == 1])
    return master


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_that_ends_in_the_root_leaves_the_best_combination_of_its_columns(
    seed: int,
) -> None:
    """No worse than the restricted master in integers, over every column that there was."""
    problem = packing(seed)
    look, master = problem.pricer(most=1), with_singles(problem)
    known = {column.key: column for column in master.columns}

    @respects(Together, Apart)
    def price(duals):
        time.sleep(0.02)
        columns, bound = look(duals)
        known.update((column.key, column) for column in columns)
        return columns, bound

    result = BranchAndPrice(master, price, objective_step=1.0).run(time_limit=0.15)
    assert result.stop_reason == "time"
    assert result.tree["status"].tolist() == ["unfinished"]
    assert result.bound <= problem.optimum() <= result.objective <= problem.optimum(known.values())
    problem.check(result)


@pytest.mark.parametrize("seed", range(10))
def test_rounding_finds_a_partition_wherever_single_rows_are_columns(seed: int) -> None:
    """What rounding leaves is filled up by columns that the relaxation does not use."""
    problem = bin_packing(seed)
    search = inner_search(with_singles(problem), problem.pricer(), 1.0)
    relaxation = search.relaxation(search.problem(()))
    Rounding()(search, Node(0), relaxation)
    assert problem.optimum() <= search.objective < np.inf
    assert search.found_by == "rounding"


def test_a_combination_is_looked_for_once() -> None:
    """Until there are more columns: those that are there give nothing better."""
    problem = packing(1)
    search = inner_search(with_singles(problem), problem.pricer(), 1.0)
    relaxation, heuristic = search.relaxation(search.problem(())), RestrictedMaster()
    heuristic(search, Node(0), relaxation)
    assert search.n_combined == len(search.pool)
    known, search.incumbent, search.objective = search.objective, {}, np.inf
    heuristic(search, Node(0), relaxation)
    assert search.objective == np.inf
    search.pool.add([Column(np.ones(14), "all", cost=known + 1.0)])
    heuristic(search, Node(0), relaxation)
    assert search.objective == known


def test_dives_end_with_their_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round takes 100 seconds by a clock of ours; the search has time left, dives have none."""
    now = [0.0]
    monkeypatch.setattr(search_state, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    n_relaxations = {}
    for share in (0.05, 1.0):
        problem, now[0] = packing(2), 0.0
        search = inner_search(with_singles(problem), problem.pricer(), 1.0, time_limit=2e3)
        relaxation = search.relaxation(search.problem(()))
        search.between_rounds = lambda: now.__setitem__(0, now[0] + 100.0)
        dive = Diving(every=1, time_share=share)
        for number in range(3):
            dive(search, Node(number), relaxation)
        assert (search.dive_time_left(share) <= 0.0) is (share < 1.0)
        assert search.seconds_left == 2e3 - now[0] > 0.0
        n_relaxations[share] = search.n_relaxations
    assert n_relaxations[0.05] < n_relaxations[1.0]


class Watching(Callback):
    """Keeps the objectives that are known between the rounds."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, state: TreeState) -> bool:
        """One node is enough."""
        return True

    def waiting(self, state: TreeState) -> None:
        """A round is over."""
        self.seen.append(state.objective)


@pytest.mark.parametrize("heuristics", [[RestrictedMaster()], [Diving()], []])
def test_a_long_root_has_a_solution_between_its_rounds(
    monkeypatch: pytest.MonkeyPatch, heuristics: list[Any]
) -> None:
    """Here a second of no length; without a heuristic there is none. The root stays what it is."""
    bounds = []
    for first in (tree_search.FIRST_COMBINATION, 0.0):
        monkeypatch.setattr(tree_search, "FIRST_COMBINATION", first)
        problem, watching = packing(3), Watching()
        options = {"heuristics": heuristics, "callbacks": [watching], "objective_step": 1.0}
        search = BranchAndPrice(with_singles(problem), problem.pricer(most=1), **options)
        result = search.run(max_nodes=1)
        bounds.append(result.bound)
        assert np.isfinite(watching.seen[2]) == bool(heuristics and not first)
    assert bounds[0] == bounds[1] <= problem.optimum()


def test_dives_from_afar_take_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as no solution is near, relaxations on the way need no small gap."""
    n_pricings = []
    monkeypatch.setattr("cgboost.integer.search_state.LONG_SEARCH", -1.0)
    for coarse in (0.0, 0.5):
        monkeypatch.setattr("cgboost.integer.heuristics.GAP_FROM_AFAR", coarse)
        problem = packing(5)
        search = inner_search(with_singles(problem), problem.pricer(most=1), 1.0)
        relaxation = search.relaxation(search.problem(()))
        before = search.n_pricings
        Diving(discrepancies=0)(search, Node(0), relaxation)
        assert problem.optimum() <= search.objective < np.inf
        n_pricings.append(search.n_pricings - before)
    assert n_pricings[0] > n_pricings[1]


class Stopping(Callback):
    """Stops between the rounds of the root, as soon as there is a bound."""

    def __init__(self) -> None:
        self.bound = -np.inf

    def __call__(self, state: TreeState) -> bool:
        """The root is not done."""
        return False

    def waiting(self, state: TreeState) -> bool:
        """A round is over."""
        self.bound = state.bound
        return bool(np.isfinite(self.bound))


def test_a_root_that_is_stopped_keeps_its_bound() -> None:
    """The last one that a callback has seen is that of the result."""
    problem, stopping = packing(4), Stopping()
    search = problem.search(pricer=problem.pricer(most=1), callbacks=[stopping])
    result = search.run()
    assert result.stop_reason == "callback"
    assert result.tree["status"].tolist() == ["unfinished"]
    assert -np.inf < result.bound == stopping.bound <= problem.optimum()


def test_the_root_begins_at_duals_that_are_known() -> None:
    """They are what the pricer sees first."""
    problem, seen = packing(4), []
    look = problem.pricer()

    @respects(Together, Apart)
    def price(duals):
        seen.append(np.array(duals))
        return look(duals)

    result = problem.search(pricer=price, start_duals={0: 0.5, 3: 1.0}).run()
    assert seen[0].tolist() == [0.5, 0.0, 0.0, 1.0, *[0.0] * 10]
    assert result.objective == problem.optimum()


@pytest.mark.parametrize("seed", range(3))
def test_solutions_are_distinct_and_the_best_comes_first(seed: int) -> None:
    """Each meets the rows at its price; the first is that of the result."""
    problem = bin_packing(seed)
    master = with_singles(problem)
    options = {"objective_step": 1.0, "start": list(master.columns)}
    result = BranchAndPrice(master, problem.pricer(), **options).run()
    prices = [own.objective for own in result.solutions]
    assert prices == sorted(prices)
    assert prices[0] == result.objective
    used = [frozenset(c.key for c in own.columns) for own in result.solutions]
    assert len(set(used)) == len(used) >= 2
    for own in result.solutions:
        problem.check(replace(result, objective=own.objective, columns=own.columns, coef=own.coef))


def test_the_pool_of_a_search_is_combined() -> None:
    """The columns of the search, not those of the master, with the bound of the search."""
    problem = packing(1)
    master = with_singles(problem)
    result = BranchAndPrice(master, problem.pricer(), objective_step=1.0).run(max_nodes=1)
    found = solve_integer(master, result)
    assert {c.key for c in found.columns} >= {c.key for c in (*master.columns, *result.columns)}
    assert found.objective == pytest.approx(problem.optimum(result.pool))
    assert found.bound == result.bound
    assert found.objective <= result.objective


def test_variables_that_must_be_whole_are_whole_in_a_combination() -> None:
    """As branching rules say, though the columns that have them need not be."""
    problem = mixed_blocks(5)
    rules = [VariableBranching(integer=problem.declared, rows=False)]
    result = problem.search(branching=rules).run()
    found = solve_integer(problem.master(), result)
    assert found.objective == pytest.approx(result.objective)
    assert problem.optimum(result.pool, integer=False) <= found.objective
    problem.check(replace(result, columns=found.columns, coef=found.coef))
