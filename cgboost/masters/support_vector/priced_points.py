"""The optima of one restricted problem at many prices of its loss, each with its certificate.

Columns are all there to be read. Of a smooth loss the problems are solved along their prices
(:mod:`cgboost.optimizers.newton.priced_path`), and what a round of the loop does for one of them is
done for many at once. Objectives are evaluated at the coefficients, and bounds at pseudo-responses
with the scores of all columns, as products of matrices. Of a linear program there is the vertex at
one price.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cgboost._solvers import SolverFailure
from cgboost.arrays import Vector
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import ZERO_SUM
from cgboost.losses.loss import WeightedLoss
from cgboost.optimizers.newton.priced_path import Unread, is_quick, minimise_along
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss
from cgboost.optimizers.simplex.primal_simplex import PrimalSimplex
from cgboost.penalties.penalty import DualForm, sizes

OUTPUTS_AT_A_TIME = 2**17
"""Outputs, rows times prices, that are evaluated at once: 1 MB of them, and of what follows."""

VERTEX_GAP = 1e-8
"""Relative gap of a vertex that has kept its digits."""

Scores = Callable[[Vector], tuple[Vector, Vector]]
"""Scores of all columns and bounds on their errors, both of shape (n_columns, n_prices), for
pseudo-responses of shape (n_rows, n_prices)."""


class PricedPoints(NamedTuple):
    """Solutions at many prices; nan where there is none.

    Attributes
    ----------
    coef : ndarray of shape (n_prices, n_columns)
    intercept, objective, bound, gap : ndarray of shape (n_prices,)
        The gap is relative, as in the loop.
    """

    coef: Vector
    intercept: Vector
    objective: Vector
    bound: Vector
    gap: Vector


class _AtPrice(NamedTuple):
    """What the model without columns leaves of a loss at a price."""

    loss: RowwiseLoss
    price: float

    def empty(self, *, offset: bool) -> float:
        return self.price * self.loss.empty(offset=offset)


def solved_along(
    loss: RowwiseLoss, form: DualForm, columns: Vector | Unread, prices: Vector, scores: Scores
) -> PricedPoints | None:
    """The optima at all prices, with objectives and bounds; None of columns for which that is slow.

    Parameters
    ----------
    loss : RowwiseLoss
        Of a :class:`~cgboost.losses.loss.WeightedLoss`, at the price 1.
    form : DualForm
        With a threshold, no ball and no columns without a penalty; the offset is free or none.
    columns : ndarray of shape (n_rows, n_columns), or Unread
        All columns of the family.
    prices : ndarray of shape (n_prices,)
        In ascending order, above 0.
    """
    loss_on_rows = loss.on_rows
    if not isinstance(loss_on_rows, WeightedLoss):
        return None
    if not is_quick(loss, form, columns):
        return None
    if not (loss_on_rows.weights > 0).all():  # such rows say nothing, and are left out before
        return None
    coef, intercept = minimise_along(loss, form, columns, prices)
    objective, bound = np.full((2, len(prices)), np.nan)
    found = np.flatnonzero(np.isfinite(intercept))
    step = max(1, OUTPUTS_AT_A_TIME // loss.n_rows)
    many = _Stacked(loss_on_rows, max(1, min(step, len(found))))
    for start in range(0, len(found), step):
        some = found[start : start + step]
        outputs = _combined(coef[some], columns)
        outputs += intercept[some, None]
        if len(some) != many.count:
            many = _Stacked(loss_on_rows, len(some))
        penalty = [form.value(at_price, 0.0) for at_price in coef[some]]
        objective[some] = prices[some] * many.values(outputs) + penalty
        responses = many.responses(outputs, balanced=form.offset == "free")
        found_scores, errors = scores(responses.T)
        size = prices[some] * (sizes(found_scores, two_sided=form.two_sided) + errors)
        bound[some] = _bounds(many, form, responses, size, prices[some])
    scales = np.ones(len(prices))
    for k in found.tolist():
        scales[k] = form.gap_scale(_AtPrice(loss, float(prices[k])), float(objective[k]))
    return PricedPoints(coef, intercept, objective, bound, np.abs(objective - bound) / scales)


def solved_at_vertex(
    loss: SupportVectorLoss, form: DualForm, columns: Vector, scores: Scores
) -> PricedPoints | None:
    """The optimum of a linear program over all columns; None where it is not found to all digits.

    Parameters
    ----------
    loss : SupportVectorLoss
    form : DualForm
        For which :meth:`PrimalSimplex.takes` is true.
    columns : ndarray of shape (n_rows, n_columns)
    scores : callable
    """
    live = PrimalSimplex(loss, form)
    live.add(columns.T)
    try:
        point = live.solve(None)
    except SolverFailure:
        return None
    objective = form.value(point.coef, point.intercept) + loss.value(point.output)
    response = loss.feasible(point.response, balanced=form.offset == "free")
    found, errors = scores(response[:, None])
    size = sizes(found, two_sided=form.two_sided) + errors
    largest = max(1.0, float(size.max(initial=0.0)) / form.threshold)
    bound = max(loss.gain(np.zeros_like(response)), loss.gain(response / largest))
    gap = abs(objective - bound) / form.gap_scale(loss, objective)
    if not gap <= VERTEX_GAP:
        return None
    numbers = (np.array([number]) for number in (point.intercept, objective, bound, gap))
    return PricedPoints(point.coef[None], *numbers)


def _combined(coef: Vector, columns: Vector | Unread) -> Vector:
    """Outputs without the offset, shape (n_prices, n_rows)."""
    if isinstance(columns, np.ndarray):
        return np.asarray(coef @ columns.T)
    if columns.entries is not None:
        return np.asarray((columns.entries @ coef.T).T - (coef @ columns.centres)[:, None])
    used = np.flatnonzero(coef.any(axis=0))
    return np.asarray(coef[:, used] @ columns.read(used))


def _bounds(
    many: _Stacked, form: DualForm, responses: Vector, size: Vector, prices: Vector
) -> Vector:
    """Lower bounds gain(r) − Ω*(s) at the sizes of all scores, of shape (n_columns, n_prices)."""
    if form.penalty.is_positively_homogeneous:  # then Ω* is 0 or ∞, and r is shrunk until it is 0
        largest = np.maximum(size.max(axis=0, initial=0.0) / form.threshold, 1.0)
        return np.asarray(prices * many.gains(responses / largest[:, None]))
    conjugates = [form.penalty.conjugate(at_price) for at_price in size.T]
    return np.asarray(prices * many.gains(responses) - conjugates)


class _Stacked:
    """A loss on several outputs of its rows at once, one below the other.

    Parameters
    ----------
    count : int
        How many outputs.
    """

    def __init__(self, loss: WeightedLoss, count: int) -> None:
        self.count, self._shape = count, (count, loss.n_rows)
        self._weights, self._slopes = loss.weights, loss.loss.domain(loss.target)
        self._loss = loss.loss.on(np.tile(loss.target, count), np.tile(loss.weights, count))

    def values(self, outputs: Vector) -> Vector:
        """F of every output, shape (count,)."""
        values = self._loss.loss.value(self._loss.target, outputs.ravel())
        return np.asarray(values.reshape(self._shape) @ self._weights)

    def responses(self, outputs: Vector, *, balanced: bool) -> Vector:
        """Pseudo-responses that are feasible, with Σr = 0 if ``balanced``."""
        lower, upper = self._slopes
        inside = self._loss.pseudo_response(outputs.ravel()).reshape(self._shape)
        inside = np.clip(inside, -self._weights * upper, -self._weights * lower)
        if not balanced:
            return np.asarray(inside)
        totals = inside.sum(axis=1)
        off = np.flatnonzero(np.abs(totals) > ZERO_SUM * np.abs(inside).sum(axis=1))
        part, excess = inside[off], totals[off, None]
        heavy = part * excess > 0
        weights = np.where(heavy, np.abs(part), 0.0).sum(axis=1, keepdims=True)
        inside[off] = np.where(heavy, part * (1.0 - np.abs(excess) / weights), part)
        return np.asarray(inside)

    def gains(self, responses: Vector) -> Vector:
        """−F*(−r) of shares of feasible responses, shape (count,)."""
        slopes = np.clip(-responses / self._weights, *self._slopes)  # outside by rounding at most
        values = self._loss.loss.conjugate(self._loss.target, slopes.ravel())
        return np.asarray(-(values.reshape(self._shape) @ self._weights))
