"""The minimisers of a smooth loss and a 1-norm or an elastic net at many prices of the loss.

    min t·F(Hα + b) + Ω(α)       t = t₁ < t₂ < …,  Ω(α) = Σ threshold·|α| + ½·quadratic·α²

Of few columns, which are all there. The squared error has one matrix of products for all prices:
with the 1-norm a homotopy leads from breakpoint to breakpoint, and tα is linear in t between them.
Any other problem begins at the solution before it, moved on as far as α has moved by 1/t, and takes
Newton steps. One that promises not much less than the step before it did shows whether that was
too long; it is then halved until the objective has fallen. Where steps do not lead to a solution
soon, and prices between do not help, the path ends. Nothing here is proven: that is for a
certificate.
(Friedman, Hastie, Tibshirani, *Regularization paths for generalized linear models via coordinate
descent*, J. Statistical Software 33, 2010, for warm starts along a grid; Rosset, Zhu, *Piecewise
linear regularized solution paths*, Annals of Statistics 35, 2007.)
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from cgboost._solvers import SolverError
from cgboost.arrays import Indices, Mask, Vector
from cgboost.losses import SquaredError
from cgboost.losses.loss import WeightedLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton.homotopy import follow_prices
from cgboost.optimizers.newton.quadratic_model import (
    EXCESS,
    WeightedProducts,
    minimise,
    positive_solution,
)
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import NEAR_SCORE, NEWTON_RIDGE, SUFFICIENT
from cgboost.optimizers.solver_choice import FEW_NUMBERS
from cgboost.penalties.penalty import DualForm
from cgboost.tolerances import SMALLEST

logger = logging.getLogger(__name__)

MOST_COLUMNS = 300
"""Columns up to which Newton steps over all at once are quicker than rounds that let them in. At
3000 × 300, 300 × 200 and 200 × 600 a path of 100 took 0.3 to 0.9 of the time with all losses, at
500 × 600 0.5 with the log loss and 1.5 with the squared hinge."""

MOST_BY_HOMOTOPY = 1000
"""The same where a homotopy finds all points: at 1000 × 1000 it took a third of the time."""

STEPS_PER_PRICE = 15
"""Newton steps at most for a price: from the solution before, two or three are the rule."""

LAST_PROMISE = 1e-8
"""The last step promises this share of max(1, Ω) at most: what it leaves is about its square."""

HALVINGS = 3
"""Times that the way to a price is halved, by its logarithm, where steps do not lead there at once.
With eight prices to a thousandfold some of Huber's loss need one, with a hundred hardly any."""

SHRINKING = 0.5
"""Where a step promises more than this share of what the one before it did, the objective must have
fallen by that one."""


class PathOfPrices(NamedTuple):
    """Coefficients at every price; rows of nan where none were found.

    Attributes
    ----------
    coef : ndarray of shape (n_prices, n_columns)
    intercept : ndarray of shape (n_prices,)
    """

    coef: Vector
    intercept: Vector


def minimise_along(
    loss: RowwiseLoss, form: DualForm, columns: Vector, prices: Vector
) -> PathOfPrices:
    """Nearly the minimisers at all prices.

    Parameters
    ----------
    loss : RowwiseLoss
        At the price 1.
    form : DualForm
        With a threshold, no ball, no columns without a penalty, and an offset that is free or none.
    columns : ndarray of shape (n_rows, n_columns)
        H.
    prices : ndarray of shape (n_prices,)
        In ascending order, above 0.
    """
    free_offset = form.offset == "free"
    means = columns.mean(axis=0) if free_offset else np.zeros(columns.shape[1])
    path = _Path(loss, form, columns - means, free_offset)
    coef = np.full((len(prices), columns.shape[1]), np.nan)
    intercept = np.full(len(prices), np.nan)
    try:
        if len(prices) > 1 and _has_breakpoints(loss, form):
            coef, intercept = path.by_homotopy(prices)
        else:
            path.keep_products()
            for k, price in enumerate(prices.tolist()):
                if not path.reaches(price):
                    break
                coef[k], intercept[k], _ = path.at
    except (SolverError, LinAlgError) as error:
        logger.info("the path ends early: %s", error)
    return PathOfPrices(coef, intercept - coef @ means)


def is_quick(loss: RowwiseLoss, form: DualForm, n_columns: int) -> bool:
    """Whether that is the way for so many columns."""
    return n_columns <= (MOST_BY_HOMOTOPY if _has_breakpoints(loss, form) else MOST_COLUMNS)


