"""Session of several outputs, tied by the multipliers of their crossings, with a solver behind it.

It takes over where the interior point method can go no further, and serves solvers that are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cgboost._solvers import Solution
from cgboost.arrays import Indices, Vector
from cgboost.losses.dual.noncrossing import NoncrossingLoss, NoncrossingVariables
from cgboost.optimizers.quantiles.joint_columns import JointColumns
from cgboost.optimizers.quantiles.joint_session import FIRST_OFFSET, JointSolution
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.penalties.penalty import DualForm


class JointSimplexSession(DualSession):
    """A :class:`DualSession` whose columns add to one output each, and whose multipliers to two.

    Parameters
    ----------
    loss : NoncrossingLoss
    columns : JointColumns
    form : DualForm
        Of the 1-norm, with free offsets.
    solver : str
    options : mapping of str to object, optional
        The solver's own.
    """

    variables: NoncrossingVariables
    columns: JointColumns  # type: ignore[assignment]

    def __init__(
        self,
        loss: NoncrossingLoss,
        columns: JointColumns,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(loss, columns, form, solver, options)  # type: ignore[arg-type]

    @property
    def _offsets(self) -> Indices:
        return FIRST_OFFSET - np.arange(self.columns.n_outputs)

    def answer(self, solution: Solution) -> JointSolution:  # type: ignore[override]
        """What a solution of the session's problem says of all variables, columns and offsets."""
        u, coef, _, _ = super().answer(solution)
        offsets = self.constraints < 0
        intercept = np.zeros(self.columns.n_outputs)
        intercept[FIRST_OFFSET - self.constraints[offsets]] = (
            -solution.row_duals[offsets] * self._cost_unit
        )
        return JointSolution(u, coef, intercept)

    def _coefficients(self, rows: Indices, signs: Vector, contents: Indices) -> Vector:
        variables, n_rows = self.variables, self.columns.n_rows
        factor = self._direction(contents) * variables.sign[contents]
        place = variables.row[contents]
        crosses = contents >= variables.n_boxes
        matrix = self._values(rows, place) * factor
        matrix[:, crosses] -= self._values(rows, place[crosses] + n_rows) * factor[crosses]
        return matrix * signs[:, None]

    def _values(self, rows: Indices, pairs: Indices) -> Vector:
        """Scaled columns, and ones of offsets, on some pairs; shape (len(rows), len(pairs))."""
        values, real = np.zeros((len(rows), len(pairs))), rows >= 0
        values[real] = self.columns.scaled_on(rows[real], pairs).T
        values[~real] = self.columns.ones_on(FIRST_OFFSET - rows[~real], pairs).T
        return values

    def _row_bounds(self, rows: Indices, signs: Vector) -> tuple[Vector, Vector]:
        fixed = np.where(self.at_upper, self.variables.costs, 0.0)
        response, real = self.variables.response(fixed), rows >= 0
        scales = self._scales(rows)
        constant = np.zeros(len(rows))
        constant[real] = self.columns.scores(rows[real], response) / scales[real]
        constant[~real] = self.columns.split(response).sum(axis=1)[FIRST_OFFSET - rows[~real]]
        upper = np.where(real, self.form.threshold / scales, 0.0)
        if self._extra.size:
            upper[real] *= 1.0 + self._extra[rows[real]]
        lower = np.where(real & (not self.form.two_sided), -np.inf, -upper)
        return self._unit * (lower - constant), self._unit * (upper - constant)
