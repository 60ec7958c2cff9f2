"""Interior-point dual solver.

A session stands where a :class:`~cgboost.optimizers.simplex.dual_session.DualSession` may stand,
without a solver behind it. Variables and columns come and go with their part of the last iterate,
and every solve goes on from there. It is solved to a fraction of the gap that was open at its
start: a restricted problem need not be solved better than its columns are good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from cgboost._solvers import SolverFailure
from cgboost.arrays import Indices, Vector
from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.interior_point.interior_point_steps import (
    SLACK_IMPORTANCE,
    Descent,
    Iterate,
    few_coefficients,
    importance,
    in_basis,
    inside_limits,
    variables_at_ends,
)
from cgboost.optimizers.live_dual import Basis, BoxedDual, DualSolution, LiveDual
from cgboost.optimizers.simplex.dual_session import OFFSET
from cgboost.optimizers.solver_options import check_time, deadline_of
from cgboost.parallel.threads import blas_threads
from cgboost.penalties.penalty import DualForm

Data = TypeVar("Data", bound=BoxedDual)

DIRECTION = -3
"""Stands for the first free direction in the list of constraints; the others are below it."""

SHARE = 0.05
"""Share of the gap open at the start of a solve at which it may end."""

AGAIN = 0.01
"""What is left of `SHARE` each time that the same problem is to be solved better."""

FINEST_SHARE = 1e-9
"""A solve ends no finer than this, relative to the objective: the normal equations lose digits near
the optimum, and finer targets cost steps that no longer narrow the gap."""

COARSEST = 0.1
"""A solve ends no coarser than this, relative to the objective."""

INTERIOR_STEPS = 100
"""Interior point steps in one solve."""

PURIFICATION = 0.5
"""Share of the gap that purification may cost."""

DIVERGENCE = 1e4
"""A gap that grows by this factor shows that there is no solution."""

NEARLY = 1e-7
"""A relative gap that is good enough where the target cannot be reached. Solvers of linear programs
leave as much by default (`LP_FEASIBILITY`)."""

ROUGHLY = 1e-2
"""The same where large columns take the digits that it would need. No other solver has more, and
nothing rests on the answer."""

RECALLS = 3
"""So often variables come back that were missing, before all of them do. Of 13 solves for 10000
digits two needed it once, and none more often; all rows at once took 16 of 39 s before."""

NO_BETTER = 15
"""Steps without a smaller gap after which a solve ends where it is."""

START = 0.5
"""Variables start at this share of their costs."""

LEAST_BALANCE = 0.01
"""The least factor of u by which a start is brought to Σr = 0."""


class GatheredSubmatrix:
    """Columns in a session on the training rows in it, with a column of ones and free directions.

    Gathering them from all columns on all rows takes as long as a step. What is there already is
    therefore taken from the block before, unless new directions have changed what large columns
    leave.
    """

    def __init__(self, columns: ColumnStore) -> None:
        nothing = np.zeros(0, dtype=np.intp)
        self._columns, self._rows, self._constraints = columns, nothing, nothing
        self._directions = len(columns.large)
        self.values = np.zeros((0, 0))

    def to(self, rows: Indices, constraints: Indices) -> GatheredSubmatrix:
        """The block of training rows and of the columns of constraints."""
        block = GatheredSubmatrix(self._columns)
        block._rows, block._constraints = rows, constraints
        kept, column = _found(self._constraints, constraints)
        stay, row = _found(self._rows, rows)
        few = 2 * np.count_nonzero(kept) < len(constraints) or 2 * np.count_nonzero(stay) < len(
            rows
        )
        if few or self._directions < block._directions:
            block.values = self._gathered(rows, constraints)
            return block
        values = self.values
        if not kept.all():
            values = np.empty((len(self._rows), len(constraints)))
            values[:, kept] = self.values[:, column[kept]]
            values[:, ~kept] = self._gathered(self._rows, constraints[~kept])
        elif not _same(column, self._constraints):
            values = values[:, column]
        if not (stay.all() and _same(row, self._rows)):
            values = values[row]
            values[~stay] = self._gathered(rows[~stay], constraints)
        block.values = values
        return block

    def _gathered(self, rows: Indices, constraints: Indices) -> Vector:
        real = constraints >= 0
        if real.all():
            return self._columns.scaled(constraints, rows)
        values = np.ones((len(rows), len(constraints)))
        values[:, real] = self._columns.scaled(constraints[real], rows)
        added = constraints <= DIRECTION  # directions of large columns
        values[:, added] = self._columns.large.basis[np.ix_(rows, DIRECTION - constraints[added])]
        return values


class InteriorSession(LiveDual):
    """A restricted dual over some of the variables of a loss and some of the columns.

    Parameters
    ----------
    loss : SupportVectorLoss
        With finite costs and no mass.
    form : DualForm
        Of the 1-norm or the elastic net; or of the 2-norm of coefficients that are free in sign.
    """

    finest: ClassVar[float] = FINEST_SHARE
    """The share of the objective to which a problem is solved at most."""

    def __init__(self, loss: SupportVectorLoss, columns: ColumnStore, form: DualForm) -> None:
        self.loss, self.variables, self.columns, self.form = loss, loss.variables, columns, form
        self.at_upper = np.zeros(len(self.variables), dtype=bool)
        self._one_a_row = int(np.bincount(self.variables.row).max(initial=0)) <= 1
        self.kept: Indices = np.arange(len(self.variables))
        self.constraints = self._offsets  # -> column, OFFSET or DIRECTION − number
        self.gap = 0.0
        self.solved = False
        self._mu, self._wanted_gap, self._reached = 1.0, self.finest, np.inf
        self._data: BoxedDual | None = None
        self._nothing = loss.value(np.zeros(loss.n_rows))
        self._cost_norm = float(np.linalg.norm(loss.variables.costs))
        self._shrinks = loss.shrinks
        self._neutral = self.variables.values(np.zeros(loss.n_rows))
        self._base_gain = float(self.variables.base @ loss.target)
        self.pivot_scores = np.zeros(0)
        self._begun = False
        self._block = GatheredSubmatrix(columns)
        self.begin()

    @property
    def _offsets(self) -> Indices:
        """What stands for offsets in the list of constraints."""
        return np.full(int(self.form.offset != "none"), OFFSET)

    # ------------------------------------------------------------------ what is in the session

    def activate(self, columns: Indices) -> None:
        """Put columns (or OFFSET, alone) into the session."""
        self.constraints, self._data = np.append(self.constraints, columns), None
        data, at = self._problem(), self._at
        if new := len(data.upper) - len(at.u):  # scores of pivots, which come first
            least = self._mu / float(data.upper[:new].mean())
            at.u = np.append(START * data.upper[:new], at.u)
            at.low, at.high = (np.append(np.full(new, least), z) for z in (at.low, at.high))
        nothing, s = np.zeros(len(columns)), inside_limits(data, data.scores(at.u))[len(at.coef) :]
        at.coef, at.s = np.append(at.coef, nothing), np.append(at.s, s)
        at.below, at.above = np.append(at.below, nothing), np.append(at.above, nothing)

    def deactivate(self, columns: Indices) -> None:
        """Take columns out."""
        stay = ~np.isin(self.constraints, columns)
        self.constraints, self._data, at = self.constraints[stay], None, self._at
        at.coef, at.s, at.below, at.above = (
            values[stay] for values in (at.coef, at.s, at.below, at.above)
        )

    def unfix(self, variables: Indices) -> None:
        """Put variables into the session, near the end at which they were fixed."""
        at, costs = self._at, self.variables.costs[variables]
        rate = self._rate(variables)
        low, high = multipliers(rate, self._mu / float(costs.mean()))
        inside = np.minimum(self._mu / np.where(self.at_upper[variables], high, low), 0.1 * costs)
        u = np.where(self.at_upper[variables], costs - inside, inside)
        self.at_upper[variables] = False
        self.kept, self._data = np.append(self.kept, variables), None
        at.u, at.low, at.high = (
            np.append(old, new) for old, new in ((at.u, u), (at.low, low), (at.high, high))
        )

    def fix(self, variables: Indices, at_upper: NDArray[np.bool_]) -> None:
        """Take variables out of the session and leave them at 0 or at their upper end."""
        self.at_upper[variables] = at_upper
        stay = ~np.isin(self.kept, variables)
        self.kept, self._data, at = self.kept[stay], None, self._at
        stay = np.append(np.ones(len(at.u) - len(stay), dtype=bool), stay)
        at.u, at.low, at.high = (values[stay] for values in (at.u, at.low, at.high))
        if not self._begun:
            self.begin()

    # ------------------------------------------------------------------ solving

    def aim(self, accuracy: float, *, again: bool) -> None:
        """Set the gap to solve to: a share of what is open, but no less than is asked for."""
        if accuracy == 0.0:
            self._wanted_gap = self.finest
        elif again:
            self._wanted_gap = max(self.finest, AGAIN * self._wanted_gap)
        else:
            objective = self._objective(self._at.coef)
            opened = self._problem().opened(self._at.u, self._at.coef)
            share = SHARE * opened / self._scale(objective)
            self._wanted_gap = max(self.finest, accuracy, min(COARSEST, share))

    def solve(self, time_limit: float | None) -> DualSolution:
        """Go on from the last iterate until the gap is a fraction of what new columns have opened.

        Where that fails, which it may since the variables in the session may be too few to meet the
        rows, those come back that stop the model where it has gone, and it is tried again from
        where it began; at last all variables come back and it starts anew.

        Raises
        ------
        LimitError
            If the time is over.
        SolverFailure
            If that leads nowhere either.
        """
        deadline = deadline_of(time_limit)
        self._begun = True
        before = replace(self._at), self._mu
        done = len(self.kept) > 0 and self._attempt(deadline)
        for _ in range(RECALLS):
            if done or not self._recall(before):
                break
            before = replace(self._at), self._mu
            done = self._attempt(deadline)
        if not done:
            self.start_anew()
            enough = ROUGHLY if len(self.columns.large) else NEARLY
            if not (self._attempt(deadline) or self._reached < enough):
                raise SolverFailure("the interior point method made no progress")
        data, at = self._problem(), self._at
        scale = self._scale(self._objective(at.coef))
        allowance = max(PURIFICATION * self.gap, self.finest * scale)
        return self._solution(
            variables_at_ends(data, at, self.gap + allowance),
            few_coefficients(data, at, allowance),
        )

    def _recall(self, before: tuple[Iterate, float]) -> bool:
        """Go back to an iterate, with the variables whose absence has led astray; False if none.

        Too few of them leave an objective without a lower end. The coefficients of a descent along
        it say which rows would have paid for them: those fixed at the wrong end.
        """
        absent = self._may_return
        rate = self._rate(absent)
        wrong = absent[np.where(self.at_upper[absent], rate < 0.0, rate > 0.0)]
        self._at, self._mu = before
        if wrong.size:
            self.unfix(wrong)
        return bool(wrong.size)

    @property
    def _may_return(self) -> Indices:
        """The fixed variables that a solve may bring back."""
        return self.absent

    def _attempt(self, deadline: float) -> bool:
        """One descent to the target; False if it came to nothing."""
        data, at = self._problem(), self._at
        pairs = max(1, 2 * (len(at.u) + len(at.coef)))
        objective = self._objective(at.coef)
        opened = max(data.opened(at.u, at.coef), self._wanted_gap * self._scale(objective))
        if self._shrinks and not self.at_upper.any():
            at.shrink(data)
        at.recentre(data, opened / pairs)
        descent = Descent(data, at)
        try:
            with blas_threads(1):
                reached = self._follow(descent, deadline)
        finally:
            descent.write()
        self._mu = self.gap / pairs
        return reached

    def _objective(self, coef: Vector) -> float:
        data = self._problem()
        return data.objective(coef, data.rate(coef))

    def _scale(self, objective: float) -> float:
        return self.form.gap_scale(self.loss, objective + self._problem().fixed_gain)

    def _follow(self, descent: Descent, deadline: float) -> bool:
        """Steps to the target, or as near as they lead; False if they lead nowhere."""
        least, since, best = np.inf, 0, (np.inf, np.inf)
        refined = descent.data.refined
        self.solved = True
        for _ in range(INTERIOR_STEPS):
            self.gap = descent.gap
            self._reached = self.gap / self._scale(descent.objective)
            if self._reached <= self._wanted_gap:
                self.solved = self._wanted_gap <= self.finest
                return True
            if not self.gap <= DIVERGENCE * least:
                if refined:
                    break
                return False
            if self.gap < best[0]:
                best = self.gap, self._reached
                descent.mark()
            least, since = (self.gap, 0) if self.gap < 0.9 * least else (least, since + 1)
            if since > NO_BETTER or not descent.step():
                break
            check_time(deadline, "the interior point method")
        if refined:  # digits that are lost later were there before
            descent.return_to_mark()
            self.gap, self._reached = best
        return self._reached <= min(10.0 * max(self._wanted_gap, FINEST_SHARE), COARSEST)

    def start_anew(self) -> None:
        """All variables in the session."""
        self.at_upper[:] = False
        self.kept, self._data = np.arange(len(self.variables)), None
        self.begin()

    def begin(self) -> None:
        """The variables in the session well inside their box, and coefficients of 0."""
        kept, data, linear = self.kept, self._problem(), self.variables.linear()
        u, pivots = START * data.upper, len(data.upper) - len(kept)
        u = np.where(data.neutral > 0, data.neutral, u)
        if self.form.offset == "free" and len(kept):
            of_rows = u[pivots:]
            of_rows *= self._balance(
                of_rows, float(data.constant[self.constraints == OFFSET].sum())
            )
        self._begin_at(u, float(np.abs(linear).mean()) if len(linear) else 1.0)

    def _begin_at(self, u: Vector, least: float) -> None:
        """Coefficients of 0 and these u, with multipliers of at least ``least``."""
        data, nothing = self._problem(), np.zeros(len(self.constraints))
        low, high = multipliers(data.linear, least)
        s = inside_limits(data, data.scores(u))
        self._at = Iterate(u, low, high, nothing, s, nothing, nothing)
        if self._shrinks and not self.at_upper.any():
            self._at.shrink(data)

    def _balance(self, u: Vector, fixed: float) -> Vector:
        """Factors of at most 1 for u that bring Σr, with what is fixed, nearer to 0."""
        positive = self.variables.sign[self.kept] > 0
        above, below = float(u[positive].sum()), float(u[~positive].sum())
        if not (above > 0 and below > 0):
            return np.ones(len(u))
        return np.where(
            positive,
            np.clip((below - fixed) / above, LEAST_BALANCE, 1.0),
            np.clip((above + fixed) / below, LEAST_BALANCE, 1.0),
        )

    def _solution(self, kept: Vector, coefs: Vector) -> DualSolution:
        """The answer with these u of the variables and coefficients of the columns in it."""
        u, pivots = np.where(self.at_upper, self.variables.costs, 0.0), len(kept) - len(self.kept)
        u[self.kept] = np.clip(kept[pivots:], 0.0, self.variables.costs[self.kept])
        held = self.constraints >= 0
        coef = self.columns.of_columns(coefs[held], self.constraints[held])
        if not self.form.two_sided:
            np.maximum(coef, 0.0, out=coef, where=np.arange(len(coef)) >= self.form.n_free)
        if pivots:
            coef = self.columns.large.restore(coef, coefs[self.constraints <= DIRECTION])
            self.pivot_scores = kept[:pivots:2] - kept[1:pivots:2]
        return DualSolution(u, coef, float(coefs[self.constraints == OFFSET].sum()))

    def idle(self, coef: Vector) -> Indices:
        """Columns in the session that seem to be slack, at coefficients ``coef``."""
        data = self._problem()
        slack = self.constraints[
            (importance(data, self._at) < SLACK_IMPORTANCE) & (self.constraints >= 0)
        ]
        # next to large columns a coefficient that costs little may move the output far
        return slack[coef[slack] == 0.0] if data.refined else slack

    @property
    def basis(self) -> Basis:
        """The basis of an optimal vertex, as the last iterate suggests it."""
        data, at = self._problem(), self._at
        used, inside = in_basis(data, at)
        held = self.constraints >= 0
        columns, offset = used & held, bool((used & ~held).any())
        at_upper = self.at_upper.copy()
        at_upper[self.kept] = at.u > 0.5 * data.upper
        coef = np.zeros(self.columns.count)
        coef[self.constraints[columns]] = np.sign(at.coef[columns])
        intercept = float(np.sign(at.coef[~held]).sum()) if offset else 0.0
        return Basis(coef, intercept, self.kept[inside], at_upper)

    # ------------------------------------------------------------------ data

    def _problem(self) -> BoxedDual:
        if self._data is not None:
            return self._data
        variables, columns, kept = self.variables, self.columns, self.kept
        constraints = self.constraints
        rows, row = variables.row[kept], np.arange(len(kept))
        if not self._one_a_row:
            rows, row = np.unique(rows, return_inverse=True)
        fixed = variables.response(np.where(self.at_upper, variables.costs, 0.0))
        real = constraints >= 0
        constant = np.full(len(constraints), fixed.sum())
        self._block = block = self._block.to(rows, constraints)
        scales = np.ones(len(constraints))
        scales[real] = columns.scales[constraints[real]]
        constant[real] = columns.scores(constraints[real], fixed) / scales[real]
        data = self._data_of(BoxedDual, block.values, row, constant, scales)
        data.in_order = self._one_a_row
        self._data = self._with_pivots(data, fixed, scales)
        return self._data

    def _data_of(
        self,
        kind: type[Data],
        block: Any,
        row: Indices,
        constant: Vector,
        scales: Vector,
        **own: Any,
    ) -> Data:
        """The variables and columns in the session, on the rows of a block."""
        variables, form, kept, constraints = self.variables, self.form, self.kept, self.constraints
        charged = (constraints >= form.n_free) | (form.charges_offset & (constraints == OFFSET))
        linear = variables.linear()
        return kind(
            block=block,
            row=row,
            sign=variables.sign[kept],
            linear=linear[kept],
            upper=variables.costs[kept],
            curvature=variables.curvature[kept],
            constant=constant,
            limit=np.where(charged, form.threshold / scales, 0.0),
            softness=np.where(charged, form.quadratic / scales**2, 0.0),
            two_sided=(constraints < form.n_free) | form.two_sided,
            fixed_gain=self._base_gain + float((linear * variables.costs)[self.at_upper].sum()),
            neutral=self._neutral[kept],
            **own,
        )

    def _with_pivots(self, data: BoxedDual, fixed: Vector, scales: Vector) -> BoxedDual:
        """The data with what the free directions of large columns say of their pivots' scores w.

        A score w = w₁ − w₂ has two variables without a linear term, and its own row in the block.
        """
        large, constraints = self.columns.large, self.constraints
        places = np.flatnonzero(constraints <= DIRECTION)
        if not places.size:
            return data
        order = DIRECTION - constraints[places]
        data.constant[places] = fixed @ large.basis[:, order]
        in_directions, others, in_others = large.couplings()
        below = np.zeros((len(order), len(constraints)))
        below[:, places] = -in_directions[np.ix_(order, order)]
        place = np.full(self.columns.count, -1)
        place[constraints[constraints >= 0]] = np.flatnonzero(constraints >= 0)
        held = np.flatnonzero(place[others] >= 0)
        large_places = place[others[held]]
        below[:, large_places] = in_others[np.ix_(order, held)] / scales[large_places]
        count, quadratic = 2 * len(order), self.form.quadratic
        # no coefficient costs more than the model without any
        most = np.full(len(order), np.sqrt(2.0 * quadratic * self._nothing))
        limit = data.limit
        if not quadratic:
            most = self.form.threshold * (1.0 - large.noise(large.pivots[order], self._cost_norm))
            limit = limit.copy()
            limit[large_places] *= 1.0 - large.noise(others[held], self._cost_norm)
        return replace(
            data,
            block=np.vstack([data.block, below]),
            row=np.append(len(data.block) + np.repeat(np.arange(len(order)), 2), data.row),
            sign=np.append(np.tile([1.0, -1.0], len(order)), data.sign),
            linear=np.append(np.zeros(count), data.linear),
            neutral=np.append(np.zeros(count), data.neutral),
            upper=np.append(np.repeat(most, 2), data.upper),
            limit=limit,
            refined=True,
            in_order=False,
            curvature=np.append(
                np.full(count, 1.0 / quadratic if quadratic else 0.0), data.curvature
            ),
        )

    def _rate(self, variables: Indices) -> Vector:
        """Rates of some variables, in the session or not, at the present coefficients."""
        at = self._solution(self._at.u, self._at.coef)
        output = self.columns.combine(at.coef) + at.intercept
        return self.variables.rate(output)[variables]


def _found(among: Indices, wanted: Indices) -> tuple[NDArray[np.bool_], Indices]:
    """Which of the wanted numbers are among others, and where; 0 for the rest."""
    least = min(int(among.min(initial=0)), int(wanted.min(initial=0)))
    largest = max(int(among.max(initial=0)), int(wanted.max(initial=0)))
    places = np.full(largest - least + 1, -1)
    places[among - least] = np.arange(len(among))
    place = places[wanted - least]
    return place >= 0, np.maximum(place, 0)


def _same(place: Indices, among: Indices) -> bool:
    """Whether these places are all of the others, in their order."""
    return len(place) == len(among) and bool((place == np.arange(len(place))).all())


def multipliers(rate: Vector, least: float) -> tuple[Vector, Vector]:
    """Multipliers z₀, z₁ ≥ least with z₁ − z₀ = rate."""
    low, high = np.maximum(-rate, 0.0), np.maximum(rate, 0.0)
    return low + least, high + least
