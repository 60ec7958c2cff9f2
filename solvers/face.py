"""The face of a program that a point lies next to, and the optimum on it.

A face is a set of bounds, of variables and of rows, held with equality. If it is the right one,
the optimum of the program is that of a quadratic program with equations only: one linear system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.arrays import FloatArray, IntArray, is_sparse
from solvers.point import Point
from solvers.program import Program
from solvers.saddle import saddle_system

LOWER, FREE, UPPER = -1, 0, 1
REFINEMENTS = 2


@dataclass(frozen=True, eq=False)
class Face:
    """Bounds held with equality.

    Attributes
    ----------
    program : Program
        The program.
    columns, rows : ndarray of int
        `LOWER`, `FREE` or `UPPER` for every variable and every row.
    """

    program: Program
    columns: IntArray
    rows: IntArray

    @classmethod
    def near(cls, program: Program, point: Point) -> Face:
        """Return the face of the bounds whose dual is larger than the distance to them.

        Of an interior point method's answer that is the guess of the optimal face; applied to
        the optimum of a wrong face it drops the bounds whose dual has the wrong sign and adds
        those that are violated (a primal-dual active set step).
        """
        d = program.curvature(point.x) + program.cost - program.matrix.T @ point.row_duals
        rows = np.asarray(program.matrix @ point.x)
        return cls(
            program,
            _sides(point.x, program.lower, program.upper, np.asarray(d)),
            _sides(rows, program.row_lower, program.row_upper, point.row_duals),
        )

    def is_same(self, other: Face | None) -> bool:
        """Whether the other one holds the same bounds."""
        return (
            other is not None
            and np.array_equal(self.columns, other.columns)
            and np.array_equal(self.rows, other.rows)
        )

    def optimum(self, start: Point) -> Point | None:
        """Return the optimum on the face, of several one near `start`, or None.

        The bounds that are not held are ignored. None means that the system is too large, or
        singular beyond help.
        """
        program = self.program
        free, held = np.flatnonzero(self.columns == FREE), np.flatnonzero(self.rows != FREE)
        system = saddle_system(_block(program.quadratic, free), _part(program.matrix, held, free))
        if system is None:
            return None
        x = _held(self.columns, program.lower, program.upper, start.x)
        right = _held(self.rows, program.row_lower, program.row_upper, np.zeros(self.rows.size))
        duals = np.where(self.rows == FREE, 0.0, start.row_duals)
        for _ in range(1 + REFINEMENTS):
            d = program.curvature(x) + program.cost - np.asarray(program.matrix.T @ duals)
            missing = right - np.asarray(program.matrix @ x)
            dx, du = system.solve(-d[free], missing[held])
            x[free] += dx
            duals[held] -= du
        return Point(x, duals)


def _sides(values: FloatArray, lower: FloatArray, upper: FloatArray, duals: FloatArray) -> IntArray:
    is_low = (duals > values - lower) | (lower == upper)
    return np.where(is_low, LOWER, np.where(-duals > upper - values, UPPER, FREE))


def _held(
    sides: IntArray, lower: FloatArray, upper: FloatArray, otherwise: FloatArray
) -> FloatArray:
    return np.where(sides == LOWER, lower, np.where(sides == UPPER, upper, otherwise))


def _part(matrix: Any, rows: IntArray, columns: IntArray) -> Any:
    return matrix[rows][:, columns] if is_sparse(matrix) else matrix[np.ix_(rows, columns)]


def _block(quadratic: Any, columns: IntArray) -> Any:
    if quadratic is None:
        return None
    return quadratic[columns] if quadratic.ndim == 1 else _part(quadratic, columns, columns)
