"""LogitBoost: additive logistic regression by Newton steps.

Friedman, Hastie, Tibshirani, *Additive Logistic Regression: a Statistical View of Boosting*, Annals
of Statistics 28, 2000, Algorithm 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import has_fit_parameter

from cgboost.estimators.boosting.any_boost import BaseLearnerBoost
from cgboost.estimators.common import stagewise
from cgboost.estimators.common.fit_loop import FittedRun, Table
from cgboost.estimators.common.parameters import check_learning_rate
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.subproblems import Task
from cgboost.estimators.common.targets import (
    Classification,
    ClassWeight,
    mean_log_loss,
    probabilities,
)
from cgboost.generation.callbacks import Score, error_rate
from cgboost.generation.protocols import Pricer
from cgboost.losses.base import WeightedLoss
from cgboost.losses.log_loss import LogLoss
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features.lines import LinePool, LinePricer
from cgboost.pricing.learners.learners import LearnerPricer, newton_response

LINEAR = "linear"

MakePricer = Callable[[WeightedLoss], Pricer]


@dataclass(eq=False, repr=False)
class LogitBoostClassifier(Classification, BaseLearnerBoost):
    """LogitBoost, by default over straight lines in one feature.

    f is half the log-odds, p = 1/(1 + e^{−2f}). Each round fits the weak learner by least squares
    to the working response z = (y* − p)/(p(1 − p)), y* = (y + 1)/2, with the weights
    w = p(1 − p), and adds half of it to f: a Newton step on Σ log(1 + e^{−2yf}). Of the lines, one
    a feature, the one with the lowest loss comes, so that all rounds add up to one linear model.
    More than two classes are handled one against the rest.

    Parameters
    ----------
    estimator : "linear" or regressor, default="linear"
        Lines in one feature, or any regressor whose fit takes ``sample_weight``.
    n_estimators : int, default=300
        Rounds; fewer if all probabilities have become 0 and 1.
    learning_rate : float, default=1.0
        Multiplies every step; below 2, where steps no longer lower the loss.
    early_stopping : bool, default=False
        Stop when the log-loss of held-out rows has not improved for ``n_iter_no_change`` rounds.
    validation_fraction, n_iter_no_change, class_weight, scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        For the rows that early stopping holds out, and the seeds of the learners.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_features,), or (n_classes, n_features) with more than two classes
        Of lines: the linear model, f(x) = coef_·x + intercept_. Of other learners: their
        coefficients, as in ``columns_``.
    intercept_ : float, or ndarray of shape (n_classes,) with more than two classes
    columns_ : dict of str to ndarray
        feature, offset and slope of every line, or estimator (its place in ``estimators_``);
        coefficient, round (and class).
    estimators_ : list of estimator
        The fitted learners; not for lines.
    n_columns_, objective_, history_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`; ``objective_`` is the training loss.
    n_iter_ : int
        Rounds that are in the model.

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
    n_estimators: int = field(default=300, kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    class_weight: ClassWeight = field(default=None, kw_only=True)

    _scores: ClassVar[dict[str, Score]] = {"log_loss": mean_log_loss, "error": error_rate}

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities 1/(1 + e^{−2f}), one against the rest: shape (n_rows, n_classes)."""
        return probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(probabilities, self._staged_outputs(X))

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.estimator, str) and self.estimator == LINEAR

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learning_rate(self.learning_rate)

    def _check_estimator(self) -> None:
        if not self._is_linear and not _takes_weights(self.estimator):
            raise ValueError(
                f"estimator must be {LINEAR!r} or a regressor whose fit takes sample_weight, got "
                f"{self.estimator!r}"
            )

    def _pool(self, rows: Rows) -> MakePricer:
        """Pricers of all classes: lines share what they know of the features, learners a seed."""
        if self._is_linear:
            pool = LinePool(rows.X)
            return lambda loss: LinePricer(pool, loss)
        learners = LearnerPricer(
            self.estimator,
            rows.X,
            tol=0.0,
            random_state=self.random_state,
            working=newton_response,
            repeats=True,
        )
        return lambda loss: learners

    def _tasks(self, pool: MakePricer, rows: Rows) -> Iterator[Task]:
        for target in self._targets(rows.y):
            loss = LogLoss().on(target, rows.weights)
            yield Task(StagewiseMaster(loss, step=float(self.learning_rate)), pool(loss))

    def _described(self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        if not self._is_linear:
            return super()._described(hypotheses, strata, rows)
        return {
            "feature": np.array([line.feature for line in hypotheses], dtype=np.intp),
            "offset": np.array([line.offset for line in hypotheses], dtype=float),
            "slope": np.array([line.slope for line in hypotheses], dtype=float),
        }

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        self.__dict__.pop("estimators_", None)
        if self._is_linear:
            stagewise.keep(self, runs, rows)
            self._collapse(self.columns_)
        else:
            super()._keep(runs, rows)

    def _collapse(self, lines: Table) -> None:
        """Add all lines up to one linear model, or one for each class."""
        labels = self._output_labels
        parts = [slice(None)] if labels is None else [lines["class"] == k for k in labels]
        steps, slopes = lines["coefficient"], lines["coefficient"] * lines["slope"]
        coefs = [
            np.bincount(lines["feature"][part], slopes[part], minlength=self.n_features_in_)
            for part in parts
        ]
        intercepts = np.array([steps[part] @ lines["offset"][part] for part in parts])
        self.coef_ = coefs[0] if labels is None else np.stack(coefs)
        self.intercept_ = float(intercepts[0]) if labels is None else intercepts


def _takes_weights(estimator: Any) -> bool:
    """Whether it is a regressor that weighs rows."""
    known = isinstance(estimator, BaseEstimator) and is_regressor(estimator)
    return known and has_fit_parameter(estimator, "sample_weight")
