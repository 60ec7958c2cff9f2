"""Forward stagewise additive modelling of squared error with any base regressor.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, 2006: gradient
boosting, Table 1; orthogonalised, Table 5; feed-forward, Table 6; both, Table 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sklearn.base import is_regressor

from cgboost.estimators.boosting.learner_columns import BaseLearnerBoost
from cgboost.estimators.common.parameters import check_bool, check_number
from cgboost.estimators.common.rows import Rows
from cgboost.estimators.common.subproblems import Task
from cgboost.estimators.common.targets import Regression
from cgboost.generation.protocols import Pricer
from cgboost.losses.base import Loss
from cgboost.losses.registry import (
    REGRESSION,
    LossMaker,
    RegressionLoss,
    bound_loss,
    check_loss,
    known_loss,
)
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.feed_forward import FeedForwardPricer
from cgboost.pricing.learners.learners import IndependentPricer, LearnerPricer


@dataclass(eq=False, repr=False)
class StagewiseRegressor(Regression, BaseLearnerBoost):
    """Adds, round by round, a regressor fitted to the residuals: f ← f + learning_rate·h.

    The residuals y − f are what is left of ½ Σ w_i (y_i − f_i)², starting at f = 0. A regressor
    that fits by least squares needs no step along its predictions: the best one is 1 ([P] Table 1).
    The model therefore is :class:`AnyBoostRegressor` with ``start="zero"`` and
    ``step=learning_rate``.

    For other losses a regressor is fitted to the pseudo-response, and taken with the best step,
    times ``learning_rate``.

    Stages of one learner are rarely orthogonal, and convergence then is slow. Two options of
    [P] make up for it: all coefficients by least squares in every round, f = Σ λ_k h_k, and
    learners that see earlier stages, h_i(x, h_1, …, h_{i−1}).

    Parameters
    ----------
    estimator : regressor or None
        Any of scikit-learn; None stands for ``DecisionTreeRegressor(max_depth=3)``.
    loss : {"squared_error", "absolute_error", "quantile", "huber", "epsilon_insensitive", \
"squared_epsilon_insensitive", "poisson"}, Loss or callable, default="squared_error"
        As in :class:`AnyBoostRegressor`.
    learning_rate : float, default=1.0
        Share of every fit that is taken; below 2, where steps no longer lower the loss. Must be 1
        with ``orthogonalize=True``, which chooses the shares itself.
    orthogonalize : bool, default=False
        Refit the coefficients of all stages in every round; there is no intercept. The residuals
        are then orthogonal to all stages, and the run ends with a fit that is a combination of
        them. Of other losses than the squared error all coefficients are refitted likewise, by a
        linear program or Newton's method, up to ``n_estimators`` rounds.
    feed_forward : bool, default=False
        Fit the learner of stage i to the features and the outputs of the stages before it: it has
        i − 1 more inputs than X has columns.
    n_estimators : int, default=100
        Rounds at most; the run ends where a fit leads no way down.
    early_stopping, validation_fraction, n_iter_no_change, callbacks, verbose, time_limit, \
random_state
        As in :class:`AnyBoostRegressor`.

    Attributes
    ----------
    estimators_, columns_, coef_, intercept_, n_columns_, objective_, history_, best_round_, \
stop_reason_, n_iter_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`AnyBoostRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from cgboost import StagewiseRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> StagewiseRegressor(DecisionTreeRegressor(max_depth=1)).fit(X, y).score(X, y) > 0.99
    True
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    orthogonalize: bool = field(default=False, kw_only=True)
    feed_forward: bool = field(default=False, kw_only=True)

    @property
    def _known_loss(self) -> Loss | None:
        return known_loss(self.loss)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_loss(self.loss, REGRESSION)
        check_number("learning_rate", self.learning_rate, above=0, below=2)
        check_bool("orthogonalize", self.orthogonalize)
        check_bool("feed_forward", self.feed_forward)
        if self.orthogonalize and self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate must be 1.0 with orthogonalize=True, got {self.learning_rate!r}: "
                "all coefficients are refitted in every round"
            )
        if not is_regressor(self._learner):
            raise ValueError(f"estimator must be a regressor, got {self.estimator!r}")

    def _tasks(self, pool: LearnerPricer, rows: Rows) -> Iterator[Task]:
        for target in self._targets(rows.y):
            loss = bound_loss(self.loss, target, rows.weights)
            pricer: Pricer = FeedForwardPricer(pool) if self.feed_forward else pool
            rate = float(self.learning_rate)
            if isinstance(loss, WeightedSquaredError):
                if self.orthogonalize:
                    yield Task(OrthogonalMaster(loss), IndependentPricer(pricer, loss))
                else:  # least squares have taken the best step
                    yield Task(StagewiseMaster(loss, step=rate), pricer)
            elif self.orthogonalize:
                yield Task(CorrectiveMaster(loss), pricer)
            else:
                yield Task(StagewiseMaster(loss, learning_rate=rate), pricer)
