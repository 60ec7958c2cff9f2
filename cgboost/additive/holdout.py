"""When additive models have enough stages: the loss on the holdout rows, and too small a gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cgboost.arrays import Mask, Vector
from cgboost.generation.history import Round, StopReason
from cgboost.losses.loss import DifferentiableLoss


def mean_loss(loss: DifferentiableLoss, held: Mask, output: Vector) -> float:
    """Mean loss of the rows held out, on which the loss is; 0 without any.

    Parameters
    ----------
    held : ndarray of bool, shape (n_rows,)
    output : ndarray of shape (n_rows,)
        f of all rows.
    """
    total = float(loss.weights.sum())
    return loss.value(output[held]) / total if total > 0 else 0.0


class HoldoutLoss:
    """A callback that writes the mean loss of the holdout rows into every round.

    Parameters
    ----------
    mean : callable
        That loss, for an output f of all rows.
    """

    def __init__(self, mean: Callable[[Vector], float]) -> None:
        self.mean = mean

    def __call__(self, turn: Round) -> None:
        """Add the score, unless it is there from a run that was interrupted."""
        if "holdout_loss" not in turn.scores:
            turn.scores["holdout_loss"] = self.mean(turn.state.output)


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
        """Whether the last stage has gained almost nothing."""
        if turn.number == 0:
            self._first, self._last = turn.objective, np.inf
        gain, self._last = self._last - turn.objective, turn.objective
        return turn.number > 0 and gain < self.tol * max(self._first, np.finfo(float).tiny)
