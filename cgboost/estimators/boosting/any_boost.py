"""AnyBoost: gradient descent in function space with any loss and any weak learner.

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006, Alg. 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sklearn.base import is_classifier

from cgboost.estimators.boosting.learner_columns import BaseLearnerBoost
from cgboost.estimators.common.parameters import check_bool, check_choice, check_number
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.subproblems import Task
from cgboost.estimators.common.targets import Classification, Regression, probabilities
from cgboost.losses.base import Loss, require
from cgboost.losses.registry import (
    CLASSIFICATION,
    REGRESSION,
    ClassificationLoss,
    LossMaker,
    RegressionLoss,
    bound_loss,
    check_loss,
    known_loss,
)
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.learners import LearnerPricer, Working, newton_response


@dataclass(eq=False, repr=False)
class BaseAnyBoost(BaseLearnerBoost):
    """Columns from a weak learner, coefficients by a step rule or all corrected each round."""

    step: Any = field(default="line-search", kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    corrective: bool = field(default=False, kw_only=True)
    start: Literal["constant", "zero"] = field(default="constant", kw_only=True)
    loss: Any = field(default="", kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = ()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_loss(self.loss, self._losses)
        if isinstance(self.step, str):
            check_choice("step", self.step, ("line-search", "newton"))
        else:
            check_number("step", self.step, above=0)
        check_number("learning_rate", self.learning_rate, above=0)
        check_choice("start", self.start, ("constant", "zero"))
        check_bool("corrective", self.corrective)
        if self.step == "newton" and (loss := known_loss(self.loss)) is not None:
            require(loss, ["hessian_diag"], 'step="newton"')

    def _working(self, weights: Vector) -> Working:
        if self.step == "newton" and not is_classifier(self._learner):
            self._require_weights("newton steps")
            return newton_response
        return super()._working(weights)

    def _tasks(self, pool: LearnerPricer, rows: Rows) -> Iterator[Task]:
        for target in self._targets(rows.y):
            loss = bound_loss(self.loss, target, rows.weights)
            if self.corrective:
                offset: Literal["free", "none"] = "free" if self.start == "constant" else "none"
                yield Task(CorrectiveMaster(loss, offset=offset), pool)
            else:
                master = StagewiseMaster(
                    loss, step=self.step, learning_rate=self.learning_rate, start=self.start
                )
                yield Task(master, pool)


@dataclass(eq=False, repr=False)
class AnyBoostClassifier(Classification, BaseAnyBoost):
    """Boosting of any weak learner for any margin loss ([M] Alg. 1).

    Each round fits the learner to the pseudo-response r = −∂loss/∂f (a regressor), or to its signs
    with its sizes as weights (a classifier), and adds it to f with the step that ``step`` says.
    More than two classes are handled one against the rest.

    Parameters
    ----------
    estimator : classifier, regressor or None
        Any of scikit-learn; None stands for ``DecisionTreeRegressor(max_depth=3)``.
    loss : {"log_loss", "exponential", "hinge", "squared_hinge"}, Loss or callable, \
default="log_loss"
        A name, a :class:`~cgboost.losses.Loss` such as ``LogLoss()``, or ``loss(target, weights)``,
        a :class:`~cgboost.losses.base.DifferentiableLoss` of labels ±1. The log-loss is
        Σ w_i log(1 + exp(−2 y_i f_i)), the exponential loss Σ w_i exp(−y_i f_i). The hinge has no
        Newton steps.
    step : {"line-search", "newton"} or float, default="line-search"
        The step that lowers the loss most; one Newton step, the learner (a regressor) then being
        fitted to r/w with the Newton weights w; or a constant: the run then ends with a learner
        for which r·h ≤ 0.
    learning_rate : float, default=1.0
        Multiplies the first two.
    corrective : bool, default=False
        Choose all coefficients anew in every round; ``step`` and ``learning_rate`` then only
        matter for what learners are fitted to.
    start : {"constant", "zero"}, default="constant"
        f before the first round: the best constant (corrected too, if ``corrective``), or 0. It
        stays otherwise: a learner that cannot predict a constant, a linear model without an
        intercept say, then needs ``corrective=True``.
    n_estimators : int, default=100
        Rounds at most; fewer if the learner finds no way down.
    early_stopping : bool, default=False
        As in :class:`CGBoostClassifier`.
    validation_fraction, n_iter_no_change, callbacks, verbose, time_limit
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        For the rows that early stopping holds out, and the seeds of the learners.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of estimator
        The fitted learners, in the order of ``columns_``.
    columns_ : dict of str to ndarray
        estimator (place in ``estimators_``), coefficient, round (and class).
    feature_importances_ : ndarray of shape (n_features,)
        The learners' own, shared out by how much of the loss each took off.
    coef_, intercept_, n_columns_, objective_, history_, best_round_, stop_reason_, \
n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`; ``objective_`` is the training loss.
    n_iter_ : int
        Rounds that are in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import Ridge
    >>> from cgboost import AnyBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AnyBoostClassifier(n_estimators=30).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    loss: ClassificationLoss | Loss | LossMaker = field(default="log_loss", kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = CLASSIFICATION

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities 1/(1 + e^{−2f}), one against the rest: shape (n_rows, n_classes).

        They suit losses that are least at half the log-odds: "log_loss" and "exponential".
        """
        return probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(probabilities, self._staged_outputs(X))


@dataclass(eq=False, repr=False)
class AnyBoostRegressor(Regression, BaseAnyBoost):
    """Boosting of any weak learner for any loss of numbers ([M] Alg. 1).

    Parameters
    ----------
    estimator, step, learning_rate, corrective, start, n_estimators, early_stopping, \
validation_fraction, n_iter_no_change, callbacks, verbose, time_limit, random_state
        As in :class:`AnyBoostClassifier`; early stopping watches the mean absolute error, for
        quantiles and counts the loss.
    loss : {"squared_error", "absolute_error", "quantile", "huber", "epsilon_insensitive", \
"squared_epsilon_insensitive", "poisson"}, Loss or callable, default="squared_error"
        A name, a :class:`~cgboost.losses.Loss` with parameters, ``Quantile(0.9)`` say, or
        ``loss(target, weights)``. Losses that are piecewise linear (absolute, quantile and
        ε-insensitive) have no Newton steps. With ``corrective=True`` they are refitted by a linear
        program, the squared error by least squares, others by Newton's method. With "poisson" f is
        the log of the mean, which is predicted.

    Attributes
    ----------
    estimators_, columns_, coef_, intercept_, n_columns_, objective_, history_, best_round_, \
stop_reason_, n_iter_, feature_importances_, n_features_in_, feature_names_in_
        As in :class:`AnyBoostClassifier` with two classes.
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)

    _losses: ClassVar[tuple[str, ...]] = REGRESSION

    @property
    def _known_loss(self) -> Loss | None:
        return known_loss(self.loss)
