"""A linear program whose rows are tangents of convex functions: what is added where it is missed.

    max  v·a + v₀ b    over    Σ_j c_j(a_j) + Σ_i π_i(f_i) ≤ room,     f = Ha + b

with c_j(a) = c_j⁺ a₊ + c_j⁻ a₋ and convex parts π_i ≥ 0 of the rows. The program knows a part by
its tangents alone, π_i(f) ≥ d f + e, of which the first is 0: its optimum is an upper bound
(Kelley, *The cutting-plane method*, SIAM Journal 8, 1960, row by row). A row without another
tangent is not in it, so that it is as large as the rows that matter. One live session keeps its
basis while values, columns and tangents change.

The room is 1 in the program, and columns have a largest entry of 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from cgboost._solvers import Program, Solution, open_session
from cgboost.arrays import Indices, Vector
from cgboost.optimizers.solver_options import solver_errors_as_master_errors

ACCURACY = 1e-9
"""Of the rows and reduced costs of the program."""

MOST_ITERATIONS = 50_000
"""Of the simplex, for one answer: a program that has lost its digits may go round in circles."""

MOST_TANGENTS = 8
"""Tangents for each row; beyond that, those that have no say are left out after an end."""

LEAST_WORTH = 1e-300
"""Stands for the size of a value that is 0 everywhere."""


@dataclass(frozen=True, eq=False)
class TangentPoint:
    """An optimum of the program.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    multiplier : float
        t: what a unit of room is worth.
    slopes : ndarray of shape (n_rows,)
        Σ_k ν_ik d_ik: what the tangents of each row say, by their multipliers; Σ_k ν_ik ≤ t.
    """

    coef: Vector
    intercept: float
    multiplier: float
    slopes: Vector


class TangentProgram:
    """The live program.

    Parameters
    ----------
    room : float
        Above 0.
    two_sided : bool
        Whether coefficients may be negative.
    offset : bool
        Whether there is a free b.
    most_coef, most_offset : float
        No |a_j| and no |b| is larger: for the time before the tangents say so.
    """

    def __init__(
        self,
        n_rows: int,
        room: float,
        *,
        two_sided: bool,
        offset: bool,
        most_coef: float,
        most_offset: float,
    ) -> None:
        self.n_rows, self.room, self.most_coef = n_rows, room, most_coef
        self.values = np.zeros((0, n_rows))
        self._scales = np.zeros(0)
        self._signs = np.array([1.0, -1.0]) if two_sided else np.ones(1)
        count = int(offset)
        self._offset = np.arange(count)
        # kinds of the program's columns: places of b, of a⁺ (and a⁻) of a column, of ξ of a row
        self._of_columns = np.zeros((0, len(self._signs)), dtype=np.intp)
        self._of_rows = np.full(n_rows, -1, dtype=np.intp)
        self._row, self._slope = np.zeros(0, dtype=np.intp), np.zeros(0)
        self._constant, self._counts = np.zeros(0), np.zeros(0, dtype=bool)
        program = Program(
            cost=np.zeros(count),
            matrix=np.zeros((1, count)),
            row_upper=np.ones(1),
            lower=np.full(count, -most_offset),
            upper=np.full(count, most_offset),
        )
        with solver_errors_as_master_errors():
            self._session = open_session(program, "highs", max_iterations=MOST_ITERATIONS)

    @property
    def n_columns(self) -> int:
        """Columns with a coefficient."""
        return len(self._scales)

    def add_columns(self, values: Vector, charges: Vector) -> None:
        """Take in columns.

        Parameters
        ----------
        values : ndarray of shape (n_new, n_rows)
        charges : ndarray of shape (n_new, 2)
            c⁺ and c⁻, not negative.
        """
        scales = np.abs(values).max(axis=1, initial=0.0)
        scales = np.where(scales > 0, scales, 1.0)
        n_new, n_signs = len(values), len(self._signs)
        entries = values[:, self._row] * (-self._slope / self.room)
        matrix = np.hstack([np.zeros((n_new, 1)), entries]) / scales[:, None]
        matrix = np.repeat(matrix, n_signs, axis=0) * np.tile(self._signs, n_new)[:, None]
        charges = np.maximum(charges[:, :n_signs], 0.0) / (self.room * scales[:, None])
        matrix[:, 0] = charges.ravel()
        places = self._session.n_columns + np.arange(n_new * n_signs)
        with solver_errors_as_master_errors():
            upper = np.repeat(self.most_coef * scales, n_signs)
            self._session.add_columns(np.zeros(len(places)), matrix.T, upper=upper)
        self._of_columns = np.vstack([self._of_columns, places.reshape(n_new, n_signs)])
        self._scales = np.append(self._scales, scales)
        self.values = np.vstack([self.values, values])

    def add_tangents(self, rows: Indices, slopes: Vector, constants: Vector) -> None:
        """Take in π_i(f) ≥ d f + e of some rows, each of which may come several times."""
        new = np.unique(rows[self._of_rows[rows] < 0])
        first = self._session.n_columns
        self._of_rows[new] = first + np.arange(len(new))
        in_room = np.zeros((self._session.n_rows, len(new)))
        in_room[0] = 1.0
        width = first + len(new)
        matrix = np.zeros((len(rows), width))
        entries = -(slopes / self.room)[:, None] * (self.values[:, rows] / self._scales[:, None]).T
        for sign, places in zip(self._signs, self._of_columns.T, strict=True):
            matrix[:, places] = sign * entries
        matrix[:, self._offset] = -(slopes / self.room)[:, None]
        matrix[np.arange(len(rows)), self._of_rows[rows]] = 1.0
        with solver_errors_as_master_errors():
            self._session.add_columns(np.zeros(len(new)), sp.csc_array(in_room))
            self._session.add_rows(sp.csr_array(matrix), constants / self.room, np.inf)
        self._row, self._slope = np.append(self._row, rows), np.append(self._slope, slopes)
        self._constant = np.append(self._constant, constants)

    def parts(self, output: Vector) -> Vector:
        """What the tangents say of every part at an output."""
        known = np.zeros(self.n_rows)
        np.maximum.at(known, self._row, self._slope * output[self._row] + self._constant)
        return known

    def trim(self) -> None:
        """Leave out the tangents that had no say in the last answer, where these are many."""
        if len(self._row) <= MOST_TANGENTS * self.n_rows:
            return
        idle = np.flatnonzero(~self._counts)
        with solver_errors_as_master_errors():
            self._session.remove_rows(1 + idle)
        self._row, self._slope = np.delete(self._row, idle), np.delete(self._slope, idle)
        self._constant, self._counts = (
            np.delete(self._constant, idle),
            np.delete(self._counts, idle),
        )

    def solve(self, worth: Vector, sizes: Vector, offset: float) -> TangentPoint:
        """The optimum for a value Σ_j v_j a_j + w_j |a_j| + v₀ b.

        Parameters
        ----------
        worth, sizes : ndarray of shape (n_columns,)
            v and w. Where w > 0 the program may have a⁺ and a⁻ at once: a bound all the same.
        offset : float
            v₀
        """
        gains = (worth[:, None] * self._signs + sizes[:, None]) / self._scales[:, None]
        unit = max(float(np.abs(gains).max(initial=0.0)), abs(offset)) or LEAST_WORTH
        costs = np.zeros(self._session.n_columns)
        costs[self._of_columns.ravel()] = -gains.ravel() / unit
        costs[self._offset] = -offset / unit
        with solver_errors_as_master_errors():
            self._session.change_cost(np.arange(len(costs)), costs)
            return self._read(self._session.solve(tol=ACCURACY), unit)

    def _read(self, solution: Solution, unit: float) -> TangentPoint:
        parts = solution.x[self._of_columns] * self._signs
        duals = solution.row_duals * (unit / self.room)
        multipliers = np.maximum(duals[1:], 0.0)
        self._counts = multipliers > 0
        return TangentPoint(
            coef=parts.sum(axis=1) / self._scales,
            intercept=float(solution.x[self._offset].sum()),
            multiplier=max(0.0, -float(duals[0])),
            slopes=np.bincount(self._row, multipliers * self._slope, self.n_rows).astype(float),
        )
