"""What estimators share that add one column a round and stop after a number of rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.fit_loop import FittedRun
from cgboost.estimators.common.parameters import check_count
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.exceptions import see, warn_caller
from cgboost.generation.history import StopReason

CUT_SHORT = (
    StopReason.MASTER_FAILED,
    StopReason.PRICER_FAILED,
    StopReason.INVALID_BOUND,
    StopReason.TIME,
    StopReason.INTERRUPTED,
)
"""Reasons to stop that the user should hear of."""


@dataclass(eq=False, repr=False)
class BaseStagewise(BaseEnsemble):
    """Boosting for ``n_estimators`` rounds; stages are the models after 1, 2, … of them."""

    n_estimators: int = field(default=100, kw_only=True)

    _may_choose_rounds: ClassVar[bool] = False
    """Whether ``n_estimators`` may be None."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators, optional=self._may_choose_rounds)

    def _usable(self, rows: Rows) -> Rows:
        """The rows that cost anything; the others would only cost time, or make thresholds."""
        return rows.counting()

    def _limits(self) -> dict[str, Any]:
        # the first round has no column yet
        return {"tol": 0.0, "max_rounds": self.n_estimators + 1}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.n_iter_ = max(run.best_round for run in runs)

    @property
    def feature_importances_(self) -> Vector:
        """Share of the features in the loss that the rounds took off, shape (n_features,).

        A learner's own importances share out the decrease of the loss in its round. Only for
        learners that have importances. All zero where no feature was used.
        """
        check_is_fitted(self)
        shares = np.zeros(self.n_features_in_)
        for run in self._runs:
            gains = np.maximum(-np.diff(run.history["objective"]), 0.0)
            for output in run.outputs:
                places = np.flatnonzero(output.coef)
                for learner, turn in zip(output.active, output.rounds[places], strict=True):
                    shares += gains[turn - 1] * learner.importances(self.n_features_in_)
        return shares / (shares.sum() or 1.0)

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        """Outputs after every round that has columns; without any, those of the constant."""
        check_is_fitted(self)
        stages = super()._staged_outputs(X)
        return islice(stages, 1, None) if self.n_iter_ else stages

    def _warn(self) -> None:
        warn_cut_short(self, self._runs, f"n_estimators={self.n_estimators}")


def warn_cut_short(model: BaseEnsemble, runs: Sequence[FittedRun], aim: str) -> None:
    """Warn of runs that ended before they were meant to."""
    words = [
        f"{model._label(k, len(runs))}{run.stop_reason}: {run.message}"
        for k, run in enumerate(runs)
        if run.stop_reason in CUT_SHORT
    ]
    if words:
        warn_caller(
            f"{type(model).__name__} stopped before {aim}: {'; '.join(words)}"
            f"{see('stopped-early')}",
            ConvergenceWarning,
        )
