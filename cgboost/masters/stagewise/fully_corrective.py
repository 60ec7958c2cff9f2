"""The corrective master: all coefficients are chosen anew in every round, without a penalty.

    min loss(Hα + b)

At the optimum every column of the master has r·h = 0: what is left to find is orthogonal to all
that was found. How coefficients are chosen is the matter of
:mod:`cgboost.optimizers.refits.refits`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.losses.loss import DifferentiableLoss
from cgboost.losses.registry import require_targets
from cgboost.masters.stagewise.stagewise import DescentMaster
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.refits.refits import refit_of
from cgboost.optimizers.solver_options import checked_options

SubgradientRule = Literal["dual", "sign"]


class CorrectiveMaster(DescentMaster):
    """Master of totally corrective boosting without a penalty.

    Parameters
    ----------
    loss : DifferentiableLoss
        With one output: ``loss.on(y, weights)``, or your own.
    offset : {"free", "none"}
        Whether there is an intercept, corrected with the coefficients. It starts at the best
        constant.
    newton_steps : int or None, default=None
        Steps of Newton's method in every round, for losses that need it; None: until they converge.
    newton_damping : float, default=0.0
        λ ≥ 0 and < 1 in (1 − λ)H + λ trace(H)/n I, the matrix of these steps (Momma, Bennett 2006,
        eq. 42), with columns in units of their largest entries.
    subgradient : {"dual", "sign"}, default="dual"
        The pseudo-response of a loss that is piecewise linear: the one with r·h = 0 for every
        column, which the linear program gives; or the one that the loss has at the output alone.
    solver : str
        Solver of the linear programs.
    solver_options : mapping of str to object, optional
        Options of the solver that is named, by its own names.
    to_the_letter : bool, default=False
        Whether eq. 42 has a constant of entries 1, as it is printed. With an intercept.
    """

    def __init__(
        self,
        loss: DifferentiableLoss,
        *,
        offset: Literal["free", "none"] = "none",
        newton_steps: int | None = None,
        newton_damping: float = 0.0,
        subgradient: SubgradientRule = "dual",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        to_the_letter: bool = False,
    ) -> None:
        require_targets(loss)
        if loss.n_outputs != 1:
            raise ValueError("CorrectiveMaster needs a loss with one output")
        if offset not in ("free", "none"):
            raise ValueError(f"offset must be 'free' or 'none', got {offset!r}")
        if subgradient not in ("dual", "sign"):
            raise ValueError(f"subgradient must be 'dual' or 'sign', got {subgradient!r}")
        self.loss, self.subgradient = loss, subgradient
        self.columns: list[Column] = []
        self._refit = refit_of(
            loss,
            newton_steps=newton_steps,
            damping=newton_damping,
            solver=solver,
            solver_options=checked_options(solver, solver_options),
            to_the_letter=to_the_letter and offset == "free",
        )
        self._store = ColumnStore(loss.n_rows, centred=False)
        self._has_offset = offset == "free"
        self._coef = np.zeros(0)
        self._bounded = True
        if self._has_offset:
            self._store.append(np.ones((1, loss.n_rows)))
            self._coef = np.array([loss.constant()])
        self._empty = loss.value(self._store.combine(self._coef))

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem."""
        for column in columns:
            column.check(self.loss.n_rows)
        if columns:
            self._store.append(np.stack([column.values for column in columns]).astype(np.float64))
            self._coef = np.append(self._coef, np.zeros(len(columns)))
            self.columns.extend(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Choose the coefficients."""
        response = self._corrected(time_limit) if self._store.count else None
        output = self._store.combine(self._coef)
        if response is None or self.subgradient == "sign":
            response = self.loss.pseudo_response(output)
        first = int(self._has_offset)
        return self._state(
            self._coef[first:].copy(),
            float(self._coef[0]) if first else 0.0,
            output,
            response,
            self.loss.value(output),
            curvature=self.loss.curvature(output),
            bounded=self._bounded,
        )

    def _corrected(self, time_limit: float | None) -> Vector | None:
        """Set the coefficients; the pseudo-response where the loss has more than one at a kink."""
        everything = np.arange(self._store.count)
        H = self._store.scaled(everything, np.arange(self.loss.n_rows))
        refitted = self._refit.refit(H, self._coef * self._store.scales, time_limit)
        self._coef, self._bounded = refitted.coef / self._store.scales, refitted.bounded
        return refitted.response
