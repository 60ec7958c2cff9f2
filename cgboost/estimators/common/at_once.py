"""Runs without rounds: the problem of all columns of a family is solved, and then proven.

Where nobody watches the rounds of a fit, a small problem need not be found column by column. A run
solved this way is what the loop leaves after a single round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.certified import Certified
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.generation.history import StopReason
from cgboost.masters.support_vector.priced_points import PricedPoints, Scores
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster

CROSSED = 1e-9
"""A bound above its objective by this relative gap is no rounding, and no proof."""

Functions = Callable[[Indices], tuple[list[Any], NDArray[np.str_]]]
"""The basis functions of some columns, and their strata."""


def is_proven(points: PricedPoints, tol: float) -> NDArray[np.bool_]:
    """Which points have a gap of at most ``tol``."""
    crossed = points.bound - points.objective > CROSSED * np.abs(points.objective)
    return np.asarray((points.gap <= tol) & ~crossed)


def run_of(
    points: PricedPoints,
    number: int,
    functions: Functions,
    seconds: float,
    scores: Mapping[str, float],
) -> FittedRun:
    """The run of a point.

    Parameters
    ----------
    number : int
        Of the point.
    functions : callable
    seconds : float
        That it took.
    scores : mapping of str to float
        Of rows that are held out, by their names in a history.
    """
    coef, intercept = points.coef[number], float(points.intercept[number])
    used = np.flatnonzero(coef)
    hypotheses, strata = functions(used)
    sizes: dict[str, float] = {}
    for stratum, coefficient in zip(strata.tolist(), coef[used].tolist(), strict=True):
        sizes[stratum] = sizes.get(stratum, 0.0) + abs(coefficient)
    objective, gap = float(points.objective[number]), float(points.gap[number])
    bound = min(float(points.bound[number]), objective)
    history = {
        "round": 0,
        "columns": len(coef),
        "active": len(used),
        "objective": objective,
        "bound": bound,
        "gap": gap,
        "evaluated": len(coef),
        "stratum": "",
        "seconds": seconds,
        "master_seconds": seconds,
        "pricing_seconds": 0.0,
        **scores,
    }
    return FittedRun(
        outputs=[FittedOutput(hypotheses, strata, [(coef[used], intercept)], sizes)],
        objective=objective,
        bound=bound,
        gap=gap,
        stop_reason=StopReason.OPTIMAL,
        message="no column prices out",  # all of them are there
        best_round=0,
        history={name: np.array([value]) for name, value in history.items()},
        level=np.nan,
    )


def solved_runs(
    plan: Certified, columns: Any, prices: Vector, scores: Scores
) -> list[PricedPoints] | None:
    """The solutions of all runs at prices of their loss; None of runs that have no such way.

    Parameters
    ----------
    plan : Certified
    columns : ndarray of shape (n_rows, n_columns), or Unread
        All columns of the family.
    prices : ndarray of shape (n_prices,)
        In ascending order, above 0.
    scores : callable
    """
    runs: list[PricedPoints] = []
    for number, target in enumerate(plan.y_of_runs):
        objective = plan.objectives[min(number, len(plan.objectives) - 1)]
        if target.ndim > 1:  # of joint outputs
            return None
        master = objective.make_master(objective.make_loss(target, plan.weights), **plan.options)
        if not isinstance(master, SupportVectorMaster):
            return None
        points = master.solved_along(columns, prices, scores)
        if points is None:
            return None
        runs.append(points)
    return runs


def fitted_at_once(
    plan: Certified, columns: Any, scores: Scores, functions: Functions
) -> list[FittedRun] | None:
    """The runs of a plan, each as one round of the loop leaves it; None where a proof is missing.

    Parameters
    ----------
    plan, columns, scores
        As for :func:`solved_runs`.
    functions : callable
    """
    started = time.perf_counter()
    runs = solved_runs(plan, columns, np.ones(1), scores)
    if runs is None or not all(is_proven(run, plan.stop.tol).all() for run in runs):
        return None
    seconds = (time.perf_counter() - started) / len(runs)
    return [run_of(run, 0, functions, seconds, {}) for run in runs]
