"""The minimisers of a smooth loss and a 1-norm or an elastic net at many prices of the loss.

    min t·F(Hα + b) + Ω(α)       t = t₁ < t₂ < …,  Ω(α) = Σ threshold·|α| + ½·quadratic·α²

Of few columns, which are all there, or of many, of which those are read that come to be of use. The
squared error of few has one matrix of products for all prices: with the 1-norm a homotopy leads
from breakpoint to breakpoint, and tα is linear in t between them. Any other problem begins at the
solution before it, moved on as far as α has moved by 1/t, and takes Newton steps. Of many columns
one is over those in use and about as many of the largest scores; where they have few entries, numba
takes it by coordinate descent over all that matter. One that promises not much less than the step
before it did shows whether that was too long; it is then halved until the objective has fallen.
Where steps do not lead to a solution soon, and prices between do not help, the path ends. Nothing
here is proven: that is for a certificate.
(Friedman, Hastie, Tibshirani, *Regularization paths for generalized linear models via coordinate
descent*, J. Statistical Software 33, 2010, for warm starts along a grid; Rosset, Zhu, *Piecewise
linear regularized solution paths*, Annals of Statistics 35, 2007.)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from cgboost._solvers import SolverError
from cgboost.arrays import Indices, Mask, Vector
from cgboost.compiled import compiled
from cgboost.losses import SquaredError
from cgboost.losses.loss import WeightedLoss
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.newton.descent_loop import descend, descended
from cgboost.optimizers.newton.homotopy import follow_prices
from cgboost.optimizers.newton.quadratic_model import (
    EXCESS,
    WeightedProducts,
    minimise,
    positive_solution,
)
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.newton.smooth_primal import NEAR_SCORE, NEWTON_RIDGE, SHORTEST, SUFFICIENT
from cgboost.optimizers.solver_choice import FEW_NUMBERS
from cgboost.penalties.penalty import DualForm
from cgboost.tolerances import SMALLEST

logger = logging.getLogger(__name__)

MOST_COLUMNS = 300
"""Columns up to which Newton steps over all at once are quicker than rounds that let them in. At
3000 × 300, 300 × 200 and 200 × 600 a path of 100 took 0.3 to 0.9 of the time with all losses, at
500 × 600 0.5 with the log loss and 1.5 with the squared hinge."""

MOST_BY_HOMOTOPY = 1000
"""The same where a homotopy finds all points: at 1000 × 1000 it took a third of the time. Of more
columns that are read as they come to be of use, no step is taken over as many at once."""

FIRST_READ = 32
"""Columns that take part in a step at most are so many, or twice as many as are in use."""

STEPS_PER_PRICE = 15
"""Newton steps at most for a price: from the solution before, two or three are the rule."""

LAST_PROMISE = 1e-8
"""The last step promises this share of max(1, Ω) at most: what it leaves is about its square."""

COARSE_PROMISE = 0.1
"""The same at a price between, which is but a start: 25 fits took 0.77 to 1.02 of the time with the
last digits there, 0.93 in the geometric mean."""

LAST_OF_MANY = 1e-10
"""The same of many columns, and of coordinate descent, which leaves a share: gaps were up to 1e-6
after 1e-8."""

FAR_PRICE = 5.0
"""A price so many times the one before is reached by one between: the squared hinge took 0.11
instead of 0.18 s at a hundredth of the largest α (300 × 200) with 12."""

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


class Unread(NamedTuple):
    """Columns of which few are read, as they come to be of use.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    read : callable
        Some columns, as the rows of an array.
    scores : callable
        h·r of all.
    entries : sparse array of shape (n_rows, n_columns), or None
        Of columns that are kept by their entries, and before …
    centres : ndarray of shape (n_columns,)
        … these are taken from all rows.
    """

    shape: tuple[int, int]
    read: Callable[[Indices], Vector]
    scores: Callable[[Vector], Vector]
    entries: Any
    centres: Vector


def minimise_along(
    loss: RowwiseLoss, form: DualForm, columns: Vector | Unread, prices: Vector
) -> PathOfPrices:
    """Nearly the minimisers at all prices.

    Parameters
    ----------
    loss : RowwiseLoss
        At the price 1.
    form : DualForm
        With a threshold, no ball, no columns without a penalty, and an offset that is free or none.
    columns : ndarray of shape (n_rows, n_columns), or Unread
        H.
    prices : ndarray of shape (n_prices,)
        In ascending order, above 0.
    """
    path = _Path(loss, form, family := _family_of(columns, form.offset == "free"))
    coef = np.full((len(prices), columns.shape[1]), np.nan)
    intercept = np.full(len(prices), np.nan)
    try:
        if len(prices) > 1 and _has_breakpoints(loss, form) and isinstance(family, _Few):
            coef, intercept = path.by_homotopy(prices)
        else:
            for k, price in enumerate(prices.tolist()):
                if not path.reaches(price):
                    break
                coef[k], intercept[k], _ = path.at
    except (SolverError, LinAlgError) as error:
        logger.info("the path ends early: %s", error)
    return PathOfPrices(coef, intercept - coef @ family.means)


def is_quick(loss: RowwiseLoss, form: DualForm, columns: Vector | Unread) -> bool:
    """Whether that is the way for such columns, or so many."""
    if isinstance(columns, Unread):
        apart = form.offset == "free" or not columns.centres.any()
        return columns.entries is None or (apart and compiled(descend) is not None)
    n_columns = columns.shape[1]
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

    def shift(self, move: Vector) -> float:
        """How far the offset moves with the coefficients."""
        return (self.total - float(self.pull @ move)) / self.mass


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


def _family_of(columns: Vector | Unread, centred: bool) -> _Few | _Many | _Sparse:
    """Columns as a path asks for them."""
    if isinstance(columns, np.ndarray):
        return _Few(columns, centred)
    return _Many(columns, centred) if columns.entries is None else _Sparse(columns)


class _Few:
    """Columns that are all there; centred where the offset is free."""

    def __init__(self, columns: Vector, centred: bool) -> None:
        self.shape, self.room = columns.shape, columns.shape[1]
        self.means = columns.mean(axis=0) if centred else np.zeros(columns.shape[1])
        self.columns = columns - self.means
        self._kept: WeightedProducts | None = None

    def scores(self, response: Vector) -> Vector:
        """H·r of all."""
        return self.columns.T @ response

    def combine(self, coef: Vector) -> Vector:
        """Hα."""
        return self.columns @ coef

    def products(self, places: Indices, weights: Vector) -> tuple[Vector, Vector, float]:
        """HᵀWH, HᵀW1 and 1ᵀW1 of some columns.

        Products are kept from step to step where it takes more time to make them anew.
        """
        if self.columns.size > FEW_NUMBERS and (weights != weights[0]).any():
            if self._kept is None:
                store = ColumnStore(len(self.columns), centred=False)
                store.append(self.columns.T)
                self._kept = WeightedProducts(store)
            return _parts(self._kept.of(places, weights))
        part = self.columns if len(places) == self.room else self.columns[:, places]
        if (weights == weights[0]).all():  # those of the squared error, most often
            return weights[0] * (part.T @ part), weights[0] * part.sum(axis=0), float(weights.sum())
        factor = part * np.sqrt(weights)[:, None]
        return factor.T @ factor, weights @ part, float(weights.sum())


class _Many:
    """The same of columns that are read when they come to be of use."""

    def __init__(self, columns: Unread, centred: bool) -> None:
        self.shape, self._unread = columns.shape, columns
        self.means, self.room = np.zeros(columns.shape[1]), FIRST_READ
        self.store = ColumnStore(columns.shape[0], centred=centred)
        self._kept = WeightedProducts(self.store)
        self._place = np.full(columns.shape[1], -1)

    def scores(self, response: Vector) -> Vector:
        """H·r of all."""
        return self._unread.scores(response)

    def combine(self, coef: Vector) -> Vector:
        """Hα."""
        used = np.flatnonzero(coef)
        held = np.zeros(self.store.count)
        held[self.places(used)] = coef[used]
        return self.store.combine(held)

    def products(self, places: Indices, weights: Vector) -> tuple[Vector, Vector, float]:
        """HᵀWH, HᵀW1 and 1ᵀW1 of some columns."""
        return _parts(self._kept.of(self.places(places), weights))

    def places(self, columns: Indices) -> Indices:
        """Their places in the store."""
        new = columns[self._place[columns] < 0]
        if len(new):
            self._place[new] = self.store.count + np.arange(len(new))
            self.store.append(self._unread.read(new))
            self.means[new] = self.store.means[self._place[new]]
        return self._place[columns]


class _Sparse:
    """The same of columns of few entries, which take part where they are, for compiled code."""

    def __init__(self, columns: Unread) -> None:
        self.shape, self.entries, self.scores = columns.shape, columns.entries, columns.scores
        self.room = columns.shape[1]
        self.means = -columns.centres

    def combine(self, coef: Vector) -> Vector:
        """Hα."""
        return np.asarray(self.entries @ coef)


def _parts(products: Vector) -> tuple[Vector, Vector, float]:
    return products[:-1, :-1], products[:-1, -1], float(products[-1, -1])


@dataclass
class _Path:
    """Where a path has come to."""

    loss: RowwiseLoss
    form: DualForm
    family: _Few | _Many | _Sparse

    def __post_init__(self) -> None:
        n_rows, count = self.family.shape
        self.free_offset = self.form.offset == "free"
        constant = 0.0
        if self.free_offset and isinstance(self.loss.on_rows, WeightedLoss):
            constant = float(self.loss.on_rows.constant())
        self.at = _Place(np.zeros(count), constant, np.zeros(n_rows))
        self._here = np.inf
        self._last = LAST_PROMISE if isinstance(self.family, _Few) else LAST_OF_MANY
        self._known: tuple[_Place, Vector, Vector] | None = None
        if not isinstance(self.family, _Few):  # of many, nothing enters before this price
            size = self.form.sizes(self._slopes()[1], 0.0)
            self._here = float(size.max(initial=SMALLEST)) / self.form.threshold
        self.positive = np.full(count, not self.form.two_sided)
        self._before: tuple[float, _Place] | None = None  # 1/t, and the solution there

    # ------------------------------------------------------------------ one matrix for all prices

    def by_homotopy(self, prices: Vector) -> tuple[Vector, Vector]:
        """All solutions."""
        every = np.arange(len(self.at.coef))
        model = self._model(every, self.loss.weights(self.at.output), *self._slopes())
        Q = model.Q + np.diag(NEWTON_RIDGE * np.diag(model.Q))
        charge = np.full(len(every), self.form.threshold)
        coef = follow_prices(Q, -model.gradient, charge, prices, positive=self.positive)
        if not self.free_offset:
            return coef, np.zeros(len(prices))
        return coef, self.at.intercept + (model.total - coef @ model.pull) / model.mass

    # ------------------------------------------------------------------ Newton's method

    def reaches(self, price: float, halvings: int = HALVINGS, *, coarse: bool = False) -> bool:
        """Move to the solution at a price, by prices between if need be; False if none helps."""
        near = halvings == 0 or np.isinf(self._here) or price * self._here <= FAR_PRICE
        if near and self._moves_to(price, COARSE_PROMISE if coarse else self._last):
            return True
        if halvings == 0 or np.isinf(self._here):
            return False
        between = float(np.sqrt(price / self._here))
        return self.reaches(between, halvings - 1, coarse=True) and self.reaches(
            price, halvings - 1, coarse=coarse
        )

    def _moves_to(self, price: float, last: float) -> bool:
        """Move to the solution at a price; False, and back, where steps do not lead there.

        The ``last`` step promises this share of max(1, Ω) at most.
        """
        origin = self.at
        self._foresee(1.0 / price)
        charge, ridge, promised = self.form.threshold / price, self.form.quadratic / price, np.inf
        before, length = self.at, 1.0
        for _ in range(STEPS_PER_PRICE):
            here = self.at
            response, gradient = self._slopes()
            places, all_there = self._taking_part(gradient, charge)
            if isinstance(self.family, _Many) and len(places) > MOST_BY_HOMOTOPY:
                break
            weights = self.loss.weights(here.output)
            model = places, weights, response, gradient[places]
            end = self._end_of_step(*model, charge, ridge)
            if end is None:
                break
            promise = self._promised(end, response, weights, charge, ridge)
            if not promise <= SHRINKING * promised:
                fall = self._value(before, charge, ridge) - self._value(here, charge, ridge)
                if not fall >= SUFFICIENT * length * promised:  # the step to here was too long
                    while not fall >= SUFFICIENT * length * promised and length > SHORTEST:
                        length, here = 0.5 * length, before.towards(here, 0.5)
                        fall = self._value(before, charge, ridge) - self._value(here, charge, ridge)
                    if not length > SHORTEST:
                        break
                    self.at = here
                    continue
            before, promised, length, self.at = here, promise, 1.0, end
            omega = self.form.threshold * float(np.abs(end.coef).sum())
            if all_there and price * promised <= last * max(1.0, omega):
                self._before = None if np.isinf(self._here) else (self._here, origin)
                self._here = 1.0 / price
                return True
        self.at = origin
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
        self.at = _Place(moved, intercept, self.family.combine(moved))

    def _slopes(self) -> tuple[Vector, Vector]:
        """The pseudo-response here, and the gradient by all coefficients."""
        if self._known is None or self._known[0] is not self.at:
            with np.errstate(over="ignore", invalid="ignore"):
                response = self.loss.pseudo_response(self.at.output)
            self._known = self.at, response, -self.family.scores(response)
        return self._known[1:]

    def _taking_part(self, gradient: Vector, charge: float) -> tuple[Indices, bool]:
        """Columns in use, and those whose score is near the one at which they come into use.

        And whether no other comes into use: of very many, only the first ones take part.
        """
        size = self.form.sizes(-gradient, 0.0)
        taking = (self.at.coef != 0) | (size >= NEAR_SCORE * charge)
        used = np.count_nonzero(self.at.coef)
        places = np.flatnonzero(taking)
        if len(places) <= (most := max(self.family.room, 2 * used)):
            return places, True
        size[self.at.coef != 0] = np.inf
        order = np.argpartition(-size, most)
        return np.sort(order[:most]), bool(size[order[most]] <= charge)

    def _end_of_step(
        self,
        places: Indices,
        weights: Vector,
        response: Vector,
        gradient: Vector,
        charge: float,
        ridge: float,
    ) -> _Place | None:
        """The minimiser of the model over some columns; None where it is not found soon."""
        start, k = self.at.coef[places], len(places)
        if isinstance(self.family, _Sparse):
            charges, ridges = np.full(k, charge), np.full(k, ridge)
            model = weights, response, start, charges, ridges
            positive, entries = not self.form.two_sided, self.family.entries
            near = descended(
                entries, places, *model, positive=positive, free_offset=self.free_offset
            )
            return None if near is None else self._moved(places, *near)
        found = self._model(places, weights, response, gradient)
        rank = int(np.count_nonzero(weights)) if ridge == 0.0 else None
        there = _minimiser(found, charge, ridge, start, self.positive[places], rank)
        return self._moved(places, there, found.shift(there - start))

    def _model(
        self, places: Indices, weights: Vector, response: Vector, gradient: Vector
    ) -> _Model:
        """The model over some columns at an output."""
        assert not isinstance(self.family, _Sparse)
        Q, pull, mass = self.family.products(places, weights)
        total = 0.0
        if self.free_offset:
            total, mass = float(response.sum()), max(mass, SMALLEST)
            Q = Q - np.outer(pull, pull / mass)
            gradient = gradient + pull * (total / mass)
        else:
            pull, mass = np.zeros(len(places)), 1.0
        return _Model(Q, gradient - Q @ self.at.coef[places], gradient, pull, mass, total)

    def _moved(self, places: Indices, there: Vector, shift: float) -> _Place:
        """The place at other coefficients of some columns."""
        coef = self.at.coef.copy()
        coef[places] = there
        return _Place(coef, self.at.intercept + shift, self.family.combine(coef))

    def _promised(
        self, end: _Place, response: Vector, weights: Vector, charge: float, ridge: float
    ) -> float:
        """What the quadratic model promises of a step, for the loss at the price 1."""
        move, old, new = end.output - self.at.output, self.at.coef, end.coef
        gain = float(response @ move) - 0.5 * float(weights @ move**2)
        gain += charge * float(np.abs(old).sum() - np.abs(new).sum())
        gain += 0.5 * ridge * float(old @ old - new @ new)
        return max(gain, 0.0) if np.isfinite(gain) else np.nan


def _minimiser(
    model: _Model,
    charge: float,
    ridge: float,
    start: Vector,
    positive: Mask,
    rank: int | None,
) -> Vector:
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
    charges = np.full(len(c), charge)
    return minimise(Q, c, charges, start, positive=positive, rank=rank)
