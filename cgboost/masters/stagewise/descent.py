"""Newton's method over a few coefficients, from sums over the rows alone.

    min over d   L(x + d)        of a convex loss; perhaps in a box

Each step minimises the quadratic model. One that goes too far is shortened: along it the loss is
convex, and its least lies between.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.quadratic import Quadratic
from cgboost.tolerances import SMALLEST

Vector = NDArray[np.float64]

Surface = Callable[[Vector], Quadratic]
"""The loss at a point."""

Model = Callable[[Quadratic, Vector], Vector]
"""The move that minimises the quadratic model at a point."""

NEWTON_STEPS = 50
"""Steps at most; Newton's method needs far fewer."""

LEAST_PROMISE = 1e-16
"""A step that promises less than this, relative to the loss at the start, is the last. That is less
than the rounding of the loss itself, which could not show it."""

SHORTENINGS = 60
"""Points along a step at most; each halves the bracket at least every second time."""

FLATTENED = 0.1
"""A shortened step may leave this share of the slope: the next Newton step does the rest."""

DIAGONAL_SHARE = 1e-14
"""Added to the diagonal of a Hessian of unit diagonal: dependent columns do no harm, and steps that
follow take away what it changes."""


def descended(
    surface: Surface, start: Vector, model: Model, lowest: float = -np.inf
) -> tuple[Vector, Quadratic]:
    """The point where the loss is least, and the loss there.

    Parameters
    ----------
    surface, model : callable
    start : ndarray of shape (n_variables,)
    lowest : float
        A loss that is no larger is small enough.
    """
    point, here = start, surface(start)
    enough = LEAST_PROMISE * here.value
    for _ in range(NEWTON_STEPS):
        move = model(here, point)
        slope = -float(here.gradient @ move)
        if slope <= 0.0 or here.value <= lowest:
            break
        there = surface(point + move)
        if float(there.gradient @ move) > 0.0:
            move, there = _shortened(surface, point, move, slope, there)
        point, here = point + move, there
        if slope <= enough:
            break
    return point, here


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


def within(most: float) -> Model:
    """The least of the quadratic model where neither of two variables is larger than ``most``."""

    def model(here: Quadratic, point: Vector) -> Vector:
        return least_in_box(here.hessian, -here.gradient, -most - point, most - point)

    return model


def least_in_box(hessian: Vector, gradient: Vector, low: Vector, high: Vector) -> Vector:
    """The least ½dᵀHd − gᵀd with low ≤ d ≤ high, for two variables and a convex function."""
    inside = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
    if np.all((low <= inside) & (inside <= high)):
        return np.asarray(inside, dtype=np.float64)
    found = []
    for fixed in (0, 1):  # otherwise it is on an edge
        other = 1 - fixed
        bend = float(hessian[other, other])
        for value in (low[fixed], high[fixed]):
            if np.isfinite(value):
                move = np.full(2, value)
                pull = float(gradient[other] - hessian[other, fixed] * value)
                best = pull / bend if bend > 0.0 else 0.0
                move[other] = np.clip(best, low[other], high[other])
                found.append(move)
    return min(found, key=lambda d: float(0.5 * d @ hessian @ d - gradient @ d))
