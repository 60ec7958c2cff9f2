"""Solutions early: before a dive, and when the time is up in the root."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.integer import (
    Diving,
    Node,
    RestrictedMaster,
    Rounding,
    Together,
    respects,
    search_state,
)
from cgboost.integer.branching.decisions import Apart
from cgboost.masters import LinearMaster

from .tree_problems import Problem, bin_packing, indicator, inner_search, subsets


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
    assert result.stop_reason == "time" and result.tree["status"].tolist() == ["unfinished"]
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
    """A round takes 100 seconds by a clock of ours; all dives have 400 × share, and end then."""
    now = [0.0]
    monkeypatch.setattr(search_state, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    n_relaxations = {}
    for share in (0.25, 1.0):
        problem, now[0] = packing(2), 0.0
        search = inner_search(with_singles(problem), problem.pricer(), 1.0, time_limit=400.0)
        relaxation = search.relaxation(search.problem(()))
        search.between_rounds = lambda: now.__setitem__(0, now[0] + 100.0)
        dive = Diving(every=1, time_share=share)
        for number in range(3):
            dive(search, Node(number), relaxation)
        assert search.dive_time_left(share) <= 0.0
        assert search.seconds_left == pytest.approx(max(0.0, 400.0 - now[0]))
        n_relaxations[share] = search.n_relaxations
    assert n_relaxations[0.25] < n_relaxations[1.0]
