"""The master of a support vector machine: libsvm's answer first, columns where that will not do.

The first stage is the problem over the whole RKHS, of which libsvm finds the optimum; its model is
one function, and no column can improve it. If it is not near enough to the optimum, a second stage
has the columns K(·, x_j) of its support vectors, and takes in others round by round.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.masters.rkhs.staged import StagedMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.optimizers.rkhs.support_vector_machine import KernelSums, SupportVectorMachine
from cgboost.penalties.penalty import Penalty

logger = logging.getLogger(__name__)


class WholeRKHSMaster(SupportVectorMaster):
    """Master of a support vector machine over a whole RKHS, without columns.

    Parameters
    ----------
    loss : SupportVectorLoss
    penalty : RKHS
    kernel : KernelSums
        The sum of the kernels, each divided by its weight.
    tol : float
        The relative gap that is wanted.
    """

    def __init__(self, loss: Any, penalty: Penalty, kernel: KernelSums, tol: float) -> None:
        self._kernel, self._tol = kernel, tol
        super().__init__(loss, penalty)

    def _open_live(self, loss: Any) -> Any:
        return SupportVectorMachine(loss, self.form, self.columns, self._kernel, self._tol)


class MachineMaster(StagedMaster):
    """A support vector machine in two stages.

    Parameters
    ----------
    make : callable
        ``make()`` is an RKHSMaster without columns.
    machine : WholeRKHSMaster
    """

    def __init__(self, make: Callable[[], SupportVectorMaster], machine: WholeRKHSMaster) -> None:
        super().__init__(make, machine)
        self._answered = False

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise: over all functions at first, then over columns."""
        if not self._answered:
            self._answered = True
            try:
                return super().solve(time_limit=time_limit)
            except MasterError as failure:
                logger.info("going on with columns: %s", failure)
        if isinstance(self._stage, WholeRKHSMaster):
            self.replace([])
        return super().solve(time_limit=time_limit)

    def start_from(self, start: WarmStart) -> None:
        """Nothing: no columns are needed to begin with."""

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the second stage."""
        if isinstance(self._stage, WholeRKHSMaster):
            self.replace([])
        super().add(columns)
