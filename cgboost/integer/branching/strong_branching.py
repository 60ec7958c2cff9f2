"""Strong branching: try the children of some branches, and take the branch whose bounds rise most.

Applegate, Bixby, Chvátal, Cook (The Traveling Salesman Problem, 2006); pseudo-costs that replace
the trials once they are reliable: Achterberg, Koch, Martin (Operations Research Letters 33, 2005).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from cgboost.exceptions import CGBoostError
from cgboost.generation.history import StopReason
from cgboost.integer.branching.decisions import Row, check_whole
from cgboost.integer.branching.rules import Branch
from cgboost.integer.heuristics import FAILED
from cgboost.integer.node_selection import Node
from cgboost.integer.search_state import Relaxation, Search

COUNTED_GAIN = 1e-6
"""A gain below this counts as this in products, so that one child of two is not all that counts."""


class TrialError(Exception):
    """A trial could not be finished; the search meets the reason at its next node."""


@dataclass(frozen=True)
class BranchCandidate:
    """A branch, and what is known of its children.

    Attributes
    ----------
    branch : Branch
    bounds : tuple of float
        Of its children, which are proven; that of the node where there was no trial.
    """

    branch: Branch
    bounds: tuple[float, ...]


class StrongBranching:
    """Choose among the branches of a rule by the increase of the bounds of their children.

    The children of each branch are solved by column generation. The increase of a child's bound,
    per unit of change of the fractional value, is stored as a pseudo-cost under the name of the
    branch; once there are enough pseudo-costs, their mean replaces a trial. The branch with the
    largest product of the children's gains is chosen; a branch with a child that is cut off is
    chosen at once.

    Parameters
    ----------
    n_candidates : int, default=8
        Maximum number of branches tried at a node: the most promising ones according to the rule.
    reliability : int, default=4
        Number of trials of each child of a branch before its pseudo-costs replace further trials.
    max_rounds : int or None, default=None
        Rounds of column generation for a child. With few rounds, gains are estimates.
    """

    def __init__(
        self, n_candidates: int = 8, *, reliability: int = 4, max_rounds: int | None = None
    ) -> None:
        check_whole("n_candidates", n_candidates, 1)
        check_whole("reliability", reliability, 1)
        if max_rounds is not None:
            check_whole("max_rounds", max_rounds, 1)
        self.n_candidates, self.reliability = int(n_candidates), int(reliability)
        self.max_rounds = max_rounds
        self.start()

    def start(self) -> None:
        """Forget the pseudo-costs of the last run."""
        self._gains: dict[tuple[Hashable, int], list[float]] = defaultdict(list)

    def choose(
        self,
        search: Search,
        node: Node,
        relaxation: Relaxation,
        branches: Sequence[Branch],
        cuts: Sequence[Row] = (),
    ) -> BranchCandidate:
        """The best of some branches; the first of those that are equally good."""
        best, best_score = (
            BranchCandidate(branches[0], (node.bound,) * len(branches[0].children)),
            -1.0,
        )
        if len(branches) == 1:
            return best
        for branch in branches:
            try:
                gains, bounds = self._tried(search, node, relaxation, branch, cuts)
            except TrialError:
                return best
            score = math.prod(max(gain, COUNTED_GAIN) for gain in gains)
            if score > best_score:
                best, best_score = BranchCandidate(branch, bounds), score
            if math.inf in gains:
                break
        return best

    def _tried(
        self,
        search: Search,
        node: Node,
        relaxation: Relaxation,
        branch: Branch,
        cuts: Sequence[Row],
    ) -> tuple[list[float], tuple[float, ...]]:
        """Gains of the children, inf for one that is cut off; and their bounds."""
        names = [(branch.name, place) for place in range(len(branch.children))]
        known = [self._gains[name] for name in names]
        steps = _steps(branch)
        if all(len(gains) >= self.reliability for gains in known):
            means = [step * sum(own) / len(own) for step, own in zip(steps, known, strict=True)]
            return means, (node.bound,) * len(names)
        gains, bounds = [], []
        for decisions, own, step in zip(branch.children, known, steps, strict=True):
            problem = search.problem((*node.decisions, *decisions, *cuts), near=relaxation.near)
            child = search.relaxation(problem, max_rounds=self.max_rounds)
            gain = _gain(search, relaxation, child)
            if math.isfinite(gain):
                own.append(gain / step)
            gains.append(gain)
            bounds.append(max(node.bound, search.rounded(child.bound)))
        return gains, tuple(bounds)


def _steps(branch: Branch) -> list[float]:
    """How far the value has to change for each child: first up, then down."""
    part = branch.value - math.floor(branch.value)
    if not part or len(branch.children) != 2:
        return [1.0] * len(branch.children)
    return [1.0 - part, part]


def _gain(search: Search, relaxation: Relaxation, child: Relaxation) -> float:
    """What the relaxation of a child costs more, inf if it is cut off."""
    if child.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    if child.stop_reason is StopReason.INVALID_BOUND:
        raise child.error if child.error is not None else CGBoostError(child.message)
    if child.stop_reason in FAILED or search.is_over:
        raise TrialError
    if child.stop_reason in (StopReason.INFEASIBLE, StopReason.CUT_OFF) or search.closes(
        child.bound
    ):
        return math.inf
    if not child.feasible:
        return max(0.0, child.bound - relaxation.bound) if math.isfinite(child.bound) else 0.0
    return max(0.0, child.objective - relaxation.objective)
