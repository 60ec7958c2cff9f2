"""Losses of several outputs as a master takes them: rows are the pairs (output, training row)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.side_by_side import SideBySide, slices
from cgboost.losses.loss import WeightedLoss
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss


def side_by_side(loss: Any, n_outputs: int) -> Any:
    """A loss as a master takes it, whose rows are those of several outputs, as many for each."""
    if n_outputs == 1:
        return loss
    sizes = n_outputs * [loss.n_rows // n_outputs]
    if isinstance(loss, SupportVectorLoss):
        return SideBySide.of(loss, sizes)
    return RowwiseOutputs(loss.on_rows, sizes)


class RowwiseOutputs(RowwiseLoss):
    """A smooth loss of several outputs, each with its own offset, one after the other.

    Parameters
    ----------
    loss : WeightedLoss
    sizes : sequence of int
        Rows of each output.
    """

    def __init__(self, loss: WeightedLoss, sizes: Sequence[int]) -> None:
        super().__init__(loss)
        self._slices = slices(sizes)
        self._parts = [
            RowwiseLoss(loss.part(np.arange(rows.start, rows.stop))) for rows in self._slices
        ]

    @property
    def parts(self) -> Sequence[RowwiseLoss]:
        """The losses of the outputs."""
        return self._parts

    def empty(self, *, offset: bool) -> float:
        """The loss at 0; with an offset, of nearly the best constant of each output."""
        return sum(part.empty(offset=offset) for part in self.parts)

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """Inside every row's set, balanced output by output."""
        parts = zip(self.parts, self._slices, strict=True)
        own = [part.feasible(response[rows], balanced=balanced) for part, rows in parts]
        return np.concatenate(own)
