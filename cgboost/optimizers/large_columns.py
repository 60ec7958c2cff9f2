"""Columns so large that their coefficients cost nothing, as directions in which outputs are free.

A column h of entries near 1e6 needs a coefficient near 1e-6, whose penalty no tolerance sees. Its
dual constraint, |h·r| ≤ 1 or h·r = α, says h·r = 0 compared with its terms: solvers that treat it
as one column among others lose all digits, since 1e6 and 1 stand in one matrix. So it is treated as
the free offset is. Its direction, made orthonormal to those before it, is a column without a
penalty, with q·r = 0 in the dual, and every large column is replaced by what the directions leave
of it. That is nothing for columns that span the directions, and a small column for others. An
output

    Σ α_j residual_j + Σ a_k q_k      is made by the columns themselves:

the coefficients of those that span the directions follow from a triangular system. The penalty of
the coefficients is evaluated, and the bound rests on the scores of the columns themselves, so that
what is neglected shows in the gap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr, solve_triangular

from cgboost.arrays import Indices, Vector
from cgboost.tolerances import UNIT_ROUNDOFF

FREE = {"linear": 1e4, "quadratic": 1e4}
"""Entries above which a column's penalty is neglected: what it costs is about 1/h under a penalty
that grows with |α|, and 1/h² under one that grows with its square."""

LEFT = 0.01
"""Directions are added until what they leave of large columns has entries below this share of that.
Features of common size next to some of 1000 would else take the digits of the normal equations."""

VOID = 1e-13
"""A residual of this share of the column is rounding: some hundred units of it."""

FAINT = 1e-11
"""A direction of this share of the column is not worth it: rounding leaves of its scores less than
the penalty of a column so large allows."""

NOISE = 8.0 * UNIT_ROUNDOFF
"""What rounding does to a score, relative to the length of r and the largest entry …"""

MOST_NOISE = 0.5
"""… and at most, as a share of its limit."""

LEVELLINGS = 3
"""Corrections of all rows that bring scores to where they should be; each is exact up to rounding.
As many follow of firm rows alone."""

ROWS_PER_DIRECTION = 4
"""Firm rows for each direction that such a correction takes."""

FIRM = 1e3
"""A row is firm if it is further inside than this many times what is missed."""


class LargeColumns:
    """The directions of the large columns, and what makes them.

    Parameters
    ----------
    least : float
        Size of the entries above which a direction is free.

    Attributes
    ----------
    basis : ndarray of shape (n_rows, n_directions)
        Orthonormal.
    pivots : ndarray of int
        The columns that span the directions, one for each.
    """

    def __init__(self, n_rows: int, least: float) -> None:
        self.least = least
        self.basis = np.zeros((n_rows, 0), order="F")
        self.pivots: Indices = np.zeros(0, dtype=np.intp)
        self._factor = np.zeros((0, 0))  # of the pivots: basis @ factor
        self._others: Indices = np.zeros(0, dtype=np.intp)
        self._sizes: dict[int, float] = {}
        self._shares = np.zeros((0, 0))  # of the others: basis @ shares + residual

    def __len__(self) -> int:
        return len(self.pivots)

    def take(self, columns: Vector, numbers: Indices) -> tuple[Vector, Vector]:
        """Take in large columns.

        Parameters
        ----------
        columns : ndarray of shape (n_rows, n_new)
        numbers : ndarray of int, shape (n_new,)

        Returns
        -------
        residuals : ndarray of shape (n_rows, n_new)
            What no direction covers; 0 for columns that are pivots now.
        directions : ndarray of shape (n_rows, n_new_directions)
            Those that are new.
        """
        sizes = np.abs(columns).max(axis=0)
        self._sizes.update(zip(numbers.tolist(), sizes.tolist(), strict=True))
        shares = self.basis.T @ columns
        residual = columns - self.basis @ shares
        again = self.basis.T @ residual  # twice is enough
        shares, residual = shares + again, residual - self.basis @ again
        length = LEFT * self.least * np.sqrt(len(columns))
        noise = FAINT * np.linalg.norm(columns, axis=0)
        q, r, order = qr(residual, mode="economic", pivoting=True)
        count = int(np.count_nonzero(np.abs(np.diag(r)) > np.maximum(length, noise.max())))
        new, left = q[:, :count], q[:, count:] @ r[count:, count:]
        others = order[count:]
        rest = np.zeros_like(columns)
        rest[:, others] = np.where(np.abs(left).max(axis=0) > VOID * sizes[others], left, 0.0)
        old = len(self)
        self.basis = np.asfortranarray(np.hstack([self.basis, new]))
        self._factor = _grown(self._factor, shares[:, order[:count]], r[:count, :count])
        self.pivots = np.append(self.pivots, numbers[order[:count]])
        before = np.vstack([self._shares, np.zeros((count, len(self._others)))])
        mine = np.vstack([shares[:, others], r[:count, count:]])
        self._shares = np.hstack([before, mine])
        self._others = np.append(self._others, numbers[others])
        return rest, self.basis[:, old:]

    def moved(self, first: int, numbers: Indices, shares: Vector) -> None:
        """Take note that residuals of columns have lost their shares of directions from a first.

        Parameters
        ----------
        numbers : ndarray of int
            Of the columns; pivots among them have no residual.
        shares : ndarray of shape (n_directions - first, len(numbers))
        """
        place = {number: i for i, number in enumerate(self._others)}
        for number, share in zip(numbers, shares.T, strict=True):
            if number in place:
                self._shares[first:, place[number]] += share

    def couplings(self) -> tuple[Vector, Indices, Vector]:
        """What scores w of the pivots, h·r = w, say of other scores of r.

        Returns
        -------
        in_directions : ndarray of shape (n_directions, n_directions)
            q·r = w @ in_directions.
        others : ndarray of int, shape (n_others,)
            The large columns that are no pivots.
        in_others : ndarray of shape (n_directions, n_others)
            h·r = residual·r + w @ in_others.
        """
        in_directions = solve_triangular(self._factor, np.eye(len(self)))
        return in_directions, self._others, solve_triangular(self._factor, self._shares)

    def noise(self, numbers: Indices, mass: float) -> Vector:
        """Share of a limit that columns keep away from it, shape (len(numbers),).

        Their scores are sums of large terms that cancel, and a bound can only count on what
        rounding leaves of them. That costs this share of their penalty, which is almost nothing.
        """
        sizes = np.array([self._sizes[number] for number in numbers.tolist()])
        return np.minimum(MOST_NOISE, NOISE * mass * sizes)

    def missed(self, scores: Vector, w: Vector) -> Vector:
        """By how much q·r is off, where the pivots have these scores and not w."""
        return solve_triangular(self._factor, scores - w, trans="T")

    def restore(self, coef: Vector, free: Vector) -> Vector:
        """Coefficients of the columns, from those of the residuals and of the directions.

        Parameters
        ----------
        coef : ndarray of shape (n_columns,)
            Those of pivots do not matter.
        free : ndarray of shape (n_directions,)
        """
        coef = coef.copy()
        left = free - self._shares @ coef[self._others]
        coef[self.pivots] = solve_triangular(self._factor, left)
        return coef


def _grown(factor: Vector, beside: Vector, below: Vector) -> Vector:
    return np.block([[factor, beside], [np.zeros((len(below), len(factor))), below]])


def levelled(
    r: Vector, lower: Vector, upper: Vector, directions: Vector, missed: Callable[[Vector], Vector]
) -> Vector:
    """A pseudo-response near r, inside its boxes, with scores in some directions as wanted.

    Rows move in proportion to the square of their distance from the ends of their boxes: those at
    an end stay there. Where too few are inside, r comes as near as they allow. What is left then is
    the rounding of r itself; the rows of the smallest r, which round least, take it on.

    Parameters
    ----------
    r, lower, upper : ndarray of shape (n_rows,)
    directions : ndarray of shape (n_rows, n_directions)
        Orthonormal.
    missed : callable
        The scores of some r in the directions, less those that are wanted.
    """
    left = missed(r)
    for few in (False,) * LEVELLINGS + (True,) * LEVELLINGS:
        inside = np.maximum(np.minimum(r - lower, upper - r), 0.0)
        if few:
            inside[inside < FIRM * np.linalg.norm(left)] = 0.0
            size = np.where(inside > 0, np.abs(r), np.inf)
            count = min(len(r), ROWS_PER_DIRECTION * directions.shape[1])
            inside[size > np.partition(size, count - 1)[count - 1]] = 0.0
        part = directions * inside[:, None]
        moved = np.clip(r + inside * np.linalg.lstsq(part.T, -left, rcond=None)[0], lower, upper)
        still = missed(moved)
        if np.linalg.norm(still) < np.linalg.norm(left):
            r, left = moved, still
    return r
