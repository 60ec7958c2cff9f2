"""What a search says where no rule divides a fractional solution: the cause, and what to do."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import as_pricer
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Priced
from cgboost.integer import (
    Apart,
    BestBound,
    Branch,
    CountBranching,
    DepthFirst,
    NodeSolution,
    RyanFoster,
    Together,
    VariableBound,
    VariableBranching,
    VariableRow,
    respects,
)
from cgboost.integer.decomposition.pricing.block_pricer import BlockPricer
from cgboost.integer.reporting.undivided import missing_copies, wanted_bound, why_undivided
from cgboost.masters import LinearMaster
from cgboost.pricing import BlockwisePricer

from ..tree_problems import PROVEN, Problem, check, indicator, triangle

PAIRS = (Together, Apart)
BOUNDS = (VariableBound,)
VARIABLES = (VariableBound, VariableRow)


def with_variables(own: Any = None, block: str | None = None) -> Problem:
    """The triangle with a variable for each column, or those of a function of it."""
    problem = triangle()
    problem.columns = [
        replace(c, variables={c.key: 1.0} if own is None else own(c), block=block)
        for c in problem.columns
    ]
    return problem


def shared() -> Problem:
    """A dear column that need not be whole in every row."""
    problem = triangle()
    problem.columns = [*problem.columns, Column(np.ones(3), "all", cost=9.0, integer=False)]
    return problem


CAUSES: list[tuple[Problem, Sequence[type], str]] = [
    (triangle(), (), r"the pricer respects no decisions, .*@respects\("),
    (triangle(), (Together,), "the pricer respects Together, and no rule"),
    (triangle(), VARIABLES, r"the column '..' .* has no variables.*Column\(vari"),
    (
        with_variables(),
        BOUNDS,
        r"decision on it is a row: .*@respects\(VariableBound, VariableRow\); or name its subprob",
    ),
    (with_variables(block="all"), BOUNDS, "or make its block 'all' a row '== 1' of copies"),
    (
        replace(triangle(), sense=">="),
        PAIRS,
        r"here rows are '>= 1'.*RyanFoster\(subset_closed=True\)",
    ),
    (replace(triangle(), rhs=[3.0, 3.0, 3.0]), PAIRS, "these columns are in none"),
    (shared(), PAIRS, "columns that need not be whole are in the rows"),
    (
        with_variables(lambda column: {"taken": 2.0}),
        VARIABLES,
        "all variables are whole, but columns are not",
    ),
]


@pytest.mark.parametrize(("problem", "kinds", "words"), CAUSES)
def test_the_cause_is_named(problem: Problem, kinds: Sequence[type], words: str) -> None:
    """With branching="auto", the bound of the relaxation, and the section of the page."""
    result = problem.search(problem.pricer(respects=kinds), heuristics=[]).run()
    assert result.stop_reason is StopReason.NO_BRANCHING, result.message
    assert result.tree["status"].tolist() == ["undivided"]
    assert result.n_nodes == 1
    assert result.bound == pytest.approx(problem.optimum(integer=False))
    assert re.search(words, result.message), result.message
    assert result.message.endswith("(more: cgboost explain branch-and-price)")
    check(result, problem)


def solution(columns: Sequence[Column], coef: Sequence[float], **more: Any) -> NodeSolution:
    """A node's solution with two rows = 1."""
    empty = NodeSolution(
        columns, np.array(coef), {"a": 0, "b": 1}, np.array(["==", "=="]), np.ones(2), (),
        frozenset(), 0, frozenset(), np.zeros(2, dtype=bool),
    )  # fmt: skip
    return replace(empty, **more)


def column(key: int, variable: str = "v", amount: float = 1.0, block: Any = None) -> Column:
    """A column in both rows."""
    return Column(np.ones(2), key, cost=1.0, variables={variable: amount}, block=block)


class NoRule:
    """A rule that finds nothing."""

    makes = ()

    def branches(self, solution: NodeSolution, most: int) -> list[Branch]:
        """None."""
        return []


