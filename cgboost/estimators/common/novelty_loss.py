"""The half of an estimator that knows only normal rows: one-class loss with ν."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from cgboost.estimators.common.bases import OutlierMixin
from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.parameters import check_nu
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import FLOATS, EvalSet, Matrix, Rows, Vector
from cgboost.generation.callbacks import Score, error_rate
from cgboost.losses import SupportVectorLoss, one_class
from cgboost.masters.support_vector.master import Offset

BORDER = 1e-9
"""Outputs below 0 by no more than this, relative to the level, are on the border."""


@dataclass(eq=False, repr=False)
class NoveltyDetection(OutlierMixin, BaseBoost):
    """One-class loss: the level takes the place of an offset."""

    nu: float = field(default=0.5, kw_only=True)

    _scores: ClassVar[dict[str, Score]] = {"error": error_rate}

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSet | list[EvalSet] | None = None,
    ) -> Self:
        """Learn where the rows of X lie.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,) or None
            A row counts as so many.
        eval_set : (X, y) or None
            Held-out rows with y = 1 for normal ones and −1 for outliers, scored after every round;
            early stopping needs one.

        Returns
        -------
        self
        """
        return super().fit(X, None, sample_weight, eval_set)

    def score_samples(self, X: ArrayLike) -> Vector:
        """Σ α_j h_j(x), large for rows like those of the training set; shape (n_rows,)."""
        return self._outputs(X)[:, 0] + self.offset_

    def decision_function(self, X: ArrayLike) -> Vector:
        """Model output, negative for outliers: ``score_samples(X) − offset_``; shape (n_rows,)."""
        return self._outputs(X)[:, 0]

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """1 for normal rows, those on the border included, −1 for outliers; shape (n_rows,)."""
        return self._signs(self._outputs(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Vector]:
        """Model output after every round up to the best one; the last is that of the model."""
        return (outputs[:, 0] for outputs in self._staged_outputs(X))

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[np.intp]]:
        """1 and −1 after every round up to the best one."""
        return map(self._signs, self._staged_outputs(X))

    def _signs(self, outputs: Vector) -> NDArray[np.intp]:
        return np.where(outputs[:, 0] >= -BORDER * abs(self.offset_), 1, -1)

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        return validate_data(self, X, dtype=FLOATS), None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nu(self.nu)

    def _learn(self, y: NDArray[Any] | None) -> Vector:
        return np.empty(0)

    def _encode(self, y: NDArray[Any]) -> Vector:
        if self.early_stopping and not (np.any(y == 1) and np.any(y == -1)):
            raise ValueError(
                "early_stopping=True needs an eval_set with both normal rows (1) and outliers (−1)"
            )
        unknown = np.setdiff1d(y, [-1, 1])
        if unknown.size:
            raise ValueError(f"the y of eval_set must be 1 or −1 (outliers), got {unknown[0]!r}")
        return y.astype(np.float64)

    def _targets(self, encoded: NDArray[Any]) -> list[Vector]:
        return [encoded]

    def _loss(self, target: Vector, weights: Vector) -> SupportVectorLoss:
        return one_class(weights, self.nu)

    def _hold_out(self, rows: Rows) -> Any:
        raise ValueError(
            "early_stopping=True needs an eval_set with outliers: the training rows have no labels"
        )

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.offset_ = -runs[0].outputs[0].intercept

    @property
    def _offset(self) -> Offset:
        return "none"

    @property
    def _trade_off(self) -> str:
        return f"nu={self.nu:g}"
