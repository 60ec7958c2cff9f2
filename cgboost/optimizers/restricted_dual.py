"""The restricted master in its dual form, with working sets of rows and columns.

Growing by rows keeps the dual simplex feasible: every generated column is one row of this problem
(:mod:`cgboost.optimizers.simplex.dual_session`). Most of it does not matter at any one time, and
only the part that does is kept in the session:

* **Variables.** A row of comfortable margin has u = 0, a row in plain error has u = costs. Such a
  variable is *fixed*: taken out of the session, its constant part moved into the limits. After each
  solve all rows are checked; a fixed variable whose rate has the wrong sign is freed and the
  problem solved again, so that the answer is that of the whole restricted problem. (Column and
  constraint generation: Dedieu, Mazumder, Wang, JMLR 2022, who leave out rows with u = 0.)
* **Columns** (not under a quadratic penalty). A column that has been slack for some solves is
  *deactivated* in the same way, and comes back when its score exceeds what columns may score.
* **A sample of the rows** to begin with, where there are many more than columns. The outputs of a
  model of c columns that is fitted to m of n rows are off by about √(c/m) of what separates rows
  near their margin: about n√(c/m) rows are so near to it that the sample leaves open on which side
  they are. Both problems, over the sample and over these rows, are about as large for m = (nc)^⅔
  (Portnoy, Koenker, *The Gaussian hare and the Laplacian tortoise*, Statistical Science 12, 1997).
  All rows are checked afterwards, so that the answer does not depend on the sample.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from cgboost._solvers import LimitError, SolverError, Status
from cgboost.arrays import Indices, Vector
from cgboost.exceptions import SlowSolverWarning, see, warn_caller
from cgboost.generation.columns import FloatArray
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.interior_point.interior_session import DIRECTION, InteriorSession
from cgboost.optimizers.large_columns import FREE
from cgboost.optimizers.live_dual import Basis, DualSolution, LiveDual, RestrictedPoint
from cgboost.optimizers.simplex.dual_session import DualSession
from cgboost.optimizers.solver_options import deadline_of, time_left
from cgboost.penalties.penalty import DualForm

logger = logging.getLogger(__name__)

RATE_TOLERANCE = 1e-8
"""A fixed variable may be on the wrong end by this rate, which costs no more than the sum of the
costs times it; smaller, rows whose rate is 0 but for the solver's error would come and go."""

SCORE_TOLERANCE = 1e-8
"""An inactive column may exceed its limit by this. Smaller, columns that are at the limit but for
the solver's error would come and go."""

CALM = 2.0
"""A variable is fixed when its rate is this many times what rates moved in the last solve."""

MOVEMENT_QUANTILE = 0.9
"""What rates moved in a solve is this quantile of their movements."""

NEAREST_SHARE = 0.4
"""The share of the variables that start in the session where it is known which are near."""

LEAST_SHARE = 0.1
"""Variables and columns leave the session only in numbers of at least this share of it."""

SLACK_ROUNDS = 2
"""Solves for which a column must be slack before it is inactive."""

LARGEST = 1e6
"""Where an own method can go no further, so many coefficients may be handed to a backend."""

BACKEND_IS_QUICK = 10**5
"""With rows times columns up to this a backend takes hardly longer than an own method."""

REPEATS = 10
"""A problem solved so many times without a new column is solved as well as it can be."""

LEAST_RATE = 1e-3
"""Variables of a smaller rate may be inside their box and are never fixed."""

SAMPLE_SIZE = 0.5
"""A sample has this many times (rows · columns)^⅔ rows (:func:`sample_of`)."""

MANY_TIMES = 4.0
"""A sample is made where there are at least this many times as many rows."""

SLOW_AT_ONCE = 1e4
"""A sample is made from so many rows times columns on: less is solved as fast at once."""

STANDARD_DEVIATIONS = 3.0
"""Rows count as near their margin within so many standard deviations of a sample's outputs."""

NEXT_ROWS = 100
"""Once a sample has shown which rows are near, at least so many of the nearest variables stay for
each column."""


