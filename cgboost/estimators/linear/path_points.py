"""Linear models of a smooth loss without rounds: a fit, or a path of few features as one fit.

Where nobody watches the rounds, the problem of all features is solved along its prices, of which a
fit has one, and all solutions are certified together
(:mod:`cgboost.masters.support_vector.priced_points`). Of many features a fit reads those that come
to be of use. What has no proof is left to the loop. The points of a path are arrays, and become
models when these are asked for.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import (
    Certified,
    PathParameter,
    PointOfPath,
    simplest_first,
)
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.linear.feature_columns import FEWEST_FEATURES
from cgboost.forks import cached_property
from cgboost.generation.callbacks import ValidationMonitor
from cgboost.generation.history import StopReason
from cgboost.masters.support_vector.priced_points import PricedPoints
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers.newton.priced_path import MOST_BY_HOMOTOPY, Unread
from cgboost.optimizers.solver_choice import FEW_NUMBERS
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures

MANY_NUMBERS = 2**21
"""Rows times features up to which features are held a second time, centred: 16 MB of them."""

CROSSED = 1e-9
"""A bound above its objective by this relative gap is no rounding, and no proof."""


class PathPoint(PointOfPath):
    """A point of a path: what arrays say of its model, and the model once it is asked for.

    Attributes
    ----------
    coef_, intercept_, objective_, gap_, n_columns_
        Of the model.
    """

    def __init__(self, path: PricedPath, number: int) -> None:
        self._path, self._number = path, number
        coef = path.coef[number]
        self.coef_ = coef if path.prepared._coef_by_output else coef[0]
        self.intercept_ = path.intercept[number]
        self.objective_, self.gap_ = float(path.objective[number]), float(path.gap[number])
        self.n_columns_ = int(np.count_nonzero(coef))

    @cached_property
    def model(self) -> Any:
        """The model; what there is to warn of was said when the path was fitted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._path.model(self._number)


@dataclass(frozen=True)
class PricedPath:
    """All points of a path.

    Attributes
    ----------
    prepared : estimator
        That has seen the rows.
    parameter : {"C", "alpha"}
    values : ndarray of shape (n_values,)
        From the simplest model on.
    runs : sequence of PricedPoints
        Over the features in units of the master.
    rows : TrainingRows
        Without features.
    coef : ndarray of shape (n_values, n_runs, n_features)
    intercept : ndarray of shape (n_values, n_runs)
    objective, gap : ndarray of shape (n_values,)
    scores : sequence of sequence of mapping
        Of every run, for each point, the scores of rows that are held out, by their names in a
        history.
    seconds : float
        That a point took.
    """

    prepared: Any
    parameter: PathParameter
    values: Vector
    runs: Sequence[PricedPoints]
    features: Sequence[Feature]
    rows: TrainingRows
    coef: Vector
    intercept: Vector
    objective: Vector
    gap: Vector
    scores: Sequence[Sequence[Mapping[str, float]]]
    seconds: float

    @property
    def proven(self) -> NDArray[np.intp]:
        """The points with a gap of at most tol."""
        return np.flatnonzero(np.all([_proven(run, self.prepared._tol) for run in self.runs], 0))

    def model(self, number: int) -> Any:
        """The model of a point, as the loop leaves it after a single round."""
        model = copy.copy(self.prepared)
        setattr(model, self.parameter, float(self.values[number]))
        runs = [
            _fitted(points, number, self.features.__getitem__, self.seconds, scores[number])
            for points, scores in zip(self.runs, self.scores, strict=True)
        ]
        model._keep(model._certified(None, self.rows), runs, self.rows)
        model._calibrate(self.rows, None, 0.0)
        return model


def priced_path(
    prepared: Any,
    pool: FeaturePool,
    rows: TrainingRows,
    held: HeldSets | None,
    parameter: PathParameter,
    values: Vector,
) -> PricedPath | None:
    """The points of a path; None where features are many, or the loss is not smooth.

    Parameters
    ----------
    prepared : estimator
        That has seen the rows.
    pool : FeaturePool
        All features, in units of the master.
    held : sets of rows or None
        Whose scores are in the history of every model.
    parameter : {"C", "alpha"}
    values : ndarray of shape (n_values,)
        In any order.
    """
    started = time.perf_counter()
    values = values[simplest_first(parameter, values)]
    first = copy.copy(prepared)
    setattr(first, parameter, float(values[0]))
    prices = values[0] / values if parameter == "alpha" else values / values[0]
    plan = first._certified(pool, rows)
    runs = _solved_runs(plan, prices)
    if runs is None:
        return None
    scaling = prepared._scaling
    relative = values / values[0] if parameter == "alpha" else 1.0
    units = plan.objectives[0].unit * relative
    objectives = units * np.sum([run.objective for run in runs], axis=0)
    coef = np.stack([run.coef / pool.scales for run in runs], axis=1)
    intercept = np.stack([run.intercept for run in runs], axis=1) - coef @ pool.centres
    scores = [
        _scores(prepared._monitors(held or {}, k), coef[:, k], intercept[:, k])
        for k in range(len(runs))
    ]
    trivial = np.logical_not(coef.any(axis=2))
    if prepared.fit_intercept:
        intercept = np.where(trivial, np.array(scaling.constants), intercept)
        if not prepared._coef_by_output:
            objectives = np.where(trivial[:, 0], scaling.constant, objectives)
    return PricedPath(
        prepared,
        parameter,
        values,
        runs,
        [pool.feature(j) for j in range(pool.size(0))],
        replace(rows, X=np.zeros((len(rows.y), 0))),
        scaling.unit * coef,
        scaling.unit * intercept,
        objectives,
        np.max([run.gap for run in runs], axis=0),
        scores,
        (time.perf_counter() - started) / len(values),
    )


