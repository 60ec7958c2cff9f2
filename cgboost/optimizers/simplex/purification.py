"""Purification: from inside the face of optimal coefficients to one of its vertices.

On the optimal face the objective is linear, and constant: a move along it changes nothing until a
coefficient, or the rate of a row, reaches 0. With N an orthonormal basis of the moves that leave
alone the rows on their margin,

    {(p, q): Σ_j p_j h_j + q = 0 on the rows whose rate is 0}

each step goes as far as it can, and takes one direction out of N: that of the coefficient, or of
the row, that is 0 from then on. A vertex is where none is left (Megiddo, *On finding primal- and
dual-optimal bases*, ORSA J. Computing 3, 1991). A step takes as many operations as there are
numbers in the slopes, and there are as many steps as the face has dimensions. They go where small
coefficients become smaller, so that the vertex has few columns.

A simplex that begins inside has a basis to find first. Measured with 287 columns in use, on a face
of 112 dimensions: 4663 pivots, and 1 after a purification that takes a fifteenth of their time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from cgboost.arrays import Indices, Vector

ON_MARGIN = 1e-7
"""Rates this small, relative to the terms of the output, are 0: an interior point leaves less."""

NO_PIVOT = 1e-9
"""A pivot this small, relative to the largest, is 0 up to rounding."""


class Face(NamedTuple):
    """A point of the optimal face.

    Attributes
    ----------
    point : ndarray of shape (n_coordinates,)
        Coefficients of the columns in use, scaled alike, and the offset where there is one.
    rate : ndarray of shape (n_variables,)
        What the first unit of each dual variable would add: 0 on the margin.
    slopes : ndarray of shape (n_variables, n_coordinates)
        What a unit of each coordinate adds to the rates.
    priced : ndarray of bool, shape (n_coordinates,)
        Whether the objective has a kink where a coordinate is 0: not at a free offset.
    """

    point: Vector
    rate: Vector
    slopes: Vector
    priced: NDArray[np.bool_]


def purified(face: Face) -> tuple[Vector, Indices]:
    """A vertex of the face.

    Returns
    -------
    point : ndarray of shape (n_coordinates,)
    tight : ndarray of int
        Variables of rate 0 there and with linearly independent slopes: as many as there are
        coordinates that are not 0. With these they make a basis.
    """
    point, rate, slopes, priced = face.point.copy(), face.rate.copy(), face.slopes, face.priced
    tight = np.abs(rate) <= ON_MARGIN * (1.0 + np.abs(slopes) @ np.abs(point))
    rate[tight] = 0.0
    moves = _null_space(slopes[tight])
    while moves.shape[1]:
        step = _downhill(point, priced, moves)
        moved = slopes @ step
        moved[tight] = 0.0
        stops = _stops(point, step, priced), _stops(rate, moved, ~tight)
        length = min(own.min(initial=np.inf) for own in stops)
        if not np.isfinite(length):
            step, moved = -step, -moved
            stops = _stops(point, step, priced), _stops(rate, moved, ~tight)
            length = min(own.min(initial=np.inf) for own in stops)
        if not np.isfinite(length):  # a free offset alone, with no row on its way
            break
        point += length * step
        rate += length * moved
        if length in stops[0]:
            place = int(np.argmin(stops[0]))
            point[place] = 0.0
            moves = _without(moves, moves[place])
            moves[place] = 0.0
        else:
            row = int(np.argmin(stops[1]))
            rate[row], tight[row] = 0.0, True
            moves = _without(moves, slopes[row] @ moves)
    used = np.flatnonzero(point)
    return point, _independent(slopes[:, used], np.flatnonzero(tight))


def _downhill(point: Vector, priced: NDArray[np.bool_], moves: Vector) -> Vector:
    """A move that lowers Σ log(|x| + typical |x|), which is least where few x are not 0."""
    size = np.abs(point)
    there = priced & (size > 0)
    typical = float(np.median(size[there])) if there.any() else 1.0
    gradient = np.where(there, np.sign(point) / (size + typical), 0.0)
    shares = gradient @ moves
    if np.linalg.norm(shares) > NO_PIVOT * np.linalg.norm(gradient):
        return -(moves @ shares)
    move: Vector = moves[:, 0]
    return move if move @ np.sign(point) <= 0 else -move  # towards 0, on average


def _stops(values: Vector, step: Vector, stopping: NDArray[np.bool_]) -> Vector:
    """How often a step can be taken until each value is 0; infinitely often where it never is."""
    found = np.full(len(values), np.inf)
    return np.divide(-values, step, out=found, where=stopping & (values * step < 0.0))


def _null_space(rows: Vector) -> Vector:
    """An orthonormal basis of {x: rows·x = 0}, shape (n_columns, n_dimensions)."""
    if not len(rows):
        return np.eye(rows.shape[1])
    Q, R, _ = qr(rows.T, pivoting=True)
    return np.ascontiguousarray(Q[:, _rank(R) :])


def _without(moves: Vector, direction: Vector) -> Vector:
    """The moves orthogonal to one that is given in terms of them: one fewer.

    A Householder reflection turns the direction into the first of them, which goes.
    """
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return moves[:, 1:]
    axis = direction / length
    axis[0] += np.copysign(1.0, axis[0])
    turned = moves[:, 1:] - np.outer(moves @ axis, axis[1:] * (2.0 / (axis @ axis)))
    return np.ascontiguousarray(turned)


def _independent(slopes: Vector, tight: Indices) -> Indices:
    """As many of the tight variables as have linearly independent slopes."""
    if not len(tight) or not slopes.shape[1]:
        return tight[:0]
    _, R, order = qr(slopes[tight].T, mode="economic", pivoting=True)
    chosen: Indices = tight[order[: _rank(R)]]
    return chosen


def _rank(R: Vector) -> int:
    """Of a triangular factor with pivoting."""
    pivots = np.abs(np.diag(R))
    return int(np.count_nonzero(pivots > NO_PIVOT * pivots.max(initial=0.0)))
