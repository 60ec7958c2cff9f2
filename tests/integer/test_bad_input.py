"""Wrong options, limits, starts, parts, rules, cuts and answers: named, with value and remedy."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import BoundError, MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import (
    Apart,
    BestBound,
    Branch,
    BranchDiving,
    BranchingError,
    ComponentRow,
    CountBranching,
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
from cgboost.integer.search_state import ObjectiveStepError
from cgboost.masters import LinearMaster

from .tree_problems import KINDS, AllColumns, Problem, bin_packing, generalised_assignment, triangle

NAN = math.nan
Act = Callable[[], Any]


def search(**options: Any) -> Act:
    """A search of the triangle with an option."""
    return lambda: triangle().search(**options)


def limit(**options: Any) -> Act:
    """A run with a limit."""
    return lambda: triangle().search().run(**options)


def own(*values: float, **more: Any) -> Column:
    """A column that the pricer does not make."""
    return Column(np.array(values), "own", **{"cost": 2.0, **more})


def start(*columns: Column) -> Act:
    """A search with a solution to begin with."""
    return lambda: triangle().search(start=columns).run()


def cut(answer: Any, **changes: Any) -> Act:
    """A search whose cuts are these."""
    problem = replace(triangle(), **changes)
    return lambda: problem.search(cuts=[lambda solution: answer], heuristics=[]).run()


def rule(answer: Any) -> Act:
    """A search with a rule that returns these branches; none would lose all solutions."""

    class Own:
        makes = (Together, Apart)

        def branches(self, solution: Any, most: int) -> Any:
            return answer

    return lambda: triangle().search(branching=Own(), heuristics=[]).run()


def answer(
    change: Callable[[list[Column], Any], Any], make: Callable[[int], Problem] = bin_packing
) -> Act:
    """A search whose pricer's columns and bound are changed."""
    problem = make(3)
    honest = problem.pricer()
    return lambda: problem.search(respects(*KINDS)(lambda duals: change(*honest(duals)))).run()


def columns(**changes: Any) -> Act:
    """A search whose columns have something else."""
    return answer(lambda found, bound: ([replace(c, **changes) for c in found], bound))


def bound(change: Callable[[float], Any], make: Callable[[int], Problem]) -> Act:
    """A search whose bounds, one for all or those of blocks, are something else."""

    def changed(bound: Any) -> Any:
        if isinstance(bound, Mapping):
            return {row: change(value) for row, value in bound.items()}
        return change(bound)

    return answer(lambda found, bound: (found, changed(bound)), make)


def twins(change: Callable[[Column, int], dict[str, Any]]) -> Act:
    """A search whose pricer gives every column twice, each with its number."""
    return answer(
        lambda found, bound: [replace(c, **change(c, 1 + i)) for i, c in enumerate(2 * found)]
    )


class Lists:
    """Returns what no search can use."""

    respects = KINDS

    def price(self, state: Any, limit: int) -> Any:
        return ["column"]


class Words(Lists):
    """Says in words what it respects."""

    respects = "Together"  # type: ignore[assignment]


def first_rows(sense: str, rhs: float) -> Act:
    """Subset rows of rows that are not ≤ 1 or = 1."""
    return cut([SubsetRow(frozenset("abc"))], sense=sense, rhs=np.full(3, rhs))


def bounded() -> Any:
    """A pricer that respects bounds of variables alone."""
    return respects(VariableBound)(lambda duals: [])


ONCE = LinearMaster(["goods", "a"], [">=", "=="], [20.0, 1.0], copies={"a": 1})

