"""Probabilities from outputs that are no log-odds, calibrated on rows that were not trained on.

Platt, *Probabilistic Outputs for Support Vector Machines*, 1999; Zadrozny and Elkan, *Transforming
Classifier Scores into Accurate Multiclass Probability Estimates*, KDD 2002. The calibrators are
scikit-learn's.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from cgboost.arrays import Vector
from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.plan import Watch
from cgboost.estimators.common.predictors import Classification
from cgboost.estimators.common.scoring import watched
from cgboost.estimators.common.sklearn_bases import BaseEstimator, ClassifierMixin
from cgboost.estimators.common.targets import Link, log_odds_of
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.exceptions import see, warn_caller
from cgboost.generation.history import StopReason

FOLDS = 5
"""As many as libsvm has; fewer where a class has fewer rows."""

METHODS = ("sigmoid", "isotonic")

CUT_SHORT = frozenset({StopReason.TIME, StopReason.MASTER_FAILED, StopReason.PRICER_FAILED})
"""Reasons for which outputs out of fold may be unlike those of the model."""


class OnlyWithProbabilities:
    """A method of estimators whose outputs have probabilities; otherwise a message says how.

    scikit-learn's ``available_if`` leaves that message to the cause of its error.
    """

    def __init__(self, method: Callable[[Any, Any], Vector]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: Any = None) -> Callable[..., Vector]:
        """The method, bound where there is an estimator."""
        if estimator is None:
            return self._method
        without = estimator._without_odds
        if without is not None and not estimator.probability:
            raise AttributeError(
                f"predict_proba needs probability=True, got {without}, whose outputs "
                "are not log-odds: they are then calibrated on held-out rows (five more fits, or "
                "the rows of early stopping); or use loss='log_loss' or 'exponential'"
                f"{see('probabilities')}"
            )
        bound: Callable[..., Vector] = MethodType(self._method, estimator)
        return bound


@dataclass(eq=False, repr=False)
class CalibratedClassification(Classification, BaseBoost):
    """Labels whose outputs need not be log-odds: ``probability`` says how they are calibrated."""

    if TYPE_CHECKING:
        probability: bool | Literal["sigmoid", "isotonic"]
        loss: Any

    @OnlyWithProbabilities
    def predict_proba(self, X: ArrayLike) -> Vector:
        """Class probabilities, shape (n_rows, n_classes); log loss, exponential or ``probability``.

        With more than two classes, the one-vs-rest probabilities are divided by their sum.
        Calibrated probabilities may contradict ``predict``, which uses the outputs.

        Raises
        ------
        AttributeError
            If the fit was interrupted before it could calibrate.
        """
        return self._probabilities(self._outputs(X))

    @property
    def _without_odds(self) -> str | None:
        """The parameter by which outputs are no log-odds, with its value; None where they are."""
        return f"loss={self.loss!r}" if log_odds_of(self.loss) is None else None

    @property
    def _calibration(self) -> str | None:
        """How probabilities are calibrated; None where there is nothing to calibrate."""
        if self.probability is True or isinstance(self.probability, np.bool_):
            return "sigmoid" if self.probability and self._without_odds is not None else None
        return self.probability or None

    @property
    def _needs_folds(self) -> bool:
        """Whether probabilities take more fits, each without a part of the training rows."""
        return self._calibration is not None and not self.early_stopping

    @property
    def _share_of_time(self) -> float:
        """Each of the fits of a calibration has as much of a time limit as that of the model."""
        return 1.0 / (1 + FOLDS) if self._needs_folds else 1.0

    @property
    def _link(self) -> Link | None:
        return super()._link if self._calibration is None else None

    def _probabilities(self, outputs: Vector) -> Vector:
        """Calibrated, or by the formula of the loss."""
        if self._link is not None:
            return super()._probabilities(outputs)
        if not hasattr(self, "_calibrator"):
            raise AttributeError(
                "this model has no probabilities: they are computed after the last round, and its "
                "fit is not complete, or was interrupted before the calibration"
            )
        shares: Vector = self._calibrator.predict_proba(0.5 * self._log_odds * outputs)
        return shares

    def _check_parameters(self) -> None:
        if not isinstance(self.probability, (bool, np.bool_)) and self.probability not in METHODS:
            raise ValueError(
                "probability must be True, False, 'sigmoid' or 'isotonic', got "
                f"{self.probability!r}"
            )
        super()._check_parameters()
        if self._needs_folds and not self._family.is_pairwise:
            also = "early_stopping=True with an eval_set, on whose rows it then rests"
            self._family.check_hold_out(f"probability={self.probability!r}", also)

    def _calibrate(self, rows: TrainingRows, held: HeldSets | None, started: float) -> None:
        """Fit the calibrator after the runs, and say how in ``calibration_``.

        Parameters
        ----------
        rows : TrainingRows
            Training rows, with the weights of the classes.
        held : sets of rows or None
        started : float
            When the fit began, on the clock of ``time.perf_counter``.

        Raises
        ------
        ValueError
            If a class has one row alone, or the rows that early stopping watches lack a class.
        """
        for name in ("calibration_", "_calibrator"):
            vars(self).pop(name, None)  # of an earlier fit
        interrupted = any(run.stop_reason is StopReason.INTERRUPTED for run in self._runs)
        if self._calibration is None or interrupted:
            return
        if held is not None and self.early_stopping:
            column = watched(self.early_stopping, self._monitored)
            name = self._set_of(column, held)
            own = held[name]
            outputs = _outputs(self._runs, own.X)
            y, weights, source, fits = own.y, own.weights, f"eval_set {name!r}", 0
            if weights is not None:
                source = "held out by early stopping"
                weights = self._without_class_weights(weights, y)
        else:
            rows = rows.counting()
            folds = self._out_of_fold(rows, started)
            if folds is None:
                return
            outputs, fits = folds
            y, source = rows.y, "out of fold"
            weights = self._without_class_weights(rows.weights, y)
        if len(np.unique(y)) < len(self.classes_):
            raise ValueError(
                f"probability={self.probability!r} needs rows of every class to calibrate on; "
                f"those of {source} lack some{see('probabilities')}"
            )
        self._calibrator = _fitted(self._calibration, outputs, y, weights)
        self.calibration_ = {
            "method": self._calibration,
            "rows": source,
            "n_rows": len(y),
            "n_fits": fits,
        }

    def _out_of_fold(self, rows: TrainingRows, started: float) -> tuple[Vector, int] | None:
        """Outputs for every row by a model fitted without its fold, and the number of fits.

        None, with a warning, after Ctrl-C.
        """
        from sklearn.model_selection import StratifiedKFold

        smallest = int(np.bincount(rows.y).min())
        if smallest < 2:
            raise ValueError(
                f"probability={self.probability!r} needs at least 2 rows of every class (of a "
                f"weight above 0) to calibrate on, got {smallest}{see('probabilities')}"
            )
        verbose = max(0, int(self.verbose) - 1)  # a line for each fit, where rounds have one
        seed = 0 if self.random_state is None else self.random_state
        folds = StratifiedKFold(min(FOLDS, smallest), shuffle=True, random_state=seed)
        pairs = list(folds.split(np.zeros(len(rows.y)), rows.y))
        parts, cut_short = [], []
        for number, (train, test) in enumerate(pairs):
            watch, model = Watch(prefix=f"fold {number + 1} of {len(pairs)}", verbose=verbose), self
            if self.time_limit is not None:
                left = started + self.time_limit - time.perf_counter()
                seconds = max(0.0, left) / (len(pairs) - number)
                watch = replace(watch, deadline=time.perf_counter() + seconds)
            part, X = self._fold(rows, train, test)
            model = copy.copy(self)  # what it learns of these rows is not the model's
            try:
                runs = model._solve(model._plan(part), watch)
                reasons = {run.stop_reason for run in runs}
            except KeyboardInterrupt:
                reasons = {StopReason.INTERRUPTED}
            if StopReason.INTERRUPTED in reasons:
                warn_caller(
                    f"{type(self).__name__}: Ctrl-C ended the calibration; the model has no "
                    f"probabilities{see('probabilities')}",
                    ConvergenceWarning,
                )
                return None
            parts.append(_outputs(runs, X))
            cut_short += sorted(reasons & CUT_SHORT)
        if cut_short:
            warn_caller(
                f"{type(self).__name__}: probabilities are calibrated on {len(pairs)} fits, of "
                f"which {len(cut_short)} ended early ({', '.join(dict.fromkeys(cut_short))})"
                f"{see('probabilities')}",
                ConvergenceWarning,
            )
        outputs = np.empty((len(rows.y), parts[0].shape[1]))
        for (_, test), values in zip(pairs, parts, strict=True):
            outputs[test] = values
        return outputs, len(pairs)


def _outputs(runs: Any, X: Any) -> Vector:
    return np.column_stack([output.values(X) for run in runs for output in run.outputs])


class Scores(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are outputs already: what scikit-learn's calibration asks for."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Scores:
        """Nothing is left to fit."""
        self.classes_ = np.arange(self.n_classes)
        return self

    def decision_function(self, X: Vector) -> Vector:
        """The outputs themselves."""
        return X[:, 0] if self.n_classes == 2 else X

    def predict(self, X: Vector) -> NDArray[np.intp]:
        """The class of the largest output."""
        return X.argmax(axis=1) if self.n_classes > 2 else (X[:, 0] > 0).astype(np.intp)


def _fitted(method: str, outputs: Vector, y: NDArray[Any], weights: Vector | None) -> Any:
    """scikit-learn's calibrator on given outputs."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import PredefinedSplit

    everything = PredefinedSplit(np.zeros(len(y), dtype=int))  # nothing is left to hold out
    scores = Scores(int(y.max()) + 1)
    calibrator = CalibratedClassifierCV(scores, method=method, cv=everything, ensemble=False)
    with config_context(enable_metadata_routing=False):  # weights are for the calibration alone
        return calibrator.fit(outputs, y, sample_weight=weights)
