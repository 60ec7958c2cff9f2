"""Rule sets within a budget: one rule after another, and a bound on all rule sets there are.

With costs c_j of the rules and a capacity B = Σ c_j of all that a budget allows, the problem is

    min  loss(f) + ½Σ α_j²     f = Σ_j α_j h_j + b,   Σ_{α_j ≠ 0} c_j ≤ B.

For every t ≥ 0 and every such rule set Σ t√c_j|α_j| ≤ Σ (½α_j² + ½t²c_j), so that

    min over all rules of loss(f) + t Σ √c_j|α_j|   −   ½t²B

is a lower bound: a convex problem in which a rule costs t√c_j, solved by column generation. The
best t has Σ √c_j|α_j| = tB (perspective relaxation: Frangioni and Gentile, Mathematical Programming
106, 2006; Pilanci, Wainwright and El Ghaoui, Mathematical Programming 151, 2015).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.rules.rule_columns import RuleColumns
from cgboost.generation.history import StopReason, relative_gap
from cgboost.generation.loop import ColumnGeneration
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.penalties import L1, L2, Penalty
from cgboost.pricing.rules import Literals, RuleList, all_rules

RELAXED_TOL = 0.01
"""Relative gap to which the relaxations are solved, unless ``tol`` is larger: a bound that far away
from the best one changes what a gap of some per cent says by little, and takes half the time."""

RELAXED_MOST = 500
"""Rules that a relaxation generates, at most: it ends there, with the bound that it has by then."""

LARGE_PRODUCT = 1e9
"""Rows times the square of the conditions from which one value of t has to do."""

MOST_POINTS = 3
"""Values of t that are tried; the bound is flat about the best one."""

RELAXED_COLUMNS = 25
"""Rules a round of a relaxation."""

SHRUNK, SHRUNK_LARGE = 1.6, 4.0
"""The best t is about 1.6 times that of the rule set that was found, which has larger weights in
fewer rules. With a larger t the relaxation needs fewer rules: on adult, 500 rules gave a gap of
17 % with 4, of 38 % with 1.6."""

NEAR_ENOUGH = 0.05
"""A change of t by less than this share changes the bound by less than a thousandth."""

ENDED = (StopReason.TIME, StopReason.INTERRUPTED, StopReason.MASTER_FAILED)


@dataclass(frozen=True)
class Budget:
    """How many rules a rule set may have, and conditions in all of them; None: any number.

    Attributes
    ----------
    max_rules : int or None
    max_total_conditions : int or None
    """

    max_rules: int | None
    max_total_conditions: int | None

    def __bool__(self) -> bool:
        return self.max_rules is not None or self.max_total_conditions is not None

    def capacity(self, family: RuleColumns, longest: int) -> float:
        """The largest Σ c_j of rules of at most ``longest`` conditions."""
        rules = np.inf if self.max_rules is None else self.max_rules
        conditions = np.inf if self.max_total_conditions is None else self.max_total_conditions
        most_rules, most_conditions = min(rules, conditions), min(conditions, rules * longest)
        each, one = family.rule_cost, family.condition_cost
        total = each * most_rules if each else 0.0
        return float(total + (one * most_conditions if one else 0.0))

    def ended(self, run: FittedRun) -> FittedRun:
        """A run that has no room for another rule, or that found none that would help."""
        if run.stop_reason is not StopReason.NO_COLUMN:
            return run
        rules = run.outputs[0].hypotheses
        used = sum(len(rule.conditions) for rule in rules)
        if used == self.max_total_conditions or len(rules) == self.max_rules:
            words = f"{len(rules)} rules of {used} conditions together are as many as were allowed"
            return replace(run, stop_reason=StopReason.COLUMN_LIMIT, message=words)
        return run


def second_derivative(master: Any) -> Callable[[Vector], Vector]:
    """The second derivative of a master's loss; of a piecewise linear one the size of its kinks."""
    loss = master.loss
    if not isinstance(loss, SupportVectorLoss):
        smooth: Callable[[Vector], Vector] = loss.on_rows.curvature
        return smooth
    kinks = loss.upper - loss.lower if loss.curvature is None else 1.0 / loss.curvature
    return lambda output: kinks


