"""Linear models without rounds: a fit, or a path of few features and a smooth loss as one fit.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.at_once import fitted_at_once, is_proven, run_of, solved_runs
from cgboost.estimators.common.certified import (
    Certified,
    PathParameter,
    PointOfPath,
    simplest_first,
)
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.linear.feature_columns import FEWEST_FEATURES
from cgboost.forks import cached_property
from cgboost.generation.callbacks import ValidationMonitor
from cgboost.masters.support_vector.priced_points import PricedPoints
from cgboost.optimizers.newton.priced_path import MOST_BY_HOMOTOPY, Unread
from cgboost.optimizers.solver_choice import FEW_NUMBERS
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures

MANY_NUMBERS = 2**21
"""Rows times features up to which features are held a second time, centred: 16 MB of them."""


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
        return np.flatnonzero(np.all([is_proven(run, self.prepared._tol) for run in self.runs], 0))

    def _functions(self, used: Indices) -> tuple[list[Any], NDArray[np.str_]]:
        return [self.features[j] for j in used.tolist()], np.full(len(used), STRATUM)

    def model(self, number: int) -> Any:
        """The model of a point, as the loop leaves it after a single round."""
        model = copy.copy(self.prepared)
        setattr(model, self.parameter, float(self.values[number]))
        runs = [
            run_of(run, number, self._functions, self.seconds, scores[number])
            for run, scores in zip(self.runs, self.scores, strict=True)
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
    columns = _columns(pool, one_price=len(prices) == 1)
    if columns is None or any(own.program != "qp" for own in plan.objectives):
        return None
    runs = solved_runs(plan, columns, prices, partial(_all_scores, pool))
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


def features_at_once(plan: Certified) -> list[FittedRun] | None:
    """The runs of a plan, each as one round of the loop leaves it; None where there are none."""
    pool = plan.pool
    linear = any(own.program == "lp" for own in plan.objectives)
    columns = _columns(pool, one_price=True)
    if columns is None or (linear and isinstance(columns, Unread)):
        return None
    return fitted_at_once(plan, columns, partial(_all_scores, pool), partial(_features, pool))


def _columns(pool: FeaturePool, *, one_price: bool) -> Any:
    """All features, or how to read them; None where neither is quick."""
    if isinstance(pool.matrix, BlockFeatures):
        return None
    n_rows, count = pool.matrix.shape
    few = count <= FEWEST_FEATURES and n_rows * count <= FEW_NUMBERS
    if one_price and not few:
        read: Any = partial(pool.values, 0)
        return Unread(pool.matrix.shape, read, pool.all_scores, *pool.entries())
    if count > MOST_BY_HOMOTOPY or n_rows * count > MANY_NUMBERS:
        return None
    return pool.values(0, np.arange(count)).T


def _all_scores(pool: FeaturePool, responses: Vector) -> tuple[Vector, Vector]:
    return pool.all_scores(responses), pool.errors(None, responses)


def _features(pool: FeaturePool, used: Indices) -> tuple[list[Any], NDArray[np.str_]]:
    return [pool.feature(j) for j in used.tolist()], np.full(len(used), STRATUM)


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
