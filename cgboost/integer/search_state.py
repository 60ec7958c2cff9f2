"""The state of a tree search: columns, the incumbent, what closes a node, and relaxations."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import BoundError, CGBoostError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Pricer, gap_scale
from cgboost.generation.stabilization import Smoothing
from cgboost.integer.branching.decisions import Decision, Row
from cgboost.integer.branching.rules import (
    INTEGRAL,
    NodeSolution,
    Requirement,
    declared_parts,
)
from cgboost.integer.node_problem import NodeProblem
from cgboost.integer.pool import GlobalColumnPool
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.masters.linear.subgradient import Subgradient

Near = tuple[Vector, Mapping[Row, float]]

RELAXATION_TOL = 1e-7
"""Relative gap to which the relaxation of a node is solved: the tolerance of the solvers of linear
programs. The bound of a node is certified whatever it is."""

STEP_ROUNDING = 1e-6
"""A bound may exceed a multiple of ``objective_step`` by this share of it and still be rounded down
to it: bounds that come from solvers' duals have errors of 1e-9."""

LEAST_COEF = 1e-9
"""A coefficient up to this is 0."""


FAR_FROM_BOUND = 0.05
"""Relative distance above which any better solution is worth more than a good one: the root is left
for dives, and these do not look closely."""

GAP_FROM_AFAR, LONG_SEARCH = 0.02, 1.0
"""Gap of a dive's relaxations, relative to the whole objective, while solutions are far away; and
the seconds of a search up to which dives from relaxations at their end keep to their own gap."""

MOST_SOLUTIONS = 10
"""Solutions that a search keeps."""


class ObjectiveStepError(CGBoostError, ValueError):
    """An integer solution is no multiple of ``objective_step``."""

    section = "branch-and-price"


@dataclass(frozen=True)
class Relaxation:
    """The linear relaxation of a problem, as far as it was solved.

    Attributes
    ----------
    error : Exception or None
        What the master or the pricer has raised.
    objective : float
        Without the cost of fixed columns; inf if no columns meet the rows.
    bound : float
        On the objective, fixed columns included; −inf where nothing is certified.
    numbers : ndarray of int
        Columns of the pool with a coefficient above 0.
    coef : ndarray of shape (n_columns,)
        Those of ``numbers``.
    near : tuple or None
        Duals of the best bound, or those at the end where there is none.
    duals : tuple or None
        Of the rows at the end; None where no columns meet them.
    """

    stop_reason: StopReason
    message: str
    error: Exception | None
    objective: float
    bound: float
    numbers: NDArray[np.intp]
    coef: Vector
    near: Near | None
    duals: Near | None = None

    @property
    def feasible(self) -> bool:
        """Whether there are columns that meet the rows."""
        return math.isfinite(self.objective)


Meanwhile = Callable[[Callable[[], Relaxation]], None]
"""What is done between the rounds of a relaxation, with one of what there is."""


