"""The half of an estimator that knows numbers: ε-insensitive loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from cgboost.estimators.base import BaseBoost
from cgboost.estimators.parameters import check_number
from cgboost.estimators.rows import Vector
from cgboost.losses import SupportVectorLoss, epsilon_insensitive
from cgboost.monitoring import Score, mean_absolute_error, mean_squared_error


class TubeRegression(RegressorMixin, BaseBoost):
    """ε-insensitive loss; the class that it is part of has the parameter ``epsilon``."""

    epsilon: float

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("epsilon", self.epsilon, at_least=0)

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]

    def _loss(self, target: Vector, price: Vector) -> SupportVectorLoss:
        return epsilon_insensitive(target, price, self.epsilon)
