"""Restricted dual of several outputs, with working sets of rows, crossings and columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Vector
from cgboost.losses.dual.noncrossing import NoncrossingLoss, NoncrossingVariables
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.quantiles.joint_columns import JointColumns
from cgboost.optimizers.quantiles.joint_session import JointSession, JointSolution
from cgboost.optimizers.quantiles.joint_simplex import JointSimplexSession
from cgboost.optimizers.quantiles.joint_vertex import joint_vertex
from cgboost.optimizers.restricted_dual import (
    NEAREST_SHARE,
    REPEATS,
    RestrictedDual,
)
from cgboost.optimizers.simplex.crossover import (
    A_FEW,
    ROWS_PER_COLUMN,
    SAME_OBJECTIVE,
    SIMPLEX,
)
from cgboost.penalties.penalty import DualForm

PIVOTS_PER_COLUMN = 20
"""Pivots of the simplex that looks for a vertex, for each column in use, at most: from near one it
takes few, and where costs differ by a factor of 1e12 it may not end."""


class RestrictedQuantiles(RestrictedDual):
    """Live restricted problem of several outputs that must not cross.

    The multiplier of a crossing comes into the session when the outputs cross there, and leaves it
    as any variable does whose rate says that it stays at 0.

    Parameters
    ----------
    loss : NoncrossingLoss
    form : DualForm
        Of the 1-norm, with free offsets.
    solver : str
    options : mapping of str to object, optional
        The solver's own.
    columns : JointColumns, optional
        With columns that are there from the start, all of them inactive.
    """

    backend = JointSimplexSession
    loss: NoncrossingLoss
    variables: NoncrossingVariables
    columns: JointColumns
    session: Any

    def __init__(
        self,
        loss: NoncrossingLoss,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
        columns: JointColumns | None = None,
    ) -> None:
        if columns is None:
            columns = JointColumns(loss.n_outputs, loss.variables.n_rows)
        opens = partial(JointSimplexSession, solver=solver, options=options)
        session = JointSession if solver == "auto" else opens
        super().__init__(loss, form, session, solver, columns)
        if solver != "auto":
            crossing = loss.variables.crossing
            self.session.fix(crossing, np.zeros(len(crossing), dtype=bool))

    def _expect_from_sample(self, columns: Indices, time_limit: float | None) -> bool:
        """None: where outputs cross on some rows says little of the others."""
        return False

    def expect(self, coef: Vector, intercept: Any, near: float = NEAREST_SHARE) -> None:
        """Columns of a similar problem are all that is taken from it."""

    def _point(self, solution: JointSolution) -> RestrictedPoint:  # type: ignore[override]
        """What a solution is for all rows; its offsets are moved until no outputs cross."""
        u, coef, offsets = solution
        size = self.columns.n_rows
        combined = self.columns.combine(coef)
        output = combined + np.repeat(offsets, size)
        moved = self.loss.uncrossed(output, offsets)
        return RestrictedPoint(
            coef,
            moved - self.columns.shift(coef),  # type: ignore[arg-type]
            combined + np.repeat(moved, size),
            response=self.loss.balanced_response(u),
            rate=self.variables.rate(output),
            solved=(self.session.solved and not self._simplex_can) or self._repeats > REPEATS,
        )

    def at(self, coef: Vector, offsets: Vector) -> RestrictedPoint:
        """The point with these coefficients and offsets, of which no dual is known."""
        return self._point(JointSolution(np.zeros(len(self.variables)), coef, offsets))

    def vertex(self, coef: Vector, offsets: Vector, time_limit: float | None) -> RestrictedPoint:
        """A vertex of the optimal face, from a point on it or near it.

        Purification leads there from a point on the face. From one near it, a simplex does.

        Raises
        ------
        SolverError
            If the simplex gives no answer.
        """
        start, point = self.at(coef, offsets), None
        if (found := joint_vertex(self.loss, self.columns, coef, offsets)) is not None:
            point = self.at(*found)
        most = self._value(start)
        most += SAME_OBJECTIVE * max(1.0, abs(most))
        if point is not None and self._allows(point.coef) and self._value(point) <= most:
            return point
        used = np.flatnonzero(coef)
        limit = {"simplex_iteration_limit": PIVOTS_PER_COLUMN * (len(used) + A_FEW)}
        finish = RestrictedQuantiles(self.loss, self.form, SIMPLEX, limit, columns=self.columns)
        session, boxes = finish.session, np.arange(self.variables.n_boxes)
        order = np.argsort(np.abs(start.rate[boxes]), kind="stable")
        far = np.sort(order[int(ROWS_PER_COLUMN * len(used)) + A_FEW :])
        session.fix(far, start.rate[far] > 0)
        held = self.session.kept[self.session.kept >= len(boxes)]
        session.unfix(held)
        finish.activate(used)
        finish.rate = start.rate
        session.suggest(coef, start.rate)
        return finish.solve(time_limit)

    def _value(self, point: RestrictedPoint) -> float:
        return self.form.value(point.coef, 0.0) + self.loss.value(point.output)

    def _allows(self, coef: Vector) -> bool:
        return self.form.two_sided or bool(coef.min() >= 0)

    def _fix_idle(self, rate: Vector) -> None:
        """As for any variable, but that no multiplier is ever fixed at the end of its range."""
        rate = rate.copy()
        crossing = self.variables.crossing
        rate[crossing] = np.minimum(rate[crossing], 0.0)
        super()._fix_idle(rate)
