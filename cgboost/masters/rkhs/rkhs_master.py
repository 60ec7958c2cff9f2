"""Masters of a loss and the squared norms of functions: over columns K_p(·, z), or without any.

Primal   min F(Σ_p f_p + b) + ½Σ_p w_p‖f_p‖²       f_p = K_p(·, Z_p)α_p
Dual     max gain(r) − ½Σ_p rᵀP_p r/w_p            P_p: K_p projected on the span of its columns

Inside, columns are orthonormal in the RKHS of their kernel, so that it is the 2-norm's restricted
problem, whatever the loss; outside, coefficients are those of the columns K_p(·, z) themselves.

A support vector machine has two stages. The first is the problem over the whole RKHS, of which
libsvm finds the optimum; its model is one function, and no column can improve it. If it is not near
enough to the optimum, a second stage has the columns K(·, x_j) of its support vectors, and takes in
others round by round.

A master in stages has columns that replace those of the stage before. These keep their places, with
the coefficient 0, so that the rounds of a run can be told apart by their coefficients alone; they
have *left*.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.masters.support_vector.support_vector_master import (
    Offset,
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.reductions.orthonormal_columns import OrthonormalColumns
from cgboost.optimizers.reductions.reduction import Chain
from cgboost.optimizers.rkhs.orthonormal_basis import OrthonormalBasis
from cgboost.optimizers.rkhs.support_vector_machine import (
    KernelSums,
    SupportVectorMachine,
    is_of_machine,
)
from cgboost.penalties.function_norm import NO_SIGN_RULE
from cgboost.penalties.penalty import DualForm, Penalty
from cgboost.penalties.rkhs import RKHS


@dataclass(frozen=True)
class RKHSState(MasterState):
    """The optimum of the restricted problem, and the spans of the columns in it.

    Attributes
    ----------
    bases : mapping of str to OrthonormalBasis
        By kernel. They grow with the columns of the master: what they show is that of the last
        state.
    """

    bases: Mapping[str, OrthonormalBasis] = field(default_factory=dict)


class RKHSMaster(SupportVectorMaster):
    """Restricted master of ½Σ_p w_p‖f_p‖²; parameters as :class:`SupportVectorMaster`.

    Parameters
    ----------
    penalty : RKHS, default=RKHS()
        The weights of the kernels. A column belongs to the kernel of its ``stratum``.
    """

    penalty: RKHS

    def __init__(
        self,
        loss: Any,
        penalty: RKHS | None = None,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        if coef == "nonneg":
            raise ValueError(NO_SIGN_RULE)
        super().__init__(
            loss,
            RKHS() if penalty is None else penalty,
            coef=coef,
            offset=offset,
            solver=solver,
            solver_options=solver_options,
        )
        self._orthonormal = OrthonormalColumns(self.penalty.weight)
        self._to_objective = Chain([self._orthonormal, *self._to_objective.parts])

    @property
    def is_of_machine(self) -> bool:
        """Whether it is the problem of a support vector machine, with no solver named."""
        return self._solver == "auto" and is_of_machine(self._optimizer_loss, self.form)

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        return replace(super().warm_start, live=None)

    def solve(self, *, time_limit: float | None = None) -> RKHSState:
        """Re-optimise; the coefficients are those of the columns as they were added."""
        state = super().solve(time_limit=time_limit)
        known = {each.name: getattr(state, each.name) for each in fields(state)}
        return RKHSState(**known | {"bases": self._orthonormal.bases})


logger = logging.getLogger(__name__)


class WholeRKHSMaster(SupportVectorMaster):
    """Master of a support vector machine over a whole RKHS, without columns.

    Parameters
    ----------
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
    def form(self) -> DualForm:
        """Penalty, signs and offset."""
        return self._stage.form

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


class MachineMaster(StagedMaster):
    """A support vector machine in two stages.

    Parameters
    ----------
    make : callable
        ``make()`` is an RKHSMaster without columns.
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
