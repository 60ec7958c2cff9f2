"""Primal simplex method with long steps for the 1-norm and piecewise linear losses.

    min  Σ_j limit_j|α_j| + Σ_i base_i (target_i − f_i) + Σ_v cap_v·max(0, rate_v(f)),   f = Hα + b

A vertex has as many kinks at 0 as coefficients in use, with the offset: the rates of the variables
*inside* their box. With B, the entries of the columns in use in the rows inside,

    B z = targets there          Bᵀ r = limit·sign − (scores of the rows outside)

From one vertex a step goes along an edge, on which the objective falls, to the edge's minimum,
across as many kinks as pay (Barrodale, Roberts, *An improved algorithm for discrete ℓ1 linear
approximation*, SIAM J. Numerical Analysis 10, 1973). No vertex becomes infeasible where only prices
change, so that a regularisation path takes hardly more steps than it has vertices (Koenker,
d'Orey, Applied Statistics 36, 1987; Zhu, Rosset, Hastie, Tibshirani, NeurIPS 2003).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dger

from cgboost.generation.columns import FloatArray
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import Indices, Vector
from cgboost.masters.column_store import ColumnStore
from cgboost.masters.support_vector.crossover import COEFFICIENT_ROUNDING
from cgboost.masters.support_vector.working_set import DualPoint
from cgboost.penalties.base import DualForm
from solvers import LimitError, SolverFailure, Status

OFFSET = -1
"""Stands for the offset among the columns in use."""

ROOM = 32
"""Columns that there is room for at first."""

VIOLATION = 1e-9
"""A score may exceed its limit, and a dual variable leave its box, by this share of it."""

PERTURBATION = 1e-11
"""Kinks are moved by up to this, relative to the largest target, so that no two are in one place
and every step goes down."""

SMALLEST_PIVOT = 1e-9
"""Kinks that are approached at less than this share of the fastest do not end a step."""

FEW_KINKS = 50
"""Kinks that are sorted at first: most steps end before. It was not tuned."""

REFRESHED = 100
"""Steps after which the inverse is computed anew."""

STEPS_PER_VARIABLE = 4
"""Steps after which it gives up, as a multiple of the rows and columns of the problem …"""

NEIGHBOURING = 3.0
"""Prices that have changed by more than this factor make a problem of its own."""

MOST_ROWS = 50_000
"""A step passes over all rows. Paths of 50 prices, 30 features, took 1.9 s with 30000 rows, 3.0 s
by the interior point method over rows that matter; with 100000 rows 19 and 15 s."""

RESIDUAL = 1e-9
"""Errors of the basis equations, relative to their right-hand sides, from which on the inverse is
computed anew."""


class PrimalSimplex:
    """Live restricted problem of a piecewise linear loss and the 1-norm.

    Parameters
    ----------
    loss : SupportVectorLoss
        For which :meth:`takes` is true.
    form : DualForm
    """

    def __init__(self, loss: SupportVectorLoss, form: DualForm) -> None:
        self.form = form
        self.loss = loss = replace(loss, from_lower=True)
        self.variables = loss.variables
        self.columns = ColumnStore(loss.n_rows, centred=form.offset == "free")
        self._used = np.zeros(0, dtype=np.intp)  # -> column, or OFFSET
        self._sign = np.zeros(0)  # of their coefficients
        self._inside = np.zeros(0, dtype=np.intp)
        self._inverse: Vector = np.zeros((0, 0))
        self._block = np.zeros((loss.n_rows, ROOM), order="F")  # columns in use, on all rows
        self._high = np.zeros(len(self.variables), dtype=bool)
        rng = np.random.default_rng(0)
        size = PERTURBATION * max(1.0, float(np.abs(loss.target).max(initial=0.0)))
        self._moved = size * rng.uniform(-1.0, 1.0, len(self.variables))
        self._again, self._excess = False, np.inf
        if form.offset == "free":
            first = int(np.argsort(self.variables.target, kind="stable")[len(self.variables) // 2])
            self._used, self._sign = np.array([OFFSET]), np.zeros(1)
            self._inside, self._inverse = np.array([first]), np.ones((1, 1))
            self._block[:, 0] = 1.0

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
            and bool(np.isfinite(loss.variables.cap).all())
        )

    def reprice(self, loss: SupportVectorLoss) -> None:
        """Go on at the same vertex with the prices of a neighbour (:func:`is_neighbour`)."""
        self.loss = replace(loss, from_lower=True)
        self.variables, self._again = self.loss.variables, False

    # ------------------------------------------------------------------ as a restricted dual

    def add(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Take in new columns, each of shape (n_rows,)."""
        self.columns.append(values)
        self._again = False

    def expect(self, coef: Vector, intercept: float) -> None:
        """Begin at the vertex with these coefficients, if it is one."""
        used = np.flatnonzero(coef)
        offset = len(self._used)
        count, variables = offset + len(used), self.variables
        if not len(used) or count > len(variables):
            return
        lines = np.arange(self.loss.n_rows)
        output = self.columns.combine(coef) + intercept + self.columns.shift(coef)
        nearest = np.argpartition(np.abs(variables.rate(output)), count - 1)[:count]
        values = self.columns.scaled(used, lines)
        basis = np.ones((count, count))
        basis[:, offset:] = values[variables.row[nearest]]
        try:
            inverse: Vector = np.ascontiguousarray(np.linalg.inv(basis))
        except np.linalg.LinAlgError:
            return
        error = basis @ inverse - np.eye(count)
        if not np.abs(error).max() < RESIDUAL:
            return
        self._inverse, self._inside = inverse, nearest
        for place in range(offset, count):
            self._in_block(place, values[:, place - offset])
        self._used = np.append(self._used, used)
        self._sign = np.append(self._sign, np.sign(coef[used]))

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return self.columns.largest

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,); with a free offset for Σr = 0 only."""
        return self.columns.scores(np.arange(self.columns.count), response)

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> DualPoint:
        """Optimal vertex over all columns taken in.

        Raises
        ------
        LimitError
            If the time is over.
        SolverFailure
            If it takes too many steps, digits are lost, or the vertex is asked for once more.
        """
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        if self._again:
            raise SolverFailure("the primal simplex has come as near to the optimum as it can")
        self._again = True
        self._limits = self.form.threshold / self.columns.scales
        self._excess = np.inf  # of the scores when columns were priced last
        self._refresh()
        most = STEPS_PER_VARIABLE * (len(self.variables) + self.columns.count)
        for number in range(1, most + 1):
            if not self._step():
                break
            if number % REFRESHED == 0:
                self._refresh()
            if deadline is not None and time.perf_counter() > deadline:
                raise LimitError("the primal simplex ran out of time", status=Status.TIME_LIMIT)
        else:
            raise SolverFailure("the primal simplex took too many steps")
        return self._point()

    # ------------------------------------------------------------------ the vertex

    def _refresh(self) -> None:
        """The inverse, where it has lost digits; then coefficients and rates of the vertex."""
        variables, inside = self.variables, self._inside
        basis = self._block[variables.row[inside], : len(self._used)]
        if len(inside):
            error = basis @ self._inverse
            error.flat[:: len(inside) + 1] -= 1.0
            if not np.abs(error).max() < RESIDUAL:
                self._inverse = np.ascontiguousarray(np.linalg.inv(basis))
        gain = variables.gain() - self._moved
        self._z = self._inverse @ (variables.sign * gain)[inside]
        self._rate = gain - variables.sign * self._output(self._z)[variables.row]
        self._rate[inside] = 0.0
        self._high = self._rate > 0
        coef = self._used != OFFSET
        self._sign[coef] = np.where(self._z[coef] == 0, self._sign[coef], np.sign(self._z[coef]))
        outside = np.where(self._high, variables.cap, 0.0)
        self._fixed = variables.response(outside)
        self._fixed_scores = self._fixed @ self._block[:, : len(self._used)]

    def _output(self, z: Vector) -> Vector:
        return self._block[:, : len(z)] @ z

    def _duals(self) -> tuple[Vector, Vector]:
        """Responses r of the variables inside, and those of all rows."""
        rows = self.variables.row[self._inside]
        due = -self._fixed_scores
        own = self._used != OFFSET
        due[own] += self._limits[self._used[own]] * self._sign[own]
        inside = due @ self._inverse
        response = self._fixed.copy()
        np.add.at(response, rows, inside)
        return inside, response

    def _point(self) -> DualPoint:
        """The vertex for the kinks where they are."""
        self._refresh()
        _, response = self._duals()
        variables = self.variables
        z = self._inverse @ (variables.sign * variables.gain())[self._inside]
        coef, own = np.zeros(self.columns.count), self._used != OFFSET
        least = COEFFICIENT_ROUNDING * float(np.abs(z[own]).max(initial=0.0))
        noise = np.abs(z) < least if self.form.two_sided else z < least
        z[noise & own] = 0.0
        output = self._output(z)
        coef[self._used[own]] = z[own] / self.columns.scales[self._used[own]]
        intercept = float(z[~own].sum())
        return DualPoint(
            coef,
            intercept - self.columns.shift(coef),
            output,
            response,
            variables.rate(output),
            solved=False,
        )

    # ------------------------------------------------------------------ a step

    def _step(self) -> bool:
        """Along the edge on which the objective falls fastest, to its minimum; False at the end.

        Columns are priced where, by the last pricing, one may exceed its limit by more than a
        variable leaves its box.
        """
        variables, inside, used = self.variables, self._inside, self._used
        duals, response = self._duals()
        u, cap = variables.sign[inside] * duals, variables.cap[inside]
        off = np.maximum(-u, u - cap) - VIOLATION * cap
        row = int(np.argmax(off)) if len(off) else -1
        column, worst = -1, off[row] if len(off) else 0.0
        if self.columns.count and worst <= max(0.0, self._excess):
            scores = self.columns.scaled_scores(response)
            sizes = np.abs(scores) if self.form.two_sided else scores
            excess = sizes - (1.0 + VIOLATION) * self._limits
            excess[used[used != OFFSET]] = 0.0
            column = int(np.argmax(excess))
            self._excess = float(excess[column])
            if self._excess > worst:
                worst, row = excess[column], -1
            else:
                column = -1
        if worst <= 0:
            return False
        if column >= 0:
            self._enter(column, float(np.sign(scores[column])), float(sizes[column]))
        else:
            self._leave(row, high=bool(u[row] > cap[row]), slope=float(worst))
        return True

    def _leave(self, place: int, *, high: bool, slope: float) -> None:
        """The edge on which a variable leaves the inside, for a positive rate if ``high``."""
        variable = self._inside[place]
        sign, row = self.variables.sign[variable], self.variables.row[variable]
        direction = (-sign if high else sign) * self._inverse[:, place]
        speed = self._output(direction)
        kink, used, crossed = self._minimum(direction, speed, slope)
        length = self._move(direction, speed, kink, used, crossed)
        self._high[variable], self._rate[variable] = high, length if high else -length
        if high:
            self._fix(np.array([row]), np.array([sign * self.variables.cap[variable]]))
        if used < 0:
            new = self._take(kink)
            entries = self._block[self.variables.row[kink], : len(self._used)]
            y = entries @ self._inverse
            own = self._inverse[:, place] / y[place]
            y[place] -= 1.0
            _subtract_product(self._inverse, own, y)
            self._inside[place] = new
        else:
            self._drop(used, place)

    def _enter(self, column: int, sign: float, size: float) -> None:
        """The edge on which a column gets a coefficient."""
        lines = np.arange(self.loss.n_rows)
        values = self.columns.scaled(np.array([column]), lines)[:, 0]
        rows, count = self.variables.row[self._inside], len(self._used)
        solved = self._inverse @ values[rows]
        direction = -sign * solved
        speed = self._output(direction) + sign * values
        slope = size - float(self._limits[column])
        kink, used, crossed = self._minimum(direction, speed, slope)
        length = self._move(direction, speed, kink, used, crossed)
        if used < 0:
            entries = self._block[self.variables.row[kink], :count]
            y, pivot = entries @ self._inverse, values[self.variables.row[kink]]
            pivot = pivot - float(y @ values[rows])
            grown = np.empty((count + 1, count + 1))
            _subtract_product(self._inverse, -solved / pivot, y)
            grown[:count, :count] = self._inverse
            grown[:count, count], grown[count, :count] = -solved / pivot, -y / pivot
            grown[count, count] = 1.0 / pivot
            self._inverse = grown
            self._inside = np.append(self._inside, self._take(kink))
            self._used = np.append(self._used, column)
            self._sign, self._z = np.append(self._sign, sign), np.append(self._z, sign * length)
            self._fixed_scores = np.append(self._fixed_scores, 0.0)
            place = count
        else:
            own = self._inverse[used] / solved[used]
            solved[used] -= 1.0
            _subtract_product(self._inverse, solved, own)
            self._used[used], self._sign[used], self._z[used] = column, sign, sign * length
            place = used
        self._fixed_scores[place] = self._fixed @ values
        self._in_block(place, values)

    def _in_block(self, place: int, values: Vector) -> None:
        if place >= self._block.shape[1]:
            wider = np.zeros((self._block.shape[0], 2 * place), order="F")
            wider[:, :place] = self._block[:, :place]
            self._block = wider
        self._block[:, place] = values

    def _fix(self, rows: Indices, change: Vector) -> None:
        """Change the response of some rows that are not inside."""
        np.add.at(self._fixed, rows, change)
        self._fixed_scores += change @ self._block[rows, : len(self._used)]

    def _take(self, variable: int) -> int:
        """A variable that comes to the inside of its box."""
        if self._high[variable]:
            row = self.variables.row[variable]
            taken = -self.variables.sign[variable] * self.variables.cap[variable]
            self._fix(np.array([row]), np.array([taken]))
            self._high[variable] = False
        self._rate[variable] = 0.0
        return variable

    def _drop(self, used: int, place: int) -> None:
        """Take a column out of the basis, and a variable that has left the inside."""
        inverse, last = self._inverse, len(self._used) - 1
        own = inverse[:, place] / inverse[used, place]
        _subtract_product(inverse, own, inverse[used].copy())
        # the last column takes the place of the one that goes
        order = np.arange(last)
        if used < last:
            order[used] = last
            self._block[:, used] = self._block[:, last]
        self._inside = np.delete(self._inside, place)
        self._inverse = np.delete(inverse[order], place, axis=1)
        self._used, self._sign, self._z = self._used[order], self._sign[order], self._z[order]
        self._fixed_scores = self._fixed_scores[order]

    def _minimum(
        self, direction: Vector, speed: Vector, slope: float
    ) -> tuple[int, int, tuple[Indices, Indices]]:
        """The variable or the place of the coefficient whose kink ends the step, and all before it.

        The objective falls by ``slope`` at first, and by less after every kink.
        """
        variables = self.variables
        rates = -variables.sign * speed[variables.row]
        rates[self._inside] = 0.0
        least = SMALLEST_PIVOT * float(np.abs(rates).max(initial=0.0))
        meets = np.flatnonzero(np.where(self._high, -rates, rates) > least)
        times = np.maximum(-self._rate[meets] / rates[meets], 0.0)
        drops = variables.cap[meets] * np.abs(rates[meets])
        places = np.flatnonzero(self._sign * direction < -least)
        if places.size:
            limits = self._limits[self._used[places]]
            bends = 2.0 * limits * np.abs(direction[places])
            if not self.form.two_sided:
                bends[:] = np.inf
            times = np.append(times, np.maximum(-self._z[places] / direction[places], 0.0))
            drops = np.append(drops, bends)
        order, end = _first(times, drops, slope)
        if end == len(order):
            raise SolverFailure("the primal simplex has lost its digits")
        before, last, count = order[:end], order[end], len(meets)
        crossed = meets[before[before < count]], places[before[before >= count] - count]
        if last < count:
            return int(meets[last]), -1, crossed
        return -1, int(places[last - count]), crossed

    def _move(
        self,
        direction: Vector,
        speed: Vector,
        kink: int,
        used: int,
        crossed: tuple[Indices, Indices],
    ) -> float:
        """Go there; the length of the step."""
        variables, (flipped, turned) = self.variables, crossed
        rates = -variables.sign * speed[variables.row]
        if used < 0:
            length = max(0.0, -self._rate[kink] / rates[kink])
        else:
            length = max(0.0, -self._z[used] / direction[used])
        self._z += length * direction
        self._rate += length * rates
        self._rate[self._inside] = 0.0
        self._sign[turned] *= -1.0
        if flipped.size:
            self._high[flipped] ^= True
            up = np.where(self._high[flipped], 1.0, -1.0)
            change = up * variables.sign[flipped] * variables.cap[flipped]
            self._fix(variables.row[flipped], change)
        return length


def _first(times: Vector, drops: Vector, slope: float) -> tuple[Indices, int]:
    """Kinks in the order of their times, and the place of the one after which the slope is used up.

    Most steps are short: the first few kinks are tried before all are sorted.
    """
    if len(times) > FEW_KINKS:
        first = np.argpartition(times, FEW_KINKS)[:FEW_KINKS]
        order, end = _first(times[first], drops[first], slope)
        if end < len(order):
            return first[order], end
    order = np.argsort(times, kind="stable")
    return order, int(np.searchsorted(np.cumsum(drops[order]), slope))


def _subtract_product(matrix: Vector, left: Vector, right: Vector) -> None:
    """Take left·rightᵀ from a matrix, in its place; it is in C order."""
    if matrix.size:
        dger(-1.0, right, left, a=matrix.T, overwrite_a=1)


def is_neighbour(loss: SupportVectorLoss, other: object) -> bool:
    """Whether losses differ in their prices alone, and not by much."""
    if not isinstance(other, SupportVectorLoss) or other.n_rows != loss.n_rows:
        return False
    new, old = loss.variables, other.variables
    same = loss.epsilon == other.epsilon and np.array_equal(loss.target, other.target)
    same = same and np.array_equal(new.row, old.row) and np.array_equal(new.sign, old.sign)
    return bool(
        same and NEIGHBOURING * new.cap.sum() >= old.cap.sum() >= new.cap.sum() / NEIGHBOURING
    )
