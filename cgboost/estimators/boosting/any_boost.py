"""Boosting of any weak learner: AnyBoost, and forward stagewise additive modelling.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006, Alg. 1:
gradient descent in function space; Alg. 2: with orthogonal columns. [P] is Pednault, *Transform
Regression and the Kolmogorov Superposition Theorem*, 2006: gradient boosting, Table 1;
orthogonalised, Table 5; feed-forward, Table 6; both, Table 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from cgboost.arrays import Vector
from cgboost.estimators.common.parameters import (
    check_bool,
    check_choice,
    check_count,
    check_learning_rate,
    check_number,
)
from cgboost.estimators.common.plan import RunTask
from cgboost.estimators.common.predictors import Classification, Regression
from cgboost.estimators.common.stagewise import BaseLearnerStages
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.protocols import Pricer
from cgboost.losses.exponential import Exponential
from cgboost.losses.loss import Loss, require
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    LossMaker,
    RegressionLoss,
    check_known_loss,
    known_loss,
    loss_on_rows,
)
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.learners import (
    IndependentPricer,
    LearnerPricer,
    ResponseFunction,
    check_learner,
    newton_response,
    residuals,
)
from cgboost.pricing.learners.stage_learners import FeedForwardPricer


@dataclass(eq=False, repr=False)
class BaseLearnerBoost(BaseLearnerStages):
    """Columns from a weak learner, by default a small regression tree, one per round."""

    estimator: Any = None
    n_estimators: int = field(default=100, kw_only=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators)
        self._check_estimator()

    def _check_estimator(self) -> None:
        if self.estimator is not None:
            check_learner("estimator", self.estimator)

    @property
    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.tree import DecisionTreeRegressor  # loads much that no other part needs

        return DecisionTreeRegressor(max_depth=3)

    def _pricer(self, rows: TrainingRows) -> LearnerPricer:
        return LearnerPricer(
            self._learner,
            rows.X,
            tol=0.0,
            random_state=self.random_state,
            working=self._working(rows.weights),
            repeats=True,
        )

    def _working(self, weights: Vector) -> ResponseFunction:
        """What a regressor is fitted to: the residuals r/w, with the sample weights w."""
        if not np.all(weights == weights[0]):
            self._require_weights("sample_weight")
        return residuals(weights)

    def _require_weights(self, what: str) -> None:
        if not has_fit_parameter(self._learner, "sample_weight"):
            raise ValueError(
                f"estimator={type(self._learner).__name__} must take sample_weight in its fit "
                f"for {what}"
            )


def _offset_of(start: str) -> Literal["free", "none"]:
    """Of masters that refit all coefficients: whether a constant is one of them."""
    return "free" if start == "constant" else "none"


@dataclass(eq=False, repr=False)
class BaseAnyBoost(BaseLearnerBoost):
    """Descent in function space for any loss: a step along every learner, or all corrected."""

    loss: Any = field(default=None, kw_only=True)
    step: Any = field(default="line-search", kw_only=True)
    learning_rate: float = field(default=0.1, kw_only=True)
    corrective: bool | None = field(default=None, kw_only=True)
    orthogonalize: bool = field(default=False, kw_only=True)
    start: Literal["constant", "zero"] = field(default="constant", kw_only=True)

    _losses: ClassVar[tuple[str, ...]]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_known_loss(self.loss, self._losses)
        if isinstance(self.step, str):
            check_choice("step", self.step, ("line-search", "newton", "confidence"))
        else:
            check_number("step", self.step, above=0)
        check_learning_rate(self.learning_rate)
        check_choice("start", self.start, ("constant", "zero"))
        if self.corrective is not None:
            check_bool("corrective", self.corrective)
        check_bool("orthogonalize", self.orthogonalize)
        if self.step == "confidence" and known_loss(self.loss) != Exponential():
            raise ValueError(
                f'step="confidence" is the step of the exponential loss, got loss={self.loss!r}: '
                'take loss="exponential", or step="line-search"'
            )
        if self.step == "newton" and (loss := known_loss(self.loss)) is not None:
            require(loss, ["hessian_diag"], 'step="newton"')

    def _working(self, weights: Vector) -> ResponseFunction:
        """With Newton steps, regressors are fitted to r/w with the Newton weights w."""
        if self.step == "newton" and not is_classifier(self._learner):
            self._require_weights("newton steps")
            return newton_response
        return super()._working(weights)

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        pool = self._pricer(rows)
        refits = self.orthogonalize if self.corrective is None else self.corrective
        for target in self._target_kind.of_runs(rows.y):
            loss = loss_on_rows(self.loss, target, rows.weights)
            pricer: Pricer = pool
            if self.orthogonalize:
                from cgboost.pricing.learners.stage_learners import OrthogonalPricer

                constant = self.start == "constant"
                pricer = OrthogonalPricer(pool, len(rows.weights), constant=constant)
                if isinstance(loss, WeightedSquaredError):
                    pricer = IndependentPricer(pricer, loss)
            if refits:
                from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster

                yield RunTask(CorrectiveMaster(loss, offset=_offset_of(self.start)), pricer)
            else:
                master = StagewiseMaster(
                    loss,
                    step=self.step,
                    learning_rate=self.learning_rate,
                    start=self.start,
                )
                yield RunTask(master, pricer)


@dataclass(eq=False, repr=False)
class AnyBoostClassifier(Classification, BaseAnyBoost):
    """Boosting of any weak learner for any margin loss ([M] Alg. 1).

    Each round fits the learner to the pseudo-response r = −∂loss/∂f (for regressors), or to its
    signs, weighted by its absolute values (for classifiers), and adds it to f with the step chosen
    by ``step``. More than two classes are handled one-vs-rest.

    Parameters
    ----------
    estimator : classifier, regressor or None
        Any estimator of scikit-learn; None means ``DecisionTreeRegressor(max_depth=3)``.
    loss : {"log_loss", "exponential", "hinge", "squared_hinge"}, Loss or callable, \
