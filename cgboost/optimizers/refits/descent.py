"""Newton's method over a few coefficients, from sums over the rows alone.

    min over d   L(x + d)        of a convex loss; perhaps in a box

Each step minimises the quadratic model. One that goes too far is shortened: along it the loss is
convex, and its least lies between. One after which the loss falls nearly as steeply as before is
lengthened: far from all targets the model of Huber's loss knows no length but δ. Losses with kinks
have no such model: they are searched along one line after another.

A line search begins where the loss would be 0 if it fell as it begins: a length in units of y.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, lsq_linear

from cgboost.arrays import Vector
from cgboost.losses.loss import LONGEST_DOUBLING
from cgboost.losses.second_order_model import Quadratic
from cgboost.tolerances import SMALLEST

Surface = Callable[[Vector], Quadratic]
"""The loss at a point."""

QuadraticMinimizer = Callable[[Quadratic, Vector], Vector]
"""The move that minimises the quadratic model at a point."""

NEWTON_STEPS = 50
"""Steps at most; Newton's method needs far fewer."""

LEAST_PROMISE = 1e-16
"""A step that promises less than this, relative to the loss at the start, is the last. That is less
than the rounding of the loss itself, which could not show it."""

NEARLY_THERE = 1e-8
"""Below this share of the loss at the start, Newton's steps promise less by orders, one after
another. One that promises half as much as the one before, or more, is the last: what is left is the
rounding of outputs, which are far from 0 where targets are."""

SHORTENINGS = 60
"""Points along a step at most; each halves the bracket at least every second time."""

FLATTENED = 0.1
"""A shortened step may leave this share of the slope: the next Newton step does the rest."""

AS_STEEP = 0.9
"""A step that leaves more than this share of the slope is lengthened: the loss is as good as linear
there. Newton's steps leave 0.37 of that of e^−f, which has no least: they go far enough."""

FLAT = 1e-12
"""Curvature that the model has at least along every axis, relative to the largest: of Huber's loss,
bent at few rows, a Hessian may have none where the loss is steep. Rounding leaves 1e-15 or so."""

DIAGONAL_SHARE = 1e-14
"""Added to the diagonal of a Hessian of unit diagonal: dependent columns do no harm, and steps that
follow take away what it changes."""


SWEEPS = 3
"""Rounds over all axes at most, of losses with kinks: a stage is one of many."""

SMALL_GAIN = 1e-6
"""A round that lowers the loss by less than this, relative to it, is the last."""

SAME_LENGTH = 1e-9
"""Lengths this close, relative to their size, are one."""


def descended(
    surface: Surface,
    start: Vector,
    model: QuadraticMinimizer,
    lowest: float = -np.inf,
    most: float = np.inf,
) -> tuple[Vector, Quadratic]:
    """The point where the loss is least, and the loss there.

    Parameters
    ----------
    start : ndarray of shape (n_variables,)
    lowest : float
        A loss that is no larger is small enough.
    most : float
        No variable may be larger; the model, as of :func:`within`, keeps to it too.
    """
    point, here = start, surface(start)
    enough, near, promised = LEAST_PROMISE * here.value, NEARLY_THERE * here.value, np.inf
    for _ in range(NEWTON_STEPS):
        move = model(here, point)
        slope = -float(here.gradient @ move)
        if slope <= 0.0 or here.value <= lowest or 0.5 * promised < slope <= near:
            break
        promised = slope
        if slope > 2.0 * here.value > 0.0:  # more than there is: the model is nearly flat
            move, slope = 2.0 * here.value / slope * move, 2.0 * here.value
        there = surface(point + move)
        if slope <= enough:  # whether it goes too far is a matter of rounding
            return point + move, there
        if -float(there.gradient @ move) > AS_STEEP * slope:
            move, there = _lengthened(surface, point, here, move, there, most)
        if float(there.gradient @ move) > 0.0:
            move, there = _shortened(surface, point, move, -float(here.gradient @ move), there)
        point, here = point + move, there
    return point, here


def _lengthened(
    surface: Surface, point: Vector, here: Quadratic, move: Vector, there: Quadratic, most: float
) -> tuple[Vector, Quadratic]:
    """A multiple of a move that did not go far enough, and the loss at its end."""
    slope, length, reach = -float(here.gradient @ move), 1.0, _reach(point, move, most)
    longer = max(2.0, here.value / slope)
    for _ in range(LONGEST_DOUBLING):
        if length >= reach or -float(there.gradient @ move) <= AS_STEEP * slope:
            break
        length, longer = min(longer, reach), 2.0 * longer
        there = surface(point + length * move)
    return length * move, there


