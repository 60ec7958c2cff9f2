"""Proximal Newton method for the restricted primal of a smooth loss and a penalty.

    min F(Hα + b) + Ω(α)       Ω(α) = Σ threshold·|α| + ½·quadratic·α²,   or  Σ|α| [+ |b|] ≤ D

Each step minimises the quadratic model of F at the present point plus Ω over the columns that
matter, by an active set (under a ball by a quadratic program; under ½|α|² with α free it is a
linear system, over the rows if they are fewer), and is then shortened until F + Ω really falls.
Columns whose coefficient is 0 and whose score is small are left out of the steps; at the end all
are checked.
(Lee, Sun, Saunders, *Proximal Newton-type methods*, SIAM J. Optim. 24, 2014.)

With r the pseudo-response, the gradient by α is −Hᵀr and the Hessian HᵀWH, W = ∂²F/∂f². At
τ ≥ 1 for which Ω* is finite at Hᵀr/τ, the gap F + Ω(α) − gain(r/τ) + Ω*(Hᵀr/τ) bounds what is
still to be gained; where τ = 1 it is the Fenchel–Young gap Ω(α) + Ω*(Hᵀr) − α·Hᵀr.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from cgboost._solvers import SolverError
from cgboost.arrays import Indices, Vector
from cgboost.generation.columns import FloatArray, multiple
from cgboost.losses import EntropicLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.newton.quadratic_model import (
    WeightedProducts,
    minimise_by_program,
    minimise_to_limit,
    solved_over_rows,
    without_first,
)
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss, balancing_shift
from cgboost.optimizers.solver_options import NEWTON, check_time, deadline_of
from cgboost.penalties.penalty import DualForm

logger = logging.getLogger(__name__)

RESTRICTED_GAP = 1e-8
"""Relative gap at which the restricted problem counts as solved, unless a smaller one is asked for.
Newton's method is there a step or two after 1e-5; steps by earlier curvatures take one more for
each digit, and a much smaller gap would ask for digits that rounding has taken."""

LEAST_VALUE = 1e-6
"""Under a ball, values are told apart down to this share of what the largest entry would make. With
`RESTRICTED_GAP` that is 1e-15 of the largest terms of a gap, their rounding."""

NEWTON_LIMIT = 500
"""Newton steps at most in one solve."""

NEAR_SCORE = 0.9
"""Columns of this share of the score at which a column is used take part in a step."""

STEP_PROMISE = 0.03
"""Curvatures of an earlier step will do for as long as a step promises at most this share of what
the one before it did. The model's gain is the square of the distance: that falls to a sixth. Along
a path of the log loss, 0.01 to 0.3 took 1.4 to 1.6 s."""

SUFFICIENT = 0.1
"""A step must gain this share of what its quadratic model promises."""

SHORTEST = 1e-10
"""A step cut below this, 33 halvings, means that F cannot be lowered in floating point."""

ROUNDING = 1e-12
"""Values that differ by this, the rounding of a sum over many rows, may be equal: the gap decides
whether a step is taken …"""

NARROWER = 0.5
"""… which must halve at least, or else values decide after all. A Newton step near to the optimum
takes far more off the gap, and one that only rounds leaves it as it is."""

BALANCING_STEPS = 5
"""Newton steps at most that bring the scores of free columns to 0. Each but the last takes about as
many digits as it had before."""

LEAST_LEFT = 0.5
"""Scores of at least this share of the threshold are those of columns that may come next, however
much the price has changed: of a coarse path that would be all of them."""

NEWTON_RIDGE = 1e-10
"""Added to every entry of the diagonal of the Hessian, relative to it. Far above rounding, so that
dependent columns do no harm; more would slow the last steps."""

FLAT_COLUMN = 1e-6
"""Entries of the diagonal count as this share of the largest there at least: a column may be 0 on
all rows that bend."""

FLAT_OFFSET = 1e-8
"""The offset's curvature below this share of the largest says nothing of how far to go. Slope over
curvature would be a step of any size, up to 1e8 times those of coefficients."""

FARTHER = 10.0
"""The offset moves by at most this many times the largest output, or 1, and what Newton's method
for it alone would move it."""

MANY_COLUMNS = 200
"""Of fewer, products and factors take less time than numba to be loaded."""


class SmoothPrimal:
    """The :class:`~cgboost.optimizers.live_dual.LiveProblem` of a smooth loss.

    Parameters
    ----------
    solver : str
        A quadratic programming backend of :mod:`solvers`, or "auto".
    options : mapping of str to object, optional
        The solver's own.
    free_columns : FreeColumns, optional
        The first columns; their coefficients in here are those of their directions.
    """

    def __init__(
        self,
        loss: RowwiseLoss | EntropicLoss,
        form: DualForm,
        solver: str,
        options: Mapping[str, Any] | None = None,
        free_columns: FreeColumns | None = None,
    ) -> None:
        self.loss, self.form, self._solver, self._options = loss, form, solver, options
        self.columns = ColumnStore(
            loss.n_rows, centred=form.offset == "free", free_columns=free_columns
        )
        self._coef = np.zeros(form.n_free)
        self._intercept = 0.0
        self._combined: Vector | None = None  # Hα at the coefficients
        self._gram: Vector | float = 0.0  # HHᵀ of the first columns
        self._in_gram = 0
        self._products = WeightedProducts(self.columns)
        self._wanted_gap = RESTRICTED_GAP
        self._promises: list[float] = []  # what steps of a solve should gain, by their models
        self._nearly = False  # whether curvatures of earlier steps will do
        self._scored: tuple[Vector, Vector] | None = None  # the last r, and the scores there
        self._growth = 1.0  # of the price, when it last changed
        self._sizes = np.ones(1)  # of the coordinates of the quadratic model
        self._deadline = np.inf  # of a solve, in seconds of a clock
        self._rank: int | None = None  # of the quadratic model, if that may be short of full

    def add(self, values: Sequence[FloatArray] | FloatArray) -> None:
        """Take in new columns, each of shape (n_rows,)."""
        self.columns.append(values)
        self._coef = np.append(self._coef, np.zeros(len(values)))

    def start_near(self, coef: Vector, intercept: float) -> None:
        """Start from these coefficients, if they are allowed and no worse than no columns.

        From far away, where curvatures are 0 or beyond float64, Newton steps lead nowhere.
        """
        if not np.isfinite(self.form.value(coef, intercept)):
            return
        free = self.columns.free_columns.of_columns(coef[: self.form.n_free])
        start, offset = (
            np.append(free, coef[self.form.n_free :]),
            intercept + self.columns.shift(coef),
        )
        combined = self._output_of(start)
        with np.errstate(over="ignore"):
            value = self._value(combined + offset, coef, intercept)
        if value <= self.loss.value(np.zeros(self.loss.n_rows)):
            self._coef, self._intercept, self._combined = start, offset, combined

    def continues(self, loss: object, form: DualForm, solver: str) -> bool:
        """Whether a problem of this loss and form can go on from here."""
        same = isinstance(loss, type(self.loss)) and loss.n_rows == self.loss.n_rows
        return same and form == self.form and solver == self._solver

    def reprice(self, loss: RowwiseLoss | EntropicLoss) -> None:
        """Go on from the last solution with another price of the loss.

        Products of columns stay, but for a factor: at an output, all curvatures have changed by the
        same.
        """
        if isinstance(loss, RowwiseLoss) and isinstance(self.loss, RowwiseLoss):
            output = self._output()
            old, new = (float(each.weights(output).sum()) for each in (self.loss, loss))
            if old > 0 and new > 0:
                self._growth = new / old
                self._products.scale(self._growth)
        self.loss = loss

    @property
    def largest_entry(self) -> float:
        """The largest |h| of all columns; 0 without any."""
        return float(self.columns.scales.max(initial=0.0))

    def scores(self, response: Vector) -> Vector:
        """h·r of all columns, shape (n_columns,).

        At a multiple of the last r they are known but for new columns: so it is at another price.
        """
        known = np.zeros(0)
        if self._scored is not None and (factor := multiple(response, self._scored[0])) is not None:
            known = factor * self._scored[1]
        new = np.arange(len(known), self.columns.count)
        if len(new):
            known = np.append(known, self.columns.scores(new, response))
        self._scored = response, known
        return known

    def solve(self, time_limit: float | None, accuracy: float = 0.0) -> RestrictedPoint:
        """Newton steps from the last solution until the gap is closed or nothing gets better.

        However large an ``accuracy`` would do, they end as near as `RESTRICTED_GAP`.
        """
        self._deadline = deadline_of(time_limit)
        self._wanted_gap = min(accuracy, RESTRICTED_GAP) if accuracy > 0 else RESTRICTED_GAP
        output, self._promises = self._balanced_output(), []
        for _ in range(NEWTON_LIMIT):
            response = self.loss.pseudo_response(output)
            scores, value = self.scores(response), self._value(output, self._coef, self._intercept)
            if self._gap(scores, response, output) <= self._wanted_gap * self._scale(
                value, response
            ):
                break
            check_time(self._deadline, NEWTON)
            if not self._any_step(output, response, scores, value):
                break
            output = self._balanced_output()
        return self._point(output, self._levelled(output, response))

    @property
    def present(self) -> RestrictedPoint:
        """The last solution, with a pseudo-response at which columns of the present one show.

        With the price, scores have grown by a factor t, and may grow as much again until they
        belong to the present solution: |h·r| ≥ 2 − t at the present price is the sequential strong
        rule (Tibshirani and others, J. Royal Statistical Society B 74, 2012).
        """
        output = self._output()
        response = self.loss.pseudo_response(output)
        return self._point(output, response / max(LEAST_LEFT, min(1.0, 2.0 - self._growth)))

    def _point(self, output: Vector, response: Vector) -> RestrictedPoint:
        coef = self.columns.of_directions(self._coef.copy())
        return RestrictedPoint(coef, self._intercept - self.columns.shift(coef), output, response)

    def _any_step(self, output: Vector, response: Vector, scores: Vector, value: float) -> bool:
        """A step by earlier curvatures if these will do, else by the present ones, or softened."""
        before = self._promises[-2:]
        quick = len(before) < 2 or before[1] <= STEP_PROMISE * before[0]
        for self._nearly, softened in ((quick, False), (False, False), (False, True)):
            if self._step(output, response, scores, value, softened=softened):
                return True
        return False

    def _levelled(self, output: Vector, response: Vector) -> Vector:
        """The pseudo-response with scores of 0 of free columns, as Newton's method moves it."""
        if not self.form.n_free:
            return response
        assert isinstance(self.loss, RowwiseLoss)
        free, balance = np.arange(self.form.n_free), float(self.form.offset == "free")
        hessian = self._hessian(output, free, softened=False)
        hessian[-1] *= balance
        hessian[:, -1] *= balance
        weights, least = self.loss.weights(output), np.inf
        for _ in range(BALANCING_STEPS):
            missed = np.append(self.columns.free_columns.scores(response), balance * response.sum())
            if not np.linalg.norm(missed) < least:
                break
            best, least = response, float(np.linalg.norm(missed))
            *move, shift = np.linalg.lstsq(hessian, missed, rcond=None)[0]
            pull = (
                self.columns.free_columns.combine(self.columns.free_columns.to_columns @ move)
                + shift
            )
            response = self.loss.feasible(response - weights * pull, balanced=False)
        return best

    # ------------------------------------------------------------------ one step

    def _step(
        self, output: Vector, response: Vector, scores: Vector, value: float, *, softened: bool
    ) -> bool:
        """One Newton step with line search; False if it found nothing better.

        The ``softened`` model has curvature where the loss itself has none.
        """
        places = self._taking_part(scores)
        gradient = -np.append(scores[places], response.sum())
        start = np.append(self._coef[places], self._intercept)
        try:
            if self._is_smaller_by_rows:
                end = self._minimised_by_rows(output, response, softened=softened)
            elif (found := self._descended(output, response, places, start, softened)) is not None:
                end = found
            else:
                hessian = self._hessian(output, places, softened=softened)
                end = self._minimised(gradient, hessian, start)
        except (SolverError, LinAlgError) as error:
            check_time(self._deadline, NEWTON)
            logger.info("a Newton step failed: %s", error)
            return False
        move = end - start
        charge = self._penalty(end) - self._penalty(start)
        promised = -float(gradient @ move) - charge
        self._promises.append(promised)
        lost = abs(promised) <= ROUNDING * self.form.gap_scale(self.loss, value)
        if lost and self._narrows(places, end, value):
            return True
        if not promised > 0:
            return False
        length = 1.0
        while length > SHORTEST:
            trial = start + length * move
            tried, combined = self._tried(places, trial)
            if tried < value and tried <= value - SUFFICIENT * length * promised:
                self._coef[places], self._intercept = trial[:-1], float(trial[-1])
                self._combined = combined
                return True
            length *= 0.5
        return False

    def _narrows(self, places: Indices, end: Vector, value: float) -> bool:
        """Take a whole step whose gain is lost in rounding, if it narrows the gap."""
        before = self._coef, self._intercept, self._combined
        gap = self._present_gap()
        self._coef = self._coef.copy()
        self._coef[places], self._intercept = end[:-1], float(end[-1])
        tried, self._combined = self._tried(places, end)
        allowed = ROUNDING * self.form.gap_scale(self.loss, value)
        if tried - value <= allowed and self._present_gap() < NARROWER * gap:
            return True
        self._coef, self._intercept, self._combined = before
        return False

    def _present_gap(self) -> float:
        response = self.loss.pseudo_response(output := self._output())
        return self._gap(self.scores(response), response, output)

    def _taking_part(self, scores: Vector) -> Indices:
        """Columns in use, and those of scores near the one at which columns come into use.

        Under a ball that is the largest.
        """
        free, held = np.arange(self.form.n_free), self._coef[self.form.n_free :]
        size = self.form.sizes(scores, 0.0)[: len(held)]
        least = self.form.threshold if self.form.radius is None else size.max(initial=0.0)
        used = np.flatnonzero((held != 0) | (size >= NEAR_SCORE * least))
        return np.append(free, len(free) + used)

    def _hessian(self, output: Vector, places: Indices, *, softened: bool) -> Vector:
        """Hessian of F by the coefficients of ``places`` and, last, the offset."""
        self._sizes = np.append(self.columns.scales[places[self.form.n_free :]], 1.0)
        if isinstance(self.loss, RowwiseLoss):
            weights = self.loss.weights(output, softened=softened)
            self._rank = int(np.count_nonzero(weights)) if self.form.quadratic == 0 else None
            return self._products.of(places, weights, nearly=self._nearly)

        def factors(rows: Indices) -> Vector:
            found = np.ones((len(rows), len(places) + 1))
            found[:, :-1] = self.columns.scaled(places, rows) * self.columns.scales[places]
            return found

        return self.loss.hessian(output, factors, softened=softened)

    def _minimised(self, gradient: Vector, hessian: Vector, start: Vector) -> Vector:
        """The minimiser of the quadratic model plus the penalty; free columns are eliminated."""
        if not (k := self.form.n_free):
            return self._minimised_over_charged(gradient, hessian, start)
        ridge = NEWTON_RIDGE * max(float(np.diag(hessian)[:k].max()), 1e-6)
        by_gradient, by_others, *rest = without_first(gradient, hessian, k, ridge)
        end = self._minimised_over_charged(rest[0], rest[1], start[k:])
        return np.append(start[:k] - by_gradient - by_others @ (end - start[k:]), end)

    def _minimised_over_charged(self, gradient: Vector, hessian: Vector, start: Vector) -> Vector:
        """The same without free columns, in the coefficients of columns of largest entry 1.

        A column of a small weight is large, and others are not flat for that. A ball, or a named
        solver, makes it a quadratic program: α = p − q with p, q ≥ 0.
        """
        n, form, sizes = len(start), self.form, self._sizes
        start, gradient, hessian = sizes * start, gradient / sizes, hessian / np.outer(sizes, sizes)
        diagonal = np.diag(hessian)
        ridge = NEWTON_RIDGE * np.maximum(diagonal, FLAT_COLUMN * max(diagonal.max(), 1e-6))
        charged = np.append(1.0 / sizes[:-1], form.charges_offset)
        linear = gradient - hessian @ start - ridge * start
        hessian = hessian + np.diag(ridge + form.quadratic * charged**2)
        diagonal = np.diag(hessian)
        limit = self._offset_limit(float(gradient[-1]), diagonal[-1], diagonal.max())
        positive = np.append(np.full(n - 1, not form.two_sided), False)
        if form.radius is None and self._solver == "auto":
            charge, rank, end = form.threshold * charged, self._rank, self._deadline
            model = hessian, linear, charge, start
            point = minimise_to_limit(
                *model, positive=positive, rank=rank, limit=limit, deadline=end
            )
            return point / sizes
        upper = np.where(np.arange(n) < n - 1, np.inf, limit)
        point = minimise_by_program(
            hessian,
            linear,
            form.threshold * charged,
            np.stack([np.where(positive, 0.0, -upper), upper]),
            None if form.radius is None else (charged, form.radius),
            solver=self._solver,
            options=self._options,
        )
        return point / sizes

    def _descended(
        self, output: Vector, response: Vector, places: Indices, start: Vector, softened: bool
    ) -> Vector | None:
        """Nearly the minimiser, by coordinate descent over columns of few entries.

        None for other columns or forms, without numba, or if it takes many sweeps.
        """
        form, loss, entries = self.form, self.loss, self.columns.entries
        if entries is None or len(places) < MANY_COLUMNS or not isinstance(loss, RowwiseLoss):
            return None
        if form.radius is not None or form.charges_offset or self._solver != "auto":
            return None
        from cgboost.optimizers.newton.descent_loop import descended  # for few problems

        weights = loss.weights(output, softened=softened)
        if not (mass := float(weights.sum())) > 0:
            return None
        scales = self.columns.scales[places]
        found = descended(
            entries,
            places,
            weights,
            response,
            scales * start[:-1],
            form.threshold / scales,
            form.quadratic / scales**2,
            positive=not form.two_sided,
            free_offset=form.offset == "free",
        )
        if found is None:
            return None
        scaled, offset = found
        move = np.zeros(self.columns.count)
        move[places] = scaled / scales - start[:-1]
        intercept = self._intercept + offset + self.columns.shift(move)  # of centred columns
        limit = self._offset_limit(float(response.sum()), mass, mass)
        if abs(intercept) > limit > 0.0:
            return None
        return np.append(scaled / scales, intercept)

    @property
    def _is_smaller_by_rows(self) -> bool:
        """Whether a step is a linear system, and that has fewer unknowns over the rows."""
        form = self.form
        linear = form.quadratic > 0 and form.threshold == 0 and form.radius is None
        linear = linear and not form.n_free
        rowwise = isinstance(self.loss, RowwiseLoss) and form.two_sided
        return linear and rowwise and self.loss.n_rows <= self.columns.count

    def _minimised_by_rows(self, output: Vector, response: Vector, *, softened: bool) -> Vector:
        """The minimiser of the quadratic model plus ½μ|α|², by Woodbury's identity.

        It is α = Hᵀρ/μ with ρ = r + W^½τ, the pseudo-response of the model. At the offset b + Δ

            (I + W^½HHᵀW^½/μ) τ = W^½(f − b − HHᵀr/μ) − ΔW^½1,     Σρ = μ(b + Δ) or 0

        where the matrix is as large as there are rows, and HHᵀ changes with new columns alone.
        """
        assert isinstance(self.loss, RowwiseLoss)
        form, mu, columns = self.form, self.form.quadratic, np.arange(self.columns.count)
        if self._in_gram < len(columns):
            new = columns[self._in_gram :]
            values = self.columns.scaled(new, np.arange(len(output))) * self.columns.scales[new]
            self._gram = self._gram + values @ values.T
            self._in_gram = len(columns)
        weights = self.loss.weights(output, softened=softened)
        root = np.sqrt(weights)
        gram = np.asarray(self._gram)
        right = root * (output - self._intercept - gram @ response / mu)
        by_start, by_offset = solved_over_rows(gram, root, mu, np.stack([right, root], axis=1)).T
        shift, total = 0.0, float(response.sum())
        if form.offset != "none":
            charge, mass = mu * form.charges_offset, float(weights.sum())
            limit = self._offset_limit(total, mass + charge, mass * self.largest_entry**2)
            lead = total + float(root @ by_start) - charge * self._intercept
            slope = float(root @ by_offset) + charge
            offset = self._intercept + lead / max(slope, NEWTON_RIDGE * (mass or 1.0))
            shift = float(np.clip(offset, -limit, limit)) - self._intercept
        rho = response + root * (by_start - shift * by_offset)
        return np.append(self.scores(rho) / mu, self._intercept + shift)

    def _offset_limit(self, slope: float, steepness: float, largest: float) -> float:
        """|b| at most, for one step: the model may be flat in b, which the optimum is not.

        ``steepness`` is the Hessian's entry for b, ``largest`` that of any coefficient.
        """
        if self.form.offset == "none":
            return 0.0
        now = abs(self._intercept)
        if self.form.radius is not None:
            return now + self.form.radius * float(self.columns.scales.max(initial=1.0))
        unit = max(1.0, float(np.abs(self._output()).max(initial=0.0)))
        if steepness <= FLAT_OFFSET * largest:
            return now + FARTHER * unit
        return now + FARTHER * (unit + abs(slope) / steepness)

    # ------------------------------------------------------------------ values

    def _gap(self, scores: Vector, response: Vector, output: Vector) -> float:
        """Primal objective less the dual objective at the pseudo-response, shrunk if need be."""
        form, total = self.form, float(response.sum())
        unpriced = np.append(scores[: form.n_free], total if form.offset == "free" else 0.0)
        if np.abs(unpriced).max() > self._wanted_gap * np.abs(response).sum():
            return np.inf
        size = form.sizes(scores, total)
        penalty, tau = form.value(self._coef, self._intercept), 1.0
        if form.penalty.is_positively_homogeneous:
            tau = max(1.0, float(size.max(initial=0.0)) / form.threshold)
        if tau > 1.0:
            return penalty + self.loss.value(output) - self.loss.gain(response / tau)
        conjugate = form.penalty.conjugate(size)
        return float(penalty + conjugate - self._coef @ scores - self._intercept * total)

    def _scale(self, value: float, response: Vector) -> float:
        """What the gap is relative to."""
        if self.form.radius is None:
            return self.form.gap_scale(self.loss, value)
        size = float(np.abs(response).sum()) * self.largest_entry
        return max(abs(value), LEAST_VALUE * size * self.form.radius)

    def _penalty(self, trial: Vector) -> float:
        """Ω of the coefficients that take part, which are all that are not 0, and of the offset."""
        return 0.0 if self.form.radius is not None else self.form.value(trial[:-1], trial[-1])

    def _tried(self, places: Indices, trial: Vector) -> tuple[float, Vector]:
        """F + Ω and Hα at a point that a step may go to."""
        coef = self._coef.copy()
        coef[places] = trial[:-1]
        intercept, combined = float(trial[-1]), self._output_of(coef)
        return self._value(combined + intercept, coef, intercept), combined

    def _value(self, output: Vector, coef: Vector, intercept: float) -> float:
        return self.loss.value(output) + self.form.value(coef, intercept)

    def _output(self) -> Vector:
        if self._combined is None:
            self._combined = self._output_of(self._coef)
        return self._combined + self._intercept

    def _balanced_output(self) -> Vector:
        """The output, once the offset has been moved to where Σr is 0, by Newton's method.

        A step leaves Σr as far from 0 as its model is from the loss, and a gap is finite only where
        it is 0. These steps take no product with columns.
        """
        output = self._output()
        if self.form.offset != "free" or not isinstance(self.loss, RowwiseLoss):
            return output
        self._intercept += balancing_shift(self.loss, output)
        return self._output()

    def _output_of(self, coef: Vector) -> Vector:
        return self.columns.combine(self.columns.of_directions(coef))
