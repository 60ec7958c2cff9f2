"""Subset-row cuts: violated ones are found, cut off no solution, and are never too many."""

from itertools import combinations

import numpy as np
import pytest

from cgboost.generation.columns import Column
from cgboost.integer import SubsetRow, SubsetRowCuts

from .tree_problems import Problem, indicator, inner_search


def teams(seed: int, n: int = 8) -> Problem:
    """All teams of up to three, at costs of which pairs are the cheapest."""
    rng = np.random.default_rng(seed)
    columns = [
        Column(indicator(n, own), own, cost=float(rng.integers(8, 13) + len(own)))
        for size in (1, 2, 3)
        for own in combinations(range(n), size)
    ]
    return Problem(range(n), "==", np.ones(n), columns, least_cost=1.0, step=1.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_most_violated_are_found_and_cut_off_no_solution(seed: int) -> None:
    """Compared with all triples; the bound rises with them, and stays below the optimum."""
    problem = teams(seed)
    search = inner_search(problem.master(), problem.pricer(), 1.0)
    relaxation = search.relaxation(search.problem(()))
    solution = search.solution(relaxation.numbers.tolist(), relaxation.coef, (), 0)
    pairs = list(zip(solution.columns, solution.coef.tolist(), strict=True))
    rows = [SubsetRow(frozenset(three)) for three in combinations(range(8), 3)]
    used = {row: sum(x * row.coefficient(c, solution.rows) for c, x in pairs) for row in rows}
    violated = {row for row, total in used.items() if total > 1.1}
    every = SubsetRowCuts(per_round=100, per_row=100)(solution)
    assert set(every) == violated
    assert [used[row] for row in every] == sorted((used[row] for row in every), reverse=True)
    assert SubsetRowCuts(most=2)(solution) == every[:2]
    bounds = [problem.search(cuts=cuts).run(max_nodes=1).bound for cuts in ([], [SubsetRowCuts()])]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= problem.optimum()
