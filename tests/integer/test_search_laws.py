"""Laws of searches, over problems, rules and options: the optimum, and the truth at every node."""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import Checkpoint
from cgboost.exceptions import MasterError
from cgboost.generation.history import StopReason
from cgboost.integer import BranchAndPriceResult, StrongBranching
from cgboost.parallel import SerialExecutor, ThreadExecutor
from tests.cases import law
from tests.effort import examples

from .cases import CASES, FIRST, KINDS_OF_COSTS, OPTIONS, SearchCase, told
from .tree_problems import PROVEN, check, failing


@law(CASES)
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 100_000), kind=KINDS_OF_COSTS, options=OPTIONS)
def test_the_optimum_is_that_of_another_solver(
    case: SearchCase, seed: int, kind: str, options: dict[str, Any]
) -> None:
    """By every rule and all options, one node after another or several at once.

    Bound ≤ optimum ≤ objective at every node, infeasible problems are found so, and something is
    proven.
    """
    problem = case.make(seed, kind)
    optimum = problem.optimum()
    result = case.search(problem, **told(options)).run(gap=0.0, max_nodes=2000)
    check(result, problem, optimum)
    assert result.stop_reason in PROVEN
    if math.isfinite(optimum):
        assert result.bound == pytest.approx(optimum, rel=1e-6, abs=1e-6)


TREES = [
    case
    for case in FIRST
    if case.problem
    in ("packing", "cutting", "jobs", "covering", "equal agents", "fixed charge", "stock", "flow")
]
"""One case of each problem of which some seeds have trees of several nodes."""


@cache
def hardest(name: str) -> Any:
    """The problem of a case whose tree is the largest without heuristics."""
    case = next(case for case in TREES if case.name == name)
    made = [case.make(seed, "whole") for seed in range(6)]
    return max(made, key=lambda each: case.search(each, heuristics=[]).run(max_nodes=20).n_nodes)


WAYS: dict[str, dict[str, Any]] = {
    "alone": {"heuristics": []},
    "heuristics": {},
    "strong branching": {"heuristics": [], "strong_branching": StrongBranching()},
    "several at once": {"heuristics": [], "executor": ThreadExecutor(3)},
}


@pytest.mark.parametrize(
    ("case", "way"),
    [
        pytest.param(case, way, marks=[] if number % 4 == place else pytest.mark.slow)
        for number, case in enumerate(TREES)
        for place, way in enumerate(WAYS)
    ],
    ids=str,
)
def test_stopped_anywhere_a_search_is_right(case: SearchCase, way: str) -> None:
    """Limits, callbacks, Ctrl-C and errors at any call leave a true bound and a solution or none.

    Where one call more leads to a result, there is one at every later call, and what was raised is
    in it.
    """
    problem, options = hardest(case.name), WAYS[way]
    optimum = problem.optimum()

    def checked(result: BranchAndPriceResult, *reasons: StopReason) -> StopReason:
        check(result, problem, optimum)
        assert result.stop_reason in (*reasons, *PROVEN), result.message
        return result.stop_reason

    for most in (0, 1, 2, 4):
        result = case.search(problem, **options).run(max_nodes=most)
        checked(result, StopReason.MAX_NODES)
        assert result.n_nodes <= most
        assert most == 0 or result.bound is not None
    for seconds in (0.0, 5e-3):
        result = case.search(problem, **options).run(time_limit=seconds)
        assert checked(result, StopReason.TIME) is StopReason.TIME or seconds
    result = case.search(problem, callbacks=[lambda state: True], **options).run()
    checked(result, StopReason.CALLBACK)
    for kind, reason in (
        (KeyboardInterrupt, StopReason.INTERRUPTED),
        (ZeroDivisionError, StopReason.PRICER_FAILED),
    ):
        reasons: list[StopReason | None] = []
        for calls in (0, 1, 2, 4, 9, 20):
            error = kind("oh")
            try:
                result = failing(case.search(problem, **options), calls, error).run()
            except kind:
                reasons.append(None)
                continue
            reasons.append(checked(result, reason))
            if result.stop_reason is StopReason.PRICER_FAILED:
                assert str(result.error) == "oh"
                assert way == "several at once" or result.error is error
                assert "oh" in result.message
        assert reasons[0] is None
        assert None not in reasons[reasons.count(None) :]


@pytest.mark.parametrize("nodes", [1, 4])
@law(TREES)
def test_a_search_that_was_stopped_ends_as_if_it_had_not_been(
    case: SearchCase, nodes: int, tmp_path: Path
) -> None:
    """By Ctrl-C or as asked: the same optimum and proof; no node is done twice.

    The time of earlier runs counts.
    """
    problem, path = hardest(case.name), tmp_path / "tree.ckpt"
    optimum = problem.optimum()
    for ctrl_c in (False, True):

        def stop(state: Any, ctrl_c: bool = ctrl_c) -> bool:
            if state.n_nodes >= nodes and ctrl_c:
                raise KeyboardInterrupt
            return state.n_nodes >= nodes

        first = case.search(problem, callbacks=[Checkpoint(path, every=0.0), stop]).run()
        late = case.search(problem).run(resume=path, time_limit=1e-6)
        assert late.n_nodes <= first.n_nodes + 1
        if late.stop_reason is StopReason.TIME:
            assert "; the limit includes the" in late.message
            assert late.message.endswith("s of the earlier runs: give a larger one")
        else:  # nothing was open
            assert (late.stop_reason in PROVEN, late.n_nodes) == (True, first.n_nodes)
        result = case.search(problem).run(resume=path, time_limit=first.seconds + 600.0)
        check(result, problem, optimum)
        assert result.stop_reason in PROVEN
        assert result.gap <= 1e-9 or not math.isfinite(optimum)
        numbers = result.tree["node"].tolist()
        assert len(set(numbers)) == len(numbers)


def same_tree(first: BranchAndPriceResult, second: BranchAndPriceResult) -> None:
    """Equal tables but for the seconds."""
    for name in set(first.tree) - {"seconds"}:
        np.testing.assert_array_equal(first.tree[name], second.tree[name])
    assert first.n_generated == second.n_generated


@law(TREES)
def test_the_same_tree_again(case: SearchCase) -> None:
    """Two runs of one search, and runs with an executor of one task, have the same tree.

    So have two runs with several tasks.
    """
    problem = hardest(case.name)
    search = case.search(problem)
    first = search.run()
    same_tree(first, search.run())
    same_tree(first, case.search(problem, executor=SerialExecutor()).run())
    several = [case.search(problem, executor=ThreadExecutor(3)).run() for _ in range(2)]
    same_tree(*several)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), MasterError("late", timed_out=True)])
def test_a_stop_within_the_root(stop: BaseException) -> None:
    """The node that was being solved is in the table, with its bound; the words claim no more."""
    case = next(case for case in FIRST if case.problem == "cutting")
    problem = case.make(3)

    def heuristic(*_: Any) -> None:
        raise stop

    result = case.search(problem, heuristics=[heuristic]).run()
    late = isinstance(stop, MasterError)
    assert result.stop_reason is (StopReason.TIME if late else StopReason.INTERRUPTED)
    assert result.message.endswith("before a solution was found")
    assert result.error is None
    assert result.n_nodes == 1
    assert result.tree["status"].tolist() == ["unfinished"]
    assert result.tree["bound"].tolist() == [result.bound]
    assert result.seconds >= result.tree["seconds"][0] > 0
    assert f"seconds      {result.seconds:.3f}" in result.summary()
    check(result, problem)
