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
from cgboost.losses import Loss, Poisson, Quantile


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, BaseEnsemble):
    """The output is the prediction."""

    _y_numeric: ClassVar[bool] = True

    @property
    def _known_loss(self) -> Loss | None:
        """The loss; None where it is the squared error or no :class:`Loss`."""
        return None

    def predict(self, X: ArrayLike) -> Vector:
        """The model output f, shape (n_rows,); e^f for the Poisson loss."""
        return self._predicted(self._outputs(X)[:, 0])

    def staged_predict(self, X: ArrayLike) -> Iterator[Vector]:
        """Predictions after every round up to the best one; the last are those of the model."""
        return map(self._predicted, self.staged_decision_function(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output f after every round up to the best one."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def _predicted(self, output: Vector) -> Vector:
        loss = self._known_loss
        return output if loss is None else loss.inverse_link(output)

    @property
    def _scores(self) -> dict[str, Score]:  # type: ignore[override]
        """Errors of predictions; for quantiles and counts the mean loss comes first."""
        scores: dict[str, Score] = {
            "mae": lambda y, f: mean_absolute_error(y, self._predicted(f)),
            "mse": lambda y, f: mean_squared_error(y, self._predicted(f)),
        }
        loss = self._known_loss
        if isinstance(loss, (Quantile, Poisson)):
            return {"loss": lambda y, f: float(np.mean(loss.value(y, f)))} | scores
        return scores

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]
