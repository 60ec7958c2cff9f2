"""The data of a restricted dual over some sides of a loss and some columns, as arrays.

    max  gain·u − ½Σ curvature·u²     s = Hᵀr + constant,  r = Σ sign·u,  0 ≤ u ≤ cap

with |s_j| ≤ limit_j, or s_j ≤ limit_j where α ≥ 0; a column of limit 0, the free offset, has
s_j = 0. What sides outside the session add to the scores is the constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.dual_box import Indices, Sides, Vector
from cgboost.masters.support_vector.column_store import ColumnStore
from cgboost.penalties.dual_form import DualForm


@dataclass
class BoxedDual:
    """The data of one restricted problem.

    Attributes
    ----------
    block : ndarray of shape (n_rows, n_columns)
    place : ndarray of shape (n_sides,)
        Row of ``block`` that each side belongs to.
    sign, gain, cap, curvature : ndarray of shape (n_sides,)
    constant : ndarray of shape (n_columns,)
    limit : ndarray of shape (n_columns,)
        0 for a free offset.
    two_sided : ndarray of bool, shape (n_columns,)
    fixed_gain : float
        What the fixed sides add to the dual objective; objective and bound are without it.
    """

    block: Vector
    place: Indices
    sign: Vector
    gain: Vector
    cap: Vector
    curvature: Vector
    constant: Vector
    limit: Vector
    two_sided: NDArray[np.bool_]
    fixed_gain: float

    def by_row(self, values: Vector) -> Vector:
        """Sums over the sides of each row, shape (n_rows,)."""
        sums = np.bincount(self.place, weights=values, minlength=len(self.block))
        return sums.astype(np.float64, copy=False)

    def scores(self, u: Vector) -> Vector:
        """The scores s = Hᵀr + constant."""
        return self.by_row(self.sign * u) @ self.block + self.constant

    def rate(self, coef: Vector) -> Vector:
        """What the first unit of each side would add."""
        return self.gain - self.sign * (self.block @ coef)[self.place]

    def objective(self, coef: Vector, rate: Vector) -> float:
        """Primal objective of the restricted problem, at coefficients of this rate."""
        best = self.cap * np.maximum(rate, 0.0)
        if self.curvature.any():
            at = np.clip(rate / np.maximum(self.curvature, 1e-300), 0.0, self.cap)
            best = np.where(self.curvature > 0, at * (rate - 0.5 * self.curvature * at), best)
        return float(self.limit @ np.abs(coef) - self.constant @ coef + best.sum())

    def bound(self, u: Vector) -> float:
        """Dual objective at u, shrunk as a whole until no column is violated.

        What Σr lacks of 0 under a free offset is counted as if it were moved to the worst rows.
        That changes the score of no (scaled) column by more.
        """
        s = self.scores(u)
        value = float(self.gain @ u - 0.5 * self.curvature @ u**2)
        free = self.limit == 0
        missing = float(np.abs(s[free]).sum())
        value -= missing * float(np.abs(self.gain).max(initial=0.0))
        size = np.where(self.two_sided, np.abs(s), s)[~free] + missing
        most = max(1.0, np.max(size / self.limit[~free], initial=0.0))
        return (self.fixed_gain + value) / most - self.fixed_gain


@dataclass(frozen=True)
class Held:
    """What is in a session.

    Attributes
    ----------
    kept : ndarray of int
        Sides.
    rows : ndarray of int
        Columns; a negative number for the offset.
    at_cap : ndarray of bool, shape (n_sides,)
        Which sides that are not kept stand at their cap.
    """

    kept: Indices
    rows: Indices
    at_cap: NDArray[np.bool_]


def gathered(sides: Sides, columns: ColumnStore, form: DualForm, held: Held) -> BoxedDual:
    """The data of the sides and columns in a session."""
    kept, rows, at_cap = held.kept, held.rows, held.at_cap
    lines, place = np.unique(sides.row[kept], return_inverse=True)
    fixed = sides.response(np.where(at_cap, sides.cap, 0.0))
    real = rows >= 0
    block, constant = np.ones((len(lines), len(rows))), np.full(len(rows), fixed.sum())
    block[:, real] = columns.scaled(rows[real], lines)
    scales = np.ones(len(rows))
    scales[real] = columns.scales[rows[real]]
    constant[real] = columns.scores(rows[real], fixed) / scales[real]
    charged = real | form.charges_offset
    return BoxedDual(
        block=block,
        place=place,
        sign=sides.sign[kept],
        gain=sides.gain()[kept],
        cap=sides.cap[kept],
        curvature=sides.curvature[kept],
        constant=constant,
        limit=np.where(charged, form.threshold / scales, 0.0),
        two_sided=~real | form.two_sided,
        fixed_gain=float((sides.gain() * sides.cap)[at_cap].sum()),
    )
