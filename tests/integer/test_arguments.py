"""Wrong arguments of searches, rules, heuristics and decisions: named, with value and remedy."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import (
    Apart,
    BestBound,
    Branch,
    BranchDiving,
    BranchingError,
    ComponentRow,
    CountRow,
    DepthFirst,
    Diving,
    RestrictedMaster,
    RyanFoster,
    StrongBranching,
    SubsetRow,
    Together,
    VariableBound,
    VariableBranching,
    VariableFixing,
    VariableRow,
    respects,
)
from cgboost.masters import LinearMaster

from .tree_problems import KINDS, ROUNDING, Problem, bin_packing, indicator

NAN = math.nan


def triangle() -> Problem:
    """Three rows, the pairs of them and single ones: the relaxation takes a half of each pair."""
    sets = [own for n in (1, 2) for own in combinations(range(3), n)]
    columns = [Column(indicator(3, own), own, cost=2.0) for own in sets]
    return Problem("abc", "==", np.ones(3), columns, least_cost=2.0)


def column(*values: float, **more: Any) -> Column:
    """A column that the pricer does not make."""
    return Column(np.array(values), "own", **{"cost": 2.0, **more})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("objective_step", "1", "objective_step must be positive or None, got '1'"),
        ("objective_step", NAN, "objective_step must be positive or None, got nan"),
        ("objective_step", -1, "objective_step must be positive or None, got -1"),
        ("columns_per_round", "20", "columns_per_round must be a whole number ≥ 1, got '20'"),
        ("columns_per_round", 1.5, "columns_per_round must be a whole number ≥ 1, got 1.5"),
        ("branching", None, "branching must be a rule, or a list of them.*got None"),
        ("branching", RyanFoster, "branching must be a rule.*got <class.*RyanFoster"),
        ("branching", [1], "branching must be a rule.*got 1"),
        ("strong_branching", True, r"must be a StrongBranching\(\) or None, got True"),
        ("strong_branching", StrongBranching, r"must be a StrongBranching\(\) or None, got <class"),
        ("node_selection", "best", "node_selection must be an object with the methods.*'best'"),
        ("node_selection", BestBound, "node_selection must be an object.*BestBound"),
        ("smoothing", 0.5, "smoothing must be an object with the methods.*0.5"),
        ("heuristics", None, "heuristics must be a sequence of callables, got None"),
        ("heuristics", Diving(), "heuristics must be a sequence of callables, got <"),
        ("heuristics", [Diving], "heuristics must be a sequence of callables; among them is <cl"),
        ("cuts", 3, "cuts must be a sequence of callables, got 3"),
        ("cuts", "all", "cuts must be a sequence of callables, got 'all'"),
        ("cuts", [3], "cuts must be a sequence of callables; among them is 3"),
        ("callbacks", print, "callbacks must be a sequence of callables, got <built-in"),
        ("callbacks", [None], "callbacks must be a sequence of callables; among them is None"),
        ("start", 3, "start must be a sequence of columns, a solution; got 3"),
        ("start", column(1, 1, 1), "start must be a sequence of columns, a solution; got Column"),
        ("start", ["ab"], "start must be a sequence of columns.*among them is 'ab'"),
    ],
)
def test_options(name: str, value: Any, words: str) -> None:
    """Refused before anything is computed."""
    with pytest.raises((TypeError, ValueError), match=words):
        triangle().search(**{name: value})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gap": NAN}, "gap must be a number of at least 0, got nan"),
        ({"gap": "0"}, "gap must be a number of at least 0, got '0'"),
        ({"time_limit": -1}, "time_limit must be a number of at least 0, got -1"),
        ({"time_limit": NAN}, "time_limit must be a number of at least 0, got nan"),
        ({"time_limit": "1"}, "time_limit must be a number of at least 0, got '1'"),
        ({"max_nodes": -1}, "max_nodes must be a whole number ≥ 0, got -1"),
        ({"max_nodes": 1.5}, "max_nodes must be a whole number ≥ 0, got 1.5"),
        ({"max_nodes": NAN}, "max_nodes must be a whole number ≥ 0, got nan"),
    ],
)
def test_limits(options: dict[str, Any], words: str) -> None:
    """Of a run."""
    with pytest.raises(ValueError, match=words):
        triangle().search().run(**options)


@pytest.mark.parametrize("options", [{"time_limit": math.inf}, {"gap": math.inf}, {"max_nodes": 0}])
def test_limits_that_mean_something(options: dict[str, Any]) -> None:
    """Infinite ones, and no node at all."""
    assert triangle().search().run(**options).message


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([column(1, 1)], r"column 'own' has shape \(2,\), the master has 3 rows"),
        ([column(1, NAN, 1)], "column 'own' has the value nan in row 1"),
        ([column(1, 1, 1, cost=1.0)], "column 'own' costs 1, less than least_cost=2"),
        ([column(1, 1, 1, upper=-1.0)], "column 'own' has the upper bound -1.0"),
        ([column(1, 1, 0)], r"its columns do not meet the rows 'c' \(by 1\)$"),
        ([column(1, 0, 3)], r"do not meet the rows 'b' \(by 1\), 'c' \(by 2\)$"),
        ([column(1, 1, 1), column(1, 1, 1)], r"rows 'a' \(by 1\), 'b' \(by 1\), 'c' \(by 1\)$"),
        (
            2 * [column(1, 1, 1, upper=1.0)],
            "start is no solution: it has the column 'own' 2 times, but its upper bound is 1",
        ),
        ([column(1, 1, 1), column(1, 0, 0)], "two different columns have the key 'own'"),
    ],
)
def test_starts(start: list[Column], words: str) -> None:
    """Solutions to begin with that are none."""
    with pytest.raises(ValueError, match=words):
        triangle().search(start=start).run()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StrongBranching("8"), "n_candidates must be a whole number ≥ 1, got '8'"),
        (lambda: StrongBranching(reliability=NAN), "reliability must be .* got nan"),
        (lambda: StrongBranching(max_rounds=0), "max_rounds must be a whole number ≥ 1, got 0"),
        (lambda: DepthFirst("100"), "max_dive must be a whole number ≥ 1, got '100'"),
        (lambda: DepthFirst(1.5), "max_dive must be a whole number ≥ 1, got 1.5"),
        (lambda: RestrictedMaster(time_limit=-1), "time_limit must be a number of at least 0"),
        (lambda: RestrictedMaster(share=NAN), "share must be a number of at least 0, got nan"),
        (lambda: RestrictedMaster(every=-1), "every must be a whole number ≥ 0, got -1"),
        (lambda: Diving(discrepancies=-1), "discrepancies must be a whole number ≥ 0, got -1"),
        (lambda: Diving(depth="3"), "depth must be a whole number ≥ 0, got '3'"),
        (lambda: Diving(tol=NAN), "tol must be a number of at least 0, got nan"),
        (lambda: BranchDiving([], share=NAN), "share must be a number of at least 0, got nan"),
        (lambda: BranchDiving([], every=-1), "every must be a whole number ≥ 0, got -1"),
        (lambda: VariableFixing(most_steps=-1), "most_steps must be a number of at least 0"),
        (lambda: Diving(max_rounds=0), "max_rounds must be a whole number ≥ 1, got 0"),
        (lambda: VariableBranching(integer="xy"), "integer must be a collection of names.*'xy'"),
        (lambda: VariableBranching(first=3), "first must be a collection of names.*got 3"),
        (lambda: VariableBranching(signed=5), "signed must be a collection of names.*got 5"),
        (lambda: SubsetRow(["a", "b"]), r"must be a frozenset of rows, got \['a', 'b'\]"),
        (lambda: SubsetRow(frozenset()), r"must be a frozenset of rows, got frozenset\(\)"),
        (lambda: SubsetRow(frozenset("abc"), 2), "must be between 0 and 1, got 2"),
        (lambda: SubsetRow(frozenset("abc"), NAN), "must be between 0 and 1, got nan"),
        (lambda: VariableBound("x", 2, 1), "lower=2 .* on 'x' is above upper=1"),
        (lambda: VariableBound("x", NAN), "lower of a VariableBound must be a number, got nan"),
        (lambda: VariableRow.of({"x": 1}, "<", 1), 'must be "<=", "==" or ">=", got \'<\''),
        (lambda: VariableRow.of({"x": 1}, "<=", NAN), "rhs of a VariableRow must be .* got nan"),
        (lambda: VariableRow.of({"x": NAN}, "<=", 1), "has the coefficient nan of 'x'"),
        (lambda: VariableRow({"x": 1}, "<=", 1), "VariableRow.of takes a mapping"),
        (lambda: CountRow("<=", "3"), "rhs of a CountRow must be a finite number, got '3'"),
        (lambda: ComponentRow({"a": 1}, "<=", 1), r"frozenset of pairs .* got \{'a': 1\}"),
    ],
)
def test_parts(make: Callable[[], Any], words: str) -> None:
    """Rules, heuristics, node selections and decisions."""
    with pytest.raises((TypeError, ValueError), match=words):
        make()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "cuts must return a sequence of rows, got None"),
        (CountRow(">=", 2.0), "cuts must return a sequence of rows, got CountRow"),
        ([3], "a cut of the kind int was returned"),
        ([SubsetRow(frozenset("az"))], r"SubsetRow.* names the row 'z'.*\['a', 'b', 'c'\]"),
        ([ComponentRow(frozenset([("z", 1.0)]), "<=", 1.0)], "ComponentRow.* names the row 'z'"),
    ],
)
def test_cuts(answer: Any, words: str) -> None:
    """What cuts return, and the rows that they name."""
    with pytest.raises(BranchingError, match=words):
        triangle().search(cuts=[lambda solution: answer], heuristics=[]).run()


@pytest.mark.parametrize(("sense", "rhs"), [(">=", 1.0), ("==", 2.0)])
def test_subset_rows_of_other_rows(sense: str, rhs: float) -> None:
    """They are no cuts there."""
    problem = triangle()
    problem.sense, problem.rhs = sense, np.full(3, rhs)
    cut = SubsetRow(frozenset("abc"))
    with pytest.raises(BranchingError, match=rf"for rows ≤ 1 or = 1, but the row .* is {sense}"):
        problem.search(cuts=[lambda solution: [cut]], heuristics=[]).run()


@pytest.mark.parametrize("multiplier", [0.5, 0.6])
def test_subset_rows_beside_columns_in_fractions(multiplier: float) -> None:
    """Columns that need not be whole are in no such cut, unless they give what others need."""
    rows = [SubsetRow(frozenset(own), multiplier) for own in combinations(range(5), 3)]
    added = 0

    def violated(solution: Any) -> list[SubsetRow]:
        nonlocal added
        pairs = list(zip(solution.columns, solution.coef, strict=True))
        used = [sum(x * row.coefficient(c, solution.rows) for c, x in pairs) for row in rows]
        found = [row for row, total in zip(rows, used, strict=True) if total > row.rhs + 1e-6]
        added += len(found)
        return found

    for seed in range(25):
        rng = np.random.default_rng(seed)
        problem = bin_packing(seed)
        n = len(problem.rows)
        problem.columns = [
            replace(c, cost=float(rng.integers(6, 12)), integer=bool(rng.random() < 0.6))
            for c in problem.columns
        ]
        problem.columns += [
            Column(-indicator(n, [i]), ("back", i), cost=float(rng.integers(6, 9)), integer=False)
            for i in range(n)
        ]
        problem.step = None
        result = problem.search(cuts=[violated], heuristics=[]).run(max_nodes=300)
        optimum = problem.optimum()
        assert (result.tree["global_bound"] <= optimum + ROUNDING).all()
        assert result.objective >= optimum - ROUNDING
    assert added > 0


@pytest.mark.parametrize(
    ("branches", "words"),
    [
        ([1], "Own.branches must return Branch objects, got 1"),
        ([Branch("x", 0.5, ())], "Own gave the branch 'x', without children"),
        ([Branch("x", 0.5, ((), ()))], "with the child .*at least one decision"),
        (
            [Branch("x", 0.5, (Together("a", "b"), Apart("a", "b")))],  # type: ignore[arg-type]
            "with the child Together.*a sequence",
        ),
        ([Branch("x", 0.5, (("odd",),))], "Own made 'odd', which is no decision"),
        ([Branch("x", 0.5, ((Together("a", "z"),),))], "Together.* names the row 'z'"),
        ([Branch("x", 0.5, ((CountRow("<=", 1.0),),))], r"CountRow.*none of the kinds.*\(Together"),
    ],
)
def test_branches(branches: Any, words: str) -> None:
    """What a rule returns; a branch without children would lose all solutions."""

    class Own:
        makes = (Together, Apart)

        def branches(self, solution: Any, most: int) -> Any:
            return branches

    with pytest.raises(BranchingError, match=words):
        triangle().search(branching=Own(), heuristics=[]).run()


def test_heuristics_and_callbacks_that_raise() -> None:
    """A heuristic ends the search, with its name and a bound; a callback's error is passed on."""

    def careless(*state: Any) -> Any:
        raise ZeroDivisionError("oh")

    result = triangle().search(heuristics=[careless]).run()
    assert result.stop_reason is StopReason.PRICER_FAILED
    assert result.message == "in the heuristic careless: ZeroDivisionError: oh"
    assert result.bound == pytest.approx(3.0)
    for options in ({"callbacks": [careless]}, {"cuts": [careless]}):
        with pytest.raises(ZeroDivisionError, match="oh"):
            triangle().search(heuristics=[], **options).run()


