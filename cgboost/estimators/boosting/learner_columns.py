"""The half of a stagewise estimator that fits a scikit-learn learner in every round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from cgboost.estimators.common.fit_loop import FittedRun, Table
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.pricing.learners.learners import LearnerPricer, Working, check_learner, residuals


@dataclass(eq=False, repr=False)
class BaseLearnerBoost(BaseStagewise):
    """Columns from a weak learner, by default a small regression tree."""

    estimator: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.estimator is not None:
            check_learner("estimator", self.estimator)

    @property
    def _learner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.tree import DecisionTreeRegressor  # loads much that no other part needs

        return DecisionTreeRegressor(max_depth=3)

    def _pool(self, rows: Rows) -> LearnerPricer:
        return LearnerPricer(
            self._learner,
            rows.X,
            tol=0.0,
            random_state=self.random_state,
            working=self._working(rows.weights),
            repeats=True,
        )

    def _working(self, weights: Vector) -> Working:
        """What a regressor is fitted to: the residuals r/w, with the sample weights w."""
        if not np.all(weights == weights[0]):
            self._require_weights("sample_weight")
        return residuals(weights)

    def _require_weights(self, what: str) -> None:
        if not has_fit_parameter(self._learner, "sample_weight"):
            raise ValueError(
                f"estimator={type(self._learner).__name__} must take sample_weight in its fit "
                f"for {what}"
            )

    def _described(self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        return {"estimator": np.arange(len(hypotheses))}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        learners = [h for run in runs for output in run.outputs for h in output.active]
        self.estimators_ = [learner.estimator for learner in learners]
        self.columns_["estimator"] = np.arange(len(learners))