def fitted_at_once(plan: Certified) -> list[FittedRun] | None:
    """The runs of a plan, each as one round of the loop leaves it.

    None where the loss is not smooth, or a proof is missing.
    """
    pool = plan.pool
    if any(own.program != "qp" for own in plan.objectives):
        return None
    started = time.perf_counter()
    runs = _solved_runs(plan, np.ones(1))
    if runs is None or not all(_proven(points, plan.stop.tol).all() for points in runs):
        return None
    seconds = (time.perf_counter() - started) / len(runs)
    return [_fitted(points, 0, pool.feature, seconds, {}) for points in runs]


def _solved_runs(plan: Certified, prices: Vector) -> list[PricedPoints] | None:
    """The solutions of all runs at prices of their loss; None of runs that have no such way."""
    pool = plan.pool
    n_rows, count = pool.matrix.shape
    if isinstance(pool.matrix, BlockFeatures):
        return None
    if any(y.ndim > 1 for y in plan.y_of_runs):  # of joint outputs
        return None
    few = count <= FEWEST_FEATURES and n_rows * count <= FEW_NUMBERS
    if len(prices) == 1 and not few:
        read = partial(pool.values, 0)
        columns: Any = Unread(pool.matrix.shape, read, pool.all_scores, *pool.entries())
    elif count > MOST_BY_HOMOTOPY or n_rows * count > MANY_NUMBERS:
        return None
    else:
        columns = pool.values(0, np.arange(count)).T
    runs: list[PricedPoints] = []
    for number, target in enumerate(plan.y_of_runs):
        objective = plan.objectives[min(number, len(plan.objectives) - 1)]
        master = objective.make_master(objective.make_loss(target, plan.weights), **plan.options)
        if not isinstance(master, SupportVectorMaster):
            return None
        points = master.solved_along(
            columns, prices, lambda r: (pool.all_scores(r), pool.errors(None, r))
        )
        if points is None:
            return None
        runs.append(points)
    return runs


def _proven(points: PricedPoints, tol: float) -> NDArray[np.bool_]:
    """Which points have a gap of at most ``tol``."""
    crossed = points.bound - points.objective > CROSSED * np.abs(points.objective)
    return np.asarray((points.gap <= tol) & ~crossed)


def _fitted(
    points: PricedPoints,
    number: int,
    feature: Callable[[int], Feature],
    seconds: float,
    scores: Mapping[str, float],
) -> FittedRun:
    """The run of a point, as one round of the loop leaves it."""
    coef, intercept = points.coef[number], float(points.intercept[number])
    used = np.flatnonzero(coef)
    sizes = {STRATUM: float(np.abs(coef).sum())} if len(used) else {}
    strata = np.full(len(used), STRATUM)
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
    own = FittedOutput(
        [feature(j) for j in used.tolist()], strata, [(coef[used], intercept)], sizes
    )
    return FittedRun(
        outputs=[own],
        objective=objective,
        bound=bound,
        gap=gap,
        stop_reason=StopReason.OPTIMAL,
        message="no column prices out",  # all of them are there
        best_round=0,
        history={name: np.array([value]) for name, value in history.items()},
        level=np.nan,
    )


def _scores(
    monitors: Sequence[ValidationMonitor], coef: Vector, intercept: Vector
) -> list[dict[str, float]]:
    """What the monitors of a run see of each point that there is, as of a round."""
    found: list[dict[str, float]] = [{} for _ in intercept]
    for monitor in monitors:
        outputs = np.asarray(monitor.X @ coef.T, dtype=np.float64) + intercept
        for k in np.flatnonzero(np.isfinite(intercept)).tolist():
            found[k] |= monitor.scored(outputs[:, k])
    return found