class Search:
    """What the tree and the heuristics share.

    Parameters
    ----------
    integer : collection of hashable, default=()
        Variables that must be integer in a solution, whether its columns are or not.
    requirements : sequence of Requirement, default=()
        Rules that say what else a solution has.

    Attributes
    ----------
    once : frozenset of hashable
        Blocks of which every solution has exactly one column.
    incumbent : dict of int to float
        Numbers of columns and how often each is taken; empty while there is none.
    solutions : list of (float, dict, str)
        The best ones: objective, columns as in ``incumbent``, and what has found them.
    objective : float
        Of the incumbent; inf while there is none.
    root_bound : float
        Bound of the root after the last round of its relaxation; −inf before there is one.
    root_duals : tuple or None
        Of the rows of the root, cuts included; see :mod:`cgboost.integer.root_prices`.
    n_combined : int
        So many columns of the pool, the first ones, give no better solution together.
    combined_at : float
        When such a combination ended, in seconds.
    dive_seconds : float
        Time that dives have taken.
    dives_coarsely : bool
        Whether the relaxations of the last dive may end at a larger gap.
    """

    def __init__(
        self,
        master: LinearMaster,
        pricer: Pricer,
        *,
        objective_step: float | None,
        columns_per_round: int,
        smoothing: Smoothing | None,
        gap: float,
        time_limit: float | None,
        subgradient: Subgradient | None = None,
        integer: Collection[Hashable] = (),
        requirements: Sequence[Requirement] = (),
        constant: float = 0.0,
    ) -> None:
        self.subgradient, self.constant = subgradient, constant
        self.integer, self.requirements = frozenset(integer), tuple(requirements)
        self.master, self.pricer = master, pricer
        self.objective_step, self.columns_per_round = objective_step, columns_per_round
        self.smoothing, self.gap, self.time_limit = smoothing, gap, time_limit
        self.started = time.perf_counter()
        copies = master.copies
        self.pool = GlobalColumnPool(master.rows, copies if isinstance(copies, Mapping) else ())
        self.pool.add(master.columns)
        rows = master.constraints
        self.once = frozenset(
            name
            for name, sense, rhs in zip(rows.names, rows.senses, rows.rhs, strict=True)
            if isinstance(copies, Mapping) and name in copies and sense == "==" and rhs == 1.0
        )
        self.incumbent: dict[int, float] = {}
        self.solutions: list[tuple[float, dict[int, float], str]] = []
        self.objective, self.root_bound = math.inf, -math.inf
        self.root_duals: Near | None = None
        self.found_by = ""
        self.n_combined, self.combined_at, self.dive_seconds = 0, 0.0, 0.0
        self._until, self.is_diving, self.dives_coarsely = math.inf, False, False
        self.n_relaxations = self.n_pricings = self.n_probes = 0
        self.between_rounds: Callable[[], None] = lambda: None

    # ------------------------------------------------------------------ time and bounds

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Until the time limit, or that of a dive."""
        ends = math.inf if self.time_limit is None else self.time_limit
        left = min(ends, self._until) - self.seconds
        return None if math.isinf(left) else max(0.0, left)

    def dive_time_left(self, share: float) -> float:
        """Seconds for dives, which all together may take this share of the time limit."""
        return math.inf if self.time_limit is None else share * self.time_limit - self.dive_seconds

    @contextmanager
    def diving(self, share: float, most: float = math.inf) -> Iterator[None]:
        """A dive that ends with the time that is left for dives, or after ``most`` seconds."""
        started, self.is_diving = self.seconds, True
        self.dives_coarsely = math.isfinite(most) or started > LONG_SEARCH
        self._until = started + min(most, self.dive_time_left(share))
        try:
            yield
        finally:
            self._until, self.is_diving = math.inf, False
            self.dive_seconds += self.seconds - started

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        left = self.seconds_left
        return left is not None and left <= 0

    def rounded(self, bound: float) -> float:
        """A bound on integer solutions, from one on the relaxation."""
        step = self.objective_step
        if step is None or not math.isfinite(bound):
            return bound
        return max(bound, float(step * math.ceil(bound / step - STEP_ROUNDING)))

    def scale(self, objective: float) -> float:
        """The size of an objective: small ones, of columns of small costs, have that of these."""
        return gap_scale(objective, self.pool.cost_unit)

    @property
    def gap_scale(self) -> float:
        """What gaps are relative to: the best solution, with what every solution costs besides."""
        return self.scale(self.objective + self.constant)

    def distance(self, bound: float) -> float:
        """Of the best solution from a bound, relative; inf without either."""
        if not (math.isfinite(bound) and math.isfinite(self.objective)):
            return math.inf
        return max(0.0, self.objective - bound) / self.gap_scale

    def is_far_from(self, bound: float) -> bool:
        """Whether the best solution is far from a bound, or there is none."""
        return self.distance(bound) > FAR_FROM_BOUND

    def closes(self, bound: float, at_most: float = math.inf) -> bool:
        """Whether solutions above this bound are no use, or cost more than ``at_most``."""
        if self.rounded(bound) > at_most + INTEGRAL * self.scale(at_most):
            return True
        if not math.isfinite(self.objective):
            return bound == math.inf
        allowed = self.gap * self.gap_scale
        return self.rounded(bound) >= self.objective - allowed

    # ------------------------------------------------------------------ relaxations

    def problem(
        self,
        decisions: Sequence[Decision],
        *,
        fixed: Mapping[int, float] | None = None,
        near: Near | None = None,
    ) -> NodeProblem:
        """The problem of some decisions, with some columns fixed."""
        return NodeProblem(self.master, self.pool, self.pricer, decisions, fixed=fixed, near=near)

    def begun(self, problem: NodeProblem) -> NodeProblem:
        """The same problem near its optimal duals, by a subgradient method where one fits."""
        if self.subgradient is None or not self.subgradient.fits(problem.master):
            return problem
        found = self.subgradient.run(
            problem.master,
            problem.pricer.checked_pricer,
            columns_per_round=self.columns_per_round,
            time_limit=self.seconds_left,
        )
        if found is None:
            return problem
        self.n_pricings += found.n_steps
        return problem.beginning_at(found.duals)

    def relaxation(
        self,
        problem: NodeProblem,
        *,
        tol: float = RELAXATION_TOL,
        max_rounds: int | None = None,
        at_most: float = math.inf,
        within: float = 0.0,
        meanwhile: Meanwhile | None = None,
    ) -> Relaxation:
        """Solve the relaxation, until its bound closes it: see :meth:`closes`.

        It also ends at a gap ``within``, relative to the objective with fixed columns. After every
        round ``meanwhile`` is called with a function that makes a relaxation of what there is. It
        may solve other relaxations.
        """
        self.n_relaxations += 1
        if problem.start_duals is None:
            problem = self.begun(problem)
        smoothing = copy.copy(self.smoothing)  # another relaxation may run meanwhile
        watch = _Watch(self, problem, at_most, within, meanwhile)
        run = ColumnGeneration(
            problem.master,
            problem.pricer,
            tol=tol,
            columns_per_round=self.columns_per_round,
            max_rounds=max_rounds,
            time_limit=self.seconds_left,
            callbacks=[watch],
            smoothing=smoothing,
            start_duals=problem.start_duals,
        ).run()
        self.n_pricings += run.n_rounds
        if run.stop_reason is StopReason.INVALID_BOUND and problem.may_need_more():
            return self.relaxation(
                problem.uncounted(),
                tol=tol,
                max_rounds=max_rounds,
                at_most=at_most,
                within=within,
                meanwhile=meanwhile,
            )
        bound = -math.inf if run.bound is None else run.bound + problem.fixed_cost
        if run.stop_reason is StopReason.INFEASIBLE and run.bound is None:
            bound = math.inf
        numbers, coef = self._used(run.columns, run.coef)
        best = None if smoothing is None else smoothing.best_duals
        if best is None and watch.last is not None:
            best = watch.last.state.pseudo_response
        return Relaxation(
            run.stop_reason,
            run.message,
            run.error,
            run.objective,
            bound,
            numbers,
            coef,
            None if best is None else problem.duals(best),
            problem.duals(np.array(list(run.duals.values()))) if run.duals else None,
        )

    def relaxation_so_far(self, problem: NodeProblem, current: Round) -> Relaxation:
        """The relaxation of a problem after a round."""
        state = current.state
        return Relaxation(
            StopReason.MAX_ROUNDS,
            "",
            None,
            state.objective,
            -math.inf if math.isnan(current.bound) else current.bound + problem.fixed_cost,
            *self._used(state.columns, state.coef),
            problem.duals(state.pseudo_response),
        )

    def _used(self, columns: Sequence[Column], coef: Vector) -> tuple[NDArray[np.intp], Vector]:
        """Columns with a coefficient above 0, by their numbers in the pool, and these."""
        used = np.flatnonzero(coef > LEAST_COEF)
        numbers = [self.pool.number(columns[j]) for j in used.tolist()]
        return np.array(numbers, dtype=np.intp), coef[used]

    def solution(
        self, numbers: Sequence[int], coef: Vector, decisions: Sequence[Decision], depth: int
    ) -> NodeSolution:
        """A relaxation's solution as branching rules see it."""
        rows, pool = self.master.constraints, self.pool
        return NodeSolution(
            [pool.columns[j] for j in numbers],
            coef,
            pool.numbers,
            rows.senses,
            rows.rhs,
            decisions,
            self.once,
            depth,
            signed=frozenset(pool.signed),
            shared=pool.shared.copy(),
            uneven=frozenset(pool.uneven),
        )

    # ------------------------------------------------------------------ incumbents

    def merged(
        self, numbers: Sequence[int], coef: Vector, *, by_variables: bool = False
    ) -> dict[int, float]:
        """Coefficients with those of equal columns put to the cheapest of them.

        Up to its upper bound. With ``by_variables`` columns of different variables or blocks are
        not equal: decisions tell them apart.
        """
        groups: dict[Hashable, list[tuple[float, int, float]]] = {}
        for j, x in zip(numbers, coef.tolist(), strict=True):
            column = self.pool.columns[j]
            same: tuple[Hashable, ...] = (
                np.asarray(column.values, dtype=np.float64).tobytes(),
                column.integer,
            )
            if by_variables:
                same = (*same, column.block, frozenset(column.variables.items()))
            groups.setdefault(same, []).append((column.cost, j, x))
        counts = {}
        for own in groups.values():
            left = sum(x for _, _, x in own)
            for _, j, _ in sorted(own):
                counts[j] = min(left, self.pool.columns[j].upper)
                left -= counts[j]
                if left <= LEAST_COEF:
                    break
        return counts

    def integral(self, relaxation: Relaxation) -> dict[int, float] | None:
        """A relaxation's columns and coefficients, if they are a solution; equal columns as one."""
        requires = self.integer or self.requirements
        for by_variables in (False, True) if requires else (False,):
            counts = self.merged(
                relaxation.numbers.tolist(), relaxation.coef, by_variables=by_variables
            )
            if self.whole(counts) is not None:
                return counts
        return None

    def whole(self, counts: Mapping[int, float]) -> dict[int, float] | None:
        """A solution with its integer coefficients rounded; None if it is none."""
        rounded = {}
        for number, count in counts.items():
            integer = self.pool.columns[number].integer
            value = float(round(count)) if integer else float(count)
            if integer and abs(value - count) > INTEGRAL:
                return None
            if value > LEAST_COEF:
                rounded[number] = value
        return rounded if self.is_feasible(rounded) and not self.missing(rounded) else None

    def missing(self, counts: Mapping[int, float]) -> str:
        """What a solution must have, besides whole columns, and these lack; empty if nothing."""
        numbers, coef = list(counts), np.array(list(counts.values()), dtype=np.float64)
        columns = [self.pool.columns[j] for j in numbers]
        for (block, variable), own in declared_parts(columns, self.integer).items():
            value = sum(coef[place] * amount for place, amount in own)
            if abs(value - round(value)) > INTEGRAL:
                where = "" if block is None else f" in the block {block!r}"
                return f"the variable {variable!r} must be integer, and is {value:g}{where}"
        if self.requirements:
            solution = self.solution(numbers, coef, (), 0)
            for rule in self.requirements:
                if not rule.admits(solution):
                    return f"{type(rule).__name__} does not admit it"
        return ""

    def offer(self, counts: Mapping[int, float], by: str) -> bool:
        """Take a solution for the incumbent, if it is one and better; whether it was."""
        whole = self.whole(counts)
        if whole is None:
            return False
        objective = float(sum(n * self.pool.columns[j].cost for j, n in whole.items()))
        self._check_step(objective, whole)
        if whole not in [known for _, known, _ in self.solutions]:
            self.solutions.append((objective, whole, by))
            self.solutions.sort(key=itemgetter(0))
            del self.solutions[MOST_SOLUTIONS:]
        if objective >= self.objective:
            return False
        self.incumbent, self.objective, self.found_by = whole, objective, by
        return True

    def is_feasible(self, counts: Mapping[int, float]) -> bool:
        """Whether columns meet the rows of the master, and their own bounds."""
        return not self.beyond_upper(counts) and not self.violations(counts).any()

    def beyond_upper(self, counts: Mapping[int, float]) -> list[int]:
        """Numbers of the columns that exceed their upper bounds."""
        columns = self.pool.columns
        return [j for j, count in counts.items() if count > columns[j].upper + INTEGRAL]

    def violations(self, counts: Mapping[int, float]) -> Vector:
        """By how much columns violate the rows of the master; 0 up to the tolerance."""
        rows = self.master.constraints
        total, size = np.zeros(len(rows)), np.abs(rows.rhs)
        for number, count in counts.items():
            values = self.pool.columns[number].values
            total += count * values
            size = np.maximum(size, np.abs(count * values))
        excess = np.maximum(rows.lower - total, total - rows.upper)
        return np.where(excess <= INTEGRAL * np.maximum(1.0, size), 0.0, excess)

    def check_bound(self, bound: float) -> None:
        """Raise a BoundError if the incumbent is better than a bound says it can be."""
        allowed = INTEGRAL * self.scale(self.objective)
        if math.isfinite(self.objective) and self.objective < bound - allowed:
            raise BoundError(
                f"the lower bound {bound:.10g} is above the objective {self.objective:.10g} of a "
                "solution: the pricer overlooks columns, its bound is wrong, or a branching rule "
                "or a cut has cut off solutions"
            )

    def _check_step(self, objective: float, counts: Mapping[int, float]) -> None:
        step = self.objective_step
        if step is None:
            return
        if abs(objective / step - round(objective / step)) > STEP_ROUNDING:
            odd = max(
                (self.pool.columns[j] for j in counts),
                key=lambda column: abs(column.cost / step - round(column.cost / step)),
            )
            raise ObjectiveStepError(
                f"an integer solution costs {objective:.10g}, no multiple of objective_step="
                f"{step:g} (its column {odd.key!r} costs {odd.cost:.10g}): leave objective_step "
                "out, or give a step that divides all costs"
            )