default="log_loss"
        A name, a :class:`~cgboost.losses.Loss` such as ``LogLoss()``, or a callable
        ``loss(target, weights)`` that returns a :class:`~cgboost.losses.loss.DifferentiableLoss`
        for labels ±1. The log-loss is Σ w_i log(1 + exp(−2 y_i f_i)), the exponential loss
        Σ w_i exp(−y_i f_i). The hinge has no Newton steps.
    step : {"line-search", "newton", "confidence"} or float, default="line-search"
        "line-search" is the step that lowers the loss most. "newton" is one Newton step; the
        learner, a regressor, is then fitted to r/w with the Newton weights w. "confidence" is the
        inexact line search of ConfidenceBoost, for the exponential loss:
        c = log((1 + ρ)/(1 − ρ))/(2·max|h|) with ρ = r·h/(Σ|r|·max|h|), which lowers a bound on the
        loss most, and with h = ±1 the loss (Schapire, Singer 1999). A number is a constant step;
        the run then ends with a learner for which r·h ≤ 0.
    learning_rate : float, default=0.1
        Multiplies these but for a number; 1 takes the full steps of [M]. Must be below 2; from 2
        on, steps no longer lower the loss.
    corrective : bool or None, default=None
        Refit all coefficients in every round. ``step`` and ``learning_rate`` then only determine
        what learners are fitted to. None means ``orthogonalize``.
    orthogonalize : bool, default=False
        OrthoAnyBoost ([M] Alg. 2): every column is orthogonal, on the training rows, to those
        before it, t_i·t_j = 0, and of length 1: what a learner's output has that is new to them,
        and to the constant with ``start="constant"``. Coefficients are refitted unless
        ``corrective=False``. ``estimators_`` then have these columns as ``predict(X)``, and the
        fitted learners as ``learner.estimator``.
    start : {"constant", "zero"}, default="constant"
        f before the first round: the best constant, or 0. It is refitted only with the
        coefficients. A learner that cannot predict a constant, such as a linear model without an
        intercept, therefore needs ``corrective=True``.
    n_estimators : int, default=100
        Maximum number of rounds; the run ends earlier if the learner cannot lower the loss.
    early_stopping : bool, default=False
        As in :class:`CGBoostClassifier`.
    validation_fraction, n_iter_no_change, class_weight, scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        Determines the rows that early stopping holds out, and the seeds of the learners.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    estimators_ : list of estimator
        The fitted learners, in the order of ``columns_``.
    columns_ : dict of str to ndarray
        estimator (index in ``estimators_``), coefficient, round (and class).
    feature_importances_ : ndarray of shape (n_features,)
        The importances of the learners, weighted by how much each lowered the loss.
    column_weights_, intercept_, n_columns_, objective_, history_, best_round_, stop_reason_, \
