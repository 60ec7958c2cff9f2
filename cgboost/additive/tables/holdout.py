"""What the stages so far cost on the holdout rows: the score that decides how many to keep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.history import Round, StopReason
from cgboost.losses.differentiable import DifferentiableLoss


class HoldoutLoss:
    """A callback that writes the mean loss of the holdout rows into every round.

    Parameters
    ----------
    loss : DifferentiableLoss
        On the holdout rows alone.
    held : ndarray of bool, shape (n_rows,)
        Which these are.
    """

    def __init__(self, loss: DifferentiableLoss, held: NDArray[np.bool_]) -> None:
        self.loss, self.held, self._total = loss, held, float(loss.weights.sum())

    def __call__(self, turn: Round) -> None:
        """Add the score; 0 where nothing is held out."""
        there = self._total > 0
        total = self.loss.value(turn.state.output[self.held]) if there else 0.0
        turn.scores["holdout_loss"] = total / self._total if there else 0.0


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
