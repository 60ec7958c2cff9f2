"""Trees against compact models: the same optimum, and a true bound wherever a search stops."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.history import StopReason
from cgboost.integer import (
    BestBound,
    BranchAndPriceResult,
    ComponentBranching,
    CountBranching,
    DepthFirst,
    Diving,
    RestrictedMaster,
    Rounding,
    RyanFoster,
    StrongBranching,
    VariableBranching,
)
from tests.effort import examples

from . import compact_models as models
from .compact_models import COSTS, Instance, failing
from .tree_problems import check_tree

PROVEN = (StopReason.OPTIMAL, StopReason.GAP, StopReason.INFEASIBLE)
ANY = ComponentBranching()
"""It finds something wherever a solution is fractional; other rules need not."""

BLOCKS = {
    "auto": "auto",
    "variables": [VariableBranching(), ANY],
    "bounds": [VariableBranching(rows=False), ANY],
    "pairs": [RyanFoster(), ANY],
    "components": [ANY],
    "count": [CountBranching(by_block=True), VariableBranching(), ANY],
}
COLOURS = {
    "auto": "auto",
    "variables": [VariableBranching(), ANY],
    "pairs": [RyanFoster(subset_closed=True)],
    "components": [ANY],
    "count": [CountBranching(), RyanFoster(subset_closed=True)],
}
ROUTES = {
    "auto": "auto",
    "arcs": [CountBranching(), VariableBranching()],
    "arcs, pairs": [VariableBranching(), RyanFoster()],
    "pairs": [RyanFoster()],
    "components": [ANY],
}
OWN = {"its own": None}

TYPES: dict[str, tuple[Callable[..., Instance], dict[str, Any], int]] = {
    "cutting stock": (models.cutting_stock, BLOCKS, 4),
    "assignment": (models.generalised_assignment, BLOCKS, 6),
    "assignment, example": (models.example_assignment, OWN | {"auto": "auto"}, 10),
    "colouring": (models.colouring, COLOURS, 7),
    "colouring, example": (models.example_colouring, OWN, 9),
    "medians": (models.p_median, BLOCKS, 5),
    "medians, example": (models.example_median, OWN | {"auto": "auto"}, 7),
    "flow": (models.flow, BLOCKS, 5),
    "flow, dynamic programming": (models.path_flow, {"variables": VariableBranching()}, 6),
    "routing": (models.vehicle_routing, ROUTES, 5),
    "routing, example": (models.example_routing, OWN, 6),
}
"""The problem, rules, and how large it may be."""

CASES = [(name, rule) for name, (_, rules, _) in TYPES.items() for rule in rules]

HEURISTICS: dict[str, Any] = {
    "none": [],
    "auto": "auto",
    "rounding": [Rounding(), Diving(discrepancies=1, every=2)],
    "restricted": [RestrictedMaster(every=1)],
}


def problem(name: str, seed: int, kind: str) -> Instance:
    """An instance of a type."""
    make, _, largest = TYPES[name]
    rng = np.random.default_rng(seed)
    return make(rng, kind, int(rng.integers(largest // 2, largest + 1)))


def check(instance: Instance, result: BranchAndPriceResult, optimum: float) -> None:
    """Bound ≤ optimum ≤ objective at every node; the solution is one of the compact model."""
    check_tree(result, optimum)
    assert result.message
    if math.isfinite(result.objective):
        instance.check(result)
    if result.stop_reason in PROVEN:
        assert result.objective == pytest.approx(optimum, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("name", "rule"), CASES)
@settings(max_examples=examples(12))
@given(
    seed=st.integers(0, 100_000),
    kind=st.sampled_from(COSTS),
    selection=st.sampled_from([BestBound, DepthFirst, lambda: DepthFirst(max_dive=3)]),
    heuristics=st.sampled_from(sorted(HEURISTICS)),
    strong=st.sampled_from([None, None, 1, 3]),
    at_once=st.sampled_from([1, 20]),
)
def test_optimum_of_the_compact_model(
    name: str,
    rule: str,
    seed: int,
    kind: str,
    selection: Callable[[], Any],
    heuristics: str,
    strong: int | None,
    at_once: int,
) -> None:
    """By every rule, node selection and set of heuristics; and infeasible ones are found so."""
    instance = problem(name, seed, kind)
    optimum = instance.optimum()
    branching = TYPES[name][1][rule]
    own = {} if branching is None else {"branching": branching}
    result = instance.search(
        node_selection=selection(),
        heuristics=HEURISTICS[heuristics],
        strong_branching=None if strong is None else StrongBranching(3, max_rounds=strong),
        columns_per_round=at_once,
        **own,
    ).run(gap=0.0, max_nodes=2000)
    check(instance, result, optimum)
    complete = branching is not None and name != "flow, dynamic programming"
    assert result.stop_reason in PROVEN or not complete
    if math.isfinite(optimum) and result.stop_reason in PROVEN:
        assert result.bound == pytest.approx(optimum, rel=1e-6, abs=1e-6)


def hardest(name: str, seeds: range = range(12)) -> Instance:
    """The one whose tree is the largest without heuristics."""
    instances = [problem(name, seed, "whole") for seed in seeds]
    return max(instances, key=lambda each: each.search(heuristics=[]).run(max_nodes=20).n_nodes)


@pytest.mark.parametrize("heuristics", [[], "auto"], ids=["alone", "heuristics"])
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.slow
def test_searches_that_stop_early(name: str, heuristics: Any) -> None:
    """Limits, callbacks, Ctrl-C and errors at any call leave a true bound and a solution or none.

    Where one call more leads to a result, there is one at every later call.
    """
    instance = hardest(name)
    optimum = instance.optimum()
    for most in range(4):
        result = instance.search(heuristics=heuristics).run(max_nodes=most)
        check(instance, result, optimum)
        assert result.n_nodes <= most
        assert result.stop_reason in (StopReason.MAX_NODES, *PROVEN)
    for seconds in (0.0, 1e-3, 5e-3):
        result = instance.search(heuristics=heuristics).run(time_limit=seconds)
        check(instance, result, optimum)
        assert result.stop_reason in (StopReason.TIME, *PROVEN)
    result = instance.search(heuristics=heuristics, callbacks=[lambda state: True]).run()
    check(instance, result, optimum)
    assert result.stop_reason in (StopReason.CALLBACK, *PROVEN)
    for error, reason in (
        (KeyboardInterrupt(), StopReason.INTERRUPTED),
        (ZeroDivisionError("oh"), StopReason.PRICER_FAILED),
    ):
        reasons: list[StopReason | None] = []
        for calls in (0, 1, 2, 3, 4, 6, 9, 14, 20, 30):
            try:
                search = failing(instance.search(heuristics=heuristics), calls, error)
                result = search.run()
            except type(error):
                reasons.append(None)
                continue
            check(instance, result, optimum)
            reasons.append(result.stop_reason)
        assert reasons[0] is None
        assert set(reasons) <= {None, reason, *PROVEN}
        assert None not in reasons[reasons.count(None) :]
