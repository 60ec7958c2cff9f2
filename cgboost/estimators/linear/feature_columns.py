"""The family of columns of sparse linear models: the features themselves.

A fit of many of them, with a smooth loss, starts from the solutions of smaller prices of the loss
(continuation):

    min t·F(Xβ + b) + Ω(β)       t = t₀, t₀·STEP, …, 1

At t₀ all coefficients are 0; each problem starts from the solution of the one before, to a coarse
gap, with the columns and curvatures that it left. (Friedman, Hastie, Tibshirani, *Regularization
paths for generalized linear models via coordinate descent*, J. Statistical Software 33, 2010: the
path down to a λ is often faster than a fit at that λ alone.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.fitted_runs import Table
from cgboost.estimators.common.objective import ColumnFamily, end_of_start
from cgboost.estimators.common.parameters import check_bool
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Pricer
from cgboost.losses.loss import WeightedLoss
from cgboost.masters import FreeColumns, MatrixColumns
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.solver_choice import FEW_NUMBERS
from cgboost.optimizers.solver_options import time_left
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.constrained_features import ConstrainedFeaturePool
from cgboost.pricing.univariate.feature_pricer import STRATUM, Feature, FeaturePool
from cgboost.pricing.univariate.matrices import BlockFeatures, matrix_of
from cgboost.tolerances import SMALLEST

FEWEST_FEATURES = 120
"""Features a round at least: they are cheap next to a round. Measured from 100 × 10000 to
10000 × 100 and with 100000 sparse features, 80 to 240 are fast; 20 take up to twice as long."""

MOST_FEATURES = 150
"""A share of the rows counts up to so many: each is held twice, as a column of as many numbers."""

FEATURES_TO_ONE = 400
"""Of so many features one a round, up to twice the number above: of very many more price out."""


@dataclass(frozen=True)
class FeatureColumns(ColumnFamily):
    """The features themselves, divided by what their coefficients cost.

    Attributes
    ----------
    standardize, penalty_weights, fit_intercept
        As in the estimators.
    at_once : bool
        Whether all features may be there from the first round on, where they are few.
    """

    standardize: bool = False
    penalty_weights: ArrayLike | None = None
    fit_intercept: bool = True
    at_once: bool = True

    accept_sparse = ("csc", "csr")
    paths_begin_trivial = True

    def check(self) -> None:
        """Check the parameters that need no rows."""
        check_bool("standardize", self.standardize)
        check_bool("fit_intercept", self.fit_intercept)
        if self.penalty_weights is not None:
            weights = np.asarray(self.penalty_weights)
            if weights.ndim != 1 or weights.dtype.kind not in "iuf":
                raise ValueError(
                    "penalty_weights must be one number for each feature, "
                    f"got {self.penalty_weights!r}"
                )

    def usable(self, rows: TrainingRows) -> TrainingRows:
        """The rows that cost anything; the others say nothing. Those of a source stay."""
        return rows if isinstance(rows.X, BlockFeatures) else rows.counting()

    def pool(self, rows: TrainingRows) -> FeaturePool:
        """The features over their deviations and penalty weights, with a mean of 0 if wanted."""
        matrix = matrix_of(rows.X)
        centres, scales = None, self._weights(matrix.shape[1])
        if self.standardize:
            means, deviations = matrix.moments(rows.weights)
            scales = scales * np.where(deviations > 0, deviations, 1.0)
            centres = np.where(deviations > 0, means, 0.0)
        return FeaturePool(matrix, centres=centres, scales=scales)

    def deviations(self, pool: FeaturePool) -> Vector | None:
        """Standard deviations that coefficients are compared by; None without ``standardize``.

        1 for a feature without a penalty or a deviation.
        """
        if not self.standardize or pool.scales is None:
            return None
        weights = self._weights(len(pool.scales))
        return np.divide(pool.scales, weights, out=np.ones(len(weights)), where=weights > 0)

    def _weights(self, n_features: int) -> Vector:
        if self.penalty_weights is None:
            return np.ones(n_features)
        weights = np.asarray(self.penalty_weights, dtype=np.float64)
        if len(weights) != n_features:
            raise ValueError(
                f"penalty_weights must have one entry for each of {n_features} features, "
                f"got {len(weights)}"
            )
        wrong = ~(np.isfinite(weights) & (weights >= 0))
        if wrong.any():
            j = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"penalty_weights must be finite and not negative, got {weights[j]:g} for feature "
                f"{j}"
            )
        return np.where(weights > 0, weights, 1.0)

    def free(self, n_features: int) -> Indices:
        """The features whose coefficients cost nothing."""
        if self.penalty_weights is None:
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.asarray(self.penalty_weights) == 0)

    def pricer(self, pool: FeaturePool, tol: float) -> Pricer:
        """A scan of all features."""
        return StrataPricer(pool, tol=tol)

    def columns_per_round(self, pool: FeaturePool, n_rows: int) -> int:
        """A share of the rows or of the features, between some and many."""
        by_rows = min(MOST_FEATURES, super().columns_per_round(pool, n_rows))
        by_features = min(2 * MOST_FEATURES, pool.size(0) // FEATURES_TO_ONE)
        return max(FEWEST_FEATURES, by_rows, by_features)

    def prepared(
        self, pool: Any, master: Any, pricer: Any, again: Callable[[], Any]
    ) -> tuple[Any, Any]:
        """Master and pricer; with columns at which constraints can hold, where 0 is no such."""
        if isinstance(pool, ConstrainedFeaturePool) and len(pool.obeying):
            held = {column.key for column in master.columns}
            columns = pool.columns([0] * len(pool.obeying), pool.obeying.tolist())
            master.add([column for column in columns if column.key not in held])
        return master, pricer

    def warm_start(
        self,
        pool: FeaturePool,
        loss: Any,
        make_master: Callable[[Any], Any],
        time_limit: float | None,
    ) -> WarmStart:
        """All features where they are few numbers, else by continuation."""
        count, n_rows = pool.size(0), loss.n_rows
        if self.at_once and count <= FEWEST_FEATURES and count * n_rows <= FEW_NUMBERS:
            every = pool.columns([0] * count, range(count))
            return WarmStart(every, np.zeros(count), complete=True)
        own = pool, loss, make_master, self.columns_per_round(pool, loss.n_rows)
        return warm_start_by_continuation(*own, time_limit)

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """The number of each feature."""
        return {"feature": np.array([feature.index for feature in functions], dtype=np.intp)}


def constrained(
    pool: FeaturePool, below: Any, obeying: Indices, limit: Vector, weights: Vector | None
) -> ConstrainedFeaturePool:
    """The features with rows of constraints, and centred if there are weights for the means.

    An offset that is a column of its own does not centre the others.
    """
    if weights is not None and not pool.centres.any():
        means, _ = pool.matrix.moments(weights)
        pool = FeaturePool(pool.matrix, centres=means, scales=pool.scales)
    return ConstrainedFeaturePool(pool, below, obeying, limit)


def free_columns(X: Any, features: Indices, centres: Vector) -> FreeColumns:
    """The features without a penalty, as columns of the master: read where they lie."""
    if not len(features):
        return FreeColumns(())
    own = centres[features]
    if len(features) < X.shape[1]:
        X = matrix_of(X).columns(features)
    unread = np.broadcast_to(0.0, X.shape[:1])  # instead of values, which the matrix has
    columns = [
        Column(unread, (STRATUM, j), Feature(j, centre), STRATUM)
        for j, centre in zip(features.tolist(), own.tolist(), strict=True)
    ]
    return FreeColumns(columns, MatrixColumns(X, own if own.any() else None))


MANY_FEATURES = 0.5
"""Features for each row, from which on a fit starts so. At a thousandth of the largest α, one with
the log loss took 0.15 instead of 13 s at 200 × 1000, 0.18 instead of 0.9 s at 500 × 600; with the
squared hinge 0.2 instead of 0.8 s at 300 × 200. At 150 × 60 direct fits are two to six times as
fast, at 1000 × 400 some are and some are not."""

STEP = 2.5
"""Prices grow by this factor. Of 44 fits from 300 × 200 to 200 × 5000, at a tenth to a thousandth
of the largest α, 36 took less time than with 1.7, the others up to 1.3 times as much; with 3.5 most
are quicker still, but one of the squared hinge at 500 × 600 takes four times as long."""

NEAR_PRICE = 12.0
"""A price up to so many times t₀ is fitted directly: one ten times as large took 0.5 to 1.2 of the
time with a step between, the median 0.75."""

CONTINUATION_GAP = 1e-2
"""The relative gap of problems on the way: the next one changes more."""


def warm_start_by_continuation(
    pool: FeaturePool,
    loss: Any,
    make_master: Callable[[Any], Any],
    columns_per_round: int,
    time_limit: float | None = None,
) -> WarmStart:
    """Where a fit starts from; nowhere if features are few or the loss is not smooth.

    Parameters
    ----------
    loss : RowwiseLoss, or a loss of another kind
        At its price.
    make_master : callable
        A master for such a loss.
    time_limit : float or None
        Seconds for this and the run that begins there.
    """
    start, end = WarmStart(), end_of_start(time_limit)
    if not (isinstance(loss, RowwiseLoss) and isinstance(loss.on_rows, WeightedLoss)):
        return start
    if pool.size(0) < MANY_FEATURES * loss.n_rows:
        return start
    on_rows, master = loss.on_rows, make_master(loss.on_rows)
    if len(master.columns):  # free columns, which a loss of no price leaves undetermined
        return start
    scores = pool.all_scores(master.solve(time_limit=time_left(end)).pseudo_response)
    price = master.form.threshold / float(master.form.sizes(scores, 0.0).max(initial=SMALLEST))
    if price * NEAR_PRICE >= 1.0:
        return start
    while (price := STEP * price) < 1.0 / STEP and time.perf_counter() < end:
        master = make_master(on_rows.loss.on(on_rows.target, price * on_rows.weights))
        master.start_from(start)
        pricer = StrataPricer(pool, tol=CONTINUATION_GAP)
        loop = ColumnGeneration(
            master,
            pricer,
            tol=CONTINUATION_GAP,
            columns_per_round=columns_per_round,
            time_limit=time_left(end),
        )
        if loop.run().stop_reason is StopReason.INTERRUPTED:  # which is for the fit to see
            raise KeyboardInterrupt
        start = master.warm_start
    return start