n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`; ``objective_`` is the training loss.
    n_iter_ : int
        Number of rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import Ridge
    >>> from cgboost import AnyBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AnyBoostClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    loss: ClassificationLoss | Loss | LossMaker = field(default="log_loss", kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities 1/(1 + e^{−2f}), one-vs-rest: shape (n_rows, n_classes).

        They are valid for losses whose minimum is at half the log-odds: "log_loss" and
        "exponential".
        """
        return self._probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(self._probabilities, self._staged_outputs(X))


@dataclass(eq=False, repr=False)
class AnyBoostRegressor(Regression, BaseAnyBoost):
    """Boosting of any weak learner for any regression loss ([M] Alg. 1).

    Parameters
    ----------
    estimator, step, learning_rate, corrective, orthogonalize, start, n_estimators, \
early_stopping, validation_fraction, n_iter_no_change, scoring, callbacks, verbose, time_limit, \
random_state
        As in :class:`AnyBoostClassifier`, but for ``step="confidence"``; early stopping watches the
        mean absolute error, or the loss for quantiles and counts.
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"}, Loss or callable, \
default="squared_error"
        A name, a :class:`~cgboost.losses.Loss` with parameters, such as ``Quantile(0.9)``, or a
        callable ``loss(target, weights)``. Piecewise linear losses (absolute, quantile and
        ε-insensitive) have no Newton steps. With ``corrective=True`` they are refitted by a linear
        program, the squared error by least squares, others by Newton's method. With "poisson", f is
        the log of the mean, and the mean is predicted.

    Attributes
    ----------
    estimators_, columns_, column_weights_, intercept_, n_columns_, objective_, history_, \
best_round_, stop_reason_, n_iter_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`AnyBoostClassifier` with two classes.
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = REGRESSION


@dataclass(eq=False, repr=False)
class StagewiseRegressor(Regression, BaseLearnerBoost):
    """Adds one regressor per round, fitted to the residuals: f ← f + learning_rate·h.

    The residuals y − f are the negative gradient of ½ Σ w_i (y_i − f_i)². A regressor fitted by
    least squares needs no line search: the best step is 1 ([P] Table 1). The model is therefore
    :class:`AnyBoostRegressor` with ``step=learning_rate``.

    For other losses, the regressor is fitted to the pseudo-response and added with the best step
    times ``learning_rate``.

    Stages of one learner are rarely orthogonal, which makes convergence slow. Two options of [P]
    help: all coefficients are refitted by least squares in every round, f = Σ λ_k h_k, and learners
    see the outputs of earlier stages, h_i(x, h_1, …, h_{i−1}).

    Parameters
    ----------
    estimator : regressor or None
        Any regressor of scikit-learn; None means ``DecisionTreeRegressor(max_depth=3)``.
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"}, Loss or callable, \
default="squared_error"
        As in :class:`AnyBoostRegressor`.
    learning_rate : float or None, default=None
        Multiplies every fit. Must be below 2; from 2 on, steps no longer lower the loss. None means
        0.1, and 1 with ``orthogonalize=True``, which chooses the coefficients itself and takes no
        other value.
    orthogonalize : bool, default=False
        Refit the coefficients of all stages, and the constant, in every round. The residuals are
        then orthogonal to all stages, and the run ends when a fit is a combination of them. For
        losses other than the squared error, all coefficients are also refitted, by a linear
        program or Newton's method, for up to ``n_estimators`` rounds.
    feed_forward : bool, default=False
        Fit the learner of stage i to the features and the outputs of all earlier stages; it then
        has i − 1 more inputs than X has columns.
    start : {"constant", "zero"}, default="constant"
        f before the first round: the best constant, of the squared error the weighted mean, which
        becomes ``intercept_``; or 0, as in [P], for targets whose mean is 0. From 0,
        ``learning_rate=0.1`` leaves 0.9ᵏ of the mean of y after k rounds.
    n_estimators : int, default=100
        Maximum number of rounds; the run ends earlier if a fit cannot lower the loss.
    early_stopping, validation_fraction, n_iter_no_change, scoring, callbacks, verbose, \
time_limit, random_state
        As in :class:`AnyBoostRegressor`.

    Attributes
    ----------
    estimators_, columns_, column_weights_, intercept_, n_columns_, objective_, history_, \
best_round_, stop_reason_, n_iter_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`AnyBoostRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from cgboost import StagewiseRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> StagewiseRegressor(DecisionTreeRegressor(max_depth=2)).fit(X, y).score(X, y) > 0.99
    True
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)
    learning_rate: float | None = field(default=None, kw_only=True)
    orthogonalize: bool = field(default=False, kw_only=True)
    feed_forward: bool = field(default=False, kw_only=True)
    start: Literal["constant", "zero"] = field(default="constant", kw_only=True)

    @property
    def _rate(self) -> float:
        if self.learning_rate is None:
            return 1.0 if self.orthogonalize else 0.1
        return float(self.learning_rate)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_known_loss(self.loss, REGRESSION)
        if self.learning_rate is not None:
            check_learning_rate(self.learning_rate)
        check_bool("orthogonalize", self.orthogonalize)
        check_bool("feed_forward", self.feed_forward)
        check_choice("start", self.start, ("constant", "zero"))
        if self.orthogonalize and self._rate != 1.0:
            raise ValueError(
                f"learning_rate must be 1.0 with orthogonalize=True, got {self.learning_rate!r}: "
                "all coefficients are refitted in every round"
            )
        if not is_regressor(self._learner):
            raise ValueError(f"estimator must be a regressor, got {self.estimator!r}")

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        pool = self._pricer(rows)
        for target in self._target_kind.of_runs(rows.y):
            loss = loss_on_rows(self.loss, target, rows.weights)
            pricer: Pricer = FeedForwardPricer(pool) if self.feed_forward else pool
            rate, offset = self._rate, _offset_of(self.start)
            if isinstance(loss, WeightedSquaredError):
                if self.orthogonalize:
                    master = OrthogonalMaster(loss, offset=offset)
                    yield RunTask(master, IndependentPricer(pricer, loss))
                else:  # least squares have taken the best step
                    yield RunTask(StagewiseMaster(loss, step=rate, start=self.start), pricer)
            elif self.orthogonalize:
                from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster

                yield RunTask(CorrectiveMaster(loss, offset=offset), pricer)
            else:
                yield RunTask(StagewiseMaster(loss, learning_rate=rate, start=self.start), pricer)
