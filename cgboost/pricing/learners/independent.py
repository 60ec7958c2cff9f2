"""Only columns that least squares over the columns so far leaves room for.

Once all coefficients are refitted, u = W^½(y − Hα) is orthogonal to every column of the master, but
for rounding: a combination h of them has r·h = u·(W^½h) = 0 up to about ε‖W^½y‖‖W^½h‖. What scores
no more than that is either such a combination or has nothing to add, and a fit to a residual that
is nothing but rounding errors scores no more either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Pricer
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.tolerances import ORTHOGONAL


class IndependentPricer:
    """A pricer without its offers that are orthogonal to the residual but for rounding.

    What is left has a part that is new to the columns in the master, larger than ``ORTHOGONAL``
    relative to the column: |u·W^½h| is at most ‖u‖ times the size of this part, and ‖u‖ ≤ ‖W^½y‖.

    Parameters
    ----------
    pricer : Pricer
    loss : WeightedSquaredError
        That of a master which refits all coefficients, from 0 on or from the best constant.
    """

    def __init__(self, pricer: Pricer, loss: WeightedSquaredError) -> None:
        self.pricer, self.loss = pricer, loss
        self._size = self._norm(loss.target)

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer offers, as far as it is new."""
        priced = self.pricer.price(state, limit)
        new = [column for column in priced.columns if self._is_new(column, state)]
        return priced if len(new) == len(priced.columns) else replace(priced, columns=new)

    def _is_new(self, column: Column, state: MasterState) -> bool:
        score = abs(float(column.values @ state.pseudo_response))
        return score > ORTHOGONAL * self._size * self._norm(column.values)

    def _norm(self, values: NDArray[np.floating]) -> float:
        """‖W^½v‖."""
        return float(np.sqrt(self.loss.weights @ np.square(values, dtype=np.float64)))
