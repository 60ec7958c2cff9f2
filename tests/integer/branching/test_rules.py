"""Branching rules: children lose no integer solution, and both exclude the fractional one."""

from collections.abc import Sequence

import numpy as np
import pytest

from cgboost.generation import Column
from cgboost.integer import (
    BranchingRule,
    ComponentBranching,
    CountBranching,
    NodeSolution,
    Restriction,
    RyanFoster,
    SetBranching,
    VariableBound,
    VariableBranching,
    VariableRow,
)


def solution(
    values: list[list[float]],
    coef: list[float],
    *,
    sense: str = "==",
    once: frozenset[str] = frozenset(),
    blocks: list[str] | None = None,
    integer: bool = True,
    signed: frozenset[int] = frozenset(),
    shared: Sequence[int] = (),
) -> NodeSolution:
    """Columns with these values, each with its rows as variables."""
    columns = [
        Column(
            np.array(own, dtype=float),
            key=number,
            cost=1.0,
            variables={i: v for i, v in enumerate(own) if v},
            block=blocks[number] if blocks else None,
            integer=integer,
        )
        for number, own in enumerate(values)
    ]
    n_rows = len(values[0])
    rows = {i: i for i in range(n_rows)}
    senses = np.array([sense] * n_rows)
    return NodeSolution(
        columns,
        np.array(coef),
        rows,
        senses,
        np.ones(n_rows),
        (),
        once,
        0,
        signed,
        np.isin(range(n_rows), shared),
    )


PAIRS = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
"""Half of each meets three rows once: the fractional solution that everybody knows."""


def kept(decisions: tuple[object, ...], at: NodeSolution, coef: np.ndarray) -> bool:
    """Whether coefficients keep to decisions."""
    for decision in decisions:
        if isinstance(decision, Restriction):
            used = [c for c, x in zip(at.columns, coef, strict=True) if x > 0]
            if not all(decision.allows(column, at.rows) for column in used):
                return False
        else:
            total = sum(
                decision.coefficient(c, at.rows) * x for c, x in zip(at.columns, coef, strict=True)
            )
            if decision.sense == "<=" and total > decision.rhs + 1e-9:
                return False
            if decision.sense == ">=" and total < decision.rhs - 1e-9:
                return False
    return True


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        (CountBranching(), solution(PAIRS, [0.5, 0.5, 0.5])),
        (RyanFoster(), solution(PAIRS, [0.5, 0.5, 0.5])),
        (ComponentBranching(), solution([[2, 0], [1, 1], [0, 3]], [1.5, 1.0, 1 / 3], sense=">=")),
        (ComponentBranching(), solution([[2, 1], [1, 2]], [0.5, 0.5], sense=">=")),
        (VariableBranching(), solution(PAIRS, [0.5, 0.25, 0.5])),
    ],
    ids=["count", "pairs", "components", "two conditions", "variables"],
)
def test_children_lose_no_integer_solution_and_both_cut_off_the_fractional_one(
    rule: BranchingRule, at: NodeSolution
) -> None:
    """Of all whole coefficients up to 3 each is in exactly one child, or in one at least."""
    branches = rule.branches(at, 3)
    assert branches
    for branch in branches:
        assert len(branch.children) == 2
        assert not any(kept(child, at, at.coef) for child in branch.children)
        for counts in np.ndindex(4, 4, *([4] * (len(at.columns) - 2))):
            whole = np.array(counts, dtype=float)
            if isinstance(rule, RyanFoster):  # of partitions alone
                met = np.array([c.values for c in at.columns]).T @ whole
                if not (met == 1).all():
                    continue
            assert any(kept(child, at, whole) for child in branch.children), (branch, counts)


@pytest.mark.parametrize(
    "rule", [CountBranching(), RyanFoster(), ComponentBranching(), VariableBranching()]
)
def test_whole_and_continuous_columns_are_not_divided(rule: BranchingRule) -> None:
    """Nothing is fractional, or nothing has to be whole."""
    assert not rule.branches(solution(PAIRS, [1.0, 2.0, 0.0]), 3)
    assert not rule.branches(solution(PAIRS, [0.5, 0.5, 0.5], integer=False), 3)


