"""AdaBoost: minimise the exponential loss, with one weak classifier per round.

[N] is a set of lecture notes on boosting: AdaBoost as forward stagewise modelling of Σ exp(−y f).
[Z] is Zhu, Zou, Rosset, Hastie, *Multi-class AdaBoost*, Statistics and Its Interface 2, 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from cgboost.arrays import Vector
from cgboost.estimators.boosting.any_boost import BaseLearnerBoost
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import check_bins, check_learning_rate
from cgboost.estimators.common.plan import Plan, RunTask
from cgboost.estimators.common.predictors import Classification
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.history import Round
from cgboost.generation.protocols import Pricer
from cgboost.losses.exponential import Exponential
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.class_learners import (
    ClassLearners,
    ClassStumps,
    VotePricer,
    class_codes,
)
from cgboost.pricing.learners.learners import LearnerPricer
from cgboost.pricing.univariate.stumps import BinnedStumpPricer

NOTHING = 1e-12
"""A classifier leads nowhere if its weighted error is this close to that of guessing."""


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(Classification, BaseLearnerBoost):
    """Boosting of decision stumps, or of any classifier, for the exponential loss ([N] p. 1).

    Each round weights row i by w_i exp(−y_i f(x_i)), fits a classifier h with values ±1 to the
    weighted rows and adds it to f with the best step c = ½ log((1 − err)/err), where err is the
    share of the weights on its errors. The usual α = log((1 − err)/err) is 2c: f is half the
    log-odds, and both sums have the same sign. A classifier worse than guessing has a negative c.
    The run ends with a classifier without errors.

    K > 2 classes also need only one run (SAMME, [Z]): a classifier adds c to the output of the
    class it predicts and −c/(K − 1) to the others, with
    α = log((1 − err)/err) + log(K − 1) = cK/(K − 1)².

    Parameters
    ----------
    estimator : classifier or None
        Any scikit-learn classifier whose ``fit`` accepts ``sample_weight``. It is fitted to the
        labels −1 and 1, or to class indices from 0. None means decision stumps; every round finds
        the stump with the smallest weighted error.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Multiplies every step. Must be below 2; from 2 on, steps no longer lower the loss.
    max_bins : int, default=255
        For stumps: features with more distinct values are divided into this many bins; for other
        features all thresholds are used.
    early_stopping, validation_fraction, n_iter_no_change, class_weight, scoring, callbacks, \
verbose, time_limit, random_state
        As in :class:`AnyBoostClassifier`.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    estimator_weights_ : ndarray of shape (n_iter_,)
        α of every round.
    estimator_errors_ : ndarray of shape (n_iter_,)
        err of every round; above ½ if α is negative.
    estimators_ : list of classifier
        The fitted classifiers, unless they are stumps.
    columns_ : dict of str to ndarray
        Stumps: feature, threshold, coefficient c (α is 2c), round; feature −1 is the constant. With
        more than two classes, also the class, and the values above and below the threshold.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the training loss.
    column_weights_, intercept_, n_columns_, objective_, history_, best_round_, stop_reason_, \
n_iter_, n_features_in_, feature_names_in_
        As in :class:`AnyBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from cgboost import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> AdaBoostClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    n_estimators: int = field(default=50, kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    max_bins: int = field(default=255, kw_only=True)

    _fitted_jointly = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learning_rate(self.learning_rate)
        check_bins(self.max_bins)

    def _check_estimator(self) -> None:
        super()._check_estimator()
        if self.estimator is not None and not is_classifier(self.estimator):
            raise ValueError(f"estimator must be a classifier, got {self.estimator!r}")

    # ------------------------------------------------------------------ the run

    @property
    def _many(self) -> bool:
        return len(self.classes_) > 2

    def _columns(self, rows: TrainingRows) -> Pricer:
        if self._many:
            return self._votes(rows)
        if self.estimator is None:
            return BinnedStumpPricer(
                rows.X, max_bins=self.max_bins, tol=NOTHING, weights=rows.weights
            )
        return LearnerPricer(
            self.estimator, rows.X, tol=NOTHING, random_state=self.random_state, repeats=True
        )

    def _votes(self, rows: TrainingRows) -> VotePricer:
        n_classes = len(self.classes_)
        fit = (
            ClassStumps(rows.X, rows.y, n_classes, max_bins=self.max_bins, weights=rows.weights)
            if self.estimator is None
            else ClassLearners(self.estimator, rows.X, rows.y, random_state=self.random_state)
        )
        return VotePricer(fit, rows.X, rows.y, n_classes, tol=NOTHING)

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        [target] = self._target_kind.of_runs(rows.y)
        labels = target if target.ndim == 1 else np.ones(len(target))  # of margins, all are 1
        loss = Exponential().on(labels, rows.weights)
        yield RunTask(
            StagewiseMaster(loss, learning_rate=self.learning_rate),
            self._columns(rows),
            n_outputs=len(self.classes_) if self._many else 1,
            callbacks=(WeightedError(),),
        )

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        if self.estimator is not None:
            return super()._described(hypotheses)
        if self._many:
            return _table_of_places(hypotheses)
        return {
            "feature": np.array([stump.feature for stump in hypotheses], dtype=np.intp),
            "threshold": np.array([stump.threshold for stump in hypotheses], dtype=float),
        }

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        # learners of several classes stand in each output
        BaseStagewise._keep(self, plan, runs, rows)
        [run] = runs
        n_classes = len(self.classes_)
        self.estimator_weights_ = run.outputs[0].coef * (n_classes / (n_classes - 1) ** 2)
        self.estimator_errors_ = run.history["weighted_error"][1 : run.best_round + 1]
        self.__dict__.pop("estimators_", None)
        if self.estimator is not None:
            self.estimators_ = [hypothesis.estimator for hypothesis in run.outputs[0].active]

    # ------------------------------------------------------------------ probabilities

    def predict_proba(self, X: ArrayLike) -> Vector:
        """Class probabilities, shape (n_rows, n_classes): p_k ∝ exp(f_k/(K − 1)).

        For two classes this is 1/(1 + e^{−2f}).
        """
        return self._probabilities(self._outputs(X))

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(self._probabilities, self._staged_outputs(X))

    @property
    def _log_odds(self) -> float:
        return 2.0 / (len(self.classes_) - 1)


class WeightedError:
    """A callback that records err, the share of the weights |r| misclassified by the newest column.

    A column misclassifies a row if its value and the pseudo-response it was fitted to differ in
    sign.
    """

    def __init__(self) -> None:
        self._response = np.zeros(0)

    def __call__(self, turn: Round) -> None:
        """Write the round's ``weighted_error``; nan where there is no column yet."""
        error = np.nan
        if turn.number > 0:
            wrong = turn.state.columns[-1].values * self._response < 0
            error = float(np.abs(self._response) @ wrong / np.abs(self._response).sum())
        turn.scores["weighted_error"] = error
        self._response = turn.state.pseudo_response


def _table_of_places(places: Sequence[Any]) -> Table:
    """Stumps as what they add to one output: a value above the threshold and one below."""
    stumps = [place.learner for place in places]
    codes = [class_codes(place.n_classes)[:, place.place] for place in places]
    return {
        "feature": np.array([stump.cut.feature for stump in stumps], dtype=np.intp),
        "threshold": np.array([stump.cut.threshold for stump in stumps], dtype=float),
        "above": np.array([c[s.above] for c, s in zip(codes, stumps, strict=True)], dtype=float),
        "below": np.array([c[s.below] for c, s in zip(codes, stumps, strict=True)], dtype=float),
    }
