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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.parameters import check_count
from cgboost.estimators.common.plan import Subproblem
from cgboost.estimators.common.training_rows import TrainingRows, Vector
from cgboost.estimators.rules.rule_columns import RuleColumns, with_roots
from cgboost.generation.history import StopReason, relative_gap
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Pricer
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.penalties import L1
from cgboost.pricing.rules import ErrorSelection, Literals, RuleList, RuleSelection, all_rules

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

FEW_CONDITIONS, FEW_ROWS = 5, 5000
"""With so few conditions, rules chosen together by errors are right on more new rows than those
that lower the log loss one after another (by 1.0 to 1.4 points with 4 conditions, on splits of four
tables); with 6 they are not. With many rows both are alike, and the search takes long."""

ENDED = (StopReason.TIME, StopReason.INTERRUPTED, StopReason.MASTER_FAILED)


def check_budgets(self: Any) -> None:
    """Check the budgets, and that there is one for each parameter that needs it."""
    check_count("max_total_conditions", self.max_total_conditions, optional=True)
    check_count("max_rules", self.max_rules, optional=True)


def is_budgeted(self: Any) -> bool:
    """Whether the rules are chosen within a budget."""
    return self.max_total_conditions is not None or self.max_rules is not None


def capacity(self: Any, cost: Vector) -> float:
    """The largest Σ c_j that the budgets allow."""
    longest = len(cost) - 1
    rules = np.inf if self.max_rules is None else self.max_rules
    conditions = np.inf if self.max_total_conditions is None else self.max_total_conditions
    most_rules, most_conditions = min(rules, conditions), min(conditions, rules * longest)
    each, one = self._family.rule_cost, self._family.condition_cost
    total = each * most_rules if each else 0.0
    return float(total + (one * most_conditions if one else 0.0))


def chosen_selection(self: Any, rows: TrainingRows) -> str:
    """How the rules of a classifier within a budget are chosen, "loss" or "errors"."""
    conditions = self.max_total_conditions
    if self.selection != "auto":
        return str(self.selection)
    few = conditions is not None and conditions <= FEW_CONDITIONS
    return "errors" if few and len(rows.y) <= FEW_ROWS else "loss"


def selecting_by_errors(
    self: Any, tasks: Iterator[Subproblem], pool: Literals, rows: TrainingRows
) -> Iterator[Subproblem]:
    """The runs of the loop, with rules that are chosen together by their training errors."""
    for task, signs in zip(tasks, self._targets(rows.y), strict=True):
        pricer = ErrorSelection(
            pool,
            signs,
            rows.weights,
            longest=self.max_conditions,
            max_rules=self.max_rules,
            max_conditions=self.max_total_conditions,
        )
        yield replace(task, pricer=pricer, columns_per_round=1)


def selecting(self: Any, tasks: Iterator[Subproblem], pool: Literals) -> Iterator[Subproblem]:
    """The runs of the loop, with a search that keeps to the budgets."""
    for task in tasks:
        if is_budgeted(self):
            pricer: Pricer = RuleSelection(
                pool,
                self._family.cost(pool),
                second_derivative(task.master),
                max_rules=self.max_rules,
                max_conditions=self.max_total_conditions,
            )
            task = replace(task, pricer=pricer, columns_per_round=1)
        yield task


def second_derivative(master: Any) -> Callable[[Vector], Vector]:
    """The second derivative of a master's loss; of a piecewise linear one the size of its kinks."""
    loss = master.loss
    if not isinstance(loss, SupportVectorLoss):
        smooth: Callable[[Vector], Vector] = loss.bound.curvature
        return smooth
    kinks = loss.upper - loss.lower if loss.curvature is None else 1.0 / loss.curvature
    return lambda output: kinks


def certified_runs(
    self: Any, runs: list[FittedRun], pool: Literals, rows: TrainingRows, started: float
) -> list[FittedRun]:
    """The runs with the bounds on their problems, and with why a budget has ended them."""
    if not is_budgeted(self):
        return runs
    done = [_ended_by_budget(self, run) for run in runs]
    interrupted = any(run.stop_reason is StopReason.INTERRUPTED for run in runs)
    if self.pricing != "exact" or interrupted:
        return done
    for number, target in enumerate(self._targets(rows.y)[: len(runs)]):
        left = None
        if self.time_limit is not None:
            elapsed = time.perf_counter() - started
            left = max(0.0, self._share_of_time * self.time_limit - elapsed) / (len(runs) - number)
        label = self._label(number, len(runs))
        relaxation = BudgetRelaxation(self, pool, target, rows.weights, label)
        bound = relaxation.without_budget(left)
        if bound is None:
            bound = relaxation.bound(done[number], left)
        bound = min(bound, done[number].objective)
        objective = done[number].objective
        gap = relative_gap(objective, bound, abs(objective) or 1.0)
        done[number] = replace(done[number], bound=bound, gap=gap)
    return done


