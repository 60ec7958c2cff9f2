"""Primal heuristics: integer solutions from the columns of a node.

A heuristic is called with the search, the node and its relaxation, and offers what it finds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from cgboost._solvers import InfeasibleError, LimitError, SolverError, solve
from cgboost.arrays import Vector
from cgboost.generation.history import StopReason
from cgboost.integer.branching.decisions import Decision, check_number, check_whole
from cgboost.integer.branching.rules import INTEGRAL, BranchingRule, declared_parts
from cgboost.integer.node_problem import NodeProblem
from cgboost.integer.node_selection import Node
from cgboost.integer.search_state import GAP_FROM_AFAR, Relaxation, Search
from cgboost.masters.linear.integer import combination
from cgboost.tolerances import LP_FEASIBILITY

NODES_FOR_ONE = 100
"""Nodes of branch and cut where any solution will do: the same ones whatever else the machine does.
"""

LEAST_COMBINATION = 0.25
"""What a combination of columns may take, however short the search."""

FAILED = (
    StopReason.TIME,
    StopReason.MASTER_FAILED,
    StopReason.PRICER_FAILED,
)


class Heuristic(Protocol):
    """Searches for integer solutions at a node."""

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """Offer what is found to ``search.offer``."""
        ...


class Rounding:
    """Round the coefficients of the relaxation up, largest fractions first, while that helps.

    What is then missing in the rows ``≥`` and ``==``, other columns at hand fill up, those of least
    reduced cost first, as long as they fit. It takes milliseconds, and prices no column.
    """

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """See :class:`Heuristic`."""
        rows, pool = search.master.constraints, search.pool
        counts = {
            j: math.floor(x + INTEGRAL) if pool.columns[j].integer else x
            for j, x in zip(relaxation.numbers.tolist(), relaxation.coef.tolist(), strict=True)
        }
        order = np.argsort(np.floor(relaxation.coef + INTEGRAL) - relaxation.coef, kind="stable")
        total = sum((x * pool.columns[j].values for j, x in counts.items()), np.zeros(len(rows)))
        total = self._filled_up(search, counts, total, relaxation.numbers[order].tolist())
        short = total < rows.lower - LP_FEASIBILITY
        if short.any() and relaxation.near is not None:
            fits = pool.proper(rows.upper - total) & (pool.products(short.astype(float)) > 0)
            numbers = np.flatnonzero(fits)
            order = np.argsort(pool.reduced_costs(*relaxation.near)[numbers], kind="stable")
            self._filled_up(search, counts, total, numbers[order].tolist())
        search.offer(counts, "rounding")

    @staticmethod
    def _filled_up(
        search: Search, counts: dict[int, float], total: Vector, numbers: Sequence[int]
    ) -> Vector:
        """What columns use of the rows, with one more of each that helps and fits, in turn."""
        rows = search.master.constraints
        for j in numbers:
            column = search.pool.columns[j]
            short = total < rows.lower - LP_FEASIBILITY
            if not short.any():
                break
            more = total + column.values
            helps = column.integer and bool((column.values[short] > 0).any())
            fits = counts.get(j, 0.0) + 1.0 <= column.upper
            if helps and fits and (more <= rows.upper + LP_FEASIBILITY).all():
                counts[j] = counts.get(j, 0.0) + 1.0
                total = more
        return total


class RestrictedMaster:
    """The best integer combination of the columns in the pool, by branch and cut.

    A search that is at the root, or has no solution yet, calls :meth:`combine` between the rounds
    of a node while its best solution is more than 5 % above the bound, after a second or a quarter
    of its time limit, and each time that twice as many seconds have gone by; and a last time when
    its time is up.

    Parameters
    ----------
    time_limit : float, default=10.0
        Maximum number of seconds.
    share : float, default=0.25
        Also at most this share of the time of the search so far, but at least a quarter of a
        second, unless ``until_found``.
    every : int, default=0
        Interval between calls after the root, in nodes; 0: only at the root.
    until_found : bool, default=False
        Only while no solution is known, and with at most a hundred nodes of branch and cut.
    """

    def __init__(
        self,
        *,
        time_limit: float = 10.0,
        share: float = 0.25,
        every: int = 0,
        until_found: bool = False,
    ) -> None:
        check_number("time_limit", time_limit, 0.0)
        check_number("share", share, 0.0)
        check_whole("every", every, 0)
        self.time_limit, self.share, self.every = time_limit, share, every
        self.until_found = until_found

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """See :class:`Heuristic`."""
        if not _is_due(node, self.every) or (self.until_found and search.incumbent):
            return
        limit = self.share * search.seconds
        if not self.until_found:
            limit = max(LEAST_COMBINATION, limit)
        left = math.inf if search.seconds_left is None else search.seconds_left
        self.combine(search, min(self.time_limit, limit, left), relaxation)

    def combine(self, search: Search, seconds: float, relaxation: Relaxation | None = None) -> None:
        """Offer the best combination that is found in so many seconds.

        Parameters
        ----------
        relaxation : Relaxation or None
            Columns whose reduced costs there are above the gap are left out.
        """
        pool, n_columns = search.pool, len(search.pool)
        numbers = np.arange(n_columns)
        if relaxation is not None and relaxation.near is not None:
            room = search.objective - relaxation.bound  # with a column above it, none is better
            if math.isfinite(room):
                above = room + LP_FEASIBILITY * search.scale(search.objective)
                numbers = np.flatnonzero(pool.reduced_costs(*relaxation.near) <= above)
        if not numbers.size or n_columns == search.n_combined:
            return
        columns = [pool.columns[j] for j in numbers.tolist()]
        sums = list(declared_parts(columns, search.integer).values())
        program = combination(search.master.constraints, columns, sums)
        try:
            options = {"mip_max_nodes": NODES_FOR_ONE} if self.until_found else {}
            found = solve(program, "highs", time_limit=seconds, options=options)
            search.n_combined = n_columns
        except LimitError as error:
            if error.solution is None:
                return
            found = error.solution
        except InfeasibleError:
            search.n_combined = n_columns
            return
        except SolverError:
            return
        finally:
            search.combined_at = search.seconds
        counts = dict(zip(numbers.tolist(), found.x.tolist(), strict=False))
        search.offer({j: x for j, x in counts.items() if x > LP_FEASIBILITY}, "restricted master")


class _Dives(ABC):
    """What dives have in common: when they are called, and the relaxations on their way."""

    def __init__(self, every: int, tol: float, max_rounds: int | None, time_share: float) -> None:
        check_whole("every", every, 0)
        check_number("tol", tol, 0.0)
        if max_rounds is not None:
            check_whole("max_rounds", max_rounds, 1)
        check_number("time_share", time_share, 0.0)
        self.every, self.tol = every, tol
        self.max_rounds, self.time_share = max_rounds, time_share
        self._schedule = _Schedule(every)

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """See :class:`Heuristic`."""
        if self._schedule.is_due(search, node, self.time_share):
            before = search.objective
            self.dive(search, node, relaxation)
            self._schedule.note(search, node, found=search.objective < before)

    def dive(
        self, search: Search, node: Node, relaxation: Relaxation, seconds: float = math.inf
    ) -> None:
        """Dive from a relaxation of the node, for so many seconds at most."""
        with search.diving(self.time_share, seconds):
            self._dive(search, node, relaxation)

    @abstractmethod
    def _dive(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """Go down from a relaxation."""

    def _below(self, search: Search, problem: NodeProblem, relaxation: Relaxation) -> Relaxation:
        """The relaxation of a problem that is the next step from another one."""
        below = search.relaxation(
            problem, tol=self.tol, max_rounds=self.max_rounds, within=_coarse(search, relaxation)
        )
        if below.stop_reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return below


class Diving(_Dives):
    """Fix the columns with the largest fractions one by one, and price again after each.

    Integer parts of coefficients are fixed at the same time. The amounts of fixed columns are
    subtracted from the rows, and the pricer finds columns for the rest. If a dive fails, further
    dives exclude choices made near the top (limited discrepancy search: Sadykov and others, INFORMS
    J. on Computing 31, 2019).

    Parameters
    ----------
    discrepancies : int, default=2
        Maximum number of excluded choices on the way to a leaf.
    depth : int, default=3
        Number of levels from the top at which choices may be excluded.
    every : int, default=20
        Interval between calls after the root, in nodes, doubled after each call without a better
        solution; 0: only at the root.
    tol : float, default=1e-4
        Relative gap of the relaxations on the way. Those of dives between rounds, or after more
        than a second, end at 2 % of the whole objective while the best solution is more than 5 %
        above the bound.
    max_rounds : int or None, default=30
        Maximum number of rounds of column generation for each relaxation.
    until_found : bool, default=False
        Whether to stop diving once a solution is known, from any heuristic.
    time_share : float, default=0.25
        Dives of all nodes together take at most this share of the time limit of the search.
    """

    def __init__(
        self,
        *,
        discrepancies: int = 2,
        depth: int = 3,
        every: int = 20,
        tol: float = 1e-4,
        max_rounds: int | None = 30,
        until_found: bool = False,
        time_share: float = 0.25,
    ) -> None:
        super().__init__(every, tol, max_rounds, time_share)
        check_whole("discrepancies", discrepancies, 0)
        check_whole("depth", depth, 0)
        self.discrepancies, self.depth, self.until_found = discrepancies, depth, until_found

    def __call__(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        """See :class:`Heuristic`."""
        if not (self.until_found and search.incumbent):
            super().__call__(search, node, relaxation)

    def _dive(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        self._fix(search, node.decisions, {}, relaxation, frozenset(), 0)

    def _fix(
        self,
        search: Search,
        decisions: Sequence[Decision],
        fixed: dict[int, float],
        relaxation: Relaxation,
        left_out: frozenset[int],
        level: int,
    ) -> bool:
        """Whether to stop: the incumbent closes the node, time or levels are used up."""
        if level >= MOST_DIVES:
            return True
        whole, loose = _parted(search, relaxation)
        if not loose:
            search.offer(
                _sum(fixed, search.merged(relaxation.numbers.tolist(), relaxation.coef)), "diving"
            )
            return search.is_over or search.closes(relaxation.bound)
        base = _sum(fixed, whole)
        while True:
            chosen = next((j for j in loose if j not in left_out and _fits(search, base, j)), None)
            if chosen is None:
                return False
            with_it = _sum(base, {chosen: 1.0})
            problem = search.problem(decisions, fixed=with_it, near=relaxation.near)
            below = self._below(search, problem, relaxation)
            if below.stop_reason in FAILED or search.is_over:
                return True
            promising = below.feasible and not search.closes(below.bound)
            if promising and self._fix(search, decisions, with_it, below, left_out, level + 1):
                return True
            if search.closes(relaxation.bound):
                return True
            if level >= self.depth or len(left_out) >= self.discrepancies:
                return False
            left_out = left_out | {chosen}


class BranchDiving(_Dives):
    """Go down the tree by several decisions at once, the most certain ones of a branching rule.

    Each step takes the first child (the variable up, the rows together) of the branches whose value
    is nearest to the next integer, and solves the relaxation. If that fails, the step is repeated
    with only the most certain decision. It fixes less per step than :class:`Diving`, where each
    column decides a whole block.

    Parameters
    ----------
    rules : sequence of BranchingRule
    share : float, default=0.2
        Share of the branches above one half that are taken at once; at least one.
    every : int, default=20
        As in :class:`Diving`.
    tol : float, default=1e-4
        Relative gap of the relaxations on the way. Those of dives between rounds, or after more
        than a second, end at 2 % of the whole objective while the best solution is more than 5 %
        above the bound.
    max_rounds : int or None, default=30
        Maximum number of rounds of column generation for each relaxation.
    time_share : float, default=0.25
        As in :class:`Diving`.
    """

    def __init__(
        self,
        rules: Sequence[BranchingRule],
        *,
        share: float = 0.2,
        every: int = 20,
        tol: float = 1e-4,
        max_rounds: int | None = 30,
        time_share: float = 0.25,
    ) -> None:
        super().__init__(every, tol, max_rounds, time_share)
        check_number("share", share, 0.0)
        self.rules, self.share = tuple(rules), share

    def _dive(self, search: Search, node: Node, relaxation: Relaxation) -> None:
        decisions = list(node.decisions)
        for _ in range(MOST_DIVES):
            if search.is_over:
                return
            counts = search.integral(relaxation)
            if counts is not None:
                search.offer(counts, "branch diving")
                return
            ups = self._ups(search, decisions, relaxation, node.depth)
            attempts = [ups[: max(1, math.ceil(self.share * len(ups)))], ups[:1]] if ups else []
            for taken in attempts:
                more = [decision for own in taken for decision in own]
                problem = search.problem([*decisions, *more], near=relaxation.near)
                below = self._below(search, problem, relaxation)
                if below.feasible and not search.closes(below.bound):
                    decisions, relaxation = [*decisions, *more], below
                    break
            else:
                return

    def _ups(
        self, search: Search, decisions: Sequence[Decision], relaxation: Relaxation, depth: int
    ) -> list[tuple[Decision, ...]]:
        """First children, those of values nearest to the next whole number first."""
        counts = search.merged(relaxation.numbers.tolist(), relaxation.coef, by_variables=True)
        coef = np.array(list(counts.values()))
        solution = search.solution(list(counts), coef, decisions, depth)
        for rule in self.rules:
            branches = list(rule.branches(solution, MOST_BRANCHES))
            if branches:
                branches.sort(key=lambda branch: math.floor(branch.value) - branch.value)
                sure = [b for b in branches if b.value - math.floor(b.value) > 0.5]
                return [branch.children[0] for branch in sure or branches[:1]]
        return []


MOST_DIVES = 300
"""Steps of a dive: a variable without an upper bound could grow without limit."""

MOST_BRANCHES = 10_000
"""Branches that a rule is asked for, to choose the surest: all, in effect."""


class _Schedule:
    """At which nodes a heuristic is called: twice as rarely after each call that finds nothing."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._next: WeakKeyDictionary[Search, tuple[int, int]] = WeakKeyDictionary()

    def is_due(self, search: Search, node: Node, share: float) -> bool:
        """Whether the heuristic is called at a node; ``share`` is that of the time limit."""
        if search.dive_time_left(share) <= 0:
            return False
        number, _ = self._next.get(search, (0, self._every))
        return node.number >= number and (node.number == 0 or self._every > 0)

    def note(self, search: Search, node: Node, *, found: bool) -> None:
        """Take note of a call."""
        _, interval = self._next.get(search, (0, self._every))
        if node.number:
            interval = self._every if found else 2 * interval
        self._next[search] = node.number + interval, interval


