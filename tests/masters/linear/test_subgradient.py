"""Subgradient method: its duals are near the optimal ones, and its bound is one."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import as_pricer
from cgboost.masters import LinearMaster
from cgboost.masters.linear.subgradient import Subgradient
from tests.integer.tree_problems import Problem, generalised_assignment, identical_agents


def at_most_one(seed: int) -> Problem:
    """Generalised assignment in which an agent may have no set, and a job may be left undone."""
    problem = generalised_assignment(seed)
    n = len(problem.rows)
    problem.sense = [">="] * (n - 3) + ["<="] * 3
    undone = [
        Column(np.eye(n)[j], ("undone", j), cost=40.0, upper=1.0, variables={("undone", j): 1.0})
        for j in range(n - 3)
    ]
    problem.columns = [*problem.columns, *undone]
    return problem


def started(problem: Problem, **options: Any) -> Any:
    """The master with the columns of no block, and where the method ends."""
    master = problem.master()
    master.add([column for column in problem.columns if column.block is None])
    blocks = replace(problem, columns=[c for c in problem.columns if c.block is not None])
    return master, Subgradient(**options).run(master, as_pricer(blocks.pricer(most=10)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("make", [generalised_assignment, at_most_one])
def test_the_bound_is_near_the_optimum_and_not_above(make: Any, seed: int) -> None:
    """Within ten per cent of the linear program over all columns, each of them priced once."""
    problem = make(seed)
    optimum = problem.optimum(integer=False)
    _, start = started(problem, max_steps=200)
    if optimum == math.inf:
        assert start.bound > -math.inf
        return
    assert 0.9 * optimum <= start.bound <= optimum * (1 + 1e-9)
    assert start.n_steps <= 200
    keys = [column.key for column in start.columns]
    assert len(set(keys)) == len(keys) > 0
    assert set(keys) <= {column.key for column in problem.columns}


def test_a_run_from_there_takes_fewer_rounds() -> None:
    """Its columns and duals save most rounds of column generation, on ten problems together."""
    rounds = np.zeros(2)
    for seed in range(10):
        problem = generalised_assignment(seed)
        _, start = started(problem)
        for place, columns in enumerate(([], start.columns)):
            master = problem.master()
            master.add(columns)
            duals = start.duals if place else None
            run = ColumnGeneration(master, problem.pricer(most=1), start_duals=duals).run()
            rounds[place] += run.n_rounds
    assert rounds[1] < 0.5 * rounds[0]


def test_it_fits_blocks_with_one_column_each() -> None:
    """Not several copies of a block, one number for all columns, or no number."""
    assert Subgradient.fits(generalised_assignment(0).master())
    assert Subgradient.fits(at_most_one(0).master())
    assert not Subgradient.fits(identical_agents(0).master())
    assert not Subgradient.fits(LinearMaster(2, ">=", 1.0, copies=2.0))
    assert not Subgradient.fits(LinearMaster(2, ">=", 1.0))


def test_what_ends_it_at_once() -> None:
    """No bound of each block, no time after the pass under way, and wrong parameters by name."""
    problem = generalised_assignment(0)
    for price in (lambda duals: [], lambda duals: ([], -100.0)):
        assert Subgradient().run(problem.master(), as_pricer(price)) is None
    start = Subgradient().run(problem.master(), as_pricer(problem.pricer()), time_limit=0.0)
    assert start is not None
    assert start.n_steps == 1
    for wrong in ({"max_steps": 0}, {"tol": 0.0}, {"tol": math.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Subgradient(**wrong)
