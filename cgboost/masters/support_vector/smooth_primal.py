"""The restricted problem of a smooth loss under a budget, by Newton's method.

    min F(Hα + b)   with  Σ|α_j| [+ |b|] ≤ D

Each step minimises the quadratic model of F at the present point under the same constraint, a small
dense quadratic program over the columns that matter, and is then shortened until F really falls.
Columns whose coefficient is 0 and whose score is well below the largest are left out of the steps;
at the end all are checked.

With u the maximiser in F, W its derivative by the rates and r the pseudo-response, the gradient
by α is −Hᵀr and the Hessian HᵀWH, where for an entropic loss W = η(diag(u) − uuᵀ/Σu) over the rows
below their cap. The gap D·max|h·r| − α·Hᵀr bounds what is still to be gained.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

import numpy as np

from cgboost.generation.columns import FloatArray
from cgboost.losses.dual_box import Indices, Vector
from cgboost.losses.entropic import EntropicLoss
from cgboost.masters.dual_solvers.simplex import DualForm
from cgboost.masters.support_vector.column_store import ColumnStore
from cgboost.masters.support_vector.working_set import DualPoint
from solvers import LimitError, Program, SolverError, Status, solve

logger = logging.getLogger(__name__)

ACCURACY = 1e-9
"""Relative gap at which the restricted problem counts as solved."""

LEAST_VALUE = 1e-6
"""Values are told apart down to this share of what the largest entry of a column would make."""

STEPS = 500
"""Newton steps at most in one solve."""

NEAR = 0.9
"""Columns of this share of the largest score take part in a step."""

SUFFICIENT = 0.1
"""A step must gain this share of what its quadratic model promises."""

SHORTEST = 1e-10
"""A step cut below this means that F cannot be lowered any more in floating point."""

RIDGE = 1e-10
"""Added to the diagonal of the Hessian, relative to its largest entry."""


class SmoothPrimal:
    """Live restricted problem of an entropic loss; the interface is that of ``RestrictedDual``.

    Parameters
    ----------
    loss : EntropicLoss
    form : DualForm
        With a budget.
    solver : str
        A quadratic programming backend of :mod:`solvers`, or "auto".
    """

    def __init__(self, loss: EntropicLoss, form: DualForm, solver: str) -> None:
        assert form.budget is not None
        self.loss, self.form, self.budget, self._solver = loss, form, form.budget, solver
        self.columns = ColumnStore(loss.n_rows, centred=False)
        self._coef = np.zeros(0)
        self._intercept = 0.0

    def add(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Take in new columns, each of shape (n_rows,)."""
        self.columns.append(values)
        self._coef = np.append(self._coef, np.zeros(len(values)))

    def expect(self, coef: Vector, intercept: float) -> None:
        """Start from these coefficients."""
        self._coef, self._intercept = coef.copy(), intercept

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return float(self.columns.scales.max(initial=0.0))

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,)."""
        return self.columns.scores(np.arange(self.columns.count), response)

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> DualPoint:
        """Newton steps from the last solution until the gap is closed or nothing gets better.

        However small an ``accuracy`` would do, they end where they can go no further.
        """
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        output = self._output()
        for _ in range(STEPS):
            rate = self.loss.sides.rate(output)
            u = self.loss.weights(rate)
            response = self.loss.sides.response(u)
            scores, value = self.scores(response), self.loss.value(output)
            least = LEAST_VALUE * float(u.sum()) * self.budget * self.largest_entry
            if self._gap(scores, response) <= ACCURACY * max(abs(value), least):
                break
            if deadline is not None and time.perf_counter() > deadline:
                raise LimitError("Newton's method ran out of time", status=Status.TIME_LIMIT)
            if not any(self._step(rate, u, scores, value, softened=s) for s in (False, True)):
                break
            output = self._output()
        return DualPoint(self._coef.copy(), self._intercept, output, response, rate)

    # ------------------------------------------------------------------ one step

    def _step(
        self, rate: Vector, u: Vector, scores: Vector, value: float, *, softened: bool
    ) -> bool:
        """One Newton step with line search; False if it found nothing better.

        Rows at their cap have no curvature. Where the others do not have enough of it for a step,
        the ``softened`` model gives those not far beyond their cap what they had at it.
        """
        places = self._taking_part(scores)
        gradient = -np.append(scores[places], self.loss.sides.response(u).sum())
        hessian = self._hessian(places, self.loss.bending(rate, u, softened=softened))
        start = np.append(self._coef[places], self._intercept)
        try:
            move = self._minimised(gradient, hessian, start) - start
        except SolverError as error:
            logger.info("a Newton step failed: %s", error)
            return False
        promised = -float(gradient @ move)
        if not promised > 0:
            return False
        length = 1.0
        while length > SHORTEST:
            trial = start + length * move
            if self._value(places, trial) <= value - SUFFICIENT * length * promised:
                self._coef[places], self._intercept = trial[:-1], float(trial[-1])
                return True
            length *= 0.5
        return False

    def _taking_part(self, scores: Vector) -> Indices:
        size = self._size(scores)
        return np.flatnonzero((self._coef != 0) | (size >= NEAR * size.max(initial=0.0)))

    def _hessian(self, places: Indices, bending: Vector) -> Vector:
        """Hessian of F by the coefficients of ``places`` and, last, the offset."""
        sides = self.loss.sides
        free = np.flatnonzero(bending > 0)
        weights, rows = bending[free], sides.row[free]
        factors = np.ones((len(free), len(places) + 1))
        factors[:, :-1] = self.columns.scaled(places, rows) * self.columns.scales[places]
        factors *= sides.sign[free, None]
        mean = weights @ factors / (weights.sum() or 1.0)
        centred = factors - mean
        curvature: Vector = self.loss.eta * (centred.T * weights) @ centred
        return curvature

    def _minimised(self, gradient: Vector, hessian: Vector, start: Vector) -> Vector:
        """The minimiser of the quadratic model under the budget, as α = p − q with p, q ≥ 0."""
        n = len(start)
        ridge = RIDGE * max(float(np.diag(hessian).max(initial=0.0)), 1e-6)
        hessian = hessian + ridge * np.eye(n)
        linear = gradient - hessian @ start
        charged = np.ones(n)
        charged[-1] = self.form.offset == "penalized"
        upper = np.full(2 * n, np.inf)
        upper[[n - 1, 2 * n - 1]] = self._offset_limit(float(start[-1]))
        if not self.form.two_sided:
            upper[n : 2 * n - 1] = 0.0
        solution = solve(
            Program(
                cost=np.concatenate([linear, -linear]),
                matrix=np.concatenate([charged, charged])[None, :],
                row_upper=np.array([self.budget]),
                upper=upper,
                quadratic=np.block([[hessian, -hessian], [-hessian, hessian]]),
            ),
            self._solver,
        )
        point = np.maximum(solution.x[:n], 0.0) - np.maximum(solution.x[n:], 0.0)
        spent = np.abs(point * charged).sum()
        point[charged > 0] *= min(1.0, self.budget / spent) if spent > 0 else 1.0
        return point

    def _offset_limit(self, now: float) -> float:
        """|b| at most, for one step: the model may be flat in b, which the optimum is not."""
        if self.form.offset == "none":
            return 0.0
        return abs(now) + self.budget * float(self.columns.scales.max(initial=1.0))

    # ------------------------------------------------------------------ values

    def _gap(self, scores: Vector, response: Vector) -> float:
        largest = self._size(scores).max(initial=0.0)
        total = response.sum()
        if self.form.offset == "penalized":
            largest = max(largest, abs(total))
        elif self.form.offset == "free" and abs(total) > ACCURACY * np.abs(response).sum():
            return np.inf
        return float(self.budget * largest - self._coef @ scores - self._intercept * total)

    def _size(self, scores: Vector) -> Vector:
        return np.abs(scores) if self.form.two_sided else scores

    def _value(self, places: Indices, trial: Vector) -> float:
        coef = self._coef.copy()
        coef[places] = trial[:-1]
        return self.loss.value(self.columns.combine(coef) + float(trial[-1]))

    def _output(self) -> Vector:
        return self.columns.combine(self._coef) + self._intercept
