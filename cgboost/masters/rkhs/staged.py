"""Restricted master of a run in stages: the columns of a stage replace those of the one before.

The columns of earlier stages keep their places, with the coefficient 0, so that the rounds of a run
can be told apart by their coefficients alone; they have *left*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart


class StagedMaster:
    """Master whose columns may all be replaced at once.

    Parameters
    ----------
    make : callable
        ``make()`` is a master without columns.
    first : SupportVectorMaster, optional
        That of the first stage, where it is another one.

    Attributes
    ----------
    columns : list of Column
        Those that have left come first.
    """

    def __init__(
        self, make: Callable[[], SupportVectorMaster], first: SupportVectorMaster | None = None
    ) -> None:
        self._make = make
        self._stage = make() if first is None else first
        self._left: list[Column] = []
        self.accuracy = 0.0

    @property
    def columns(self) -> list[Column]:
        """All columns, those that have left first."""
        return [*self._left, *self._stage.columns]

    @property
    def loss(self) -> Any:
        """The loss of the stage's master."""
        return self._stage.loss

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer."""
        return self._stage.warm_start

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, before the first :meth:`solve`."""
        self._stage.start_from(start)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem of this stage."""
        self._stage.add(columns)

    def replace(self, columns: Sequence[Column]) -> None:
        """Begin a stage with these columns; those before leave."""
        self._left += self._stage.columns
        self._stage = self._make()
        self._stage.add(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise over the columns of this stage."""
        self._stage.accuracy = self.accuracy
        state = self._stage.solve(time_limit=time_limit)
        left = len(self._left)
        coef = np.concatenate([np.zeros(left), state.coef])
        return replace(state, columns=(*self._left, *state.columns), coef=coef, left=left)

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over all columns, from an exact pass."""
        return self._stage.bound(state, priced)
