"""Duals of rows and reduced costs of columns, in results of the loop, of trees and of models."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cgboost import Checkpoint, ColumnGeneration, decompose
from solvers import solve

from . import tree_problems as problems
from .decomposition.cases import assignment
from .tree_problems import Problem

MAKES = [
    problems.bin_packing,
    problems.cutting_stock,
    problems.partly_continuous,
    problems.mixed_blocks,
    problems.generalised_assignment,
    problems.set_covering,
    problems.fixed_charge,
]


def value_of_duals(problem: Problem, duals: dict, reduced: dict, columns: tuple) -> float:
    """The dual objective, where columns at their upper bound earn what they are below 0."""
    own = np.array([duals[row] for row in problem.rows])
    ends = [c.upper * min(0.0, reduced[c.key]) for c in columns if math.isfinite(c.upper)]
    return float(own @ problem.master().constraints.rhs) + sum(ends)


@pytest.mark.parametrize("make", MAKES)
def test_duals_of_a_run_are_optimal(make) -> None:
    """Signs as the senses say, complementary slackness, and the dual objective is the objective."""
    for seed in range(4):
        problem = make(seed)
        result = ColumnGeneration(problem.master(), problem.pricer(), tol=1e-9).run()
        if not math.isfinite(result.objective):
            assert (result.duals, result.reduced_costs) == ({}, {})
            continue
        rows = problem.master().constraints
        duals = np.array([result.duals[row] for row in rows.names])
        assert (duals[rows.senses == ">="] >= 0).all()
        assert (duals[rows.senses == "<="] <= 0).all()
        left = (
            sum(x * c.values for c, x in zip(result.columns, result.coef, strict=True)) - rows.rhs
        )
        assert np.abs(duals * left).max() <= 1e-6 * max(1.0, abs(result.objective))
        for column, x in zip(result.columns, result.coef, strict=True):
            own = result.reduced_costs[column.key]
            assert x <= 1e-7 or own <= 1e-6
            assert x >= column.upper - 1e-7 or own >= -1e-6
        value = value_of_duals(problem, result.duals, result.reduced_costs, result.columns)
        assert value == pytest.approx(result.objective, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("make", MAKES)
def test_duals_of_a_tree_are_those_of_its_root(make) -> None:
    """They prove the optimum of the relaxation over all columns; the pool is priced with them."""
    for seed in range(4):
        problem = make(seed)
        options = {"heuristics": [], "objective_step": None}
        result = problem.search(**options).run(max_nodes=1)
        optimum = problem.optimum(integer=False)
        if not math.isfinite(optimum):
            assert (result.duals, result.reduced_costs) == ({}, {})
            continue
        assert set(result.reduced_costs) == {column.key for column in result.pool}
        value = value_of_duals(problem, result.duals, result.reduced_costs, result.pool)
        expected = problem.optimum([replace(c, integer=False) for c in problem.columns])
        assert value <= problem.optimum() + 1e-6
        free = [c.key for c in result.pool if math.isinf(c.upper)]
        assert min(result.reduced_costs[key] for key in free) >= -1e-5 * max(1.0, abs(value))
        if not problem.declared:
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_duals_are_there_after_a_run_is_resumed(tmp_path: Path) -> None:
    """Of a run that has ended, and of one that goes on."""
    problem, path = problems.cutting_stock(3), tmp_path / "run.ckpt"
    made = problem.master, problem.pricer
    whole = ColumnGeneration(made[0](), made[1](), callbacks=[Checkpoint(path)]).run()
    again = ColumnGeneration(made[0](), made[1]()).run(resume=path)
    assert again.duals == whole.duals != {}
    ColumnGeneration(made[0](), made[1](), max_rounds=2, callbacks=[Checkpoint(path)]).run()
    on = ColumnGeneration(made[0](), made[1]()).run(resume=path)
    assert on.duals == pytest.approx(whole.duals)


@pytest.mark.parametrize("unit", [1.0, 2.0**20])
@pytest.mark.parametrize("seed", range(3))
def test_duals_of_a_model_give_its_lagrangian_bound(seed: int, unit: float) -> None:
    """Blocks alone, with the linking rows priced in the sense of the model, bound its optimum.

    As well as the root does, also where smoothing ends it.
    """
    model, blocks = assignment(seed)
    program = replace(model.program, cost=unit * model.program.cost)
    model = replace(model, program=program)
    result = decompose(model, blocks).solve(objective_step=None, heuristics=[])
    linking = [k for k, row in enumerate(model.row_names) if row not in blocks]
    duals = np.array([result.duals[model.row_names[k]] for k in linking])
    assert set(result.duals) == {model.row_names[k] for k in linking}
    low = program.row_lower.copy()
    high = program.row_upper.copy()
    low[linking], high[linking] = -np.inf, np.inf
    priced = program.cost + model.matrix[linking].T @ duals  # it minimises −objective
    alone = solve(replace(program, cost=priced, row_lower=low, row_upper=high), "highs")
    bound = float(duals @ program.row_lower[linking]) - alone.objective
    root = -(result.tree.tree["bound"][0] + result.constant)
    room = 1e-6 * abs(root)
    assert bound == pytest.approx(root, rel=1e-6)
    assert root >= result.objective - room
