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

from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.losses.loss import DifferentiableLoss
from cgboost.losses.registry import require_targets
from cgboost.masters.stagewise.stagewise import DescentMaster
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.refits.refits import Refit, Refitted, refit_of
from cgboost.optimizers.solver_options import checked_options

SubgradientRule = Literal["dual", "sign"]


class RefittedMaster(DescentMaster):
    """What masters share that choose all coefficients anew, of one output or of several.

    Parameters
    ----------
    loss : DifferentiableLoss, or what has its methods for several outputs
    has_offset : bool
        Whether there are intercepts, which begin at the best constants.
    signs : bool
        Whether the pseudo-response is that of the output alone, not the one that a refit gives.
    """

    def __init__(self, loss: Any, refit: Refit, *, has_offset: bool, signs: bool = False) -> None:
        self._loss, self._refit, self._signs = loss, refit, signs
        self._n_rows = len(loss.weights)
        self.columns: list[Column] = []
        self._store = ColumnStore(self._n_rows, centred=False)
        self._first = int(has_offset)
        self._coef = np.zeros(0)
        if has_offset:
            self._store.append(np.ones((1, self._n_rows)))
            self._coef = np.array([loss.constant()], dtype=np.float64)
        self._empty = loss.value(np.ones((self._n_rows, self._first)) @ self._coef)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem; of several outputs each has the same, one by one."""
        new = columns[:: self._loss.n_outputs]
        for column in new:
            column.check(self._n_rows)
        if new:
            self._store.append(np.stack([column.values for column in new]).astype(np.float64))
            nothing = np.zeros((len(new), *self._coef.shape[1:]))
            self._coef = np.concatenate([self._coef, nothing])
            self.columns.extend(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Choose the coefficients."""
        loss, first, several = self._loss, self._first, self._coef.ndim > 1
        H = self._store.scaled(np.arange(self._store.count), np.arange(self._n_rows))
        scales = self._store.scales[:, None] if several else self._store.scales
        refitted = Refitted(self._coef)
        if self._store.count:
            refitted = self._refit.refit(H, self._coef * scales, time_limit)
        self._coef, output = refitted.coef / scales, H @ refitted.coef
        response = None if self._signs else refitted.response
        return self._state(
            self._coef[first:].flatten(),
            self._coef[:first].sum(axis=0) if several else float(self._coef[:first].sum()),
            output,
            loss.pseudo_response(output) if response is None else response,
            loss.value(output),
            curvature=None if several else loss.curvature(output),
            bounded=refitted.bounded,
        )


class CorrectiveMaster(RefittedMaster):
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
        refit = refit_of(
            loss,
            newton_steps=newton_steps,
            damping=newton_damping,
            solver=solver,
            solver_options=checked_options(solver, solver_options),
            to_the_letter=to_the_letter and offset == "free",
        )
        super().__init__(loss, refit, has_offset=offset == "free", signs=subgradient == "sign")