def _reach(point: Vector, way: Vector, most: float) -> float:
    """How often a way can be gone from a point until a variable is as large as ``most``."""
    own, moving = point[way != 0.0], way[way != 0.0]
    return float(np.min((np.sign(moving) * most - own) / moving))


def _shortened(
    surface: Surface, point: Vector, move: Vector, slope: float, there: Quadratic
) -> tuple[Vector, Quadratic]:
    """A part of a move that went too far, and the loss at its end."""
    low, high, length = 0.0, 1.0, 1.0
    for k in range(SHORTENINGS):
        rise = float(there.gradient @ move)
        if abs(rise) <= FLATTENED * slope:
            break
        low, high = (length, high) if rise < 0.0 else (low, length)
        bend = float(move @ there.hessian @ move)
        newton = length - rise / bend if bend > 0.0 else low
        length = newton if low < newton < high and k % 2 == 0 else 0.5 * (low + high)
        there = surface(point + length * move)
    return length * move, there


def newton(here: Quadratic, point: Vector) -> Vector:
    """The least of the quadratic model, in units in which the Hessian has a diagonal of 1."""
    units = np.sqrt(np.maximum(np.diag(here.hessian), SMALLEST))
    scaled = here.hessian / np.outer(units, units) + DIAGONAL_SHARE * np.eye(len(units))
    solution = np.linalg.lstsq(scaled, -here.gradient / units, rcond=None)[0]
    return np.asarray(solution / units, dtype=np.float64)


def within(most: float) -> QuadraticMinimizer:
    """The least of the quadratic model where no variable is larger than ``most``."""

    def model(here: Quadratic, point: Vector) -> Vector:
        bent = max(float(np.diag(here.hessian).max()), SMALLEST)
        hessian = here.hessian + FLAT * bent * np.eye(len(point))
        return least_in_box(hessian, -here.gradient, -most - point, most - point)

    return model


def least_in_box(hessian: Vector, gradient: Vector, low: Vector, high: Vector) -> Vector:
    """The least ½dᵀHd − gᵀd with low ≤ d ≤ high, for a convex function.

    Where the least of all is outside, |Hᐟ²d − H⁻ᐟ²g|² by an active set of limits (Stark, Parker,
    *Bounded-Variable Least-Squares*, Computational Statistics 10, 1995).
    """
    inside = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
    if np.all((low <= inside) & (inside <= high)):
        return np.asarray(inside, dtype=np.float64)
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(values, DIAGONAL_SHARE * max(float(values[-1]), SMALLEST))
    roots = np.sqrt(values)
    root, aim = roots[:, None] * vectors.T, vectors.T @ gradient / roots
    found = lsq_linear(root, aim, (low, high), method="bvls", tol=SAME_LENGTH)
    return np.asarray(found.x, dtype=np.float64)


def descended_at_kinks(
    surface: Surface, start: Vector, most: float = np.inf
) -> tuple[Vector, Quadratic]:
    """A point where a piecewise linear loss falls no further along any axis, and the loss there.

    A line search along the move that the weights instead of a Hessian suggest, and then along each
    axis; slopes jump at kinks, and the root of the slope is bracketed.

    Parameters
    ----------
    start : ndarray of shape (n_variables,)
    most : float
        No variable may be larger.
    """
    point, here = start, surface(start)
    for _ in range(SWEEPS):
        before = here.value
        for direction in (newton(here, point), *np.eye(len(start))):
            point, here = _best_along(surface, point, here, direction, most)
        if before - here.value <= SMALL_GAIN * abs(before):
            break
    return point, here


def _best_along(
    surface: Surface, point: Vector, here: Quadratic, direction: Vector, most: float
) -> tuple[Vector, Quadratic]:
    """The least along a line from a point, as far as no variable is larger than ``most``."""
    slope = float(here.gradient @ direction)
    if slope == 0.0:
        return point, here
    way = -np.sign(slope) * direction
    reach = _reach(point, way, most)

    def rise(length: float) -> float:
        return float(surface(point + length * way).gradient @ way)

    near, length = 0.0, min(here.value / abs(slope), reach)
    for _ in range(LONGEST_DOUBLING):
        if length >= reach or rise(length) >= 0.0:
            break
        near, length = length, min(2.0 * length, reach)
    if near < length and rise(length) > 0.0:
        length = float(brentq(rise, near, length, rtol=SAME_LENGTH, xtol=SAME_LENGTH * length))
    there = surface(point + length * way)
    return (point + length * way, there) if there.value < here.value else (point, here)
