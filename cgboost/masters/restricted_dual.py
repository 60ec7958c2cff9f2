"""The restricted master in its dual form, with working sets of rows and columns.

Growing by rows keeps the dual simplex feasible: every generated column is one row of this problem
(:mod:`cgboost.masters.dual_session`). Most of it does not matter at any one time, and only the part
that does is kept in the session:

* **Sides.** A row of comfortable margin has u = 0, a row in plain error has u = cap. Such a side is
  *frozen*: taken out of the session, its constant part moved into the bounds. After each solve all
  rows are checked; a frozen side whose rate has the wrong sign is thawed and the problem solved
  again, so that the answer is that of the whole restricted problem. (Column and constraint
  generation: Dedieu, Mazumder, Wang, JMLR 2022, who leave out rows with u = 0.)
* **Columns** (not with the 2-norm). A column that has been slack for some solves is *parked* in the
  same way and comes back when its score exceeds what columns may score.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.losses.sides import Indices, Vector
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.dual_session import DualForm, DualSession
from solvers import LimitError, Solution, SolverError, Status

logger = logging.getLogger(__name__)

RATE_TOLERANCE = 1e-8
"""A frozen side may be on the wrong end by this rate."""

SCORE_TOLERANCE = 1e-8
"""A parked column may exceed its bound by this."""

CALM = 2.0
"""A side is frozen when its rate is this many times what rates moved in the last solve …"""

MOVEMENT_QUANTILE = 0.9
"""… as measured by this quantile of the movements."""

LEAST_SHARE = 0.2
"""Sides and columns leave the session only in numbers of at least this share of it."""

PARKING_ROUNDS = 4
"""Solves for which a column must be slack before it is parked."""

LEAST_RATE = 1e-3
"""Sides of a smaller rate may be inside their box and are never frozen."""


@dataclass(frozen=True)
class DualPoint:
    """Optimum of the restricted problem.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    intercept : float
    output : ndarray of shape (n_rows,)
    response : ndarray of shape (n_rows,)
        Pseudo-response r, up to the solver's accuracy.
    rate : ndarray of shape (n_sides,)
        What one more unit of each side would add to the dual objective.
    """

    coef: Vector
    intercept: float
    output: Vector
    response: Vector
    rate: Vector


class RestrictedDual:
    """Live restricted problem of a support-vector loss.

    Parameters
    ----------
    loss : SupportVectorLoss
    form : DualForm
    solver : str
    """

    def __init__(self, loss: SupportVectorLoss, form: DualForm, solver: str) -> None:
        self.sides, self.form = loss.sides, form
        self.columns = ColumnStore(loss.n_rows, centred=form.offset == "free")
        self.session = DualSession(loss, self.columns, form, solver)
        self._rate = self.sides.gain()  # at f = 0
        self._slack_for: Indices = np.zeros(0, dtype=np.intp)

    def add(self, values: Vector) -> None:
        """Take in new columns, given as the rows of ``values``."""
        first = self.columns.count
        self.columns.append(values)
        self._slack_for = np.append(self._slack_for, np.zeros(len(values), dtype=np.intp))
        self.session.outgrown()
        self._hold(np.arange(first, self.columns.count))

    def solve(self, time_limit: float | None) -> DualPoint:
        """Optimum over all sides and all columns taken in."""
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        while True:
            left = None if deadline is None else max(0.01, deadline - time.perf_counter())
            solution = self._solution(left)
            if solution is None:
                continue
            point = self._point(solution)
            if (wrong := self._wrongly_frozen(point.rate)).size:
                self.session.thaw(wrong)
            elif (violated := self._violated_parked(point)).size:
                self._hold(violated)
            else:
                self._freeze_idle(point.rate)
                self._park_idle(point)
                self._rate = point.rate
                return point

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return float(self.columns.scales.max(initial=0.0))

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,); with a free offset for Σr = 0 only."""
        return self.columns.scores(np.arange(self.columns.count), response)

    def _solution(self, time_limit: float | None) -> Solution | None:
        """Solve; None if that failed and there is something to try before giving up.

        The kept sides may be too few to meet the rows, and not every solver can tell that from
        other trouble; then the unit may be too large for it. With nothing left to try, a point at
        the iteration limit will do, since bounds never trust the solver.
        """
        try:
            return self.session.solve(time_limit)
        except SolverError as error:
            if error.status is Status.TIME_LIMIT:
                raise
            if self._thaw_nearest() or self.session.shrink_unit():
                return None
            inexact = error.solution if isinstance(error, LimitError) else None
            if inexact is None or not _is_usable(inexact):
                raise
            logger.info("going on from an inexact point: %s", error)
            return inexact

    def _point(self, solution: Solution) -> DualPoint:
        u = self.session.side_values(solution)
        coef, intercept, level = self.session.multipliers(solution)
        output = self.columns.combine(coef) + intercept
        rate = self.sides.rate(output) - level - self.sides.curvature * u
        shifted = intercept - self.columns.shift(coef)
        return DualPoint(coef, shifted, output, self.sides.response(u), rate)

    # ------------------------------------------------------------------ working set of sides

    def _wrongly_frozen(self, rate: Vector) -> Indices:
        wrong = np.where(self.session.at_cap, rate < -RATE_TOLERANCE, rate > RATE_TOLERANCE)
        wrong[self.session.kept] = False
        return np.flatnonzero(wrong)

    def _thaw_nearest(self) -> bool:
        """Thaw as many sides again as are kept, those nearest to their margin; False if none.

        Nearness is judged at the last good point.
        """
        sides = self.session.absent
        order = np.argsort(np.abs(self._rate[sides]), kind="stable")
        nearest = sides[order[: len(self.session.kept) + 1]]
        if nearest.size:
            self.session.thaw(nearest)
        return bool(nearest.size)

    def _freeze_idle(self, rate: Vector) -> None:
        """Freeze the sides that sit at an end and, as rates move, will stay there for a while.

        The end follows from the rate alone: a solver may stop a little short of it, and a side
        well inside its box may be small beside its cap.
        """
        movement = np.quantile(np.abs(rate - self._rate), MOVEMENT_QUANTILE)
        kept = self.session.kept
        idle = np.abs(rate[kept]) > max(CALM * movement, LEAST_RATE)
        idle &= (rate[kept] < 0) | np.isfinite(self.sides.cap[kept])
        if np.count_nonzero(idle) >= max(1.0, LEAST_SHARE * len(kept)):
            self.session.freeze(kept[idle], rate[kept[idle]] > 0)

    # ------------------------------------------------------------------ working set of columns

    def _hold(self, columns: Indices) -> None:
        self.session.hold(columns)
        self._slack_for[columns] = 0

    def _violated_parked(self, point: DualPoint) -> Indices:
        parked = np.ones(self.columns.count, dtype=bool)
        held = self.session.rows[self.session.rows >= 0]
        parked[held] = False
        candidates = np.flatnonzero(parked)
        if not candidates.size:
            return candidates
        allowed = 1.0 if self.form.budget is None else self._size(held, point).max(initial=0.0)
        tolerance = SCORE_TOLERANCE * max(1.0, allowed)
        return candidates[self._size(candidates, point) > allowed + tolerance]

    def _size(self, columns: Indices, point: DualPoint) -> Vector:
        scores = self.columns.scores(columns, point.response)
        return np.abs(scores) if self.form.two_sided else scores

    def _park_idle(self, point: DualPoint) -> None:
        if self.form.quadratic:
            return
        self._slack_for = np.where(point.coef == 0.0, self._slack_for + 1, 0)
        held = np.unique(self.session.rows[self.session.rows >= 0])
        idle = held[self._slack_for[held] >= PARKING_ROUNDS]
        if len(idle) >= max(1.0, LEAST_SHARE * len(held)):
            self.session.release(idle)


def _is_usable(solution: Solution) -> bool:
    return bool(np.isfinite(solution.x).all() and np.isfinite(solution.row_duals).all())