def test_pairs_are_of_rows_that_are_met_once() -> None:
    """Rows ≥ 1 are left alone without ``subset_closed``; so are rows with shared columns.

    These need not be whole, and may meet a row beside others in any solution.
    """
    covers = solution(PAIRS, [0.5, 0.5, 0.5], sense=">=")
    assert not RyanFoster().branches(covers, 1)
    assert RyanFoster(subset_closed=True).branches(covers, 1)
    at = solution(PAIRS, [0.5, 0.5, 0.5], shared=[1])
    assert [branch.name for branch in RyanFoster().branches(at, 3)] == [(0, 2)]


def test_variables_of_a_block_with_one_column_are_bounded_in_the_subproblem() -> None:
    """Elsewhere a bound of 0 or a row; without rows, nothing."""
    blocks = ["a", "a", "a"]
    at = solution(PAIRS, [0.5, 0.25, 0.25], once=frozenset(["a"]), blocks=blocks)
    (branch,) = VariableBranching(first=[1]).branches(at, 1)
    assert branch.name == 1
    assert branch.children == (
        (VariableBound(1, lower=1.0, block="a"),),
        (VariableBound(1, upper=0.0, block="a"),),
    )
    loose = solution(PAIRS, [0.5, 0.25, 0.25], blocks=blocks)
    assert not VariableBranching(rows=False).branches(loose, 1)
    assert VariableBranching(integer=[2]).branches(loose, 3)[0].name == 2


def test_a_bound_of_0_needs_amounts_that_are_not_negative() -> None:
    """Amounts 1 and −1 may sum to 0: then there is a row."""
    blocks = ["a", "b", "c"]
    at = solution(PAIRS, [0.5, 0.25, 0.25], blocks=blocks)
    assert VariableBranching(first=[1]).branches(at, 1)[0].children[1] == (
        VariableBound(1, upper=0.0),
    )
    seen = solution(PAIRS, [0.5, 0.25, 0.25], blocks=blocks, signed=frozenset([1]))
    for rule, where in (
        (VariableBranching(first=[1], signed=[1]), at),
        (VariableBranching(), seen),
    ):
        branch = next(each for each in rule.branches(where, 3) if each.name == 1)
        assert branch.children[1] == (VariableRow(((1, 1.0),), "<=", 0.0),)


def test_a_pricer_that_knows_bounds_alone_gets_no_rows() -> None:
    """A variable of two blocks is divided in one of them, if there may be no rows."""
    at = solution(PAIRS, [0.5, 0.5, 0.5], once=frozenset("ab"), blocks=["a", "b", "b"])
    branches = VariableBranching(rows=False).branches(at, 9)
    decisions = [each for branch in branches for child in branch.children for each in child]
    assert {each.variable for each in decisions if isinstance(each, VariableBound)} == {0, 1}
    assert all(isinstance(each, VariableBound) and each.block for each in decisions)


def test_each_child_closes_a_part_of_the_set() -> None:
    """The two variables that are used most are in different parts, the unused ones in both.

    Each single column is in one child.
    """
    at = solution([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1]], [0.5, 0.2, 0.3])
    (branch,) = SetBranching([range(5)]).branches(at, 3)
    decisions = [each for child in branch.children for each in child]
    assert all(isinstance(each, VariableBound) and each.upper == 0 for each in decisions)
    first, second = ({each.variable for each in child} for child in branch.children)
    assert first | second == set(range(5))
    assert not first & second
    assert 4 in first
    assert 0 in second
    assert 2 <= len(first) <= 3
    used = dict(zip((0, 2, 4), at.coef.tolist(), strict=True))
    assert branch.value == pytest.approx(sum(x for v, x in used.items() if v in second))
    assert not any(kept(child, at, at.coef) for child in branch.children)
    for alone in np.eye(3):
        assert sum(kept(child, at, alone) for child in branch.children) == 1


def test_sets_that_are_most_divided_come_first() -> None:
    """At most so many; sets with one used variable, or of one, are not divided."""
    at = solution(PAIRS, [0.6, 0.1, 0.3])
    rule = SetBranching([(0, "unused"), (0, 2), (0, 1), (1,)])
    names = [branch.name for branch in rule.branches(at, 5)]
    assert names == [("set", 2), ("set", 1)]
    assert [branch.name for branch in rule.branches(at, 1)] == names[:1]
    assert SetBranching([(0, "unused")]).branches(at, 5) == []