HALVES = solution([column(0), column(1, "w")], [0.5, 0.5])
TWO_BLOCKS = solution(
    [
        column(0, amount=0.5, block="a"),
        column(1, amount=0.5, block="a"),
        column(2, block="b"),
    ],
    [0.5, 0.5, 1.0],
    once=frozenset("ab"),
)


def of_agent(sense: str) -> NodeSolution:
    """Two halves of columns of the agent whose row is "b"."""
    columns = [column(0, block="b"), column(1, "w", block="b")]
    return solution(columns, [0.5, 0.5], senses=np.array(["==", sense]))


BY_BOUNDS = VariableBranching(rows=False)
COPIES = "pass copies={'b': 1, …} to LinearMaster, which says that 'b' is its row"


@pytest.mark.parametrize(
    ("rule", "seen", "kinds", "words"),
    [
        (CountBranching(), HALVES, (), "CountBranching: the number of columns is whole"),
        (RyanFoster(), HALVES, (), "together in a whole number of columns"),
        (VariableBranching(integer=["x"]), HALVES, (), "'v' is fractional, and is not among integ"),
        (NoRule(), HALVES, (), "NoRule: it returns no branch"),
        (NoRule(), solution([column(0)], [1.0]), (), "columns are whole, but miss the rows"),
        # a bound in one of two subproblems would not be enough, whatever the blocks are
        (BY_BOUNDS, TWO_BLOCKS, BOUNDS, "a decision on it is a row"),
        # a block whose name is a row
        (BY_BOUNDS, of_agent("=="), BOUNDS, COPIES),
        (BY_BOUNDS, of_agent("<="), BOUNDS, "make its row 'b' '== 1' (it is '<='), with a column"),
        (BY_BOUNDS, of_agent("<="), BOUNDS, "pass copies={'b': 1, …} to LinearMaster"),
    ],
)
def test_rules_that_are_given(rule: Any, seen: NodeSolution, kinds: Any, words: str) -> None:
    """They are named, with what keeps them from dividing the node, and what to pass."""
    assert not rule.branches(seen, 1)
    said = why_undivided(seen, [rule], kinds)
    assert words in said
    assert seen is not TWO_BLOCKS or "copies" not in said


@pytest.mark.parametrize(
    ("shared_name", "rows", "words"),
    [
        (
            True,
            True,
            "'z' is whole in the sum of all blocks.*name a variable .*, as \\('z', 'b'\\)",
        ),
        (True, False, "'z' is whole in the sum of all blocks"),
        (False, True, ""),
        (False, False, "a decision on it is a row: allow rows with VariableBranching"),
    ],
)
def test_a_variable_that_must_be_whole_is_what_the_message_is_about(
    shared_name: bool, rows: bool, words: str
) -> None:
    """Not the continuous variable beside it; nor does it ask for what the pricer says already."""

    @respects(*VARIABLES)
    def pricer(duals: Any) -> tuple[list[Column], dict[str, float]]:
        """Up to 1.5 and 2 units of z, for which the rule has bounds or rows."""
        columns, least = [], {}
        for block, (cost, most) in {"a": (3.0, 1.5), "b": (4.0, 2.0)}.items():
            name = "z" if shared_name else ("z", block)
            reduced = cost - 10 * duals.of("goods") - duals.prices.get(name, 0.0)
            z = most if reduced < 0 else 0.0
            least[block] = reduced * z - duals.of(block)
            values = np.array([10 * z, block == "a", block == "b"])
            more: Any = {"variables": {name: z, ("q", block): 7.3 * z}, "block": block}
            columns.append(Column(values, (block, z), cost=cost * z, integer=False, **more))
        return columns, least

    rule = VariableBranching(integer=["z", ("z", "a"), ("z", "b")], rows=rows)
    blocks = {"a": 1, "b": 1}
    master = LinearMaster(["goods", *blocks], [">=", "<=", "<="], [20.0, 1.0, 1.0], copies=blocks)
    result = BranchAndPrice(master, pricer, branching=rule, heuristics=[]).run()
    assert re.search(words, result.message)
    assert "('q'," not in result.message
    assert "@respects" not in result.message
    assert words or result.objective == pytest.approx(7.0)


