"""The half of an estimator that knows numbers: ε-insensitive loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from cgboost.estimators.base import BaseBoost
from cgboost.estimators.fitted import FittedRun
from cgboost.estimators.parameters import check_choice, check_nu, check_number
from cgboost.estimators.rows import Rows, Vector
from cgboost.losses import SupportVectorLoss, epsilon_insensitive, nu_insensitive
from cgboost.masters.support_vector import Offset
from cgboost.monitoring import Score, mean_absolute_error, mean_squared_error


@dataclass(eq=False, repr=False)
class TubeRegression(RegressorMixin, BaseBoost):
    """ε-insensitive loss, with ε given or learned."""

    epsilon: float = field(default=0.1, kw_only=True)
    C: float = field(default=1.0, kw_only=True)
    nu: float | None = field(default=None, kw_only=True)
    offset: Offset = field(default="free", kw_only=True)

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
        check_number("C", self.C, above=0)
        check_nu(self.nu, optional=True)
        check_choice("offset", self.offset, ("none", "penalized", "free"))

    def _learn(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _encode(self, y: NDArray[Any]) -> Vector:
        return np.asarray(y, dtype=np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]

    def _loss(self, target: Vector, weights: Vector) -> SupportVectorLoss:
        if self.nu is None:
            return epsilon_insensitive(target, self.C * weights, self.epsilon)
        return nu_insensitive(target, self.C * weights, self.nu)

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.epsilon_ = self.epsilon if self.nu is None else runs[0].level

    @property
    def _offset(self) -> Offset:
        return self.offset

    @property
    def _trade_off(self) -> str:
        return f"C={self.C:g}"