OpenSession = Callable[[Any, Any, DualForm], LiveDual]
"""Opens a session of a loss, columns and the form."""


class RestrictedDual:
    """Live restricted problem of a support-vector loss.

    Parameters
    ----------
    open_session : callable
        ``open_session(loss, columns, form)``: the session that is solved again and again.
    solver : str
        Of the backend where that one can go no further.
    columns : ColumnStore, optional
        With columns that are there from the start, all of them inactive.
    free_columns : FreeColumns, optional
        The first columns, as many as the form says.

    Attributes
    ----------
    rate : ndarray of shape (n_variables,)
        Of the variables at the last point.
    ends_inside : bool
        Whether its answers lie inside the optimal face, not on a vertex.
    """

    backend: ClassVar[type[DualSession]] = DualSession
    """The session where the first one can go no further."""

    def __init__(
        self,
        loss: SupportVectorLoss,
        form: DualForm,
        open_session: OpenSession,
        solver: str = "auto",
        columns: Any = None,
        free_columns: FreeColumns | None = None,
    ) -> None:
        self.form = form
        self._open_session, self._solver = open_session, solver
        if columns is None:
            has_backend = open_session not in (InteriorSession, ActiveSetSession)
            large = _least_large(loss, form) if not has_backend else np.inf
            centred = form.offset == "free"
            columns = ColumnStore(
                loss.n_rows, centred=centred, large=large, free_columns=free_columns
            )
        self.columns = columns
        self._begin(loss)

    def _begin(self, loss: SupportVectorLoss) -> None:
        """A session of a loss, without columns."""
        self.loss, self.variables = loss, loss.variables
        self.session: LiveDual = self._open_session(loss, self.columns, self.form)
        self.ends_inside = isinstance(self.session, InteriorSession)
        self.rate = self.variables.linear()  # at f = 0
        self._slack_for: Indices = np.zeros(self.columns.count, dtype=np.intp)
        self._repeats = 0
        self._waiting, self._has_start, self._begun = self.columns.directions, False, False

    def add(self, values: Sequence[FloatArray] | FloatArray, *outputs: Indices) -> None:
        """Take in new columns, each of shape (n_rows,); of several outputs with those of each."""
        first, before = self.columns.count, len(self.columns.large)
        self._repeats = 0
        self.columns.append(values, *outputs)
        self._slack_for = np.append(self._slack_for, np.zeros(len(values), dtype=np.intp))
        if (directions := len(self.columns.large)) > before:
            if isinstance(self.session, ActiveSetSession):
                self.session = InteriorSession(self.loss, self.columns, self.form)
                self.activate(np.arange(first))
            self.session.activate(DIRECTION - np.arange(before, directions))
        self._waiting = np.append(self._waiting, np.arange(first, self.columns.count))

    def _activate_waiting(self, time_limit: float | None) -> bool:
        """Put new columns into the session; whether the first ones, after a sample of the rows."""
        waiting, n_free, sampled = self._waiting, self.form.n_free, False
        self._waiting = waiting[:0]
        if not (self.session.constraints >= 0).any() and not self._has_start:
            sampled = self._start_from_sample(waiting, time_limit)
        for columns in (waiting[waiting < n_free], waiting[waiting >= n_free]):
            if columns.size:
                self.session.rescale()
                self.activate(columns)
        return sampled

    def _start_from_sample(self, columns: Indices, time_limit: float | None) -> bool:
        """Begin with the rows near their margin at the optimum over a sample; False if with all."""
        rows, share = sample_of(self.loss.n_rows, len(columns) + 1)
        session, large = self.session, len(self.columns.large) > 0
        if not isinstance(session, InteriorSession) or large or not rows.size:
            return False
        part = self.columns.on_part(rows)
        form = replace(self.form, n_free=part.n_free)
        sample = RestrictedDual(self.loss.on_part(rows), form, InteriorSession, columns=part)
        sample._waiting = np.arange(part.count)
        try:
            point = sample.solve(time_limit)
        except SolverError as error:
            logger.info("all rows at once, since a sample was not solved: %s", error)
            return False
        coef = self.columns.of_part(point.coef)
        if self._begun:  # a solve without columns has fixed other rows
            session.start_anew()
        self.start_near(coef, point.intercept - self.columns.shift(coef), share)
        session.begin()
        self._has_start = columns.size > 0
        return True

    def start_near(self, coef: Vector, intercept: float, share: float = NEAREST_SHARE) -> None:
        """Take coefficients for near the optimum, as a hint of which variables matter.

        This share of them, nearest to their margin, starts in the session, the others
        fixed.
        """
        self._has_start = True
        output = self.columns.combine(coef) + (intercept + self.columns.shift(coef))
        self.rate = self.variables.rate(output)
        size = np.abs(self.rate)
        far = size > max(LEAST_RATE, float(np.quantile(size, share)))
        far &= (self.rate < 0) | np.isfinite(self.variables.costs)
        self.session.fix(np.flatnonzero(far), self.rate[far] > 0)

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """Optimum over all variables and all columns taken in, to a relative gap of ``accuracy``.

        Above 0 an answer may come sooner, with ``solved`` false.
        """
        deadline = deadline_of(time_limit)
        sampled, self._begun = self._activate_waiting(time_limit), True
        if self._repeats and self.session.solved and self._simplex_can:
            self._open_backend("come no nearer to the optimum")
        # from a sample the optimum is so near that a coarse answer would say nothing new
        self.session.aim(0.0 if sampled else accuracy, again=self._repeats > 0)
        self._repeats += 1
        while True:
            solution = self._solution(time_left(deadline))
            if solution is None:
                continue
            point, kept = self._point(solution), len(self.session.kept)
            if not self._update_working_sets(point):
                self.rate = point.rate
                return point
            if sampled:
                self._begin_near(point, self.session.kept[kept:])
                sampled = False

    def _begin_near(self, point: RestrictedPoint, freed: Indices) -> None:
        """Go on with the variables that are as near to their margin as those on its wrong side."""
        size = np.abs(point.rate)
        share = float(np.mean(size <= CALM * size[freed].max(initial=0.0)))
        least = NEXT_ROWS * len(self.session.constraints) / len(size)
        self.start_near(point.coef, point.intercept, min(1.0, max(share, least)))
        if isinstance(self.session, InteriorSession):
            self.session.begin()

    def _point(self, solution: DualSolution) -> RestrictedPoint:
        """What a solution of the session's problem is for all rows."""
        u, coef, intercept, level = solution
        output = self.columns.combine(coef) + intercept
        return RestrictedPoint(
            coef,
            intercept - self.columns.shift(coef),
            output,
            response=self._feasible(self.variables.response(u)),
            rate=self.variables.rate(output) - level - self.variables.curvature * u,
            solved=(self.session.solved and not self._simplex_can) or self._repeats > REPEATS,
        )

    def polish(self, time_limit: float | None) -> tuple[Vector, float] | None:
        """Coefficients and intercept at the optimum of the restricted problem.

        None if the last answer is as near to it as can be, or no better one was found.
        """
        if self.session.solved or len(self.columns.large):
            return None
        deadline = deadline_of(time_limit)
        self.session.aim(0.0, again=True)
        try:
            point = self._point(self.session.solve(time_limit))
            while self._update_working_sets(point):
                point = self._point(self.session.solve(time_left(deadline)))
        except SolverError as error:
            logger.info("the coefficients stay coarse: %s", error)
            return None
        finally:
            self.session.solved = False  # a later solve may go on from here
        return point.coef, point.intercept

    @property
    def basis(self) -> Basis | None:
        """The basis that the last answer suggests; None if it comes from elsewhere.

        With large columns, that of what is left of them is none of the whole problem; and the
        optimum under squares is no vertex.
        """
        if self.form.quadratic or len(self.columns.large):
            return None
        if not isinstance(self.session, InteriorSession):
            return None
        return self.session.basis

    def _update_working_sets(self, point: RestrictedPoint) -> bool:
        """Bring back what is wrongly absent, or else take out what is idle; whether to solve again.

        So it is if the absence costs more than the session leaves open anyway. A coarse answer is
        not solved again: the next one has what was absent, and the new columns as well.
        """
        at_wrong_end = np.where(
            self.session.at_upper, point.rate < -RATE_TOLERANCE, point.rate > RATE_TOLERANCE
        )
        at_wrong_end[self.session.kept] = False
        wrong, violated = np.flatnonzero(at_wrong_end), self._violated_inactive(point)
        cost = float(np.abs(point.rate[wrong]) @ self.variables.costs[wrong])
        if violated.size:
            excess = self._size(violated, point).max() - self._allowed(point)
            cost += excess * abs(self.loss.linear_gain(point.response))
            self.activate(violated)
        if wrong.size:
            self.session.unfix(wrong)
        session, absent = self.session, wrong.size > 0 or violated.size > 0
        if absent and (session.gap == 0.0 or (session.solved and cost > session.gap)):
            return True
        self._fix_idle(point.rate)
        self._deactivate_idle(point)
        return False

    def _feasible(self, response: Vector) -> Vector:
        """The pseudo-response with scores of 0 in the free directions, up to rounding."""
        loss, columns = self.loss, self.columns
        if not (columns.n_free or len(columns.large)):
            return response
        at, summed = self.session.pivot_scores, self.form.offset == "free"
        return columns.balanced(response, loss.lower, loss.upper, at, summed=summed)

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return self.columns.largest

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,); with a free offset for Σr = 0 only."""
        return self.columns.scores(np.arange(self.columns.count), response)

    def _solution(self, time_limit: float | None) -> DualSolution | None:
        """Solve; None if that failed and there is something to try before giving up.

        The kept variables may be too few to meet the rows, and not every solver can tell that from
        other trouble; then the unit may be too large for it. With nothing left to try, a point at
        the iteration limit will do, since bounds never trust the solver.
        """
        try:
            return self.session.solve(time_limit)
        except SolverError as error:
            if error.status is Status.TIME_LIMIT or len(self.columns.large):
                raise
            if not isinstance(self.session, DualSession):
                self._open_backend(f"not go on ({error})")
                return None
            if self._unfix_nearest() or self.session.shrink_unit():
                return None
            inexact = error.solution if isinstance(error, LimitError) else None
            if inexact is None or not np.isfinite(np.append(inexact.x, inexact.row_duals)).all():
                raise
            logger.info("going on from an inexact point: %s", error)
            return self.session.answer(inexact)

    @property
    def _simplex_can(self) -> bool:
        """Whether what is in the session is a small enough problem to be passed to a backend."""
        if isinstance(self.session, DualSession) or len(self.columns.large):
            return False
        return len(self.session.kept) * len(self.session.constraints) <= LARGEST

    def _open_backend(self, trouble: str) -> None:
        """A session with a solver behind it, over the variables and columns of the present one.

        Warns
        -----
        SlowSolverWarning
            Where that will take long.
        """
        before = self.session
        logger.info("going on with a backend: the own method could %s", trouble)
        if len(before.kept) * len(before.constraints) > BACKEND_IS_QUICK:
            kind = "quadratic" if self.form.quadratic > 0 else "linear"
            method = "active set" if isinstance(before, ActiveSetSession) else "interior point"
            warn_caller(
                f"the {method} method could {trouble}: a general solver of {kind} programs takes "
                "its place, which is slower by far; where columns differ widely in size, scale "
                f"the features or normalise the kernels; else a larger tol may do{see('solvers')}",
                SlowSolverWarning,
            )
        self.session = self.backend(self.loss, self.columns, self.form, self._solver)
        held = before.constraints[before.constraints >= 0]
        for columns in (held[held < self.form.n_free], held[held >= self.form.n_free]):
            if columns.size:
                self.session.rescale()
                self.activate(columns)
        if (absent := before.absent).size:
            self.session.fix(absent, before.at_upper[absent])

    # ------------------------------------------------------------------ working set of variables

    def _unfix_nearest(self) -> bool:
        """Free as many variables again as are kept, those nearest to their margin; False if none.

        Nearness is judged at the last good point.
        """
        variables = self.session.absent
        order = np.argsort(np.abs(self.rate[variables]), kind="stable")
        nearest = variables[order[: len(self.session.kept) + 1]]
        if nearest.size:
            self.session.unfix(nearest)
        return bool(nearest.size)

    def _fix_idle(self, rate: Vector) -> None:
        """Fix the variables that sit at an end and, as rates move, will stay there for a while.

        The end follows from the rate alone: a solver may stop a little short of it, and a variable
        well inside its box may be small compared with its costs.
        """
        if not (self.session.constraints >= 0).any():  # rates of the offset alone say nothing
            return
        movement = np.quantile(np.abs(rate - self.rate), MOVEMENT_QUANTILE)
        kept = self.session.kept
        idle = np.abs(rate[kept]) > max(CALM * movement, LEAST_RATE)
        idle &= (rate[kept] < 0) | np.isfinite(self.variables.costs[kept])
        if np.count_nonzero(idle) >= max(1.0, LEAST_SHARE * len(kept)):
            self.session.fix(kept[idle], rate[kept[idle]] > 0)

    # ------------------------------------------------------------------ working set of columns

    def activate(self, columns: Indices) -> None:
        """Put columns into the session; the others follow when they are violated."""
        self.session.activate(columns)
        self._slack_for[columns] = 0

    def _violated_inactive(self, point: RestrictedPoint) -> Indices:
        inactive = np.arange(self.columns.count) >= self.form.n_free
        held = self.session.constraints[self.session.constraints >= 0]
        inactive[held] = False
        candidates = np.flatnonzero(inactive)
        if not candidates.size:
            return candidates
        allowed = self._allowed(point)
        tolerance = SCORE_TOLERANCE * max(1.0, allowed)
        return candidates[self._size(candidates, point) > allowed + tolerance]

    def _allowed(self, point: RestrictedPoint) -> float:
        """What a column may score: under a ball, as much as those in the session."""
        if self.form.radius is None:
            return self.form.threshold
        held = self.session.constraints[self.session.constraints >= 0]
        return float(self._size(held, point).max(initial=0.0))

    def _size(self, columns: Indices, point: RestrictedPoint) -> Vector:
        scores = self.columns.whole_scores(columns, point.response)
        return np.abs(scores) if self.form.two_sided else scores

    def _deactivate_idle(self, point: RestrictedPoint) -> None:
        """Deactivate columns that have been slack for long."""
        if self.form.quadratic > 0:
            return
        idle = self.session.idle(point.coef)
        slack_for = np.zeros(self.columns.count, dtype=np.intp)
        slack_for[idle] = self._slack_for[idle] + 1
        self._slack_for = slack_for
        leaving = idle[slack_for[idle] >= SLACK_ROUNDS]
        if len(leaving) >= max(1.0, LEAST_SHARE * np.count_nonzero(self.session.constraints >= 0)):
            self.session.deactivate(leaving)


def _least_large(loss: SupportVectorLoss, form: DualForm) -> float:
    """The entries above which the penalty of a column's coefficient can be neglected.

    Not where coefficients must be at least 0, and not where all costs together are so small that
    they, and not the model, decide.
    """
    if (form.threshold > 0 and form.quadratic > 0) or not (form.two_sided and len(loss.variables)):
        return np.inf
    least = FREE["quadratic" if form.quadratic > 0 else "linear"]
    return least / min(1.0, float(loss.variables.costs.sum()))


def sample_of(n_rows: int, n_columns: int) -> tuple[Indices, float]:
    """Rows to begin with, in order, and the share of all rows that are near their margin then.

    No rows where there are too few for a sample to be of use.
    """
    size = int(SAMPLE_SIZE * (n_rows * n_columns) ** (2.0 / 3.0))
    if MANY_TIMES * size > n_rows or n_rows * n_columns < SLOW_AT_ONCE:
        return np.zeros(0, dtype=np.intp), 1.0
    rows = np.random.default_rng(0).choice(n_rows, size, replace=False, shuffle=False)
    return np.sort(rows), min(1.0, STANDARD_DEVIATIONS * float(np.sqrt(n_columns / size)))
