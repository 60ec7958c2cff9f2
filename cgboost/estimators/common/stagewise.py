"""Fits of a number of rounds, one column in each: what the classical boosters share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.plan import Plan, Rounds, RunTask, StopRule
from cgboost.estimators.common.training_rows import TrainingRows
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


class BaseStagewise(BaseEnsemble):
    """A number of rounds, ``n_estimators``, with one column of each output in each."""

    n_estimators: Any

    def _stop_rule(self) -> StopRule:
        return StopRule(max_rounds=self.n_estimators + 1)  # the first has no column yet

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        """Fitted attributes; ``n_iter_`` counts the rounds in the model."""
        super()._keep(plan, runs, rows)
        self.n_iter_ = max(run.best_round for run in runs)

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        """Outputs after every round that has columns; without any, those of the constant."""
        check_is_fitted(self)
        stages = super()._staged_outputs(X)
        return islice(stages, 1, None) if self.n_iter_ else stages

    def _warn(self, plan: Plan) -> None:
        warn_cut_short(self, self._runs, f"n_estimators={self.n_estimators}")

    @property
    def feature_importances_(self) -> Vector:
        """Share of the features in the loss that the rounds took off, shape (n_features,).

        A learner's own importances share out the decrease of the loss in its round. Only for
        learners that have importances. All zero where no feature was used.
        """
        check_is_fitted(self)
        return importances_of(self._runs, self.n_features_in_)


class BaseLearnerStages(BaseStagewise):
    """Stages whose columns are fitted learners."""

    def _plan(self, rows: TrainingRows) -> Plan:
        return Rounds(self._target_kind, self._stop_rule(), None, partial(self._tasks, rows))

    @abstractmethod
    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        """Master and pricer of each run."""

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        return {"estimator": np.arange(len(hypotheses))}

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        outputs = [output for run in runs for output in run.outputs]
        self.estimators_ = [h.estimator for output in outputs for h in output.active]
        self.columns_["estimator"] = np.arange(len(self.estimators_))


def importances_of(runs: Sequence[FittedRun], n_features: int) -> Vector:
    """Shares of the features in what the rounds of all runs took off the loss."""
    shares = np.zeros(n_features)
    for run in runs:
        gains = np.maximum(-np.diff(run.history["objective"]), 0.0)
        for output in run.outputs:
            places = np.flatnonzero(output.coef)
            for learner, turn in zip(output.active, output.rounds[places], strict=True):
                shares += gains[turn - 1] * learner.importances(n_features)
    return shares / (shares.sum() or 1.0)


def warn_cut_short(model: BaseEnsemble, runs: Sequence[FittedRun], aim: str) -> None:
    """Warn of runs that ended before they were meant to."""
    words = [
        f"{model._label(k)}{run.stop_reason}: {run.message}"
        for k, run in enumerate(runs)
        if run.stop_reason in CUT_SHORT
    ]
    if words:
        warn_caller(
            f"{type(model).__name__} stopped before {aim}: {'; '.join(words)}"
            f"{see('stopped-early')}",
            ConvergenceWarning,
        )
