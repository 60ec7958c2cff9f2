"""Small integer problems, each with the branching rules that fit it, for the laws of searches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cgboost.integer import (
    BestBound,
    ComponentBranching,
    CountBranching,
    DepthFirst,
    Diving,
    RestrictedMaster,
    Rounding,
    RyanFoster,
    SetBranching,
    StrongBranching,
    VariableBranching,
    VariableFixing,
)
from cgboost.parallel import ThreadExecutor
from tests.cases import Case

from . import compact_models as models
from . import tree_problems as problems
from .compact_models import COSTS

OPEN = VariableBranching(integer=[("open", k) for k in range(3)])
ON = ["on", *(("on", k) for k in range(3))]
ANY = ComponentBranching()
"""It finds something wherever a solution is fractional; other rules need not."""

BY_VARIABLES, PAIRS = VariableBranching(), RyanFoster()
BY_COUNT = CountBranching(by_block=True)
SETS = SetBranching([(i, j) for i in range(3)] for j in range(6))

LISTED: list[tuple[str, Callable[[int], Any], str, Any]] = [
    ("packing", problems.bin_packing, "pairs", [PAIRS]),
    ("packing", problems.bin_packing, "count, pairs", [CountBranching(), PAIRS]),
    ("packing", problems.bin_packing, "components", [ANY]),
    ("packing", problems.bin_packing, "arcs, pairs", [BY_VARIABLES, PAIRS]),
    ("cutting", problems.cutting_stock, "components", [ANY]),
    ("cutting", problems.cutting_stock, "count", [CountBranching(), ANY]),
    ("partly continuous", problems.partly_continuous, "components", [ANY]),
    ("partly continuous", problems.partly_continuous, "count", [CountBranching(), ANY]),
    ("jobs", problems.generalised_assignment, "variables", [BY_VARIABLES]),
    ("jobs", problems.generalised_assignment, "sets", [SETS]),
    ("jobs", problems.generalised_assignment, "pairs", [PAIRS]),
    ("negative jobs", problems.negative_assignment, "variables", [BY_VARIABLES]),
    ("signed amounts", problems.signed_amounts, "variables", [BY_VARIABLES]),
    ("equal agents", problems.identical_agents, "arcs", [BY_VARIABLES, PAIRS]),
    ("equal agents", problems.identical_agents, "count", [BY_COUNT, BY_VARIABLES, ANY]),
    (
        *("signed agents", problems.signed_agents, "variables"),
        [VariableBranching(signed=range(3)), PAIRS],
    ),
    ("common variable", problems.shared_variables, "variables", [BY_VARIABLES, PAIRS]),
    ("signed rows", problems.signed_rows, "components", [ANY]),
    ("halves", problems.half_amounts, "variables", [BY_VARIABLES, ANY]),
    ("covering", problems.set_covering, "components", [ANY]),
    ("covering", problems.set_covering, "variables", [CountBranching(), BY_VARIABLES]),
    ("fixed charge", problems.fixed_charge, "variables", [OPEN]),
    ("fixed charge", problems.fixed_charge, "count", [BY_COUNT, OPEN]),
    (
        *("mixed blocks", problems.mixed_blocks, "bounds"),
        [VariableBranching(integer=ON, rows=False)],
    ),
    (
        *("mixed blocks", problems.mixed_blocks, "all rules"),
        [BY_COUNT, PAIRS, VariableBranching(integer=ON, first=["on"]), ANY],
    ),
]
"""Problems, and rules for them."""

BLOCKS = {
    "auto": "auto",
    "variables": [BY_VARIABLES, ANY],
    "bounds": [VariableBranching(rows=False), ANY],
    "pairs": [PAIRS, ANY],
    "components": [ANY],
    "count": [BY_COUNT, BY_VARIABLES, ANY],
}
COLOURS = {
    "auto": "auto",
    "variables": [BY_VARIABLES, ANY],
    "pairs": [RyanFoster(subset_closed=True)],
    "components": [ANY],
    "count": [CountBranching(), RyanFoster(subset_closed=True)],
}
OWN = {"its own": None}

PRICED: dict[str, tuple[Callable[..., Any], Mapping[str, Any], int]] = {
    "stock": (models.stock, BLOCKS, 4),
    "assignment": (models.assignment, BLOCKS, 6),
    "assignment, example": (models.example_assignment, OWN | {"auto": "auto"}, 10),
    "colouring": (models.colouring, COLOURS, 7),
    "colouring, example": (models.example_colouring, OWN, 9),
    "medians, example": (models.example_median, OWN | {"auto": "auto"}, 7),
    "flow": (models.flow, BLOCKS, 5),
    "routing, example": (models.example_routing, OWN, 6),
}
"""Problems with costs of many kinds, their rules, and how large they may be."""


@dataclass(frozen=True, kw_only=True)
class SearchCase(Case[Any]):
    """A problem and rules; ``make(seed, kind)`` makes one with costs of a kind, if it has kinds.

    Parameters
    ----------
    problem : str
    branching : rules, "auto" or None
        None stands for what its example script takes.
    """

    problem: str
    branching: Any

    def search(self, problem: Any, **options: Any) -> Any:
        """A search with these rules."""
        own = {} if self.branching is None else {"branching": self.branching}
        return problem.search(**own | options)


def listed(make: Callable[[int], Any]) -> Callable[[int, str], Any]:
    """Costs are of one kind."""
    return lambda seed, kind="whole": make(seed)


def priced(make: Callable[..., Any], largest: int) -> Callable[[int, str], Any]:
    """Of a random size."""

    def made(seed: int, kind: str = "whole") -> Any:
        rng = np.random.default_rng(seed)
        return make(rng, kind, int(rng.integers(largest // 2, largest + 1)))

    return made


CASES = [
    SearchCase(name=f"{name}: {rule}", make=listed(make), problem=name, branching=branching)
    for name, make, rule, branching in LISTED
] + [
    SearchCase(
        name=f"{name}: {rule}",
        make=priced(make, largest),
        problem=name,
        branching=branching,
    )
    for name, (make, rules, largest) in PRICED.items()
    for rule, branching in rules.items()
]
FIRST = list({case.problem: case for case in reversed(CASES)}.values())[::-1]
"""One case of each problem."""

HEURISTICS: dict[str, Any] = {
    "none": [],
    "auto": "auto",
    "rounding": [Rounding(), Diving(discrepancies=1, every=2)],
    "restricted": [RestrictedMaster(every=1)],
}

OPTIONS = st.fixed_dictionaries(
    {
        "node_selection": st.sampled_from([BestBound, DepthFirst, lambda: DepthFirst(max_dive=3)]),
        "heuristics": st.sampled_from(sorted(HEURISTICS)),
        "strong_branching": st.sampled_from([None, None, 1, 3, 0]),
        "columns_per_round": st.sampled_from([1, 20]),
        "variable_fixing": st.sampled_from(["auto", None, "often"]),
        "executor": st.sampled_from([None, None, 2, 4]),
    }
)
"""What a search may be told beside its rules; a number of rounds of 0 stands for all of them."""

OFTEN = {"least_share": 0.0, "most_steps": np.inf}
"""Nodes are divided by the objective wherever a variable is fixed."""

KINDS_OF_COSTS = st.sampled_from(COSTS)


def told(options: Mapping[str, Any]) -> dict[str, Any]:
    """Drawn options as a search takes them."""
    rounds, tasks = options["strong_branching"], options["executor"]
    often = options["variable_fixing"] == "often"
    return dict(options) | {
        "node_selection": options["node_selection"](),
        "heuristics": HEURISTICS[options["heuristics"]],
        "strong_branching": None
        if rounds is None
        else StrongBranching(3, reliability=2, max_rounds=rounds or None),
        "variable_fixing": VariableFixing(**OFTEN) if often else options["variable_fixing"],
        "executor": None if tasks is None else ThreadExecutor(tasks),
    }
