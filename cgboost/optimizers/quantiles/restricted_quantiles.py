"""Restricted dual of several outputs, with working sets of rows, crossings and columns.

Where the interior point method (:mod:`cgboost.optimizers.quantiles.joint_session`) can go no
further, or a solver is named, a session of that solver takes its place. From inside the optimal
face purification leads to a vertex, and the simplex from near it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from cgboost._solvers import Solution
from cgboost.arrays import Indices, Vector
from cgboost.losses.dual.noncrossing import NoncrossingLoss, NoncrossingVariables
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.quantiles.joint_columns import JointColumns
from cgboost.optimizers.quantiles.joint_session import FIRST_OFFSET, JointSession, JointSolution
from cgboost.optimizers.restricted_dual import NEAREST_SHARE, REPEATS, RestrictedDual
from cgboost.optimizers.simplex.crossover import (
    A_FEW,
    REPEATED,
    ROWS_PER_COLUMN,
    ROWS_TO_STOP_AT,
    SAME_OBJECTIVE,
    SIMPLEX,
)
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.simplex.purification import Face, purified
from cgboost.penalties.penalty import DualForm
from cgboost.tolerances import COEFFICIENT_ROUNDING


class JointSimplexSession(DualSession):
    """A :class:`DualSession` whose columns add to one output each, and whose multipliers to two.

    Parameters
    ----------
    form : DualForm
        Of the 1-norm, with free offsets.
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


def joint_vertex(
    loss: NoncrossingLoss, columns: JointColumns, coef: Vector, offsets: Vector
) -> tuple[Vector, Vector] | None:
    """Coefficients and offsets of a vertex, from a point of the optimal face.

    Purification (:mod:`cgboost.optimizers.simplex.purification`) finds which coefficients are 0
    and which residuals and crossings are tight; the others follow from as many equations.

    Parameters
    ----------
    coef : ndarray of shape (n_columns,)
    offsets : ndarray of shape (n_outputs,)
        Of the columns as they are stored: centred.

    Returns
    -------
    tuple of ndarray, or None
        None where the equations depend on each other.
    """
    variables, n_rows = loss.variables, columns.n_rows
    size = np.abs(coef) * columns.scales
    used = np.flatnonzero(size > COEFFICIENT_ROUNDING * size.max(initial=0.0))
    point = np.append(coef[used] * columns.scales[used], offsets)

    def rates(point: Vector) -> Vector:
        whole = np.zeros(columns.count)
        whole[used] = point[: len(used)] / columns.scales[used]
        return variables.rate(columns.combine(whole) + np.repeat(point[len(used) :], n_rows))

    rate = rates(point)
    near = np.argsort(np.abs(rate), kind="stable")[: ROWS_TO_STOP_AT * len(point) + A_FEW]
    slopes = _slopes(loss, columns, used, near)
    priced = np.arange(len(point)) < len(used)
    point, tight = purified(Face(point, rate[near], slopes, priced))
    left = np.flatnonzero((point != 0) | ~priced)
    if len(tight) != len(left):
        return None
    matrix = slopes[np.ix_(tight, left)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linalg.LinAlgWarning)
        factors = linalg.lu_factor(matrix, check_finite=False)
    pivots = np.abs(factors[0].diagonal())
    if not pivots.min() > REPEATED * pivots.max():
        return None
    point[left] -= linalg.lu_solve(factors, rates(point)[near[tight]])
    vertex = np.zeros(columns.count)
    vertex[used] = point[: len(used)] / columns.scales[used]
    return vertex, point[len(used) :]


def _slopes(loss: NoncrossingLoss, columns: JointColumns, used: Indices, near: Indices) -> Vector:
    """What a unit of each scaled column, and of each offset, adds to the rates of variables."""
    variables, outputs = loss.variables, np.arange(columns.n_outputs)

    def on(pairs: Indices) -> Vector:
        return np.hstack([columns.scaled_on(used, pairs), columns.ones_on(outputs, pairs)])

    row = variables.row[near]
    slopes = -variables.sign[near, None] * on(row)
    crossing = near >= variables.n_boxes
    slopes[crossing] -= on(row[crossing] + columns.n_rows)
    return slopes


PIVOTS_PER_COLUMN = 20
"""Pivots of the simplex that looks for a vertex, for each column in use, at most: from near one it
takes few, and where costs differ by a factor of 1e12 it may not end."""


class RestrictedQuantiles(RestrictedDual):
    """Live restricted problem of several outputs that must not cross.

    The multiplier of a crossing comes into the session when the outputs cross there, and leaves it
    as any variable does whose rate says that it stays at 0.

    Parameters
    ----------
    form : DualForm
        Of the 1-norm, with free offsets.
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
        open_session = JointSession if solver == "auto" else opens
        super().__init__(loss, form, open_session, solver, columns)
        if solver != "auto":
            crossing = loss.variables.crossing
            self.session.fix(crossing, np.zeros(len(crossing), dtype=bool))

    def _start_from_sample(self, columns: Indices, time_limit: float | None) -> bool:
        """None: where outputs cross on some rows says little of the others."""
        return False

    def start_near(self, coef: Vector, intercept: Any, near: float = NEAREST_SHARE) -> None:
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
