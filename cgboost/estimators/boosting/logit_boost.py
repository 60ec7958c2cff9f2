"""LogitBoost: additive logistic regression by Newton steps.

Friedman, Hastie, Tibshirani, *Additive Logistic Regression: a Statistical View of Boosting*, Annals
of Statistics 28, 2000, Algorithm 3 for two classes, Algorithm 6 for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import has_fit_parameter

from cgboost.arrays import Vector
from cgboost.estimators.boosting.any_boost import BaseLearnerBoost
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import check_choice, check_learning_rate
from cgboost.estimators.common.plan import Plan, RunTask
from cgboost.estimators.common.predictors import ProbabilisticClassification
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.estimators.common.targets import centred_outputs
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.protocols import MasterState, Pricer
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import WeightedLoss
from cgboost.losses.multinomial import Multinomial
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.joint_pricer import ClassByClassPricer
from cgboost.pricing.learners.learners import LearnerPricer, newton_response
from cgboost.pricing.univariate.lines import LinePool, LinePricer

LINEAR = "linear"

LARGEST_RESPONSE = 4.0
"""Largest working response |z| that learners are fitted to: where a row of the right class has a
probability near 0, 1/p makes one leaf's step too long. Friedman, Hastie, Tibshirani have 2 to 4."""

MakePricer = Callable[[WeightedLoss], Pricer]