WRONG: list[tuple[Act, str]] = [
    # options
    (search(objective_step="1"), "objective_step must be positive or None, got '1'"),
    (search(objective_step=NAN), "objective_step must be positive or None, got nan"),
    (search(objective_step=0.0), "objective_step must be positive or None, got 0.0"),
    (search(columns_per_round=1.5), "columns_per_round must be a whole number ≥ 1, got 1.5"),
    (search(columns_per_round=0), "columns_per_round must be a whole number ≥ 1, got 0"),
    (search(branching=None), "branching must be a rule, or a list of them.*got None"),
    (search(branching="best"), "branching must be rules or .auto., got 'best'"),
    (search(branching=RyanFoster), "branching must be a rule.*got <class.*RyanFoster"),
    (search(branching=[1]), "branching must be a rule.*got 1"),
    (search(strong_branching=True), r"must be a StrongBranching\(\) or None, got True"),
    (search(node_selection=BestBound), "node_selection must be an object.*BestBound"),
    (search(smoothing=0.5), "smoothing must be an object with the methods.*0.5"),
    (search(heuristics="some"), "heuristics must be objects or .auto., got 'some'"),
    (search(heuristics=Diving()), "heuristics must be a sequence of callables, got <"),
    (search(heuristics=[Diving]), "heuristics must be a sequence of callables; among them is <cl"),
    (search(cuts="all"), "cuts must be a sequence of callables, got 'all'"),
    (search(cuts=[3]), "cuts must be a sequence of callables; among them is 3"),
    (search(callbacks=print), "callbacks must be a sequence of callables, got <built-in"),
    (search(start=3), "start must be a sequence of columns, a solution; got 3"),
    (search(start=["ab"]), "start must be a sequence of columns.*among them is 'ab'"),
    (search(start_duals={"row": 1.0}), "no rows of the master"),
    (search(start_duals={"a": NAN}), r"start_duals\['a'\] must be a finite number, got nan"),
    (search(executor="processes"), "executor must be None"),
    (search(subgradient="no"), "an object, None or \"auto\", got 'no'"),
    (lambda: BranchAndPrice(None, bounded()), "master must be a LinearMaster, got NoneType"),
    (limit(gap=NAN), "gap must be a number of at least 0, got nan"),
    (limit(gap="0"), "gap must be a number of at least 0, got '0'"),
    (limit(time_limit=-1), "time_limit must be a number of at least 0, got -1"),
    (limit(max_nodes=-1), "max_nodes must be a whole number ≥ 0, got -1"),
    # starts
    (start(own(1, 1)), r"column 'own' has shape \(2,\), the master has 3 rows"),
    (start(own(1, NAN, 1)), "column 'own' has the value nan in row 1"),
    (start(own(1, 1, 1, cost=1.0)), "column 'own' costs 1, less than least_cost=2"),
    (start(own(1, 1, 1, upper=-1.0)), "column 'own' has the upper bound -1.0"),
    (start(own(1, 1, 0)), r"start is no solution: its columns do not meet the rows 'c' \(by 1\)$"),
    (start(own(1, 0, 3)), r"do not meet the rows 'b' \(by 1\), 'c' \(by 2\)$"),
    (start(own(1, 1, 1), own(1, 1, 1)), r"rows 'a' \(by 1\), 'b' \(by 1\), 'c' \(by 1\)$"),
    (start(*2 * [own(1, 1, 1, upper=1.0)]), "'own' 2 times, but its upper bound is 1"),
    (start(own(1, 1, 1), own(1, 0, 0)), "two different columns have the key 'own'"),
    # parts
    (lambda: StrongBranching("8"), "n_candidates must be a whole number ≥ 1, got '8'"),
    (lambda: StrongBranching(reliability=NAN), "reliability must be a whole number .* got nan"),
    (lambda: StrongBranching(max_rounds=0), "max_rounds must be a whole number ≥ 1, got 0"),
    (lambda: DepthFirst(0), "max_dive must be a whole number ≥ 1, got 0"),
    (lambda: RestrictedMaster(time_limit=-1), "time_limit must be a number of at least 0"),
    (lambda: RestrictedMaster(share=NAN), "share must be a number of at least 0, got nan"),
    (lambda: RestrictedMaster(every=-1), "every must be a whole number ≥ 0, got -1"),
    (lambda: Diving(discrepancies=-1), "discrepancies must be a whole number ≥ 0, got -1"),
    (lambda: Diving(depth="3"), "depth must be a whole number ≥ 0, got '3'"),
    (lambda: Diving(tol=NAN), "tol must be a number of at least 0, got nan"),
    (lambda: Diving(max_rounds=0), "max_rounds must be a whole number ≥ 1, got 0"),
    (lambda: BranchDiving([], share=NAN), "share must be a number of at least 0, got nan"),
    (lambda: BranchDiving([], every=-1), "every must be a whole number ≥ 0, got -1"),
    (lambda: VariableFixing(most_steps=-1), "most_steps must be a number of at least 0"),
    (lambda: VariableBranching(integer="xy"), "integer must be a collection of names.*'xy'"),
    (lambda: VariableBranching(first=3), "first must be a collection of names.*got 3"),
    (lambda: VariableBranching(signed=5), "signed must be a collection of names.*got 5"),
    (lambda: SubsetRow(["a", "b"]), r"must be a frozenset of rows, got \['a', 'b'\]"),
    (lambda: SubsetRow(frozenset()), r"must be a frozenset of rows, got frozenset\(\)"),
    (lambda: SubsetRow(frozenset("abc"), 2), "must be between 0 and 1, got 2"),
    (lambda: VariableBound("x", 2, 1), "lower=2 .* on 'x' is above upper=1"),
    (lambda: VariableBound("x", NAN), "lower of a VariableBound must be a number, got nan"),
    (lambda: VariableRow.of({"x": 1}, "<", 1), 'must be "<=", "==" or ">=", got \'<\''),
    (lambda: VariableRow.of({"x": 1}, "<=", NAN), "rhs of a VariableRow must be .* got nan"),
    (lambda: VariableRow.of({"x": NAN}, "<=", 1), "has the coefficient nan of 'x'"),
    (lambda: VariableRow({"x": 1}, "<=", 1), "VariableRow.of takes a mapping"),
    (lambda: CountRow("<=", "3"), "rhs of a CountRow must be a finite number, got '3'"),
    (lambda: ComponentRow({"a": 1}, "<=", 1), r"frozenset of pairs .* got \{'a': 1\}"),
    (lambda: respects("Together"), "respects must name kinds of decisions"),
    # rules and cuts
    (rule([1]), "Own.branches must return Branch objects, got 1"),
    (rule([Branch("x", 0.5, ())]), "Own gave the branch 'x', without children"),
    (rule([Branch("x", 0.5, ((), ()))]), "with the child .*at least one decision"),
    (rule([Branch("x", 0.5, (Together("a", "b"),))]), "with the child Together.*a sequence"),
    (rule([Branch("x", 0.5, (("odd",),))]), "Own made 'odd', which is no decision"),
    (rule([Branch("x", 0.5, ((Together("a", "z"),),))]), "Together.* names the row 'z'"),
    (rule([Branch("x", 0.5, ((CountRow("<=", 1.0),),))]), r"CountRow.*none of the.*\(Together"),
    (cut(None), "cuts must return a sequence of rows, got None"),
    (cut(CountRow(">=", 2.0)), "cuts must return a sequence of rows, got CountRow"),
    (cut([3]), "a cut of the kind int was returned"),
    (cut([SubsetRow(frozenset("az"))]), r"SubsetRow.* names the row 'z'.*\['a', 'b', 'c'\]"),
    (cut([ComponentRow(frozenset([("z", 1.0)]), "<=", 1.0)]), "ComponentRow.* the row 'z'"),
    (first_rows(">=", 1.0), "for rows ≤ 1 or = 1, but the row .* is >="),
    (first_rows("==", 2.0), "for rows ≤ 1 or = 1, but the row .* is =="),
    # a pricer that does not respect what a rule needs
    (
        lambda: triangle().search(bounded(), branching=RyanFoster()),
        "Together, Apart, but the pricer does not .*names VariableBound.*take another rule",
    ),
    (
        lambda: BranchAndPrice(ONCE, bounded(), branching=VariableBranching(integer=["z"])),
        r"or give the rule rows=False, .*'== 1' of copies",
    ),
    (lambda: BranchAndPrice(ONCE, bounded(), branching=CountBranching()), "take another rule"),
    # pricers and what they return
    (lambda: triangle().search(Lists()).run(), r"Lists.price must return a Priced, got \['col"),
    (lambda: triangle().search(Words()), "respects must name kinds of decisions.*'Together'"),
    (answer(lambda found, bound: iter([(found, bound)])), "among the columns is a tuple"),
    (columns(values=np.full(1, 2.0)), r"has shape \(1,\), the master has"),
    (columns(values=[1.0]), "has a list of values, no array"),
    (columns(values=np.full(6, "a")), "numbers for its values.*type <U1"),
    (columns(values=np.array([1.0, 1, NAN, 1, 1, 1])), "column .* has the value nan in row 2"),
    (columns(cost=NAN), "has the cost nan, which is not finite"),
    (columns(cost="3"), "the cost '3'"),
    (columns(upper=-1.0), "has the upper bound -1.0"),
    (columns(upper=NAN), "has the upper bound nan"),
    (columns(variables={"z": NAN}), "has the amount nan of the variable 'z'"),
    (columns(variables={"z": "many"}), "mapping of names to numbers.*'many'"),
    (columns(variables=["z"]), r"mapping of names to numbers.*\['z'\]"),
    (columns(key=([1],)), r"key must be hashable.*\(\[1\],\)"),
    (columns(block=[1]), r"block must be hashable.*\[1\]"),
    (twins(lambda c, k: {"key": "same"}), "have the key 'same': the first had"),
    (twins(lambda c, k: {"cost": c.cost + k}), "the first had the cost .*, now"),
    (twins(lambda c, k: {"values": c.values * k}), "the first had the value .* in row .*, now"),
    (twins(lambda c, k: {"block": k}), "the first had block=.* now block="),
    (twins(lambda c, k: {"integer": k % 2 == 1}), "the first had .*integer="),
    *(
        (bound(lambda b, value=value: value, make), "bound must be a number, a mapping")
        for make in (bin_packing, generalised_assignment)
        for value in (NAN, "zero", 1j, np.zeros(2))
    ),
    (bound(lambda b: None, generalised_assignment), "bound must be a number, a mapping"),
]


