"""Restricted master of the group norm over whole kernels.

Primal   min Σ_p w_p‖f_p‖ + F(Σ_p f_p + b)             f_p in the space H_p of the kernel K_p
Dual     max gain(r)   with  √(rᵀK_p r) ≤ w_p  for the kernels in the master,  r feasible for F

With η_p ≥ 0 the multiplier of ½rᵀK_p r ≤ ½w_p² the optimum is f_p = η_p K_p r: the support vector
machine of the kernel Σ η_p K_p. In the loop, the column of a kernel is the function of its unit
ball with the best score, and changes with r: every answer brings new ones.

Several outputs, as the classes of a one-vs-rest model, may share the kernels and their weights η:

Primal   min Σ_p w_p √(Σ_c ‖f_pc‖²) + Σ_c F_c(Σ_p f_pc + b_c)
Dual     max Σ_c gain_c(r_c)   with  √(Σ_c r_cᵀK_p r_c) ≤ w_p

whose optimum is f_pc = η_p K_p r_c: one kernel Σ η_p K_p for all machines (Rakotomamonjy, Bach,
Canu, Grandvalet, *SimpleMKL*, JMLR 9, 2008, section 4; Zien, Ong, *Multiclass multiple kernel
learning*, ICML 2007, with a joint loss).

(Bach, Lanckriet, Jordan, ICML 2004; Sonnenburg, Rätsch, Schäfer, Schölkopf, JMLR 7, 2006.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import hypot
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.spaces import SpaceColumn, SpaceState
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.side_by_side import SideBySide, slices
from cgboost.losses.loss import WeightedLoss
from cgboost.masters.support_vector.support_vector_master import (
    Offset,
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.rkhs.group_norm_problems import (
    WholeKernelDual,
    WholeKernelNewton,
    WholeKernelProblem,
)
from cgboost.penalties import GroupNorm
from cgboost.penalties.function_norm import NO_SIGN_RULE


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


class WholeKernelMaster(SupportVectorMaster):
    """Restricted master of a loss and a group norm, over whole kernels.

    Parameters
    ----------
    loss : SupportVectorLoss, or a smooth loss on its rows
        As for :class:`SupportVectorMaster`. With several outputs its rows are the pairs (output,
        training row), the first output first.
    coef : {"free"}
    offset : {"none", "penalized", "free"}
    solver : {"auto"}
    n_outputs : int, default=1
        Each has its own offset.

    Raises
    ------
    ValueError
        For another solver, coefficients that must be at least 0, or several outputs of a loss that
        chooses its own level.
    """

    _live: WholeKernelProblem

    def __init__(
        self,
        loss: Any,
        penalty: GroupNorm,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        n_outputs: int = 1,
    ) -> None:
        if coef != "free":
            raise ValueError(NO_SIGN_RULE)
        if solver != "auto":
            raise ValueError(
                f"solver={solver!r} solves linear or quadratic programs, but the group norm makes "
                'a cone program, which has its own solver: leave solver="auto"'
            )
        loss = loss.box if "dual_box" in getattr(loss, "abilities", ()) else loss
        self._n_outputs = n_outputs
        super().__init__(
            loss, penalty, coef=coef, offset=offset, solver=solver, solver_options=solver_options
        )

    def _as_master_loss(self, loss: Any, *, sparse: bool) -> Any:
        return side_by_side(super()._as_master_loss(loss, sparse=sparse), self._n_outputs)

    def _total(self, response: Vector) -> float:
        return hypot(*response.reshape(self._n_outputs, -1).sum(axis=1))

    def _open_live(self, loss: Any) -> Any:
        if isinstance(loss, SupportVectorLoss):
            return WholeKernelDual(loss, self.form, self.columns)
        return WholeKernelNewton(loss, self.form, self.columns)

    def add(self, columns: Sequence[Column]) -> None:
        """Take whole kernels into the restricted problem."""
        kernels = [column for column in columns if isinstance(column, SpaceColumn)]
        if len(kernels) < len(columns):
            raise TypeError("a master of the group norm takes whole kernels (SpaceColumn)")
        if kernels:
            self._live.add(kernels)
            self.columns.extend(kernels)

    def start_from(self, start: WarmStart) -> None:
        """Take in the kernels of a similar problem, before the first :meth:`solve`."""
        self.add(start.columns)

    @property
    def warm_start(self) -> WarmStart:
        """The kernels in use in the last answer, for a similar problem."""
        active = self._live.active
        if self._best is None or not active:
            return WarmStart()
        return WarmStart([space.whole(self._best.response) for space in active])

    def solve(self, *, time_limit: float | None = None) -> SpaceState:
        """Re-optimise the restricted problem; see :meth:`SupportVectorMaster.solve`."""
        state = super().solve(time_limit=time_limit)
        known = {each.name: getattr(state, each.name) for each in fields(state)}
        held = frozenset(space.name for space in self._live.spaces)
        return SpaceState(**known | {"left": len(self.columns) - len(held), "held": held})
