"""Estimators that predict: labels from outputs that decide between them, and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.sklearn_bases import ClassifierMixin, RegressorMixin
from cgboost.estimators.common.targets import (
    ClassWeight,
    Labels,
    Link,
    Numbers,
    class_weights,
    log_odds_of,
)
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.losses import LogLoss, Loss
from cgboost.losses.registry import known_loss


@dataclass(eq=False, repr=False)
class Classification(ClassifierMixin, BaseEnsemble):
    """Labels: of two classes the sign of one output decides, of more the largest of one a class.

    More than two classes are one problem with an output for each ("joint"), or each class is a
    problem against the rest ("ovr"): by the parameter ``multi_class``, where there is one.
    """

    class_weight: ClassWeight = field(default=None, kw_only=True)

    _learned: ClassVar[tuple[str, ...]] = (*BaseEnsemble._learned, "_fitted_jointly")
    _fitted_jointly = False
    _has_log_odds: ClassVar[bool] = False
    """Whether the outputs are log-odds, whatever the parameters."""

    @property
    def _target_kind(self) -> Labels:
        if "classes_" not in vars(self):
            check_is_fitted(self, "classes_")  # which makes the tags of an estimator first
        return Labels(self.classes_, self._is_joint, self._has_log_odds)

    @property
    def _log_odds(self) -> float:
        """Log-odds of a class in one unit of its output, for losses that have them."""
        loss = getattr(self, "_known_loss", None) or getattr(self, "loss", LogLoss.name)
        return log_odds_of(loss) or LogLoss.log_odds

    @property
    def _link(self) -> Link | None:
        """How probabilities follow from outputs; None where they are calibrated."""
        return Link(self._log_odds, self._is_joint)

    @property
    def _is_joint(self) -> bool:
        """As it was fitted, whatever the parameter is now."""
        return self._fitted_jointly and len(self.classes_) > 2

    def decision_function(self, X: ArrayLike) -> Vector:
        """Model output f: shape (n_rows,), or (n_rows, n_classes) with more than two classes."""
        return self._target_kind.one_or_all(self._outputs(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the largest output, shape (n_rows,)."""
        return self._target_kind.decided(self._outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output after every round up to the best one, like :meth:`decision_function`.

        The last one is the output of the model. A class that needed fewer rounds than the others
        stays at its last.
        """
        return map(self._target_kind.one_or_all, self._staged_outputs(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Labels after every round up to the best one."""
        return map(self._target_kind.decided, self._staged_outputs(X))

    def _probabilities(self, outputs: Vector) -> Vector:
        """Class probabilities of outputs, shape (n_rows, n_classes)."""
        assert self._link is not None  # what is calibrated has its own
        return self._link.probabilities(outputs)

    def _learn(self, y: NDArray[Any]) -> NDArray[np.intp]:
        try:
            self.classes_, encoded = np.unique(y, return_inverse=True)
            if y.dtype.kind not in SURE_LABELS or 2 * len(self.classes_) > len(y):
                check_classification_targets(y)
        except TypeError as error:
            raise ValueError(f"y must have labels of one kind, got a mixture ({error})") from error
        if len(self.classes_) < 2:
            raise _one_class(self.classes_)
        if hasattr(self, "multi_class"):
            self._fitted_jointly = self.multi_class == "joint"
        return encoded

    def _weighted(self, rows: TrainingRows) -> TrainingRows:
        self.class_weight_ = class_weights(self.class_weight, self.classes_, rows)
        if self.class_weight is not None:
            rows = replace(rows, weights=rows.weights * self.class_weight_[rows.y])
        left = np.unique(rows.y[rows.weights > 0])
        if not len(left):
            raise ValueError("class_weight and sample_weight must not be 0 for every row together")
        if len(left) < 2:
            raise _one_class(self.classes_[left], "; rows of weight 0 do not count")
        return rows

    def _without_class_weights(self, weights: Vector, y: NDArray[Any]) -> Vector:
        if self.class_weight is None:
            return weights
        own = self.class_weight_[y]
        return np.where(own > 0, weights / np.where(own > 0, own, 1.0), 0.0)


SURE_LABELS = "biuU"
"""Kinds of numbers and texts that are labels for scikit-learn, which warns of very many classes."""


def _one_class(classes: NDArray[Any], reason: str = "") -> ValueError:
    return ValueError(
        f"y must have at least two classes, got only one class: {classes.tolist()[0]!r}{reason}"
    )


@dataclass(eq=False, repr=False)
class ProbabilisticClassification(Classification):
    """One whose outputs are always log-odds."""

    _has_log_odds: ClassVar[bool] = True

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities, shape (n_rows, n_classes)."""
        return self._probabilities(self._outputs(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Vector]:
        """Class probabilities after every round up to the best one."""
        return map(self._probabilities, self._staged_outputs(X))


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, BaseEnsemble):
    """The output is the prediction."""

    _y_numeric: ClassVar[bool] = True

    @property
    def _known_loss(self) -> Loss | None:
        """The loss; None where it is no :class:`Loss`, or no parameter."""
        return known_loss(self.loss) if hasattr(self, "loss") else None

    @property
    def _target_kind(self) -> Numbers:
        return Numbers(self._known_loss)

    def predict(self, X: ArrayLike) -> Vector:
        """The model output f, shape (n_rows,); e^f for the Poisson loss."""
        return self._target_kind.predicted(self._outputs(X)[:, 0])

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Predictions after every round up to the best one; the last are those of the model."""
        return map(self._target_kind.predicted, self.staged_decision_function(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output f after every round up to the best one."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)
