"""Active-set dual solver, with proximal Newton steps.

Newton steps of an active set method on a restricted dual, made well conditioned.

A step takes the rows inside a piece of their boxes to where their rates are 0, all others status
at their corners. Then all rows that have left their piece, or whose rate points off their corner,
move to the next status, all columns of changed sign become active or idle, and the next step
follows: a primal-dual active set or semismooth Newton method (Hintermüller, Ito, Kunisch, SIAM J.
Optim. 13, 2003) or block principal pivoting (Júdice, Pires, Computers & OR 21, 1994). On a well
conditioned problem it converges in a few steps, whatever the start. Where rows are nearly
collinear, or more rows are free than there are columns, it may cycle. So the problem has a proximal
term

    − ½κ|r − r₀|²,    and Σr = κ'(b − b₀) instead of Σr = 0 where the offset is free,

with which it converges if only κ is large enough.

An active set method for the restricted dual of a quadratic penalty, with a proximal term.

The problem is :class:`~cgboost.optimizers.active_set.quadratic_dual.QuadraticDual`.
Steps on a proximal problem (``ProximalProblem``) converge quickly
where its κ is large; its centre r₀ follows its solution, and gets to the optimum the sooner the
smaller κ is (Rockafellar, SIAM J. Control Optim. 14, 1976). So κ is adapted: it rises when the
steps do not converge and falls when they do. Once the right rows are at their corners κ does not
matter any more, and the last steps are exact: a solve that begins near the optimum needs two or
three.

The solver (``ActiveSetSession``) stands where a
:class:`~cgboost.optimizers.simplex.dual_session.DualSession` may stand, without a solver behind it.
Every solve goes on from the pseudo-response of the one before: a row that was at an end of its box
is most often still there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cgboost._solvers import SolverFailure
from cgboost.arrays import Indices, Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.active_set.quadratic_dual import (
    ROUNDING,
    DualIterate,
    KeptProducts,
    QuadraticDual,
    RowBoxes,
    WeightedSubmatrix,
    free_rows,
)
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.live_dual import DualSolution, LiveDual
from cgboost.optimizers.solver_options import check_time, deadline_of
from cgboost.penalties.penalty import DualForm

FEW, RELEASED, RELEASED_BESIDE = 20, 0.1, 0.5
"""Rows that leave their corners in one step, at most: so many, or shares of all and of the free."""

CONSISTENT = 1e-12
"""What rounding of s may cost, relative to the objective. No more than the gap at which a solve
ends, `TARGET_GAP`."""


class ProximalProblem:
    """One proximal problem, and where the steps on it have come.

    Parameters
    ----------
    centre : DualIterate
        Where the steps begin, with r₀ and b₀.
    proximity : float
        κ in units of the mean squared length of a row, and κ' in units of its inverse.

    Attributes
    ----------
    r : ndarray of shape (n_lines,)
        Not always inside the boxes.
    """

    def __init__(self, problem: QuadraticDual, centre: DualIterate, proximity: float) -> None:
        self.problem, self._centre = problem, centre
        self._stiffness = proximity * problem.unit
        give = {"free": proximity / problem.unit, "penalized": 1.0, "none": 0.0}
        self._give = give[problem.offset]
        self._held = centre.offset if problem.offset == "free" else 0.0
        self.r, self.offset = centre.r, centre.offset
        self._s, self._output = centre.s, centre.output
        self._status = problem.boxes.status(centre.r)
        self._pieces = problem.pieces(centre.s)

    def step(self, products: KeptProducts) -> None:
        """Take the free rows to rates of 0, and the others to their corners."""
        problem, boxes = self.problem, self.problem.boxes
        r = boxes.at_corners(self._status, self.r)
        left = np.flatnonzero(r != self.r)
        free_lines = np.flatnonzero(self._status % 2 == 1)
        total = float(r.sum()) + problem.total
        if free_lines.size:
            diagonal = self._stiffness + boxes.curvature[free_lines]
            system = free_rows(
                problem.block, products, free_lines, left, self._pieces != 0, diagonal
            )
            output = self._output[free_lines] + system.response_to((r - self.r)[left])
            pull = output + self.offset + self._bent(r)[free_lines]
            rate = boxes.slopes[free_lines, self._status[free_lines] // 2] - pull
            if problem.offset == "none":
                r[free_lines] += system.solve(rate)
            else:
                by_rate, by_offset = system.solve(
                    np.stack([rate, np.ones(len(free_lines))], axis=1)
                ).T
                ahead = total + float(by_rate.sum()) - self._give * (self.offset - self._held)
                change = ahead / (float(by_offset.sum()) + self._give)
                self.offset += change
                r[free_lines] += by_rate - change * by_offset
        elif problem.offset != "none":
            self.offset = self._held + total / self._give
        # increments: a sum of large terms that cancel would leave the output inexact
        self._s = self._s + (r - self.r) @ problem.block.values
        self.r, self._output = r, problem.output(self._s)

    def move(self) -> int:
        """Move rows and columns to where they belong now; how many were not there."""
        pull = self._output + self.offset + self._bent(self.r)
        n_free = np.count_nonzero(self._status % 2 == 1)
        most = max(FEW, int(RELEASED * len(pull)), int(RELEASED_BESIDE * n_free))
        status, moving = self.problem.boxes.moved(self._status, self.r, pull, most)
        pieces = self.problem.pieces(self._s)
        noise = ROUNDING * float(np.abs(self._s).max(initial=0.0))
        turned = (pieces != self._pieces) & (np.abs(self._s) > noise)
        self._status, self._pieces = status, pieces
        return moving + int(np.count_nonzero(turned))

    def result(self, converged: bool) -> DualIterate:
        """Where the steps have come, inside the boxes; if they have converged, they are there."""
        problem, r = self.problem, self.problem.boxes.clip(self.r)
        exact = problem.scores(r)
        if converged and problem.mismatch(self._s, exact) <= CONSISTENT * self._centre.scale:
            return problem.iterate(r, self.offset, self._s, self._output, exact)
        return problem.point(r, self.offset)

    def _bent(self, r: Vector) -> Vector:
        """Derivatives of the quadratic terms of each row alone."""
        boxes = self.problem.boxes
        return boxes.curvature * (r - boxes.centre) + self._stiffness * (r - self._centre.r)


TARGET_GAP = 1e-12
"""A solve ends at this gap, relative to the objective (the rounding of sums over many rows leaves
little less)."""

HALF = 0.5
"""A solve ends where the gap does not fall to this share of the smallest in `ACTIVE_SET_STEPS`."""

ACTIVE_SET_STEPS = 300
"""Newton steps in which the gap has to fall."""

STUCK = 3
"""A solve ends after so many problems with the least κ."""

STEPS_TO_CONVERGE = 15
"""Newton steps for one proximal problem."""

PATIENCE = 3
"""Steps after which fewer rows and columns must move than ever before."""

START, START_IN_BOX = 1e-2, 0.3
"""The first κ, relative to the mean squared length of a row, or to the inverse of its box."""

LEAST, MOST = 1e-11, 1e6
"""The range of κ: the least keeps the systems regular in floating point."""

HARDER, SOFTER, SOFTEST = 10.0, 0.1, 1e-4
"""Factors of κ where the steps do not converge, where they do, and where they do quickly."""

FEW_STEPS = 4
"""Steps converge quickly if so many will do."""

RESPECT, FORGETTING = 10.0, 0.3
"""κ stays above this many times the last one that did not converge, which fades by this share."""


@dataclass
class ActiveSetMethod:
    """The method, and what is worth keeping from one problem to the next.

    Attributes
    ----------
    proximity : float or None
        The κ to begin with: the one at which the first steps have converged last time.
    steps : int
        Newton steps so far.
    """

    products: KeptProducts = field(default_factory=KeptProducts)
    proximity: float | None = None
    steps: int = 0

    def solve(
        self,
        problem: QuadraticDual,
        start: DualIterate,
        deadline: float,
        target_gap: float = TARGET_GAP,
    ) -> DualIterate:
        """The optimum, or the nearest point that can be found, from one near it.

        It ends at the relative gap ``target_gap``.

        Raises
        ------
        LimitError
            If the deadline (by ``time.perf_counter``) has passed.
        """
        self.products.restrict(problem.block.row)
        first = max(START, START_IN_BOX / (problem.unit * problem.mean_box))
        proximity = Proximity(first if self.proximity is None else self.proximity)
        at = best = start
        halved, stuck = self.steps, 0
        while (
            best.relative_gap > target_gap
            and self.steps < halved + ACTIVE_SET_STEPS
            and stuck < STUCK
        ):
            before = self.steps
            attempt = ProximalProblem(problem, at, proximity.kappa)
            converged = self._converge(attempt, deadline)
            point = attempt.result(converged)
            better = point.relative_gap <= HALF * best.relative_gap
            if converged or better:
                at = point
            if better:
                halved = self.steps
            stuck = 0 if better or LEAST < proximity.kappa < MOST else stuck + 1
            best = point if point.relative_gap < best.relative_gap else best
            proximity.learn(self.steps - before if converged else None)
        if len(problem.constant):
            self.proximity = proximity.first
        return best

    def _converge(self, attempt: ProximalProblem, deadline: float) -> bool:
        """Newton steps until nothing moves any more; False if they do not get there."""
        fewest, since = np.inf, 0
        for _ in range(STEPS_TO_CONVERGE):
            check_time(deadline, "the active set method")
            self.steps += 1
            try:
                attempt.step(self.products)
            except np.linalg.LinAlgError:
                return False
            moving = attempt.move()
            if not moving:
                return True
            fewest, since = (moving, 0) if moving < fewest else (fewest, since + 1)
            if since >= PATIENCE:
                return False
        return False


class Proximity:
    """The κ of one proximal problem after another, within one solve.

    Attributes
    ----------
    kappa : float
        Relative to the mean squared length of a row.
    first : float
        The κ to begin the next solve with.
    """

    def __init__(self, kappa: float) -> None:
        self.kappa = self.first = kappa
        self._converged = self._refused = 0.0

    def learn(self, steps: int | None) -> None:
        """Take note that so many steps have converged; None: that they have not."""
        if steps is None:
            self._refused = self.kappa
            middle = np.sqrt(self.kappa * self._converged)
            between = self.kappa < middle < HALF * self._converged
            self.kappa = middle if between else HARDER * self.kappa
        else:
            if not self._converged:
                certain = steps <= FEW_STEPS and not self._refused
                self.first = self.kappa * (SOFTER if certain else 1.0)
            self._converged, self._refused = self.kappa, FORGETTING * self._refused
            lowest = min(self.kappa, RESPECT * self._refused)
            self.kappa = max((SOFTEST if steps <= FEW_STEPS else SOFTER) * self.kappa, lowest)
        self.kappa = float(np.clip(self.kappa, LEAST, MOST))


ENOUGH = 1e-6
"""A larger relative gap is a failure. It is what other solvers may leave, too: `DEFAULT_CHECK` of
`solvers.program.errors`."""

SHARE_OF_OPENED = 0.1
"""A coarse solve ends at this share of the gap that new columns have opened. Measured on 1000 and
3000 digits: half of the Newton steps, and as many columns."""

SMALL_PROBLEM = 2**20
"""Variables are not fixed while rows times columns are at most this."""

INSIDE = 0.2
"""Share of the rows that begin inside their boxes."""

A_LITTLE = 1e-3
"""These rows begin so far inside, in units of the inverse of the mean squared length of a row."""


class ActiveSetSession(LiveDual):
    """A restricted dual over some of the variables of a loss and all columns.

    Parameters
    ----------
    loss : SupportVectorLoss
        With finite costs and no mass.
    form : DualForm
        With a quadratic term alone, neither a threshold nor a radius.
    """

    def __init__(self, loss: SupportVectorLoss, columns: ColumnStore, form: DualForm) -> None:
        self.loss, self.variables, self.columns, self.form = loss, loss.variables, columns, form
        self.at_upper = np.zeros(len(self.variables), dtype=bool)
        self.kept: Indices = np.arange(len(self.variables))
        self.constraints: Indices = np.zeros(0, dtype=np.intp)
        self._method = ActiveSetMethod()
        self._response: Vector | None = None
        self._had_columns = False
        self._offset = 0.0
        self._accuracy, self._coarse = 0.0, False

    # ------------------------------------------------------------------ what is in the session

    @property
    def steps(self) -> int:
        """Newton steps so far."""
        return self._method.steps

    def activate(self, columns: Indices) -> None:
        """Put columns into the session."""
        self.constraints = np.append(self.constraints, columns)

    def unfix(self, variables: Indices) -> None:
        """Put variables into the session, at the end at which they were fixed."""
        self.at_upper[variables] = False
        self.kept = np.append(self.kept, variables)

    def fix(self, variables: Indices, at_upper: NDArray[np.bool_]) -> None:
        """Take variables out of the session and leave them at 0 or at their upper end.

        A row that stands at a corner costs no more than its part of a product with the columns.
        Where there are few of both, a row out of its place, which means another solve, costs more:
        then they stay.
        """
        if len(self.loss.target) * self.columns.count <= SMALL_PROBLEM:
            return
        self.at_upper[variables] = at_upper
        self.kept = self.kept[~np.isin(self.kept, variables)]

    # ------------------------------------------------------------------ solving

    def aim(self, accuracy: float, *, again: bool) -> None:
        """How well to solve from now on; norms of functions alone are solved coarsely."""
        self._accuracy = accuracy
        self._coarse = self.form.penalty.of_functions and accuracy > 0 and not again

    def solve(self, time_limit: float | None) -> DualSolution:
        """The optimum, from where the last solve has ended.

        Raises
        ------
        LimitError
            If there is no time left.
        SolverFailure
            If the optimum could not be found; a general solver may.
        """
        deadline = deadline_of(time_limit)
        problem = self._problem()
        start = problem.point(self._start(problem), self._offset)
        target_gap = TARGET_GAP
        if self._coarse and self._had_columns:
            target_gap = max(self._accuracy, SHARE_OF_OPENED * start.relative_gap)
        end = self._method.solve(problem, start, deadline, target_gap)
        self.solved = end.relative_gap <= ENOUGH or not self._coarse
        self.gap = 0.0 if self.solved else end.gap
        if end.relative_gap > max(ENOUGH, target_gap):
            raise SolverFailure(
                f"the active set method has come no nearer than a gap of {end.relative_gap:.1e}"
            )
        response = self._fixed()
        response[problem.boxes.row] = end.r
        self._response, self._offset = response, end.offset
        self._had_columns = self.columns.count > 0
        coef = self.columns.scales * problem.coefficients(end.s) / self.form.quadratic
        return DualSolution(self.variables.values(response), coef, end.offset)

    # ------------------------------------------------------------------ data

    def _problem(self) -> QuadraticDual:
        fixed = self._fixed()
        boxes = RowBoxes.of(self.variables, self.kept, fixed)
        others = fixed.copy()
        others[boxes.row] = 0.0
        middle = others.copy()
        middle[boxes.row] = boxes.corners[:, 1]
        everything = np.arange(self.columns.count)
        return QuadraticDual(
            block=WeightedSubmatrix(
                self.columns.scaled(everything, boxes.row),
                boxes.row,
                self.columns.scales**2 / self.form.quadratic,
            ),
            constant=self.columns.scores(everything, others) / self.columns.scales,
            boxes=boxes,
            gain=self.loss.gain(middle),
            total=float(others.sum()),
            two_sided=self.form.two_sided,
            offset=self.form.offset,
            scale=partial(self.form.gap_scale, self.loss),
        )

    def _fixed(self) -> Vector:
        """The pseudo-response that the fixed variables make."""
        return self.variables.response(np.where(self.at_upper, self.variables.costs, 0.0))

    def _start(self, problem: QuadraticDual) -> Vector:
        """The last pseudo-response, or one near 0."""
        boxes = problem.boxes
        if self._response is not None and self._had_columns:
            return boxes.clip(self._response[boxes.row])
        # if none were inside its box, all would come free at once
        inside = np.random.default_rng(0).random(len(boxes)) < INSIDE
        width = boxes.corners[:, 2] - boxes.corners[:, 0]
        step = np.minimum(A_LITTLE / problem.unit, 0.1 * width)
        r = boxes.clip(boxes.centre)
        return np.where(inside, r + np.where(boxes.exists[:, 1], step, -step), r)
