"""Primal simplex method with long steps for the 1-norm and piecewise linear losses.

    min  Σ_j limit_j|α_j| + Σ_i base_i (target_i − f_i) + Σ_v cost_v·max(0, rate_v(f)),   f = Hα + b

Coefficients and rates are alike here: they have a kink at 0 each, where the slope of the objective
rises from −limit (−∞ for α ≥ 0) to limit, or from 0 to cost; at a vertex as many are 0 as there are
columns. The duals of rates are the dual variables of the loss, those of coefficients the scores.

No vertex becomes infeasible where only costs change, so that a regularisation path takes hardly
more steps than it has vertices (Koenker, d'Orey, Applied Statistics 36, 1987; Zhu, Rosset, Hastie,
Tibshirani, NeurIPS 2003). Steps see the rates that are near 0. The others are taken to stay on
their side; when no edge falls any more all are computed, and those that have not are added.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cgboost._solvers import SolverFailure
from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import FloatArray
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import BoxVariables
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.simplex.tableau import Tableau, exchanged
from cgboost.optimizers.simplex.vertex import KinkedVertex, StepOutcome
from cgboost.optimizers.solver_options import check_time, deadline_of
from cgboost.penalties.penalty import DualForm
from cgboost.tolerances import COEFFICIENT_ROUNDING, EPSILON

PERTURBATION = 1e-11
"""Kinks are moved by up to this, relative to the largest target, so that no two are in one place
and every step goes down."""

STEPS_UNSEEN = 300
"""Steps after which values and duals are computed anew; 2 % slower with 100, 8 % with 30."""

STEPS_PER_VARIABLE = 4
"""Steps after which it gives up, as a multiple of the rows and columns of the problem …"""

NEIGHBOURING = 3.0
"""Prices that have changed by more than this factor make a separate problem."""

MOST_ROWS = 400_000
"""The most that was measured: paths of 50 prices, 20 features, took 10.2 s (quantile) and 4.8 s
(hinge), by the interior point method over rows that matter 27.3 and 24.4 s."""

RESIDUAL = 1e-9
"""Errors of rates, relative to the targets, with which the tableau is computed anew …"""

REFINED = 1e-13
"""… and those that are not made smaller …"""

REFINED_SCORES = 1e-11
"""… as errors of scores, relative to the price of the 1-norm."""

NEAR_RATES = 1.0
"""Rates are near within this multiple of what one moved at most from one price to the next.
Paths of 3000 × 300 took 0.40 and 0.58 s of the simplex with it, 0.39 and 0.56 s with 0.7 of it, of
500 × 600 0.30 and 0.32 s; with 1.5 of it 0.41 and 0.65 s."""

LEAST_DROPPED = 0.25
"""Rates are left out in numbers of at least this share of the tableau: it is copied then."""


class EndlessFailure(SolverFailure):
    """A tilted objective falls without end.

    Attributes
    ----------
    start : RestrictedPoint
        A vertex …
    ray : RestrictedPoint
        … and what is added to it on the way, without end.
    """

    def __init__(self, start: RestrictedPoint, ray: RestrictedPoint) -> None:
        super().__init__("the tilted objective falls without end")
        self.start, self.ray = start, ray


class PrimalSimplex:
    """Live restricted problem of a piecewise linear loss and the 1-norm.

    Quantities have numbers: rates of the loss's variables first, then the offset, then coefficients
    of columns that are scaled to entries of at most 1.

    Parameters
    ----------
    loss : SupportVectorLoss
        For which :meth:`takes` is true.
    """

    def __init__(self, loss: SupportVectorLoss, form: DualForm) -> None:
        self.form = form
        self.loss = loss = replace(loss, from_lower=True)
        self.variables = variables = loss.variables
        self.columns = ColumnStore(loss.n_rows, centred=form.offset == "free")
        self._nothing = PERTURBATION * max(1.0, float(np.abs(loss.target).max(initial=0.0)))
        self._moved = self._nothing * _shares(len(variables))
        self._again, self._duals_known, self._reach = False, False, np.inf
        self._tilt: Vector | None = None
        self._offset = len(variables)  # its number, if there is one
        self._first = self._offset if form.offset == "free" else self._offset + 1
        self._vertex: KinkedVertex | None = None
        self._rate = self._rate_before = np.zeros(len(variables))
        self._high = np.zeros(len(variables), dtype=bool)  # rates above 0
        self._basis = np.zeros((2, 0), dtype=np.intp)  # to begin with: rates at 0, and coefficients
        if form.offset == "free":
            first = int(np.argsort(variables.target, kind="stable")[len(variables) // 2])
            self._basis = np.array([[first], [self._offset]])

    @staticmethod
    def takes(loss: object, form: DualForm) -> bool:
        """Whether the method is one for this problem."""
        return (
            isinstance(loss, SupportVectorLoss)
            and loss.mass is None
            and loss.curvature is None
            and form.quadratic == 0.0
            and form.radius is None
            and form.threshold > 0.0
            and not form.charges_offset
            and form.n_free == 0
            and 0 < loss.n_rows <= MOST_ROWS
            and len(loss.variables) > 0
            and bool(np.isfinite(loss.variables.costs).all())
        )

    def reprice(self, loss: SupportVectorLoss) -> None:
        """Go on at the same vertex with the prices of a neighbour (:func:`is_neighbour`)."""
        before, self.loss = self.variables, replace(loss, from_lower=True)
        self.variables, self._again = self.loss.variables, False
        if self._vertex is not None:
            self._scale_duals(self._vertex, before)
            moved = np.abs(self._rate - self._rate_before)
            self._reach = NEAR_RATES * float(moved.max(initial=0.0))
            self._rate_before = self._rate

    def _scale_duals(self, vertex: KinkedVertex, before: BoxVariables) -> None:
        """Duals go with the prices, except for the parts of scores that are not limits."""
        factor = self.variables.costs.sum() / before.costs.sum()
        used, error = vertex.others >= self._offset, np.zeros(len(vertex.others))
        error[used] = (factor - 1.0) * vertex.own_slope[used]
        vertex.dual *= factor
        vertex.dual += vertex.table.slopes(error)
        self._duals_known = all(
            np.allclose(new, factor * old, rtol=RESIDUAL, atol=0.0)
            for new, old in (
                (self.variables.costs, before.costs),
                (self.variables.base, before.base),
            )
        )

    # ------------------------------------------------------------------ as a restricted dual

    def add(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Take in new columns, each of shape (n_rows,)."""
        self.columns.append(values)
        self._again = False

    def tilt(self, worth: Vector, offset: float) -> None:
        """Go on at the same vertex with the objective less Σ worth_j α_j + offset·b.

        That adds to the scores what a row of a fixed pseudo-response would, and bends nowhere. The
        objective may then fall without end: :meth:`solve` raises a :class:`SolverFailure`.

        Parameters
        ----------
        worth : ndarray of shape (n_columns,)
            Of all columns taken in.
        offset : float
            0 without a free offset.
        """
        centred = worth - offset * self.columns.means  # b is that of columns that are centred
        free = self._offset + 1 - self._first
        self._tilt = np.append(np.full(free, offset), centred / self.columns.scales)
        self._again, self._duals_known = False, False

    def branched(self) -> PrimalSimplex:
        """A copy, with the same columns so far: one of the two may take in more at a time."""
        other = copy(self)
        other.columns, other._vertex = copy(self.columns), deepcopy(self._vertex)
        return other

    def start_near(self, coef: Vector, intercept: float) -> None:
        """Begin at the vertex with these coefficients, if it is one."""
        used, variables = np.flatnonzero(coef), self.variables
        numbers = np.append(np.arange(self._first, self._offset + 1), self._offset + 1 + used)
        count = len(numbers)
        if not len(used) or count > len(variables):
            return
        output = self.columns.combine(coef) + intercept + self.columns.shift(coef)
        nearest = np.argpartition(np.abs(variables.rate(output)), count - 1)[:count]
        basis = self._entries(nearest)[:, numbers - self._first]
        try:
            error = basis @ np.linalg.inv(basis) - np.eye(count)
        except np.linalg.LinAlgError:
            return
        if np.abs(error).max() < RESIDUAL:
            self._basis, self._vertex = np.array([nearest, numbers]), None

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return self.columns.largest

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,); with a free offset for Σr = 0 only."""
        return self.columns.scores(np.arange(self.columns.count), response)

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """Optimal vertex over all columns taken in.

        Raises
        ------
        LimitError
            If the time is over.
        SolverFailure
            If it takes too many steps, digits are lost, or the vertex is asked for again.
        """
        deadline = deadline_of(time_limit)
        if self._again:
            raise SolverFailure("the primal simplex has come as near to the optimum as it can")
        self._again = True
        vertex, settled = self._open(), False
        most = STEPS_PER_VARIABLE * (len(self.variables) + self.columns.count)
        for number in range(1, most + 1):
            if self._step(vertex):
                settled = False
                if number % STEPS_UNSEEN == 0:
                    self._settle(vertex)
            elif settled:
                break
            else:
                self._settle(vertex)
                settled = True
            check_time(deadline, "the primal simplex")
        else:
            raise SolverFailure("the primal simplex took too many steps")
        return self._point(vertex)

    def _step(self, vertex: KinkedVertex) -> bool:
        """A step; False where no edge falls."""
        step = vertex.step()
        if step is StepOutcome.ENDLESS:
            self._settle(vertex)
            if not self._add_rows(vertex, np.ones(self._offset, dtype=bool)):
                if self._tilt is not None:
                    raise self._endless(vertex)
                raise SolverFailure("the primal simplex has lost its digits")
        return step is not StepOutcome.NONE

    def _endless(self, vertex: KinkedVertex) -> EndlessFailure:
        """The edge on which the tilted objective falls without end."""
        place, way = vertex.endless
        z = self._coefficients(vertex, way * vertex.table.column(place))
        if (number := int(vertex.at_zero[place])) >= self._offset:
            z[number - self._first] = way
        free = self._offset + 1 - self._first
        coef = z[free:] / self.columns.scales
        intercept = (float(z[0]) if free else 0.0) - self.columns.shift(coef)
        ray = RestrictedPoint(coef, intercept, self._combined(z), response=np.zeros(0))
        return EndlessFailure(self._point(vertex), ray)

    # ------------------------------------------------------------------ rows and columns

    def _entries(self, variables: Indices) -> Vector:
        """How rates follow from the offset and the coefficients, shape (len(variables), n_x)."""
        own, count = self.variables, self.columns.count
        free = self._offset + 1 - self._first
        entries, sign = np.empty((len(variables), free + count)), -own.sign[variables, None]
        scaled = self.columns.scaled(np.arange(count), own.row[variables])
        entries[:, :free] = sign
        np.multiply(scaled, sign, out=entries[:, free:])
        return entries

    def _open(self) -> KinkedVertex:
        """The vertex with the edges of all columns, among near rates, and its duals."""
        costs, limits = self.variables.costs, self.form.threshold / self.columns.scales
        slopes = np.zeros((2, self._offset + 1 + len(limits)))
        slopes[0, : self._offset], slopes[0, self._offset + 1 :] = costs, limits
        slopes[1, self._offset + 1 :] = -limits if self.form.two_sided else -np.inf
        vertex = self._vertex
        if vertex is None:
            vertex = self._vertex = self._begin()
            vertex.slopes_are(slopes)
            self._settle_values(vertex, fresh=True)
            self._rate_before = self._rate
        else:
            self._take_columns(vertex)
            vertex.slopes_are(slopes)
            self._take_rows(vertex)
        if not self._duals_known:
            self._settle_duals(vertex)
            self._duals_known = True
        vertex.measure()
        return vertex

    def _begin(self) -> KinkedVertex:
        """The vertex of the first basis, among all rates."""
        rates, numbers = self._basis
        others, at_zero = (
            np.arange(self._offset),
            np.arange(self._first, self._offset + 1 + self.columns.count),
        )
        others[rates], at_zero[numbers - self._first] = numbers, rates
        return KinkedVertex(self._matrix(at_zero, others), at_zero, others)

    def _matrix(self, at_zero: Indices, others: Indices) -> Vector:
        """How quantities follow from those that are 0: the tableau, shape (n_others, n_zero)."""
        used, rates = np.flatnonzero(others >= self._offset), np.flatnonzero(at_zero < self._offset)
        rows, columns = others.copy(), at_zero.copy()
        rows[used], columns[rates] = at_zero[rates], others[used]
        try:
            return exchanged(self._entries(rows)[:, columns - self._first], used, rates)
        except np.linalg.LinAlgError as error:
            raise SolverFailure("the primal simplex has lost its vertex") from error

    def _take_columns(self, vertex: KinkedVertex) -> None:
        """New columns, at 0: rates that are 0 stay so."""
        known = len(vertex.at_zero)
        numbers = np.arange(self._first + known, self._offset + 1 + self.columns.count)
        if not numbers.size:
            return
        own, at_zero = vertex.others < self._offset, vertex.at_zero < self._offset
        variables = np.append(vertex.others[own], vertex.at_zero[at_zero])
        entries = self._entries(variables)[:, numbers - self._first]
        direct, undone = np.zeros((len(own), len(numbers))), np.zeros((known, len(numbers)))
        direct[own], undone[at_zero] = np.split(entries, [np.count_nonzero(own)])
        vertex.append_zero(direct - vertex.table.output(undone), numbers)
        new = numbers - self._offset - 1
        scores = self.columns.scores(new, self._response(vertex))
        vertex.dual[known:] = scores / self.columns.scales[new]

    def _take_rows(self, vertex: KinkedVertex) -> None:
        """Rates that are near come, as many as edges at least; others go where they are many."""
        distance, least = np.abs(self._rate), len(vertex.at_zero)
        reach = self._reach
        if least < len(distance):
            reach = max(reach, float(np.partition(distance, least)[least]))
        near = distance <= reach
        keep = vertex.others >= self._offset
        keep[~keep] = near[vertex.others[~keep]]
        if np.count_nonzero(~keep) > LEAST_DROPPED * len(keep):
            vertex.keep(np.flatnonzero(keep))
        self._add_rows(vertex, near)

    def _add_rows(self, vertex: KinkedVertex, wanted: NDArray[np.bool_]) -> int:
        """Add rates, where they are not there; how many these are."""
        new = wanted.copy()
        for there in (vertex.others, vertex.at_zero):
            new[there[there < self._offset]] = False
        variables = np.flatnonzero(new)
        if variables.size:
            used = np.flatnonzero(vertex.others >= self._offset)
            unused = np.flatnonzero(vertex.at_zero >= self._offset)
            entries = self._entries(variables)
            rows = entries[:, vertex.others[used] - self._first] @ vertex.table.rows(used)
            rows[:, unused] += entries[:, vertex.at_zero[unused] - self._first]
            vertex.append(rows, variables, self._rate[variables])
        return len(variables)

    # ------------------------------------------------------------------ the vertex on all rows

    def _settle(self, vertex: KinkedVertex) -> None:
        """Values and duals of the vertex from those of all rows and columns."""
        self._settle_values(vertex)
        self._settle_duals(vertex)

    def _coefficients(self, vertex: KinkedVertex, value: Vector) -> Vector:
        """The offset, if there is one, and scaled coefficients."""
        z, used = np.zeros(len(vertex.at_zero)), vertex.others >= self._offset
        z[vertex.others[used] - self._first] = value[used]
        return z

    def _combined(self, z: Vector) -> Vector:
        free, count = self._offset + 1 - self._first, self.columns.count
        lines = np.arange(self.loss.n_rows)
        output: Vector = self.columns.scaled(np.arange(count), lines) @ z[free:]
        return output + z[0] if free else output

    def _settle_values(self, vertex: KinkedVertex, *, fresh: bool = False) -> None:
        """Coefficients and rates; rates that were not near and have changed side are added.

        The output is that of the kinks where they are; what moving them changes is known for the
        rates that are near. Where steps have not led to these values the tableau is computed anew,
        if it is not fresh.
        """
        variables, at_zero = self.variables, np.flatnonzero(vertex.at_zero < self._offset)
        zero, used = vertex.at_zero[at_zero], vertex.others >= self._offset
        gain, own = variables.linear(), vertex.others[~used]
        size, before = float(np.abs(gain).max(initial=1.0)), np.inf
        x = np.zeros(len(vertex.at_zero))
        x[at_zero] = -self._moved[zero]
        change = vertex.table.output(x)
        while True:
            self._exact = self._coefficients(vertex, vertex.value + change)
            self._output = self._combined(self._exact)
            rate = gain - variables.sign * self._output[variables.row]
            worst = float(np.abs(rate[zero]).max(initial=0.0))
            if worst <= REFINED * size or not worst < 0.5 * before:
                break
            before, x[at_zero] = worst, rate[zero]
            vertex.value[used] -= vertex.table.output(x)[used]
        rate -= self._moved
        rate[own] -= change[~used]
        rate[zero] = 0.0
        if not fresh:
            worst = max(worst, float(np.abs(vertex.value[~used] - rate[own]).max(initial=0.0)))
        if not worst <= RESIDUAL * size:
            if fresh:
                raise SolverFailure("the primal simplex has lost its digits")
            vertex.table = Tableau(self._matrix(vertex.at_zero, vertex.others))
            self._settle_values(vertex, fresh=True)
            return
        high = rate > 0
        vertex.value[~used], vertex.side[~used] = rate[own], np.where(high[own], 1.0, -1.0)
        if self.form.two_sided:
            sign = np.sign(vertex.value[used])
            vertex.side[used] = np.where(sign == 0, vertex.side[used], sign)
        crossed, self._rate, self._high = high != self._high, rate, high
        self._add_rows(vertex, crossed)

    def _response(self, vertex: KinkedVertex) -> Vector:
        """The pseudo-response, shape (n_rows,)."""
        u = np.where(self._high, self.variables.costs, 0.0)
        at_zero = vertex.at_zero < self._offset
        u[vertex.at_zero[at_zero]] = vertex.dual[at_zero]
        return self.variables.response(u)

    def _settle_duals(self, vertex: KinkedVertex) -> None:
        """Duals for which the scores of columns in use are at their limits."""
        used = np.flatnonzero(vertex.others >= self._offset)
        unused = np.flatnonzero(vertex.at_zero >= self._offset)
        due, free = vertex.own_slope[used], self._first == self._offset
        error, before = np.zeros(len(vertex.others)), np.inf
        while True:
            response = self._response(vertex)
            scores = self.columns.scaled_scores(response)
            if free:
                scores = np.append(response.sum(), scores)
            if self._tilt is not None:
                scores = scores + self._tilt
            vertex.dual[unused] = scores[vertex.at_zero[unused] - self._first]
            error[used] = scores[vertex.others[used] - self._first] - due
            worst = float(np.abs(error).max(initial=0.0))
            if worst <= REFINED_SCORES * self.form.threshold or not worst < 0.5 * before:
                break
            vertex.dual += vertex.table.slopes(error)
            before = worst

    def _point(self, vertex: KinkedVertex) -> RestrictedPoint:
        """The vertex for the kinks where they are."""
        z = self._exact.copy()
        free = self._offset + 1 - self._first
        scaled = z[free:]
        least = COEFFICIENT_ROUNDING * float(np.abs(scaled).max(initial=0.0))
        least = max(least, self._nothing)  # moves no output by more than kinks were moved
        noise = (np.abs(scaled) if self.form.two_sided else scaled) < least
        scaled[noise] = 0.0
        z[:free] *= np.abs(z[:free]) > EPSILON * self._nothing  # rounding of moved kinks
        output = self._output if np.array_equal(z, self._exact) else self._combined(z)
        coef = scaled / self.columns.scales
        intercept = float(z[0]) if free else 0.0
        return RestrictedPoint(
            coef,
            intercept - self.columns.shift(coef),
            output,
            self._response(vertex),
            self.variables.rate(output),
            solved=False,  # asked again it fails, and another optimizer takes over
        )


@functools.lru_cache(maxsize=8)
def _shares(count: int) -> Vector:
    """By how much each kink is moved, in units of what one is moved at most."""
    shares = np.random.default_rng(0).uniform(-1.0, 1.0, count)
    shares.flags.writeable = False
    return shares


def is_neighbour(loss: SupportVectorLoss, other: object) -> bool:
    """Whether losses differ in their prices alone, and not by much."""
    if not isinstance(other, SupportVectorLoss) or other.n_rows != loss.n_rows:
        return False
    new, old = loss.variables, other.variables
    same = loss.epsilon == other.epsilon and np.array_equal(loss.target, other.target)
    same = same and np.array_equal(new.row, old.row) and np.array_equal(new.sign, old.sign)
    return bool(
        same and NEIGHBOURING * new.costs.sum() >= old.costs.sum() >= new.costs.sum() / NEIGHBOURING
    )