class DividesNoPair:
    """Pairs of rows, but not where a and b are in one column."""

    makes = PAIRS

    def branches(self, solution: Any, most: int) -> list[Branch]:
        """Those of Ryan and Foster."""
        if Together("a", "b") in solution.decisions:
            return []
        return list(RyanFoster().branches(solution, most))


def pairs_of_five() -> Problem:
    """Five rows and their pairs: half of a cycle of five in the relaxation."""
    cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    chords = [(0, 2), (1, 3), (2, 4), (0, 3), (1, 4)]
    columns = [Column(indicator(5, own), own, cost=2.0) for own in cycle]
    columns += [Column(indicator(5, own), own, cost=2.5) for own in chords]
    columns += [Column(indicator(5, [k]), (k,), cost=1.7) for k in range(5)]
    return Problem("abcde", "==", np.ones(5), columns, least_cost=1.7)


@pytest.mark.parametrize("select", [BestBound, DepthFirst])
def test_other_nodes_go_on(select: Any) -> None:
    """The nodes beside one that no rule divides are searched, and its bound is kept."""
    reasons = set()
    for seed in range(8):
        problem, rng = pairs_of_five(), np.random.default_rng(seed)
        problem.columns = [replace(c, cost=c.cost + rng.random()) for c in problem.columns]
        options = {"branching": DividesNoPair(), "heuristics": [], "node_selection": select()}
        result = problem.search(**options).run()
        check(result, problem)
        reasons.add(result.stop_reason)
        status = result.tree["status"]
        aside = result.tree["bound"][status == "undivided"]
        if result.stop_reason is StopReason.NO_BRANCHING:
            assert result.bound == pytest.approx(aside.min())
            assert len(status) > 2  # the root, its child that is left, and others
        else:
            assert result.stop_reason in PROVEN
    assert StopReason.NO_BRANCHING in reasons


def test_what_to_pass_for_a_bound() -> None:
    """Rows <= 1 without copies: the first ones are named; with copies, or none such, no words."""
    rows, senses = ["t", "a", "b", "c", "d"], ["==", "<=", "<=", "<=", "<="]
    words = missing_copies(LinearMaster(rows, senses, 1.0))
    assert "pass copies={'a': 1, 'b': 1, 'c': 1, …} to LinearMaster" in words
    assert "copies={'a': 1} to" in missing_copies(LinearMaster(rows, senses, [1, 1, 2, 2, 2]))
    assert missing_copies(LinearMaster(rows, senses, 1.0, copies={"a": 1.0})) == ""
    assert missing_copies(LinearMaster(rows, senses, 1.0, least_cost=1.0)) == ""
    assert missing_copies(LinearMaster(rows, "==", 1.0)) == ""
    for copies in (None, {"agent": 1.0}):  # a search that is out of time before it has a bound
        master = LinearMaster(["task", "agent"], ["==", "<="], 1.0, copies=copies)
        result = BranchAndPrice(master, lambda duals: ([], 0.0)).run(time_limit=1e-9)
        assert (result.stop_reason, result.bound) == (StopReason.TIME, None)
        assert ("pass copies={'agent': 1} to LinearMaster" in result.message) is (copies is None)


class OwnPricer:
    """A pricer that is an object of the user's."""

    respects = ()

    def price(self, state: Any, limit: int) -> Priced:
        """Nothing, and no bound."""
        return Priced(columns=())


@pytest.mark.parametrize(
    ("pricer", "words"),
    [
        (lambda duals: [], "return (columns, bound)"),
        (BlockwisePricer(lambda duals, block: [], ["b"]), "return (columns, bound)"),
        (OwnPricer(), "return Priced(columns, exact=True, reduced_cost=bound)"),
        (BlockPricer([], ["a"], component_rows=False), "not solved to the end, give more time"),
    ],
)
def test_who_wrote_the_pricer_is_told_what_to_return(pricer: Any, words: str) -> None:
    """A function, an object, and a pricer of this package, of which the user sees nothing."""
    assert words in wanted_bound(as_pricer(pricer))
    if not isinstance(pricer, BlockPricer):
        result = BranchAndPrice(LinearMaster(["a"], "==", 1.0), pricer).run()
        assert result.stop_reason is StopReason.NO_COLUMN
        assert words in result.message
