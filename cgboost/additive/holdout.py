"""What the stages so far cost on the holdout rows: the score that decides how many to keep."""

from __future__ import annotations

import numpy as np

from cgboost.history import Round, StopReason
from cgboost.losses.differentiable import DifferentiableLoss


class HoldoutLoss:
    """A callback that writes the mean loss of the holdout rows into every round.

    Parameters
    ----------
    loss : DifferentiableLoss
        With weight 0 on all rows that are not held out.
    """

    def __init__(self, loss: DifferentiableLoss) -> None:
        self.loss, self._total = loss, float(loss.weights.sum())

    def __call__(self, turn: Round) -> None:
        """Add the score; 0 where nothing is held out."""
        value = self.loss.value(turn.state.output) / self._total if self._total > 0 else 0.0
        turn.scores["holdout_loss"] = value


class SmallGain:
    """A callback that ends a run when a stage has lowered the training loss by too little.

    Parameters
    ----------
    tol : float
        Smallest decrease, relative to the loss of the constant.
    """

    stop_reason = StopReason.GAP

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._first = self._last = np.inf

    def __call__(self, turn: Round) -> bool:
        """Whether the last stage has gained next to nothing."""
        if turn.number == 0:
            self._first, self._last = turn.objective, np.inf
        gain, self._last = self._last - turn.objective, turn.objective
        return turn.number > 0 and gain < self.tol * max(self._first, np.finfo(float).tiny)
