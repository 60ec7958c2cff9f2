"""From an answer that is good to a tolerance to one that is good to rounding.

Interior point and first-order methods stop a little short of the optimal face, and their duals
with them. But they nearly always tell which bounds hold there, and the optimum of a known face is
one linear system. So: guess the face, solve, and keep the result if it is better.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import FloatArray
from solvers.face import Face
from solvers.point import Point
from solvers.program import Program
from solvers.residuals import worst_residual

STEPS = 3
"""The first guess of a face and two corrections; more hardly ever help."""

GOOD_ENOUGH = 1e-13
HOPELESS = 1e-3
"""A residual at which the optimum of a face says nothing about the face to try next."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a wrong face is refused, quietly
def polished(program: Program, point: Point) -> Point:
    """Return the optimum of a face near `point` if its `worst_residual` is smaller, else `point`.

    Notes
    -----
    The cost is one factorisation in the variables between their bounds and the rows at theirs, a
    few per cent of an interior point solve where that one is dense; see `solvers.saddle` for the
    size beyond which nothing is tried.
    """
    best, least = point, worst_residual(program, point.x, point.row_duals)
    near, last = point, None
    for _ in range(STEPS):
        if least <= GOOD_ENOUGH or not _is_finite(near):
            break
        face = Face.near(program, near)
        found = None if face.is_same(last) else face.optimum(point)
        if found is None:
            break
        error = worst_residual(program, found.x, found.row_duals)
        if error < least:
            best, least = found, error
        near, last = found if error < HOPELESS else _last_feasible(program, point, found), face
    return best


def _is_finite(point: Point) -> bool:
    return bool(np.isfinite(point.x).all() and np.isfinite(point.row_duals).all())


def _last_feasible(program: Program, start: Point, end: Point) -> Point:
    """Return the last point from `start` to `end` that crosses none of the bounds.

    It lies at the bound that the face of `end` lacks, which a point far outside does not tell:
    typically one of a singular P, where that bound alone keeps the optimum from moving away.
    """
    rows = np.asarray(program.matrix @ start.x), np.asarray(program.matrix @ end.x)
    share = min(
        _share_inside(start.x, end.x, program.lower, program.upper),
        _share_inside(*rows, program.row_lower, program.row_upper),
    )
    return Point(
        start.x + share * (end.x - start.x),
        start.row_duals + share * (end.row_duals - start.row_duals),
    )


def _share_inside(
    start: FloatArray, end: FloatArray, lower: FloatArray, upper: FloatArray
) -> float:
    """Return how much of the way no entry that starts inside its bounds leaves them."""
    crossed = np.where(end < lower, lower, upper)
    leaves = (start > lower) & (start < upper) & ((end < lower) | (end > upper))
    return float(((crossed - start)[leaves] / (end - start)[leaves]).min(initial=1.0))
