"""Regression with a choice of losses: what is predicted, and what early stopping watches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.estimators.common.regression import Regression
from cgboost.estimators.common.rows import Vector
from cgboost.generation.callbacks import Score, mean_absolute_error, mean_squared_error
from cgboost.losses.base import Loss
from cgboost.losses.poisson import Poisson
from cgboost.losses.quantile import Quantile
from cgboost.losses.registry import known_loss


class LossRegression(Regression):
    """The prediction is the output f, or e^f where the loss is that of a logarithm (Poisson)."""

    loss: Any

    @property
    def _known_loss(self) -> Loss | None:
        """The loss; None where it is a callable ``loss(target, weights)``."""
        return known_loss(self.loss)

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
