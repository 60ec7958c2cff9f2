"""Strong branching: fewer nodes, the same optimum, and pseudo-costs that are what trials gave."""

import math
from typing import Any

import numpy as np
import pytest

from cgboost.integer import Branch, CountRow, StrongBranching, VariableBranching
from cgboost.integer.branching.strong_branching import BranchCandidate

from ..tree_problems import Problem, check, generalised_assignment, keeps_to, set_covering

RULE = VariableBranching()


def tree_size(problem: Problem, strong: StrongBranching | None) -> int:
    """Nodes of a search without heuristics, whose optimum must be right."""
    search = problem.search(branching=RULE, heuristics=[], strong_branching=strong)
    result = search.run()
    check(result, problem)
    return result.n_nodes


def test_trees_are_smaller() -> None:
    """Over ten coverings the trees have less than 0.85 times as many nodes."""
    problems = [set_covering(seed, 12, 30) for seed in range(10)]
    plain = sum(tree_size(problem, None) for problem in problems)
    strong = sum(tree_size(problem, StrongBranching()) for problem in problems)
    assert strong < 0.85 * plain


class Tried(StrongBranching):
    """Keeps what it was asked and has chosen."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.choices: list[tuple[list[Branch], BranchCandidate]] = []

    def choose(self, search: Any, node: Any, relaxation: Any, branches: Any, cuts: Any = ()) -> Any:
        """The same choice."""
        choice = super().choose(search, node, relaxation, branches, cuts)
        self.choices.append((list(branches), choice))
        return choice


def test_the_root_takes_the_branch_with_the_largest_product() -> None:
    """Gains at the root are those of the linear programs over all columns, solved by HiGHS."""
    n_compared = 0
    for seed in range(100):
        problem = generalised_assignment(seed)
        strong = Tried(n_candidates=20)
        problem.step = None
        problem.search(branching=RULE, heuristics=[], strong_branching=strong).run(max_nodes=1)
        if not strong.choices or len(strong.choices[0][0]) == 1:
            continue
        branches, choice = strong.choices[0]
        root = problem.optimum(integer=False)
        numbers = {name: i for i, name in enumerate(problem.rows)}
        gains = [
            [
                problem.optimum(
                    [c for c in problem.columns if keeps_to(c, decisions, numbers)], integer=False
                )
                - root
                for decisions in branch.children
            ]
            for branch in branches
        ]
        scores = [math.prod(max(gain, 1e-6) for gain in own) for own in gains]
        best = branches.index(choice.branch)
        assert scores[best] == pytest.approx(max(scores), rel=1e-3, abs=1e-8)
        optima = [root + gain for gain in gains[best]]
        assert all(np.array(choice.bounds) <= np.array(optima) + 1e-6)
        n_compared += 1
    assert n_compared >= 5


def test_pseudo_costs_replace_trials() -> None:
    """With a reliability of one a name is tried once, and a second run begins anew."""
    problems = (set_covering(seed, 12, 30) for seed in range(20))
    problem = next(each for each in problems if tree_size(each, None) > 8)
    strong = StrongBranching(reliability=1)
    first = tree_size(problem, strong)
    assert all(len(gains) <= 1 for gains in strong._gains.values())
    assert tree_size(problem, strong) == first


def test_a_rule_with_one_child() -> None:
    """Children that are not two are tried as well."""

    class Three:
        makes = (CountRow,)

        def branches(self, solution: Any, most: int) -> list[Branch]:
            total = float(solution.coef.sum())
            if abs(total - round(total)) < 1e-6:
                return []
            below = math.floor(total)
            children = ((CountRow("<=", below),), (CountRow(">=", below + 1.0),))
            third = (CountRow("<=", below - 1.0),)
            return [Branch(name, total, (*children, third)) for name in ("a", "b")]

    strong = Tried()
    for problem in map(set_covering, range(1, 50)):
        options = {"branching": [Three(), RULE], "heuristics": [], "strong_branching": strong}
        check(problem.search(**options).run(), problem)
        if any(len(branches[0].children) == 3 for branches, _ in strong.choices):
            return
    raise AssertionError("no search has asked the rule")