def always(*columns: Column) -> Any:
    """A pricer with these columns."""

    @respects(*KINDS)
    def price(duals: Any) -> Any:
        reduced = [c.cost - float(duals @ c.values) for c in columns]
        found = [c for c, own in zip(columns, reduced, strict=True) if own < -1e-9]
        return found, min(reduced, default=0.0)

    return price


def test_masters_without_rows() -> None:
    """Nothing has to be met: nothing is taken."""
    result = BranchAndPrice(LinearMaster(0, "==", 1.0), always()).run()
    assert result.objective == result.bound == 0.0


@pytest.mark.parametrize("copies", [None, 5.0])
def test_unbounded_masters(copies: float | None) -> None:
    """The columns, and what to do."""
    master = LinearMaster(2, ">=", 1.0, copies=copies)
    gift = Column(np.ones(2), "gift", cost=-1.0)
    with pytest.raises(MasterError, match=r"unbounded: .*\['gift'\].*Column.upper"):
        BranchAndPrice(master, always(gift)).run()


def test_rows_that_nothing_meets() -> None:
    """They alone are named."""
    columns = [
        Column(np.array(v), k, cost=1.0) for k, v in [("x", [1.0, 0, 1]), ("y", [1.0, 0, 0])]
    ]
    master = LinearMaster(["first", "second", "third"], "==", 1.0, copies=5)
    result = BranchAndPrice(master, always(*columns)).run()
    assert result.stop_reason is StopReason.INFEASIBLE
    assert "the rows 'second' (by 1);" in result.message