@dataclass(frozen=True)
class BudgetRelaxation:
    """The convex problems whose optima bound a rule set within a budget.

    Attributes
    ----------
    budget : Budget
    family : RuleColumns
    pool : Literals
    master : callable
        ``master(penalty, C)``, a new master of the loss on the training rows.
    C, tol : float
    columns_per_round : int or None
    verbose : int
    label : str
        What lines of progress begin with.
    """

    budget: Budget
    family: RuleColumns
    pool: Literals
    master: Callable[[Penalty, float], SupportVectorMaster]
    C: float
    tol: float
    columns_per_round: int | None
    verbose: int
    label: str

    def certified(self, run: FittedRun, seconds: float | None) -> FittedRun:
        """The run with the bound on its problem."""
        bound = self.without_budget(seconds)
        if bound is None:
            bound = self.bound(run, seconds)
        objective = run.objective
        bound = min(bound, objective)
        return replace(run, bound=bound, gap=relative_gap(objective, bound, abs(objective) or 1.0))

    def without_budget(self, seconds: float | None) -> float | None:
        """The bound of a model of all rules; None where the budget has no room for them."""
        cost = self.family.cost(self.pool)
        columns = all_rules(self.pool, cost, self.budget.capacity(self.family, len(cost) - 1))
        if columns is None:
            return None
        return (
            ColumnGeneration(
                self.master(L2(), self.C),
                RuleList(columns),
                tol=self.tol,
                columns_per_round=max(1, len(columns)),
                time_limit=seconds,
            )
            .run()
            .bound
        )

    def bound(self, run: FittedRun, seconds: float | None) -> float:
        """The largest lower bound found, −inf without one; it begins with the rules of a run."""
        if not len(self.pool):
            return run.objective
        family = replace(self.family, roots=True)
        room = self.budget.capacity(family, len(family.cost(self.pool)) - 1)
        started, best, output = time.perf_counter(), -math.inf, run.outputs[0]
        columns, coef = self._columns(output.active, output.coef[output.coef != 0])
        start = WarmStart(columns, coef, output.intercept)
        large = self.pool.matrix.shape[0] * self.pool.matrix.shape[1] ** 2 >= LARGE_PRODUCT
        t = (SHRUNK_LARGE if large else SHRUNK) * float(np.abs(coef).sum()) / room or 1.0
        for _ in range(1 if large else MOST_POINTS):
            master = self.master(L1(), self.C / t)
            master.start_from(start)
            left = None if seconds is None else seconds - (time.perf_counter() - started)
            if left is not None and left <= 0:
                break
            tol = max(RELAXED_TOL, self.tol)
            result = ColumnGeneration(
                master,
                family.pricer(self.pool, tol),
                tol=tol,
                columns_per_round=self.columns_per_round or RELAXED_COLUMNS,
                max_columns=RELAXED_MOST,
                time_limit=left,
                verbose=self.verbose,
                label=self.label,
            ).run()
            if result.bound is not None:
                best = max(best, t * result.bound - 0.5 * t**2 * room)
            total = float(np.abs(result.coef).sum())
            if result.stop_reason in ENDED:
                break
            if not total:  # no rule is worth t
                t /= 4.0
                continue
            previous, t = t, math.sqrt(t * total / room)  # the total falls about as 1/t
            if abs(t / previous - 1.0) < NEAR_ENOUGH:
                break
            start = WarmStart.of(result.columns, result.coef, float(result.intercept))
        return best

    def _columns(self, rules: Sequence[Any], coef: Vector) -> tuple[list[Any], Vector]:
        """Rules in units of the roots of their costs."""
        cost = np.sqrt(self.family.cost(self.pool))
        place = {condition: j for j, condition in enumerate(self.pool.conditions)}
        columns, scaled = [], []
        for rule, weight in zip(rules, coef.tolist(), strict=True):
            places = [place[condition] for condition in rule.conditions]
            columns.append(self.pool.column(places, float(cost[len(places)])))
            scaled.append(weight * float(cost[len(places)]))
        return columns, np.array(scaled)