def _ended_by_budget(self: Any, run: FittedRun) -> FittedRun:
    """A run that has no room for another rule, or that found none that would help."""
    if run.stop_reason is not StopReason.NO_COLUMN:
        return run
    rules = run.outputs[0].hypotheses
    used = sum(len(rule.conditions) for rule in rules)
    if used == self.max_total_conditions or len(rules) == self.max_rules:
        words = f"{len(rules)} rules of {used} conditions together are as many as were allowed"
        return replace(run, stop_reason=StopReason.COLUMN_LIMIT, message=words)
    return run


@dataclass(frozen=True)
class BudgetRelaxation:
    """The convex problems whose optima bound a rule set within a budget.

    Attributes
    ----------
    estimator : estimator
    pool : Literals
    target, weights : ndarray of shape (n_rows,)
    label : str
        What lines of progress begin with.
    """

    estimator: Any
    pool: Literals
    target: Vector
    weights: Vector
    label: str = ""

    def without_budget(self, seconds: float | None) -> float | None:
        """The bound of a model of all rules; None where the budget has no room for them."""
        cost = self.estimator._family.cost(self.pool)
        columns = all_rules(self.pool, cost, capacity(self.estimator, cost))
        if columns is None:
            return None
        options = self.estimator._master_options()
        options |= {"solver_options": self.estimator.solver_options}
        objective = self.estimator._objective
        master = objective.master(objective.loss(self.target, self.weights), **options)
        return (
            ColumnGeneration(
                master,
                RuleList(columns),
                tol=self.estimator._tol,
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
        family: RuleColumns = with_roots(self.estimator._family)
        room = capacity(self.estimator, family.cost(self.pool))
        started, best, output = time.perf_counter(), -math.inf, run.outputs[0]
        columns, coef = self._columns(output.active, output.coef[output.coef != 0])
        start = WarmStart(columns, coef, output.intercept)
        large = self.pool.matrix.shape[0] * self.pool.matrix.shape[1] ** 2 >= LARGE_PRODUCT
        t = (SHRUNK_LARGE if large else SHRUNK) * float(np.abs(coef).sum()) / room or 1.0
        for _ in range(1 if large else MOST_POINTS):
            objective = self.estimator._objective_with(L1(), self.estimator._cost / t)
            options = self.estimator._master_options()
            options |= {"solver_options": self.estimator.solver_options}
            master = objective.master(objective.loss(self.target, self.weights), **options)
            master.start_from(start)
            left = None if seconds is None else seconds - (time.perf_counter() - started)
            if left is not None and left <= 0:
                break
            tol = max(RELAXED_TOL, self.estimator._tol)
            aims = {"tol": tol, "max_columns": RELAXED_MOST, "time_limit": left}
            result = ColumnGeneration(
                master,
                family.pricer(self.pool, tol),
                tol=tol,
                columns_per_round=self.estimator.columns_per_round or RELAXED_COLUMNS,
                callbacks=self.estimator._progress(f"{self.label}bound: ", aims),
                max_columns=RELAXED_MOST,
                time_limit=left,
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
            used = np.flatnonzero(result.coef)
            start = WarmStart(
                [result.columns[j] for j in used], result.coef[used], float(result.intercept)
            )
        return best

    def _columns(self, rules: Sequence[Any], coef: Vector) -> tuple[list[Any], Vector]:
        """Rules in units of the roots of their costs."""
        cost = np.sqrt(self.estimator._family.cost(self.pool))
        place = {condition: j for j, condition in enumerate(self.pool.conditions)}
        columns, scaled = [], []
        for rule, weight in zip(rules, coef.tolist(), strict=True):
            places = [place[condition] for condition in rule.conditions]
            columns.append(self.pool.column(places, float(cost[len(places)])))
            scaled.append(weight * float(cost[len(places)]))
        return columns, np.array(scaled)
