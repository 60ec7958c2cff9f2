"""A restricted dual kept for the active set method: which sides and columns take part.

It stands where a :class:`~cgboost.masters.dual_session.DualSession` may stand, without a solver
behind it. Every solve goes on from the pseudo-response of the one before: a row that was at an end
of its box is most often still there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.losses import SupportVectorLoss
from cgboost.losses.sides import Indices, Vector
from cgboost.masters.active_set import ActiveSetMethod
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.dual_session import DualForm
from cgboost.masters.free_rows import Block
from cgboost.masters.live_dual import LiveDual
from cgboost.masters.quadratic_dual import QuadraticDual
from cgboost.masters.row_boxes import RowBoxes
from solvers import SolverFailure

ENOUGH = 1e-6
"""A larger relative gap is a failure."""

SMALL = 2**20
"""Sides are not frozen while rows times columns are at most this."""

INSIDE = 0.2
"""Share of the rows that begin inside their boxes …"""

A_LITTLE = 1e-3
"""… by this much, in units of the inverse of the mean squared length of a row."""


@dataclass(frozen=True)
class ActiveSetPoint:
    """Where a solve has ended.

    Attributes
    ----------
    response : ndarray of shape (n_rows,)
    coef : ndarray of shape (n_columns,)
    offset : float
    """

    response: Vector
    coef: Vector
    offset: float


class ActiveSetSession(LiveDual):
    """A restricted dual over some of the sides of a loss and all columns.

    Parameters
    ----------
    loss : SupportVectorLoss
        With finite prices and no mass.
    columns : ColumnStore
    form : DualForm
        Of the 2-norm.
    """

    def __init__(self, loss: SupportVectorLoss, columns: ColumnStore, form: DualForm) -> None:
        self.loss, self.sides, self.columns, self.form = loss, loss.sides, columns, form
        self.at_cap = np.zeros(len(self.sides), dtype=bool)
        self._kept: Indices = np.arange(len(self.sides))
        self.rows: Indices = np.zeros(0, dtype=np.intp)
        self._method = ActiveSetMethod()
        self._response: Vector | None = None
        self._had_columns = False
        self._offset = 0.0

    @staticmethod
    def serves(loss: SupportVectorLoss, form: DualForm) -> bool:
        """Whether it can hold such a problem."""
        return form.quadratic and loss.mass is None and bool(np.isfinite(loss.sides.cap).all())

    # ------------------------------------------------------------------ what is in the session

    @property
    def kept(self) -> Indices:
        """The sides in the session."""
        return self._kept

    @property
    def absent(self) -> Indices:
        """The sides that are frozen."""
        frozen = np.ones(len(self.sides), dtype=bool)
        frozen[self._kept] = False
        return np.flatnonzero(frozen)

    @property
    def steps(self) -> int:
        """Newton steps so far."""
        return self._method.steps

    def hold(self, columns: Indices) -> None:
        """Put columns into the session."""
        self.rows = np.append(self.rows, columns)

    def release(self, columns: Indices) -> None:
        """Nothing: no column is idle."""
        assert not columns.size

    def thaw(self, sides: Indices) -> None:
        """Put sides into the session, at the end at which they were frozen."""
        self.at_cap[sides] = False
        self._kept = np.append(self._kept, sides)

    def freeze(self, sides: Indices, at_cap: NDArray[np.bool_]) -> None:
        """Take sides out of the session and leave them at 0 or at their cap.

        A row that stands at a corner costs no more than its part of a product with the columns.
        Where there are few of both, a row out of its place, which means another solve, costs more:
        then they stay.
        """
        if len(self.loss.target) * self.columns.count <= SMALL:
            return
        self.at_cap[sides] = at_cap
        self._kept = self._kept[~np.isin(self._kept, sides)]

    # ------------------------------------------------------------------ solving

    def solve(self, time_limit: float | None) -> ActiveSetPoint:
        """The optimum, from where the last solve has ended.

        Raises
        ------
        LimitError
            If there is no time left.
        SolverFailure
            If the optimum could not be found; a general solver may.
        """
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        problem = self._problem()
        start = problem.point(self._start(problem), self._offset)
        end = self._method.solve(problem, start, deadline)
        if end.relative_gap > ENOUGH:
            raise SolverFailure(
                f"the active set method has come no nearer than a gap of {end.relative_gap:.1e}"
            )
        response = self._frozen()
        response[problem.boxes.row] = end.r
        self._response, self._offset = response, end.offset
        self._had_columns = self.columns.count > 0
        coef = self.columns.scales * problem.coefficients(end.s)
        return ActiveSetPoint(response, coef, end.offset)

    def side_values(self, point: ActiveSetPoint) -> Vector:
        """Value u of every side, kept or frozen."""
        return self.sides.values(point.response)

    def multipliers(self, point: ActiveSetPoint) -> tuple[Vector, float, float]:
        """Coefficients of all columns, the offset, and the level 0."""
        return point.coef, point.offset, 0.0

    def idle(self, coef: Vector) -> Indices:
        """None: with the 2-norm every coefficient is the column's score."""
        return np.zeros(0, dtype=np.intp)

    # ------------------------------------------------------------------ data

    def _problem(self) -> QuadraticDual:
        frozen = self._frozen()
        boxes = RowBoxes.of(self.sides, self._kept, frozen)
        others = frozen.copy()
        others[boxes.row] = 0.0
        middle = others.copy()
        middle[boxes.row] = boxes.corners[:, 1]
        everything = np.arange(self.columns.count)
        return QuadraticDual(
            block=Block(
                self.columns.scaled(everything, boxes.row), boxes.row, self.columns.scales**2
            ),
            constant=self.columns.scores(everything, others) / self.columns.scales,
            boxes=boxes,
            gain=self.loss.gain(middle),
            total=float(others.sum()),
            two_sided=self.form.two_sided,
            offset=self.form.offset,
        )

    def _frozen(self) -> Vector:
        """The pseudo-response that the frozen sides make."""
        return self.sides.response(np.where(self.at_cap, self.sides.cap, 0.0))

    def _start(self, problem: QuadraticDual) -> Vector:
        """The last pseudo-response, or one near 0."""
        boxes = problem.boxes
        if self._response is not None and self._had_columns:
            return boxes.clip(self._response[boxes.row])
        # if none were inside its box, all would come free at once
        inside = np.random.default_rng(0).random(len(boxes)) < INSIDE
        extent = boxes.corners[:, 2] - boxes.corners[:, 0]
        step = np.minimum(A_LITTLE / problem.unit, 0.1 * extent)
        r = boxes.clip(boxes.centre)
        return np.where(inside, r + np.where(boxes.exists[:, 1], step, -step), r)
