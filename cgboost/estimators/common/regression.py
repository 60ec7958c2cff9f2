"""The half of an estimator that knows numbers: one output that predicts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.bases import RegressorMixin
from cgboost.estimators.common.rows import Vector
from cgboost.generation.callbacks import Score, mean_absolute_error, mean_squared_error


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, BaseEnsemble):
    """The output is the prediction."""

    _scores: ClassVar[dict[str, Score]] = {"mae": mean_absolute_error, "mse": mean_squared_error}
    _y_numeric: ClassVar[bool] = True

    def predict(self, X: ArrayLike) -> Vector:
        """Model output f, shape (n_rows,)."""
        return self._outputs(X)[:, 0]

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output after every round up to the best one; the last is that of the model."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """The same as :meth:`staged_predict`."""
        return self.staged_predict(X)

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]