@pytest.mark.parametrize(("act", "words"), WRONG)
def test_wrong_input_is_named(act: Act, words: str) -> None:
    """Before anything is computed, or where it comes up, with its value and what to do."""
    with pytest.raises((TypeError, ValueError), match=words):
        act()


def test_kinds_of_errors() -> None:
    """Rules and cuts raise a BranchingError, false steps and bounds have errors of their own."""
    for act in (rule([1]), cut(None), search(branching=VariableBranching(), pricer=bounded())):
        with pytest.raises(BranchingError):
            act()
    with pytest.raises(ObjectiveStepError, match="no multiple of objective_step=3"):
        triangle().search(objective_step=3.0).run()
    for make in (bin_packing, generalised_assignment):
        for more in (0.5, math.inf):
            act = bound(lambda b, more=more: b + more * max(1, abs(b)), make)
            with pytest.raises(BoundError, match="no reduced cost is below .* but its column"):
                act()


@pytest.mark.parametrize("options", [{"time_limit": math.inf}, {"gap": math.inf}, {"max_nodes": 0}])
def test_limits_that_mean_something(options: dict[str, Any]) -> None:
    """Infinite ones, and no node at all."""
    assert triangle().search().run(**options).message


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


def test_masters_without_rows_or_without_a_minimum() -> None:
    """Where nothing has to be met nothing is taken; an unbounded one names its columns."""
    empty = BranchAndPrice(LinearMaster(0, "==", 1.0), AllColumns((), ())).run()
    assert empty.objective == empty.bound == 0.0
    gift = Column(np.ones(2), "gift", cost=-1.0)
    for copies in (None, 5.0):
        master = LinearMaster(2, ">=", 1.0, copies=copies)
        with pytest.raises(MasterError, match=r"unbounded: .*\['gift'\].*Column.upper"):
            BranchAndPrice(master, AllColumns((0, 1), (gift,))).run()