def _coarse(search: Search, relaxation: Relaxation) -> float:
    """The gap that will do on the way from a relaxation; 0 where ``tol`` alone decides."""
    far = search.dives_coarsely and search.is_far_from(relaxation.bound)
    return GAP_FROM_AFAR if far else 0.0


def _is_due(node: Node, every: int) -> bool:
    return node.number == 0 or (every > 0 and node.number % every == 0)


def _parted(search: Search, relaxation: Relaxation) -> tuple[dict[int, float], list[int]]:
    """Whole parts of the integer coefficients; columns with a fraction, the largest first."""
    whole, fractions = {}, {}
    counts = search.merged(relaxation.numbers.tolist(), relaxation.coef)
    for j, x in counts.items():
        if not search.pool.columns[j].integer:
            continue
        floor = math.floor(x + INTEGRAL)
        if floor:
            whole[j] = float(floor)
        if x - floor > INTEGRAL:
            fractions[j] = x - floor
    return whole, sorted(fractions, key=lambda j: (-fractions[j], j))


def _sum(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    return {j: first.get(j, 0.0) + second.get(j, 0.0) for j in {**first, **second}}


def _fits(search: Search, fixed: Mapping[int, float], number: int) -> bool:
    """Whether one more of a column keeps to the rows ``≤`` and ``=``, if nothing is negative."""
    columns, upper = search.pool.columns, search.master.constraints.upper
    total = sum((n * columns[j].values for j, n in fixed.items()), 1.0 * columns[number].values)
    return bool((total <= upper + LP_FEASIBILITY).all() or (columns[number].values < 0).any())
