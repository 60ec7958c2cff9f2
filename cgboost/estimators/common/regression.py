"""The half of an estimator that knows numbers: one output that predicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.bases import RegressorMixin
from cgboost.estimators.common.rows import Matrix, Vector
from cgboost.generation.callbacks import (
    Score,
    ValidationMonitor,
    mean_absolute_error,
    mean_squared_error,
)


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, BaseEnsemble):
    """The output is the prediction."""

    _scores: ClassVar[dict[str, Score]] = {"mae": mean_absolute_error, "mse": mean_squared_error}
    _y_numeric: ClassVar[bool] = True

    @property
    def _inverse_link(self) -> Callable[[Vector], Vector]:
        """From outputs to predictions."""
        return np.asarray

    def predict(self, X: ArrayLike) -> Vector:
        """Model output f, or e^f where f is a logarithm (Poisson); shape (n_rows,)."""
        return self._inverse_link(self._outputs(X)[:, 0])

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Prediction after every round up to the best one; the last is that of the model."""
        link = self._inverse_link
        return (link(outputs[:, 0]) for outputs in self._staged_outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """The same as :meth:`staged_predict`."""
        return self.staged_predict(X)

    def _monitor(self, monitored: tuple[Matrix, Vector]) -> ValidationMonitor:
        return ValidationMonitor(*monitored, self._scores, inverse_link=self._inverse_link)

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]
