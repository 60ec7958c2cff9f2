"""Stages of an additive model as columns: greedy, without a certificate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.builder import StageBuilder
from cgboost.additive.stage import Outputs, StageOutput, Stages
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.differentiable import DifferentiableLoss

Vector = NDArray[np.float64]


class StagePricer:
    """Fits an additive model to the pseudo-response of all rows, held out ones included.

    Parameters
    ----------
    builder : StageBuilder
    loss : DifferentiableLoss
        On all rows; the master's has weight 0 on holdout rows.
    """

    def __init__(self, builder: StageBuilder, loss: DifferentiableLoss) -> None:
        self.builder, self.loss = builder, loss
        self.family = Stages()
        self._outputs = Outputs([])

    def price(self, state: MasterState, limit: int) -> Priced:
        """One stage; none where it would be constant. The outputs it may use are the columns."""
        self._follow(state)
        if limit == 0:
            return Priced(columns=())
        count = len(self._outputs)
        response = self.loss.pseudo_response(state.output)
        stage = self.builder.stage(response, self._outputs)
        n_inputs = len(self.builder.groups) + (count if self.builder.feed_forward else 0)
        if not stage.terms:
            return Priced(columns=(), n_evaluated=n_inputs)
        del self.family.stages[count:]
        values = self.builder.values(stage, self._outputs)
        self.family.stages.append(self.builder.bounded(stage, values))
        column = Column(values, ("stage", count), StageOutput(self.family, count))
        return Priced([column], n_evaluated=n_inputs)

    def _follow(self, state: MasterState) -> None:
        """Outputs of the stages that are in the master."""
        new = state.columns[len(self._outputs) :]
        self._outputs.values.extend(np.asarray(column.values, dtype=np.float64) for column in new)
