"""The corrective master: all coefficients are chosen anew in every round, without a penalty.

    min loss(Hα + b)

Squared error is a least-squares problem, absolute error a linear program (in its dual form: every
column is a row h·r = 0), the other losses are minimised by Newton's method with an exact line
search. At the optimum every column of the master has r·h = 0: what is left to find is orthogonal to
all that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.columns import Column
from cgboost.exceptions import MasterError
from cgboost.losses.differentiable import DifferentiableLoss, UnboundedStepError
from cgboost.losses.residual import AbsoluteError, SquaredError
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.stagewise import DescentEntry
from cgboost.protocols import MasterState, Priced
from solvers import LimitError, Program, SolverError, Status, solve

Vector = NDArray[np.float64]

NEWTON_STEPS = 50
"""Newton steps at most in one round."""

CONVERGED = 1e-11
"""Size of r·h, relative to the sum of the sizes of its terms, at which Newton's method stops."""

TINY = 1e-300
"""Stands for 0 where it divides."""

RIDGE = 1e-12
"""Added to the diagonal of the Hessian, relative to its largest entry."""


class CorrectiveMaster:
    """Master of totally corrective boosting without a penalty.

    Parameters
    ----------
    loss : DifferentiableLoss
        With one output.
    offset : {"free", "none"}
        Whether there is an intercept, corrected with the coefficients.
    solver : str
        Solver of the linear programs of the absolute error.
    """

    def __init__(
        self,
        loss: DifferentiableLoss,
        *,
        offset: Literal["free", "none"] = "none",
        solver: str = "auto",
    ) -> None:
        if loss.n_outputs != 1:
            raise ValueError("CorrectiveMaster needs a loss with one output")
        if offset not in ("free", "none"):
            raise ValueError(f"offset must be 'free' or 'none', got {offset!r}")
        self.loss, self.solver = loss, solver
        self.columns: list[Column] = []
        self._store = ColumnStore(loss.n_rows, centred=False)
        self._has_offset = offset == "free"
        if self._has_offset:
            self._store.append(np.ones((1, loss.n_rows)))
        self._coef = np.zeros(self._store.count)

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the problem."""
        for column in columns:
            column.check(self.loss.n_rows)
        if columns:
            self._store.append(np.stack([column.values for column in columns]).astype(np.float64))
            self._coef = np.append(self._coef, np.zeros(len(columns)))
            self.columns.extend(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Minimise the loss over all coefficients."""
        multipliers = self._refit(time_limit) if self._store.count else None
        output = self._store.combine(self._coef)
        objective = self.loss.value(output)
        response = self.loss.pseudo_response(output) if multipliers is None else multipliers
        first = int(self._has_offset)
        return MasterState(
            columns=tuple(self.columns),
            coef=self._coef[first:].copy(),
            intercept=float(self._coef[0]) if first else 0.0,
            output=output,
            pseudo_response=response,
            objective=objective,
            slack=np.abs(response),
            entry=DescentEntry(scale=max(1.0, abs(objective))),
            curvature=self.loss.curvature(output),
        )

    def bound(self, state: MasterState, priced: Priced) -> None:
        """None: nothing limits the coefficients of columns that are not there yet."""
        return None

    def _refit(self, time_limit: float | None) -> Vector | None:
        """Set the coefficients; the pseudo-response where the loss has more than one at a kink."""
        everything = np.arange(self._store.count)
        H = self._store.scaled(everything, np.arange(self.loss.n_rows))
        response = None
        if isinstance(self.loss, SquaredError):
            scaled = self._least_squares(H)
        elif isinstance(self.loss, AbsoluteError):
            scaled, response = self._least_deviations(H, time_limit)
        else:
            scaled = self._newton(H, self._coef * self._store.scales)
        self._coef = scaled / self._store.scales
        return response

    def _least_squares(self, H: Vector) -> Vector:
        roots = np.sqrt(self.loss.weights)
        solution = np.linalg.lstsq(H * roots[:, None], self.loss.target * roots, rcond=None)[0]
        return np.asarray(solution, dtype=np.float64)

    def _least_deviations(self, H: Vector, time_limit: float | None) -> tuple[Vector, Vector]:
        """Coefficients as the multipliers of max y·r, |r| ≤ w, Hᵀr = 0, and r."""
        program = Program(
            cost=-self.loss.target,
            matrix=H.T,
            row_lower=np.zeros(H.shape[1]),
            row_upper=np.zeros(H.shape[1]),
            lower=-self.loss.weights,
            upper=self.loss.weights,
        )
        try:
            solution = solve(program, self.solver, time_limit=time_limit)
        except LimitError as error:
            raise MasterError(str(error), timed_out=error.status is Status.TIME_LIMIT) from error
        except SolverError as error:
            raise MasterError(str(error)) from error
        return -solution.row_duals, solution.x

    def _newton(self, H: Vector, coef: Vector) -> Vector:
        for _ in range(NEWTON_STEPS):
            output = H @ coef
            response = self.loss.pseudo_response(output)
            gradient = H.T @ response
            if np.all(np.abs(gradient) <= CONVERGED * (np.abs(H).T @ np.abs(response))):
                break
            hessian = (H * self.loss.curvature(output)[:, None]).T @ H
            hessian += RIDGE * max(float(np.diag(hessian).max()), TINY) * np.eye(len(coef))
            move = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
            try:
                coef = coef + self.loss.line_search(output, H @ move) * move
            except UnboundedStepError:
                return coef + move  # separated: there is no minimum, and this is far enough
        return coef
