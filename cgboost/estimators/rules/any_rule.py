"""Rule sets that say yes where any rule holds, at a proven optimum.

The linear relaxation of the program in :mod:`cgboost.pricing.rules.cover_pricer` is solved by
column generation; its bound z is some per cent below the optimum, because few rules are worth
their price at its duals. That is what the proof rests on: a rule set that has a rule of the reduced
cost g has at least z + g errors. So

1. rules are taken one after another, which is the first rule set;
2. the relaxation is solved, which gives the bound z;
3. branch and cut takes the best combination of the few rules with the smallest reduced costs, a
   rule set of U errors that is often the best one;
4. all rules with reduced costs up to U − z are listed: no rule set with another one is better. The
   best combination of these is the optimum (Baldacci, Christofides and Mingozzi, Mathematical
   Programming 115, 2008, for routes).

Where the list would be too long, the rules up to a smaller reduced cost g take its place, and the
bound is the smaller one of theirs and z + g.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.estimators.common.plan import Watch
from cgboost.estimators.rules.budget import Budget
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason, relative_gap
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Priced
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.pricing.rules import CONDITIONS, RULES, CoverPricer, Literals
from cgboost.tolerances import LP_FEASIBILITY

COLUMNS_A_ROUND = 100
"""Rules of one pricing pass: a linear program with more of them takes less time than a search."""

FEW, MANY = 500, 20_000
"""Rules that branch and cut is given first, and in the end at most."""

PROOF_SECONDS = 120.0
"""Seconds of a fit without a time limit: with 8 conditions, tables of some hundred rows take 5 to
50 to be solved, and larger ones might take days."""

SAME_ERRORS = ROUNDING_ERRORS = 1e-6
"""Objectives that differ by this share of their step are the same."""

MOST_WEIGHT_STEPS = 1e5
"""Of the smallest weight in the largest one: solvers take a hundredth of a step for none then."""

WHOLE_STEP = 0.99
"""A rule set is better by a step where its objective is smaller by this share of one: bounds have
errors of rounding. A bound is rounded up to whole steps if it is above one by the rest."""


@dataclass
class CoverSearch:
    """The search for the best rule set.

    Parameters
    ----------
    step : float
        All objectives are multiples of it, 0 if that is not known.
    tol : float
        Relative gap at which the search may end.
    cutoff : float
        The objective of a rule set that is known: only better ones are of use.

    Attributes
    ----------
    rules : list of Column
        The best rule set.
    objective, bound : float
        Of it, and of all rule sets that are better than ``cutoff``.
    interrupted, late : bool
        Whether Ctrl-C has ended the search, and whether the time has.
    history : dict of str to list
        Before the first step, where there is no rule, and after each one: the objective and the
        bound by then, their gap, the columns of the linear program, and the seconds.
    """

    pricer: CoverPricer
    budget: Budget
    step: float
    tol: float
    seconds: float
    cutoff: float = math.inf
    verbose: int = 0
    label: str = ""
    rules: list[Column] = field(default_factory=list)
    objective: float = math.inf
    bound: float = -math.inf
    interrupted: bool = False
    late: bool = False
    history: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = time.perf_counter()
        counted = self.budget.max_rules, self.budget.max_total_conditions
        most = min(own for own in (*counted, len(self.pricer.groups)) if own is not None)
        self._limits = {RULES: float(most)}
        if self.budget.max_total_conditions is not None:
            self._limits[CONDITIONS] = float(self.budget.max_total_conditions)
        self._rows = [*self.pricer.rows, *self._limits]

    def run(self) -> None:
        """Search until the gap is closed, the time is up, or Ctrl-C is pressed."""
        self._offer([])
        self.bound = 0.0 if self.pricer.exact else -math.inf
        self._note(0)
        try:
            self._search()
        except KeyboardInterrupt:
            self.interrupted = True
        if self.interrupted:
            self._note(len(self.rules))
        self.late = not self._is_closed and not self._left

    def _search(self) -> None:
        self._add_one_by_one()
        self._note(len(self.rules))
        if self._is_closed or not self._left:
            return
        master = self._master()
        master.add(self.rules)
        result = ColumnGeneration(
            master,
            self.pricer,
            tol=ROUNDING_ERRORS,
            columns_per_round=COLUMNS_A_ROUND,
            time_limit=self._left,
            verbose=self.verbose,
            label=self.label,
        ).run()
        self.interrupted = result.stop_reason is StopReason.INTERRUPTED
        if self.interrupted:
            return
        if not self.pricer.exact:
            self._combine([column for column in master.columns if column.stratum == "rule"])
            self._note(len(master.columns))
            return
        for most in (FEW, MANY):
            if not self._is_closed and self._left:
                self._list(master, most)

    # ------------------------------------------------------------------ what is known

    @property
    def _left(self) -> float:
        return max(0.0, self.seconds - (time.perf_counter() - self._started))

    @property
    def _upper(self) -> float:
        return min(self.objective, self.cutoff)

    @property
    def _is_closed(self) -> bool:
        return self._upper - self.bound <= max(self.tol * self._upper, SAME_ERRORS * self.step)

    def _raise(self, bound: float) -> None:
        """Take note of a bound on the rule sets that are better than the best one."""
        if self.step and math.isfinite(bound):
            bound = self.step * math.ceil(bound / self.step - (1.0 - WHOLE_STEP))
        self.bound = min(max(self.bound, bound), self._upper)

    def _offer(self, rules: list[Column]) -> None:
        value = self._value(rules)
        if value < self.objective - SAME_ERRORS * self.step:
            self.rules, self.objective = rules, value

    def _value(self, rules: Sequence[Column]) -> float:
        """The errors of a rule set, and what its rules cost."""
        n_groups, positive = len(self.pricer.groups), self.pricer.positive[self.pricer.groups]
        held = np.zeros(n_groups, dtype=bool)
        for rule in rules:
            held |= rule.values[:n_groups] > 0
        return float(positive[~held].sum()) + sum(rule.cost for rule in rules)

    def _note(self, n_columns: int) -> None:
        entry = {
            "round": len(self.history.get("round", ())),
            "objective": self.objective,
            "bound": self.bound,
            "gap": relative_gap(self.objective, self.bound, abs(self.objective) or 1.0),
            "columns": n_columns,
            "seconds": time.perf_counter() - self._started,
        }
        for name, value in entry.items():
            self.history.setdefault(name, []).append(float(value))

    # ------------------------------------------------------------------ the steps

    def _master(self) -> LinearMaster:
        limits, n_groups = self._limits, len(self.pricer.groups)
        master = LinearMaster(
            self._rows,
            [">="] * n_groups + ["<="] * len(limits),
            np.r_[np.ones(n_groups), list(limits.values())],
            copies={RULES: limits[RULES]},
        )
        master.add(self.pricer.missed(self._rows))
        return master

    def _add_one_by_one(self) -> None:
        """Take the rule that takes off the most errors while there is room for one, and time."""
        held = np.zeros(len(self.pricer.groups), dtype=bool)
        room = self._limits.get(CONDITIONS, math.inf)
        while len(self.rules) < self._limits[RULES] and room >= 1:
            self.pricer.seconds_left = self._left
            rule = self.pricer.best_for(held, room, self._rows)
            if rule is None:
                break
            self._offer([*self.rules, rule])
            held |= rule.values[: len(held)] > 0
            room -= len(rule.key)  # type: ignore[arg-type]
            if not self._left:
                break

    def _list(self, master: LinearMaster, most: int) -> None:
        """Combine the rules of the smallest reduced costs, all that a better rule set can have."""
        state = master.solve()
        self.pricer.seconds_left = self._left
        room = max(0.0, self._upper - WHOLE_STEP * self.step - state.objective)
        columns, least, outside = self.pricer.cheapest(
            state, room + LP_FEASIBILITY * max(1.0, self._upper), most
        )
        relaxed = master.bound(state, Priced((), exact=True, reduced_cost=least))
        assert relaxed is not None  # copies are known
        self._raise(relaxed)
        self._note(len(master.columns))
        if self._is_closed:
            return
        self._raise(min(self._combine(columns), relaxed + outside))
        self._note(len(master.columns))

    def _combine(self, columns: Sequence[Column]) -> float:
        """Offer the best combination of some rules; a bound on all of them."""
        if not columns:
            return math.inf
        n_groups, limits = len(self.pricer.groups), list(self._limits.values())
        rules = sp.csc_array(np.stack([column.values for column in columns], axis=1))
        values = sp.hstack([sp.eye_array(len(self._rows), n_groups), rules], format="csc")
        is_rule = np.arange(values.shape[1]) >= n_groups
        missed = self.pricer.positive[self.pricer.groups]
        least = max(self.tol, WHOLE_STEP * self.step / max(self._upper, self.step, 1.0))
        found = milp(
            np.r_[missed, [column.cost for column in columns]],
            integrality=is_rule.astype(int),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(
                values,
                np.r_[np.ones(n_groups), np.full(len(limits), -np.inf)],
                np.r_[np.full(n_groups, np.inf), limits],
            ),
            options={"time_limit": max(0.1, self._left), "mip_rel_gap": least},
        )
        if found.x is not None:
            self._offer([columns[j] for j in np.flatnonzero(found.x[n_groups:] > 0.5).tolist()])
        bound = found.mip_dual_bound
        return -math.inf if bound is None or not math.isfinite(bound) else float(bound)


@dataclass(frozen=True)
class AnyRule:
    """The problem of one fit, of rules for either class or for one of them.

    Attributes
    ----------
    pool : Literals
    signs, weights : ndarray of shape (n_rows,)
        −1 and 1, and what an error costs.
    budget : Budget
    cost : ndarray of shape (K + 1,)
        Of a rule itself, by its number of conditions.
    votes : sequence of float
        1.0 for rules of the class of the sign 1, −1.0 for those of the other one; both are tried.
    labels : sequence
        The classes of the signs −1 and 1.
    exact : bool
    search_limit : float
    tol : float
    """

    pool: Literals
    signs: Vector
    weights: Vector
    budget: Budget
    cost: Vector
    votes: Sequence[float]
    labels: Sequence[Any]
    exact: bool
    search_limit: float
    tol: float

    def run(self, watch: Watch, label: str) -> FittedRun:
        """The best rule set with a bound on all others, as a model with votes for weights."""
        unit, step = unit_of(self.weights, self.cost[1:])
        given = watch.seconds(1)
        seconds = PROOF_SECONDS if given is None else given
        started, best, bound, late = time.perf_counter(), None, math.inf, False
        history: dict[str, list[float]] = {}
        for number, vote in enumerate(self.votes, 1):
            before = time.perf_counter() - started
            left = max(0.0, seconds - before)
            search = CoverSearch(
                CoverPricer(
                    self.pool,
                    np.where(self.signs == vote, self.weights / unit, 0.0),
                    np.where(self.signs == vote, 0.0, self.weights / unit),
                    self.cost / unit,
                    exact=self.exact,
                    search_limit=self.search_limit,
                ),
                self.budget,
                step,
                self.tol,
                left / (len(self.votes) - number + 1),
                math.inf if best is None else best.objective,
                watch.verbose,
                watch.label(f"{label}rules for {self.labels[int(vote > 0)]!r}"),
            )
            search.run()
            others = bound if number == len(self.votes) else min(bound, 0.0)  # to be searched yet
            self._add_history(history, search, others, before)
            bound, late = min(bound, search.bound), late or search.late
            if best is None or search.objective < best.objective:
                best, of_best = search, vote
            if search.interrupted:
                bound = min(bound, others)
                break
        assert best is not None
        gap = relative_gap(best.objective, bound, best.objective or 1.0)
        reason, words = StopReason.STALLED, "too many rules might be in a better rule set"
        if gap <= self.tol:
            reason, words = StopReason.GAP, f"gap {gap:.3g}"
        elif search.interrupted:
            reason, words = StopReason.INTERRUPTED, "Ctrl-C"
        elif not self.exact:
            reason, words = StopReason.NO_COLUMN, "no better rule was found"
        elif late:
            reason, words = StopReason.TIME, f"{seconds:.3g} seconds were over"
        rules = best.rules
        output = FittedOutput(
            [rule.hypothesis for rule in rules],
            np.array(["rule"] * len(rules), dtype=str),
            [(np.full(len(rules), of_best), -0.5 * of_best)],
            {"rule": float(len(rules))},
        )
        steps = {name: np.array(own) for name, own in history.items()}
        steps["round"] = np.arange(len(steps["round"]))
        for name in ("objective", "bound"):
            steps[name] *= unit
        last = len(steps["round"]) - 1
        return FittedRun(
            [output], unit * best.objective, unit * bound, gap, reason, words, last, steps, math.nan
        )

    @staticmethod
    def _add_history(
        history: dict[str, list[float]], search: CoverSearch, others: float, before: float
    ) -> None:
        """Add the steps of a search to those of the fit, which has a bound on both classes."""
        for k, own in enumerate(search.history["objective"]):
            if k == 0 and history:  # a model without rules is known already
                continue
            objective = min(own, search.cutoff)
            bound = min(search.history["bound"][k], others)
            entry = {
                "round": k,
                "objective": objective,
                "bound": bound,
                "gap": relative_gap(objective, bound, objective or 1.0),
                "columns": search.history["columns"][k],
                "seconds": before + search.history["seconds"][k],
            }
            for name, value in entry.items():
                history.setdefault(name, []).append(float(value))


def unit_of(weights: Vector, cost: Vector) -> tuple[float, float]:
    """A unit of weights and costs; 1 where all objectives are whole numbers in it, 0 elsewhere.

    That counts only where solvers, which round, can tell a step from none.
    """
    least = float(weights.min())
    in_least = np.r_[weights, cost] / least
    whole = np.abs(in_least - np.rint(in_least)) <= SAME_ERRORS * 1e-3
    if whole.all() and in_least.max() <= MOST_WEIGHT_STEPS:
        return least, 1.0
    return float(weights.mean()), 0.0