def _has_breakpoints(loss: RowwiseLoss, form: DualForm) -> bool:
    """Whether tα is piecewise linear in t."""
    return isinstance(getattr(loss.on_rows, "loss", None), SquaredError) and form.quadratic == 0


class _Model(NamedTuple):
    """The quadratic model of a Newton step, the offset eliminated: ½xᵀQx + c·x over some columns.

    ``pull`` and ``mass`` say where the offset is best: b + (total − pull·(x − α))/mass.
    """

    Q: Vector
    c: Vector
    gradient: Vector
    pull: Vector
    mass: float
    total: float


class _Place(NamedTuple):
    """Coefficients, offset, and Hα."""

    coef: Vector
    intercept: float
    combined: Vector

    @property
    def output(self) -> Vector:
        """Hα + b."""
        return self.combined + self.intercept

    def towards(self, other: _Place, share: float) -> _Place:
        """The place on the way to another one, after this share of it."""
        return _Place(
            self.coef + share * (other.coef - self.coef),
            self.intercept + share * (other.intercept - self.intercept),
            self.combined + share * (other.combined - self.combined),
        )


@dataclass
class _Path:
    """Where a path has come to."""

    loss: RowwiseLoss
    form: DualForm
    columns: Vector
    free_offset: bool

    def __post_init__(self) -> None:
        n_rows, count = self.columns.shape
        constant = 0.0
        if self.free_offset and isinstance(self.loss.on_rows, WeightedLoss):
            constant = float(self.loss.on_rows.constant())
        self.at = _Place(np.zeros(count), constant, np.zeros(n_rows))
        self._kept: WeightedProducts | None = None
        self.positive = np.full(count, not self.form.two_sided)
        self._before: tuple[float, _Place] | None = None  # 1/t, and the solution there
        self._here = np.inf

    # ------------------------------------------------------------------ one matrix for all prices

    def by_homotopy(self, prices: Vector) -> tuple[Vector, Vector]:
        """All solutions."""
        every, output = np.arange(len(self.at.coef)), self.at.output
        model = self._model(every, output, self.loss.pseudo_response(output))
        Q = model.Q + np.diag(NEWTON_RIDGE * np.diag(model.Q))
        charge = np.full(len(every), self.form.threshold)
        coef = follow_prices(Q, -model.gradient, charge, prices, positive=self.positive)
        if not self.free_offset:
            return coef, np.zeros(len(prices))
        return coef, self.at.intercept + (model.total - coef @ model.pull) / model.mass

    # ------------------------------------------------------------------ Newton's method

    def keep_products(self) -> None:
        """Keep products from step to step, where it takes more time to make them anew."""
        if self.columns.size > FEW_NUMBERS:
            store = ColumnStore(len(self.columns), centred=False)
            store.append(self.columns.T)
            self._kept = WeightedProducts(store)

    def reaches(self, price: float, halvings: int = HALVINGS) -> bool:
        """Move to the solution at a price, by prices between if need be; False if none helps."""
        if self._moves_to(price):
            return True
        if halvings == 0 or np.isinf(self._here):
            return False
        between = float(np.sqrt(price / self._here))
        return self.reaches(between, halvings - 1) and self.reaches(price, halvings - 1)

    def _moves_to(self, price: float) -> bool:
        """Move to the solution at a price; False, and back, where steps do not lead there."""
        start = self.at
        self._foresee(1.0 / price)
        charge, ridge, promised = self.form.threshold / price, self.form.quadratic / price, np.inf
        before, length = self.at, 1.0
        for _ in range(STEPS_PER_PRICE):
            here, output = self.at, self.at.output
            with np.errstate(over="ignore", invalid="ignore"):
                response = self.loss.pseudo_response(output)
            gradient = -(self.columns.T @ response)
            places = self._taking_part(gradient, charge)
            model = self._model(places, output, response)
            there = _minimiser(model, charge, ridge, here.coef[places], self.positive[places])
            end, promise = self._step(places, there, model, charge, ridge)
            if not promise <= SHRINKING * promised:
                fall = self._value(before, charge, ridge) - self._value(here, charge, ridge)
                if not fall >= SUFFICIENT * length * promised:  # the step to here was too long
                    length *= 0.5
                    self.at = before.towards(here, 0.5)
                    continue
            before, promised, length, self.at = here, promise, 1.0, end
            omega = self.form.threshold * float(np.abs(end.coef).sum())
            if price * promised <= LAST_PROMISE * max(1.0, omega):
                self._before = None if np.isinf(self._here) else (self._here, start)
                self._here = 1.0 / price
                return True
        self.at = start
        return False

    def _value(self, place: _Place, charge: float, ridge: float) -> float:
        """The loss and the penalty, for the loss at the price 1."""
        size, squares = float(np.abs(place.coef).sum()), float(place.coef @ place.coef)
        return self.loss.value(place.output) + charge * size + 0.5 * ridge * squares

    def _foresee(self, inverse: float) -> None:
        """Go on as far as the coefficients have moved since the price before, by 1/t."""
        if self._before is None:
            return
        earlier, place = self._before
        if not earlier > self._here:
            return
        coef, intercept, _ = self.at
        ahead = (self._here - inverse) / (earlier - self._here)
        moved = coef + ahead * (coef - place.coef)
        moved = np.where(moved * coef > 0.0, moved, 0.0)
        intercept += ahead * (intercept - place.intercept)
        self.at = _Place(moved, intercept, self.columns @ moved)

    def _taking_part(self, gradient: Vector, charge: float) -> Indices:
        """Columns in use, and those whose score is near the one at which they come into use."""
        near = np.abs(gradient) >= NEAR_SCORE * charge
        return np.flatnonzero((self.at.coef != 0) | near)

    def _model(self, places: Indices, output: Vector, response: Vector) -> _Model:
        """The model over some columns at an output."""
        part = self.columns if len(places) == self.columns.shape[1] else self.columns[:, places]
        Q, pull, mass = self._products(places, part, self.loss.weights(output))
        gradient, total = -(part.T @ response), 0.0
        if self.free_offset:
            total, mass = float(response.sum()), max(mass, SMALLEST)
            Q = Q - np.outer(pull, pull / mass)
            gradient += pull * (total / mass)
        else:
            pull, mass = np.zeros(len(places)), 1.0
        return _Model(Q, gradient - Q @ self.at.coef[places], gradient, pull, mass, total)

    def _products(
        self, places: Indices, part: Vector, weights: Vector
    ) -> tuple[Vector, Vector, float]:
        """HᵀWH, HᵀW1 and 1ᵀW1 of some columns."""
        if self._kept is not None:
            products = self._kept.of(places, weights)
            return products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
        factor = part * np.sqrt(weights)[:, None]
        return factor.T @ factor, weights @ part, float(weights.sum())

    def _step(
        self, places: Indices, there: Vector, model: _Model, charge: float, ridge: float
    ) -> tuple[_Place, float]:
        """The model's minimiser, and what the model promises of it, for the loss at the price 1."""
        here = self.at.coef[places]
        move = there - here
        shift = (model.total - float(model.pull @ move)) / model.mass
        fall = charge * float(np.abs(here).sum() - np.abs(there).sum())
        fall += 0.5 * ridge * float(here @ here - there @ there)
        # the offset alone takes total²/(2 mass), the columns what is left of it
        gain = 0.5 * model.total**2 / model.mass - float(model.gradient @ move) + fall
        gain -= 0.5 * float(move @ (model.Q @ move))
        coef = self.at.coef.copy()
        coef[places] = there
        end = _Place(coef, self.at.intercept + shift, self.columns @ coef)
        return end, max(gain, 0.0) if np.isfinite(gain) else np.nan


def _minimiser(model: _Model, charge: float, ridge: float, start: Vector, positive: Mask) -> Vector:
    """The minimiser of the model plus charge·Σ|x| + ½ridge·Σx².

    Where the signs stay what they are it is that of one linear system.
    """
    if not len(start):
        return start
    diagonal = np.diag(model.Q)
    least = NEWTON_RIDGE * np.maximum(diagonal, NEWTON_RIDGE * float(diagonal.max()))
    Q = model.Q + np.diag(least + ridge)
    c = model.c - least * start
    used = np.flatnonzero(start)
    if len(used):
        signs, x = np.sign(start[used]), np.zeros(len(start))
        x[used] = positive_solution(Q[used[:, None], used], -c[used] - charge * signs)
        inside = np.abs(Q @ x + c)
        inside[used] = 0.0
        most = charge + EXCESS * max(charge, float(np.abs(c).max()))
        if not positive.any() and (x[used] * signs > 0.0).all() and inside.max() <= most:
            return x
    return minimise(Q, c, np.full(len(c), charge), start, positive=positive)
