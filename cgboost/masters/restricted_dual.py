"""The restricted master in its dual form, in one live session with working sets.

    min  −gain(u) + Ω*(Hᵀr)     r = Σ sign·u,  0 ≤ u ≤ cap,  [Σ r = 0 with a free offset]

Variables are the sides u of the training rows (:mod:`cgboost.masters.sides`); every generated
column is one *row* of this problem, whose multiplier is the column's coefficient. Growing by rows
keeps the dual simplex feasible.

Most of it does not matter at any one time, and only the part that does is kept in the session:

* **Sides.** A row of comfortable margin has u = 0, a row in plain error has u = cap. Such a side is
  *frozen*: taken out of the session, its constant part moved into the bounds. After each solve all
  rows are checked; a frozen side whose rate has the wrong sign is thawed and the problem solved
  again, so that the answer is that of the whole restricted problem. (Column and constraint
  generation: Dedieu, Mazumder, Wang, JMLR 2022, who leave out rows with u = 0.)
* **Columns** (1-norm only). A column that has been slack for some solves is *parked* in the same
  way and comes back when its score exceeds 1.

A side in the session is written u = base + direction·v/unit with 0 ≤ v ≤ unit·cap, where base is
the end at which it was last frozen: thawed sides enter at v = 0, which changes neither bounds nor
feasibility. The unit is chosen by the size of the columns (and multiplies the objective).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.losses import SupportVectorLoss
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.sides import Indices, Sides, Vector
from solvers import LimitError, Program, Session, Solution, SolverError, Status, open_session

logger = logging.getLogger(__name__)

OFFSET = -1
"""Stands for the offset in the list of session rows."""

AUXILIARY = -1
"""Stands for the z of a 2-norm column in the list of session columns."""

RATE_TOLERANCE = 1e-8
"""A frozen side may be on the wrong end by this rate."""

SCORE_TOLERANCE = 1e-8
"""A parked column may exceed its bound by this."""

LARGEST_CAP = 1e6
"""The unit is chosen so that no cap exceeds this in the session."""

UNIT_RANGE = 1e3
"""The session is opened anew when its unit has become too small by this factor."""

CALM = 2.0
"""A side is frozen when its rate is this many times what rates moved in the last solve …"""

MOVEMENT_QUANTILE = 0.9
"""… as measured by this quantile of the movements."""

LEAST_SHARE = 0.2
"""Sides and columns leave the session only in numbers of at least this share of it."""

PARKING_ROUNDS = 4
"""Solves for which a 1-norm column must be slack before it is parked."""

LEAST_RATE = 1e-3
"""Sides of a smaller rate may be inside their box and are never frozen."""


@dataclass(frozen=True)
class DualPoint:
    """Optimum of the restricted problem: α, b, output f and pseudo-response r."""

    coef: Vector
    intercept: float
    output: Vector
    response: Vector


class RestrictedDual:
    """Live restricted problem of a support-vector loss.

    Parameters
    ----------
    loss : SupportVectorLoss
    quadratic : bool
        2-norm (a QP) instead of 1-norm (an LP).
    two_sided : bool
        Whether coefficients are free in sign.
    offset : {"none", "penalized", "free"}
    solver : str
    """

    def __init__(
        self,
        loss: SupportVectorLoss,
        *,
        quadratic: bool,
        two_sided: bool,
        offset: str,
        solver: str,
    ) -> None:
        self.sides = Sides.of(loss)
        self.quadratic = quadratic
        self.two_sided = two_sided
        self.offset = offset
        self.columns = ColumnStore(loss.n_rows, centred=offset == "free")
        self._at_cap = np.zeros(len(self.sides), dtype=bool)
        self._contents: Indices = np.arange(len(self.sides))  # session column -> side or AUXILIARY
        self._holds: Indices = np.zeros(0, dtype=np.intp)  # session row -> column or OFFSET
        self._rate = self.sides.gain()  # at f = 0
        self._slack_for: Indices = np.zeros(0, dtype=np.intp)
        self._solver = solver
        self._unit = 1.0
        self._largest_unit = LARGEST_CAP / max(1.0, self.sides.cap.max(initial=0.0))
        self._session = self._open()

    def add(self, values: Vector) -> None:
        """Take in new columns, given as the rows of ``values``."""
        first = self.columns.count
        self.columns.append(values)
        self._slack_for = np.append(self._slack_for, np.zeros(len(values), dtype=np.intp))
        if self._outgrown():
            self._session = self._open()
        self._hold(np.arange(first, self.columns.count))

    def solve(self, time_limit: float | None) -> DualPoint:
        """Optimum over all sides and all columns taken in."""
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        while True:
            left = None if deadline is None else max(0.01, deadline - time.perf_counter())
            solution = self._solution(left)
            if solution is None:
                continue
            u = self._side_values(solution)
            point = self._point(solution, u)
            rate = self.sides.rate(point.output)
            if (wrong := self._wrongly_frozen(rate)).size:
                self._thaw(wrong)
            elif (violated := self._violated_parked(point.response)).size:
                self._hold(violated)
            else:
                self._freeze_idle(rate)
                self._park_idle(point)
                self._rate = rate
                return point

    # ------------------------------------------------------------------ the session and its unit

    def _open(self) -> Session:
        """A session in the current unit with the sides and columns of the one before it."""
        sides, held = self._contents[self._contents != AUXILIARY], self._holds
        self._contents, self._holds = sides, held[:0]
        self._session = open_session(
            Program(
                cost=-self._direction(sides) * self.sides.gain()[sides],
                matrix=np.zeros((0, len(sides))),
                row_lower=np.zeros(0),
                row_upper=np.zeros(0),
                lower=np.zeros(len(sides)),
                upper=self._unit * self.sides.cap[sides],
            ),
            self._solver,
        )
        if self.offset != "none":
            self._hold(np.array([OFFSET]))
        if (columns := held[held != OFFSET]).size:
            self._hold(columns)
        return self._session

    def _outgrown(self) -> bool:
        """Whether the columns have become too large for the unit, and a new one was chosen.

        With the 2-norm the optimal u is of the order of 1/|h|²; in units of that, an interior point
        method sees numbers near 1 whatever the scale of the features. (The simplex gains nothing.)
        """
        if not self.quadratic:
            return False
        fitting = min(self.columns.scales.max() ** 2, self._largest_unit)
        fitting = float(2.0 ** np.round(np.log2(fitting)))
        first = np.all(self._holds == OFFSET)
        if not first and fitting <= UNIT_RANGE * self._unit:
            return False
        self._unit = fitting
        return True

    def _shrink_unit(self) -> bool:
        """Open the session in a smaller unit; False if it is small already."""
        if self._unit <= 1.0:
            return False
        self._unit = self._largest_unit = max(1.0, self._unit / UNIT_RANGE)
        self._session = self._open()
        return True

    # ------------------------------------------------------------------ reading the session

    def _solution(self, time_limit: float | None) -> Solution | None:
        """Solve; None if that failed and there is something to try before giving up.

        The kept sides may be too few to meet the rows, and not every solver can tell that from
        other trouble; then the unit may be too large for it. With nothing left to try, a point at
        the iteration limit will do, since bounds never trust the solver.
        """
        try:
            return self._session.solve(time_limit=time_limit)
        except SolverError as error:
            if error.status is Status.TIME_LIMIT:
                raise
            if self._thaw_nearest() or self._shrink_unit():
                return None
            inexact = error.solution if isinstance(error, LimitError) else None
            if inexact is None or not _is_usable(inexact):
                raise
            logger.info("going on from an inexact point: %s", error)
            return inexact

    def _side_values(self, solution: Solution) -> Vector:
        """Value u of every side, kept or frozen."""
        u = np.where(self._at_cap, self.sides.cap, 0.0)
        places = np.flatnonzero(self._contents != AUXILIARY)
        kept = self._contents[places]
        u[kept] += self._direction(kept) * solution.x[places] / self._unit
        return u

    def _point(self, solution: Solution, u: Vector) -> DualPoint:
        multipliers = -solution.row_duals
        intercept = float(multipliers[self._holds == OFFSET].sum())
        held = self._holds != OFFSET
        coef = np.zeros(self.columns.count)
        coef[self._holds[held]] = multipliers[held] / self.columns.scales[self._holds[held]]
        if not self.two_sided:
            np.maximum(coef, 0.0, out=coef)
        output = self.columns.combine(coef) + intercept
        shifted = intercept - self.columns.shift(coef)
        return DualPoint(coef, shifted, output, self.sides.response(u))

    def _direction(self, sides: Indices) -> Vector:
        return np.where(self._at_cap[sides], -1.0, 1.0)

    # ------------------------------------------------------------------ working set of sides

    def _wrongly_frozen(self, rate: Vector) -> Indices:
        wrong = np.where(self._at_cap, rate < -RATE_TOLERANCE, rate > RATE_TOLERANCE)
        wrong[self._contents[self._contents != AUXILIARY]] = False
        return np.flatnonzero(wrong)

    def _thaw_nearest(self) -> bool:
        """Thaw as many sides again as are kept, those nearest to their margin; False if none.

        Nearness is judged at the last good point.
        """
        frozen = np.ones(len(self.sides), dtype=bool)
        kept = self._contents[self._contents != AUXILIARY]
        frozen[kept] = False
        sides = np.flatnonzero(frozen)
        order = np.argsort(np.abs(self._rate[sides]), kind="stable")
        nearest = sides[order[: len(kept) + 1]]
        if nearest.size:
            self._thaw(nearest)
        return bool(nearest.size)

    def _thaw(self, sides: Indices) -> None:
        if self.quadratic:
            # an optimal u far below its cap would be lost as a distance from the cap
            self._rebase(sides, np.zeros(len(sides), dtype=bool))
        direction = self._direction(sides)
        self._session.add_columns(
            -direction * self.sides.gain()[sides],
            self._coefficients(self._holds, sides),
            lower=np.zeros(len(sides)),
            upper=self._unit * self.sides.cap[sides],
        )
        self._contents = np.append(self._contents, sides)

    def _freeze_idle(self, rate: Vector) -> None:
        """Freeze the sides that sit at an end and, as rates move, will stay there for a while.

        The end follows from the rate alone: a solver may stop a little short of it, and a side
        well inside its box may be small beside its cap.
        """
        movement = np.quantile(np.abs(rate - self._rate), MOVEMENT_QUANTILE)
        places = np.flatnonzero(self._contents != AUXILIARY)
        kept = rate[self._contents[places]]
        idle = np.abs(kept) > max(CALM * movement, LEAST_RATE)
        if np.count_nonzero(idle) >= max(1.0, LEAST_SHARE * len(places)):
            self._freeze(places[idle], kept[idle] > 0)

    def _freeze(self, places: Indices, at_cap: NDArray[np.bool_]) -> None:
        sides = self._contents[places]
        self._session.remove_columns(places)
        self._contents = np.delete(self._contents, places)
        self._rebase(sides, at_cap)

    def _rebase(self, sides: Indices, at_cap: NDArray[np.bool_]) -> None:
        """Move the base of sides that are not in the session."""
        moved = self._at_cap[sides] != at_cap
        self._at_cap[sides] = at_cap
        if moved.any() and len(self._holds):
            self._session.change_row_bounds(
                np.arange(len(self._holds)), *self._row_bounds(self._holds)
            )

    # ------------------------------------------------------------------ working set of columns

    def _violated_parked(self, response: Vector) -> Indices:
        parked = np.ones(self.columns.count, dtype=bool)
        parked[self._holds[self._holds != OFFSET]] = False
        candidates = np.flatnonzero(parked)
        if not candidates.size:
            return candidates
        scores = self.columns.scores(candidates, response)
        size = np.abs(scores) if self.two_sided else scores
        return candidates[size > 1.0 + SCORE_TOLERANCE]

    def _park_idle(self, point: DualPoint) -> None:
        if self.quadratic:
            return
        self._slack_for = np.where(point.coef == 0.0, self._slack_for + 1, 0)
        held = self._holds != OFFSET
        idle = np.zeros(len(held), dtype=bool)
        idle[held] = self._slack_for[self._holds[held]] >= PARKING_ROUNDS
        if np.count_nonzero(idle) >= max(1.0, LEAST_SHARE * len(self._holds)):
            self._session.remove_rows(np.flatnonzero(idle))
            self._holds = self._holds[~idle]

    def _hold(self, columns: Indices) -> None:
        """Put columns (or the offset) into the session as rows."""
        matrix = self._coefficients(columns, self._contents)
        if self.quadratic and not self._is_free_offset(columns):
            matrix = np.hstack([matrix, self._add_auxiliary(columns)])
        self._session.add_rows(matrix, *self._row_bounds(columns))
        self._holds = np.append(self._holds, columns)
        self._slack_for[columns[columns != OFFSET]] = 0

    def _add_auxiliary(self, columns: Indices) -> Vector:
        """Add a variable z = h·r for each column; return the new rows' coefficients on them."""
        count = len(columns)
        signed = self.two_sided or columns[0] == OFFSET
        self._session.add_columns(
            np.zeros(count),
            np.zeros((len(self._holds), count)),
            lower=-np.inf if signed else 0.0,
            quadratic=np.ones(count),
        )
        self._contents = np.append(self._contents, np.full(count, AUXILIARY))
        return -np.diag(np.sqrt(self._unit) / self._scales(columns))

    # ------------------------------------------------------------------ coefficients and bounds

    def _coefficients(self, columns: Indices, contents: Indices) -> Vector:
        """Session coefficients of rows ``columns`` on session columns ``contents``."""
        matrix = np.zeros((len(columns), len(contents)))
        places = np.flatnonzero(contents != AUXILIARY)
        sides = contents[places]
        factor = self._direction(sides) * self.sides.sign[sides]
        is_offset = columns == OFFSET
        rows = np.flatnonzero(~is_offset)
        matrix[np.ix_(rows, places)] = (
            self.columns.scaled(columns[rows], self.sides.row[sides]) * factor
        )
        matrix[np.ix_(np.flatnonzero(is_offset), places)] = factor
        return matrix

    def _row_bounds(self, columns: Indices) -> tuple[Vector, Vector]:
        """Bounds of the rows ``columns``, less the constant part of the bases."""
        base = self.sides.response(np.where(self._at_cap, self.sides.cap, 0.0))
        is_offset = columns == OFFSET
        constant = np.full(len(columns), base.sum())
        scales = self._scales(columns)
        real = columns[~is_offset]
        constant[~is_offset] = self.columns.scores(real, base) / self.columns.scales[real]
        reach = np.zeros(len(columns)) if self.quadratic else 1.0 / scales
        lower = -reach if self.two_sided else np.where(is_offset, -reach, -np.inf)
        if self.offset == "free":
            lower, reach = np.where(is_offset, 0.0, lower), np.where(is_offset, 0.0, reach)
        return self._unit * (lower - constant), self._unit * (reach - constant)

    def _scales(self, columns: Indices) -> Vector:
        scales = np.ones(len(columns))
        scales[columns != OFFSET] = self.columns.scales[columns[columns != OFFSET]]
        return scales

    def _is_free_offset(self, columns: Indices) -> bool:
        return self.offset == "free" and columns[0] == OFFSET


def _is_usable(solution: Solution) -> bool:
    return bool(np.isfinite(solution.x).all() and np.isfinite(solution.row_duals).all())