class _Watch:
    """Stops the run of a node whose bound closes it, or can rise no more, and keeps the last round.

    Rounded up to ``objective_step``, the bound rises no more once it is that of the objective. The
    root goes on, and so do dives: better columns and duals lead to better solutions.
    """

    def __init__(
        self,
        search: Search,
        problem: NodeProblem,
        at_most: float,
        within: float,
        meanwhile: Meanwhile | None,
    ) -> None:
        self._search, self._problem, self._at_most = search, problem, at_most
        self._within, self._meanwhile = within, meanwhile
        self.last: Round | None = None
        self.stop_reason = StopReason.GAP

    def __call__(self, current: Round) -> bool:
        search, fixed = self._search, self._problem.fixed_cost
        self.last = current
        bound, objective = current.bound + fixed, current.objective + fixed
        if not (self._problem.fixed or self._problem.has_decisions):  # it holds for all solutions
            search.root_bound = -math.inf if math.isnan(bound) else bound
        if self._meanwhile is not None:
            self._meanwhile(partial(search.relaxation_so_far, self._problem, current))
        search.between_rounds()
        if math.isnan(bound):
            return False
        if search.closes(bound, self._at_most):
            self.stop_reason = StopReason.CUT_OFF
            return True
        if math.isinf(objective):
            return False
        if self._within and objective - bound <= self._within * search.scale(objective):
            return True
        if self._problem.fixed or not self._problem.has_decisions:
            return False
        return search.rounded(bound) >= search.rounded(objective)


def columns_of(search: Search, counts: Mapping[int, float]) -> tuple[tuple[Column, ...], Vector]:
    """Columns and their coefficients, in the order of their numbers."""
    numbers = sorted(counts)
    columns = tuple(search.pool.columns[j] for j in numbers)
    return columns, np.array([counts[j] for j in numbers])
