"""The minimisers of a smooth loss and a 1-norm or an elastic net at many prices of the loss.

    min t·F(Hα + b) + Ω(α)       t = t₁ < t₂ < …,  Ω(α) = Σ threshold·|α| + ½·quadratic·α²

Of few columns, which are all there. The squared error has one matrix of products for all prices:
with the 1-norm a homotopy leads from breakpoint to breakpoint, and tα is linear in t between them.
Any other problem begins at the solution before it, moved on as far as α has moved by 1/t, and takes
Newton steps of length 1, for as long as each promises little of what the one before it did. Where
they do not, and prices between do not help, the path ends. Nothing here is proven: that is for a
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
from scipy.linalg.lapack import dposv

from cgboost._solvers import SolverError
from cgboost.arrays import Indices, Mask, Vector
from cgboost.losses import SquaredError
from cgboost.losses.loss import WeightedLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton.homotopy import follow_prices
from cgboost.optimizers.newton.quadratic_model import EXCESS, WeightedProducts, minimise
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import NEAR_SCORE, NEWTON_RIDGE
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
"""A step promises at most this share of what the one before it did, or steps lead nowhere."""


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
            for k, price in enumerate(prices.tolist()):
                if not path.reaches(price):
                    break
                coef[k], intercept[k] = path.coef, path.intercept
    except (SolverError, LinAlgError) as error:
        logger.info("the path ends early: %s", error)
    return PathOfPrices(coef, intercept - coef @ means)


def is_quick(loss: RowwiseLoss, form: DualForm, n_columns: int) -> bool:
    """Whether that is the way for so many columns."""
    return n_columns <= (MOST_BY_HOMOTOPY if _has_breakpoints(loss, form) else MOST_COLUMNS)


def _has_breakpoints(loss: RowwiseLoss, form: DualForm) -> bool:
    """Whether tα is piecewise linear in t."""
    return isinstance(getattr(loss.bound, "loss", None), SquaredError) and form.quadratic == 0


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


@dataclass
class _Path:
    """Where a path has come to."""

    loss: RowwiseLoss
    form: DualForm
    columns: Vector
    free_offset: bool

    def __post_init__(self) -> None:
        n_rows, count = self.columns.shape
        self.coef, self.intercept = np.zeros(count), 0.0
        if self.free_offset and isinstance(self.loss.bound, WeightedLoss):
            self.intercept = float(self.loss.bound.constant())
        self.output = np.full(n_rows, self.intercept)
        self._combined = np.zeros(n_rows)
        store = ColumnStore(n_rows, centred=False)
        store.append(self.columns.T)
        self._products = WeightedProducts(store)
        self.positive = np.full(count, not self.form.two_sided)
        self._before: tuple[float, Vector, float] | None = None  # 1/t, and the solution there
        self._here = np.inf

    # ------------------------------------------------------------------ one matrix for all prices

    def by_homotopy(self, prices: Vector) -> tuple[Vector, Vector]:
        """All solutions."""
        every = np.arange(len(self.coef))
        model = self._model(every, self.loss.pseudo_response(self.output))
        Q = model.Q + np.diag(NEWTON_RIDGE * np.diag(model.Q))
        charge = np.full(len(every), self.form.threshold)
        coef = follow_prices(Q, -model.gradient, charge, prices, positive=self.positive)
        if not self.free_offset:
            return coef, np.zeros(len(prices))
        return coef, self.intercept + (model.total - coef @ model.pull) / model.mass

    # ------------------------------------------------------------------ Newton's method

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
        start = self.coef, self.intercept, self._combined
        self._foresee(1.0 / price)
        charge, ridge, promised = self.form.threshold / price, self.form.quadratic / price, np.inf
        for _ in range(STEPS_PER_PRICE):
            self.output = self._combined + self.intercept
            with np.errstate(over="ignore", invalid="ignore"):
                response = self.loss.pseudo_response(self.output)
            gradient = -(self.columns.T @ response)
            places = self._taking_part(gradient, charge)
            model = self._model(places, response)
            here = self.coef[places]
            there = _minimiser(model, charge, ridge, here, self.positive[places])
            before, promised = promised, self._step(places, there, model, charge, ridge)
            omega = self.form.threshold * float(np.abs(self.coef).sum())
            if not promised <= SHRINKING * before:
                break
            if price * promised <= LAST_PROMISE * max(1.0, omega):
                self._before = None if np.isinf(self._here) else (self._here, start[0], start[1])
                self._here = 1.0 / price
                return True
        self.coef, self.intercept, self._combined = start
        return False

    def _foresee(self, inverse: float) -> None:
        """Go on as far as the coefficients have moved since the price before, by 1/t."""
        if self._before is None:
            return
        earlier, coef, intercept = self._before
        if not earlier > self._here:
            return
        ahead = (self._here - inverse) / (earlier - self._here)
        moved = self.coef + ahead * (self.coef - coef)
        self.coef = np.where(moved * self.coef > 0.0, moved, 0.0)
        self.intercept += ahead * (self.intercept - intercept)
        self._combined = self.columns @ self.coef

    def _taking_part(self, gradient: Vector, charge: float) -> Indices:
        """Columns in use, and those whose score is near the one at which they come into use."""
        near = np.abs(gradient) >= NEAR_SCORE * charge
        return np.flatnonzero((self.coef != 0) | near)

    def _model(self, places: Indices, response: Vector) -> _Model:
        """The model over some columns at the present output."""
        products = self._products.of(places, self.loss.weights(self.output))
        Q, pull, mass = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
        part = self.columns if len(places) == len(self.coef) else self.columns[:, places]
        gradient, total = -(part.T @ response), 0.0
        if self.free_offset:
            total, mass = float(response.sum()), max(mass, SMALLEST)
            Q = Q - np.outer(pull, pull / mass)
            gradient += pull * (total / mass)
        else:
            pull, mass = np.zeros(len(places)), 1.0
        return _Model(Q, gradient - Q @ self.coef[places], gradient, pull, mass, total)

    def _step(
        self, places: Indices, there: Vector, model: _Model, charge: float, ridge: float
    ) -> float:
        """Go to the model's minimiser; what the model promises, for the loss at the price 1."""
        here = self.coef[places]
        move = there - here
        shift = (model.total - float(model.pull @ move)) / model.mass
        fall = charge * float(np.abs(here).sum() - np.abs(there).sum())
        fall += 0.5 * ridge * float(here @ here - there @ there)
        # the offset alone takes total²/(2 mass), the columns what is left of it
        gain = 0.5 * model.total**2 / model.mass - float(model.gradient @ move) + fall
        gain -= 0.5 * float(move @ (model.Q @ move))
        self.coef = self.coef.copy()
        self.coef[places] = there
        self.intercept += shift
        self._combined = self.columns @ self.coef
        return max(gain, 0.0) if np.isfinite(gain) else np.nan


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
    signs = np.sign(start[used])
    x = np.zeros(len(start))
    if len(used):
        _, solved, failed = dposv(Q[np.ix_(used, used)], -c[used] - charge * signs)
        if failed:
            raise LinAlgError("the model of a Newton step is flat")
        x[used] = solved
    inside = np.abs(Q @ x + c)
    inside[used] = 0.0
    rounding = EXCESS * max(charge, float(np.abs(c).max()))
    if not positive.any() and (x[used] * signs > 0.0).all() and inside.max() <= charge + rounding:
        return x
    return minimise(Q, c, np.full(len(c), charge), start, positive=positive)
