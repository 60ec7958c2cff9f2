"""Coordinate descent for the model of a Newton step over sparse columns, for numba.

    min ½Σ w_i u_i² − r·u + Σ λ_j|x_j| + ½q_j x_j²       u = S(x − x⁰) + t

Nothing but the columns is needed: no products of columns, no factor. Of a free offset t, u is what
it is at the best t: with ω_j = Σ w_i s_ij and W = Σ w_i, a move of x_j by δ moves u by
δ(s_j − ω_j/W), of which the second part is kept as one number. One coordinate then costs as much as
its column has entries. (Friedman, Hastie, Tibshirani, *Regularization paths for generalized linear
models via coordinate descent*, J. Statistical Software 33, 2010.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.compiled import compiled, interruptible
from cgboost.tolerances import SMALLEST

Numbers = NDArray[np.intp]

SMALL_CURVATURE = 1e-10
"""Curvatures are at least this share of the largest: a column may be 0 on all rows that bend."""

DESCENT_SHARE = 1e-3
"""Coordinate descent ends with a sweep that gains at most this share of what was gained before."""

DESCENT_SWEEPS = 200
"""Sweeps at most: columns so much alike are for the active set."""


def descended(
    entries: Any,
    places: Indices,
    weights: Vector,
    response: Vector,
    start: Vector,
    charge: Vector,
    ridge: Vector,
    *,
    positive: bool,
    free_offset: bool,
) -> tuple[Vector, float] | None:
    """Nearly the minimiser x and t; None without numba, or if it takes many sweeps.

    ``entries`` is a compressed sparse array of columns one after the other; else as for
    :func:`descend`.
    """
    if (loop := compiled(descend)) is None:
        return None
    columns = entries.data, entries.indices, entries.indptr, places
    model = weights, response, start, charge, ridge, positive, free_offset
    x, offset, done = interruptible(loop, *columns, *model, DESCENT_SHARE, DESCENT_SWEEPS)
    return (x, offset) if done else None


def descend(
    entries: Vector,
    rows: NDArray[np.int32],
    ends: NDArray[np.int64],
    places: Numbers,
    weights: Vector,
    response: Vector,
    start: Vector,
    charge: Vector,
    ridge: Vector,
    positive: bool,
    free_offset: bool,
    enough: float,
    sweeps: int,
) -> tuple[Vector, float, bool]:
    """Move the coordinates in turn until a sweep gains little of what was gained before.

    Parameters
    ----------
    entries, rows : ndarray of shape (n_entries,)
        Of the columns S, one after the other.
    ends : ndarray of int, shape (n_columns + 1,)
    places : ndarray of int, shape (k,)
        The columns that take part.
    weights, response : ndarray of shape (n_rows,)
        w and r; Σw > 0.
    start, charge, ridge : ndarray of shape (k,)
        x⁰, λ, q.
    positive : bool
        Whether x ≥ 0.
    enough : float
        The share of the gain so far.
    sweeps : int
        At most.

    Returns
    -------
    x : ndarray of shape (k,)
    t : float
    done : bool
        Whether a sweep gained little.
    """
    k, mass, largest = len(places), max(weights.sum(), SMALLEST), SMALLEST
    x, u = start.copy(), np.zeros(len(weights))
    score, bend, pull = np.empty(k), np.empty(k), np.zeros(k)
    offset = response.sum() / mass if free_offset else 0.0  # at the best t, before any move
    for j in range(k):
        own = square = first = 0.0
        for at in range(ends[places[j]], ends[places[j] + 1]):
            i, value = rows[at], entries[at]
            own += value * response[i]
            first += value * weights[i]
            square += value * value * weights[i]
        score[j], pull[j] = own, first
        bend[j] = square - first * first / mass if free_offset else square
        largest = max(largest, bend[j])
    least = SMALL_CURVATURE * largest
    gained = 0.0
    for _ in range(sweeps):
        gain = 0.0
        for j in range(k):
            begin, end = ends[places[j]], ends[places[j] + 1]
            slope = score[j] - offset * pull[j]
            for at in range(begin, end):
                slope -= entries[at] * weights[rows[at]] * u[rows[at]]
            curved = max(bend[j], least)
            steep = curved + ridge[j]
            goal = slope + curved * x[j]
            if goal > charge[j]:
                new = (goal - charge[j]) / steep
            elif goal < -charge[j] and not positive:
                new = (goal + charge[j]) / steep
            else:
                new = 0.0
            move = new - x[j]
            if move != 0.0:
                x[j] = new
                gain += 0.5 * steep * move * move
                for at in range(begin, end):
                    u[rows[at]] += move * entries[at]
                if free_offset:
                    offset -= move * pull[j] / mass
        gained += gain
        if gain <= enough * gained:
            return x, offset, True
    return x, offset, False
