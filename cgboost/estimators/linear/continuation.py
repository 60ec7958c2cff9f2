"""Continuation: a fit of many features starts from the solutions of smaller prices of the loss.

    min t·F(Xβ + b) + Ω(β)       t = t₀, t₀·STEP, …, 1

At t₀ all coefficients are 0; each problem starts from the solution of the one before, to a coarse
gap, with the columns and curvatures that it left. (Friedman, Hastie, Tibshirani, *Regularization
paths for generalized linear models via coordinate descent*, J. Statistical Software 33, 2010: the
path down to a λ is often faster than a fit at that λ alone.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cgboost.generation.history import StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.losses.loss import WeightedLoss
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.tolerances import SMALLEST

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


SHARE_OF_LIMIT = 0.5
"""The part of a time limit after which there are no more steps: the rest is for the problem itself,
which has no certificate on the way."""


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
    pool : FeaturePool
    loss : RowwiseLoss, or a loss of another kind
        At its price.
    make_master : callable
        A master for such a loss.
    columns_per_round : int
    time_limit : float or None
        Of the fit, in seconds.
    """
    start, end = WarmStart(), np.inf
    if time_limit is not None:
        end = time.perf_counter() + SHARE_OF_LIMIT * time_limit
    if not (isinstance(loss, RowwiseLoss) and isinstance(loss.on_rows, WeightedLoss)):
        return start
    if pool.size(0) < MANY_FEATURES * loss.n_rows:
        return start
    on_rows, master = loss.on_rows, make_master(loss.on_rows)
    if len(master.columns):  # free columns, which a loss of no price leaves undetermined
        return start
    scores = pool.all_scores(master.solve().pseudo_response)
    price = master.form.threshold / float(master.form.sizes(scores, 0.0).max(initial=SMALLEST))
    if price * NEAR_PRICE >= 1.0:
        return start
    while (price := STEP * price) < 1.0 / STEP and (left := end - time.perf_counter()) > 0:
        master = make_master(on_rows.loss.on(on_rows.target, price * on_rows.weights))
        master.start_from(start)
        pricer = StrataPricer(pool, tol=CONTINUATION_GAP)
        loop = ColumnGeneration(
            master,
            pricer,
            tol=CONTINUATION_GAP,
            columns_per_round=columns_per_round,
            time_limit=None if time_limit is None else left,
        )
        if loop.run().stop_reason is StopReason.INTERRUPTED:  # which is for the fit to see
            raise KeyboardInterrupt
        start = master.warm_start
    return start
