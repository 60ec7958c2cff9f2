"""The fit of a model that obeys: prices that are high enough, and rates met by a search.

A fit is a run of column generation, or a few, each from the columns of the one before:

* While something is beyond its limit the price M of what is beyond is raised, as it may be below
  the multiplier of a limit. Where the highest price does not help, the constraints contradict each
  other, which a run without a loss proves (:mod:`cgboost.estimators.constrained.infeasible`).
* Limits on rates of predictions are limits on mean scores, at a level that a bracketed secant
  method moves until the rates on the training rows keep to theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cgboost.estimators.common.fit_loop import FittedRun
from cgboost.estimators.constrained.data import Seen
from cgboost.estimators.constrained.infeasible import raise_infeasible
from cgboost.estimators.constrained.problem import Problem
from cgboost.estimators.constrained.rules.base import Constraint
from cgboost.exceptions import see, warn_caller

OBEYED = 1e-6
"""What may be left beyond a limit, relative to it or to 1."""

DEARER = 10.0
"""The price is raised by this factor …"""

HIGHEST_PRICE = 1e5
"""… up to this, relative to the cost of all rows."""

MOST_LEVELS = 12
"""Fits of a search for rates at most."""

NEAR_LIMIT = 0.9
"""A rate this near to its limit is near enough."""

Run = Callable[[], list[FittedRun]]


def obeying_runs(problem: Problem, run: Run, called: str) -> list[FittedRun]:
    """The runs of a fit that keeps to all limits.

    Parameters
    ----------
    problem : Problem
        Its price and its levels are left as they are in the end.
    run : callable
        Runs column generation at the present price and levels.
    called : str
        Who warns.

    Raises
    ------
    InfeasibleConstraintsError
        If something stays beyond its limit.
    """
    runs = _at_sufficient_price(problem, run)
    if any(constraint.of_rates for constraint in problem.constraints):
        runs = _with_rates(problem, run, runs, called)
    return runs


def _at_sufficient_price(problem: Problem, run: Run) -> list[FittedRun]:
    while True:
        runs = run()
        if not problem.constraints or _beyond(problem, runs) <= OBEYED:
            return runs
        if problem.price >= HIGHEST_PRICE:
            raise_infeasible(problem, _beyond(problem, runs))
        problem.price *= DEARER


def _beyond(problem: Problem, runs: list[FittedRun]) -> float:
    """The largest excess over a limit, relative to it or to 1."""
    declared = problem.declared(problem.target)
    extension, limits = problem.limit_rows(declared)
    excess = 0.0
    if len(limits):
        output = runs[0].outputs[0].values(problem.rows.X)
        values = extension.matrix @ output
        drawn = [_drawn(runs[0], budget.features) for budget in declared.budgets]
        beyond = np.append(values, drawn) - limits
        excess = float(np.max(beyond / np.maximum(1.0, np.abs(limits)), initial=0.0))
    multipliers = problem.multipliers
    if multipliers is not None and runs[0].best_round in multipliers.convex:
        broken = multipliers.convex[runs[0].best_round][1]
        excess = max(excess, max(broken, default=0.0))
    return excess


def _drawn(run: FittedRun, features: frozenset[int]) -> float:
    """Σ|α| of the columns of some features."""
    output, total = run.outputs[0], 0.0
    for hypothesis, coef in zip(output.hypotheses, output.coef.tolist(), strict=True):
        own = getattr(hypothesis, "feature", getattr(hypothesis, "index", None))
        total += abs(coef) if own in features else 0.0
    return total


@dataclass
class _Level:
    """Where the search for one rate is at.

    ``sign`` times the mean score is limited by ``level``; ``points`` has the levels so far, with
    ``sign`` times the rate at each.
    """

    sign: float
    limit: float
    points: list[tuple[float, float]]

    def next(self) -> float:
        """The level to try next: a secant step to just below the limit, inside the bracket."""
        aim = 0.5 * (1.0 + NEAR_LIMIT) * self.limit
        below = [point for point in self.points if point[1] <= self.limit]
        above = [point for point in self.points if point[1] > self.limit]
        low = max(below, default=None)
        high = min(above, default=None)
        if high is None:
            assert low is not None
            return low[0]
        if low is None:
            level, rate = high
            if len(above) > 1:
                other = sorted(above)[1]
                slope = (other[1] - rate) / max(other[0] - level, 1e-12)
                step = (rate - aim) / slope if slope > 1e-12 else abs(level) + 1.0
                return level - min(2.0 * step, 4.0 * (abs(level) + abs(other[0] - level)))
            return level - (rate - aim) / max(rate, 1e-12) * max(abs(level), 1e-3)
        share = (aim - low[1]) / max(high[1] - low[1], 1e-12)
        return low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])


def _with_rates(
    problem: Problem, run: Run, runs: list[FittedRun], called: str
) -> list[FittedRun]:
    """The runs at levels of mean scores where rates are below their limits."""
    searched: dict[tuple[int, str], _Level] = {}
    kept: tuple[list[FittedRun], Any, dict[Any, Any]] | None = None
    for _ in range(MOST_LEVELS):
        rates, scores = _rates(problem, runs), _scores(problem, runs)
        settled = True
        for place, (rate, limit) in rates.items():
            level = searched.get(place)
            if level is None and abs(rate) <= limit:
                continue
            if level is None:
                level = searched[place] = _Level(float(np.sign(rate)), limit, [])
            level.points.append((level.sign * scores[place], level.sign * rate))
            settled &= NEAR_LIMIT * limit <= level.sign * rate <= limit
        obeyed = all(abs(rate) <= limit for rate, limit in rates.values())
        if obeyed and (kept is None or runs[0].objective <= kept[0][0].objective):
            kept = runs, problem.multipliers, dict(problem.levels)
        if settled:
            break
        for place, level in searched.items():
            problem.levels[place] = level.sign, level.next()
        runs = _at_sufficient_price(problem, run)
    if kept is None:
        rates = _rates(problem, runs)
        words = ", ".join(f"{part}: {rate:.4f}, limit {limit:g}" for (_, part), (rate, limit) in rates.items())
        warn_caller(
            f"{called}: after {MOST_LEVELS} levels of mean scores the rates on the training rows "
            f"are not within their limits ({words}): allow more, or limit the score"
            f"{see('constraints')}",
            ConvergenceWarning,
        )
        return runs
    runs, problem.multipliers, problem.levels = kept
    return runs


def _seen(problem: Problem, runs: list[FittedRun]) -> Seen:
    """The model on the training rows."""
    return Seen(
        runs[0].outputs[0].values(problem.rows.X),
        problem.target,
        problem.weights,
        problem.groups,
        problem.cost,
        problem.features,
        {},
    )


def _rates(problem: Problem, runs: list[FittedRun]) -> dict[tuple[int, str], tuple[float, float]]:
    """Every rate that is limited, and its limit."""
    seen = _seen(problem, runs)
    return {
        (number, measure.part): (measure.value, measure.limit)
        for number, constraint in enumerate(problem.constraints)
        if constraint.of_rates
        for measure in constraint.measured(seen)
    }


def _scores(problem: Problem, runs: list[FittedRun]) -> dict[tuple[int, str], float]:
    """The mean scores that belong to these rates."""
    output = runs[0].outputs[0].values(problem.rows.X)
    found = {}
    for number, constraint in enumerate(problem.constraints):
        if constraint.of_rates:
            for part, vector in _differences(problem, constraint):
                found[number, part] = float(vector @ output)
    return found


def _differences(problem: Problem, constraint: Constraint) -> list[tuple[str, Any]]:
    assert hasattr(constraint, "differences")
    grouping = problem.groups[constraint.groups_of]
    found: list[tuple[str, Any]] = constraint.differences(
        grouping, problem.target, problem.weights
    )
    return found