@dataclass(eq=False, repr=False)
class LogitBoostClassifier(ProbabilisticClassification, BaseLearnerBoost):
    """LogitBoost, by default over straight lines in one feature.

    f is half the log-odds, p = 1/(1 + e^{−2f}). Each round fits the weak learner by least squares
    to the working response z = (y* − p)/(p(1 − p)), y* = (y + 1)/2, with the weights
    w = p(1 − p), and adds half of it to f: a Newton step on Σ log(1 + e^{−2yf}). With lines, one
    is fitted to each feature and the one with the lowest loss is added; the sum of all rounds is a
    linear model. Other learners are fitted to z cut off at ±4, since 1/p is unbounded.

    K > 2 classes have one score each, with p_k = e^{f_k} / Σ_l e^{f_l} and Σ_k f_k = 0, and the
    loss is the multinomial deviance. Each round fits a learner g_k for every class, all from the
    same f, to z_k = ([y = k] − p_k)/(p_k(1 − p_k)) with the weights p_k(1 − p_k), and then sets

        f_k ← f_k + (K − 1)/K · (g_k − Σ_l g_l / K).

    For K = 2 this is the two-class step with f_2 = −f_1 = f.

    Parameters
    ----------
    estimator : "linear" or regressor, default="linear"
        Lines in one feature, or any regressor whose ``fit`` accepts ``sample_weight``.
    n_estimators : int, default=100
        Number of rounds; fewer if no learner lowers the loss any more.
    learning_rate : float, default=1.0
        Multiplies every step. Must be below 2; from 2 on, steps no longer lower the loss.
    multi_class : {"joint", "ovr"}, default="joint"
        "joint" fits more than two classes together, as above. "ovr" fits a two-class model for each
        class against the rest and divides the probabilities by their sum.
    early_stopping : bool, default=False
        Stop when the log-loss of held-out rows has not improved for ``n_iter_no_change`` rounds.
    validation_fraction, n_iter_no_change, class_weight, scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        Determines the rows that early stopping holds out, and the seeds of the learners.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_features,), or (n_classes, n_features) with more than two classes
        For lines, the linear model f(x) = coef_·x + intercept_. Other learners have none.
    column_weights_ : ndarray of shape (n_columns,)
        Coefficients in the order of ``columns_``; the scores of K classes are there not yet
        shifted to the sum 0.
    intercept_ : float, or ndarray of shape (n_classes,) with more than two classes
    columns_ : dict of str to ndarray
        feature, offset and slope of every line, or estimator (its index in ``estimators_``);
        coefficient, round (and class).
    estimators_ : list of estimator
        The fitted learners; not for lines.
    n_columns_, objective_, history_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`; ``objective_`` is the training loss.
    n_iter_ : int
        Number of rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import LogitBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogitBoostClassifier().fit(X[::2], y[::2])
    >>> model.coef_.shape, model.score(X[1::2], y[1::2]) > 0.9
    ((30,), True)
    """

    estimator: Any = LINEAR
    n_estimators: int = field(default=100, kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    multi_class: Literal["joint", "ovr"] = field(default="joint", kw_only=True)

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.estimator, str) and self.estimator == LINEAR

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learning_rate(self.learning_rate)
        check_choice("multi_class", self.multi_class, ("joint", "ovr"))

    def _check_estimator(self) -> None:
        if not self._is_linear and not _takes_weights(self.estimator):
            raise ValueError(
                f"estimator must be {LINEAR!r} or a regressor whose fit takes sample_weight, got "
                f"{self.estimator!r}"
            )

    def _pricers(self, rows: TrainingRows) -> MakePricer:
        """Pricers of all classes: lines share what they know of the features, learners a seed."""
        if self._is_linear:
            pool = LinePool(rows.X)
            return lambda loss: LinePricer(pool, loss)
        learners = LearnerPricer(
            self.estimator,
            rows.X,
            tol=0.0,
            random_state=self.random_state,
            working=_working_response,
            repeats=True,
        )
        return lambda loss: learners

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        pool = self._pricers(rows)
        losses = [LogLoss().on(target, rows.weights) for target in self._target_kind.signs(rows.y)]
        pricers, rate = [pool(loss) for loss in losses], float(self.learning_rate)
        if not self._is_joint:
            for loss, pricer in zip(losses, pricers, strict=True):
                yield RunTask(StagewiseMaster(loss, step=rate, keep="lowest"), pricer)
            return
        count = len(self.classes_)
        master = StagewiseMaster(
            Multinomial(count).on(rows.y, rows.weights),
            step=2.0 * rate * (count - 1) / count,  # columns are half of what is added to f_k
            keep="lowest",
        )
        pricer = ClassByClassPricer(pricers, losses)
        yield RunTask(master, pricer, n_outputs=count, columns_per_round=count)

    def _outputs(self, X: Any) -> Vector:
        outputs = super()._outputs(X)
        return centred_outputs(outputs) if self._is_joint else outputs

    def _staged_outputs(self, X: Any) -> Iterator[Vector]:
        stages = super()._staged_outputs(X)
        return map(centred_outputs, stages) if self._is_joint else stages

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        if not self._is_linear:
            return super()._described(hypotheses)
        return {
            "feature": np.array([line.feature for line in hypotheses], dtype=np.intp),
            "offset": np.array([line.offset for line in hypotheses], dtype=float),
            "slope": np.array([line.slope for line in hypotheses], dtype=float),
        }

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        self.__dict__.pop("estimators_", None)
        if self._is_linear:
            BaseStagewise._keep(self, plan, runs, rows)
            self._collapse(self.columns_)
        else:
            super()._keep(plan, runs, rows)

    def _collapse(self, lines: Table) -> None:
        """Add all lines up to one linear model, or one for each class."""
        labels = self._target_kind.names
        parts = [slice(None)] if labels is None else [lines["class"] == k for k in labels]
        steps, slopes = lines["coefficient"], lines["coefficient"] * lines["slope"]
        coefs = [
            np.bincount(lines["feature"][part], slopes[part], minlength=self.n_features_in_)
            for part in parts
        ]
        intercepts = np.array([steps[part] @ lines["offset"][part] for part in parts])
        if labels is None:
            self.coef_, self.intercept_ = coefs[0], float(intercepts[0])
            return
        self.coef_, self.intercept_ = np.stack(coefs), intercepts
        if self._is_joint:
            self.coef_ = self.coef_ - self.coef_.mean(axis=0)
            self.intercept_ = intercepts - intercepts.mean()


def _working_response(state: MasterState) -> tuple[Vector, Vector | None]:
    """½z, of which |z| is limited, with the Newton weights."""
    response, weights = newton_response(state)
    return np.clip(response, -0.5 * LARGEST_RESPONSE, 0.5 * LARGEST_RESPONSE), weights


def _takes_weights(estimator: Any) -> bool:
    """Whether it is a regressor that weighs rows."""
    known = isinstance(estimator, BaseEstimator) and is_regressor(estimator)
    return known and has_fit_parameter(estimator, "sample_weight")
