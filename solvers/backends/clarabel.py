"""Clarabel: an interior point method for linear and quadratic programs, and the most reliable one.

It takes ``min ½ x'Px + q'x, Ax + s = b, s in a product of cones`` with CSC matrices and P's upper
triangle, and returns z with ``Px + q + A'z = 0``. So every bound becomes a block of rows:
equations and fixed variables in the zero cone, the finite sides of the rest in the nonnegative
cone, the lower ones negated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..program.arrays import Float64Array
from ..program.program import Program, Sides, upper_triangle
from ..program.solution import Point
from ..program.status import Status
from ..sessions.engine import POINTLESS, Answer, Request, apply_options
from ..sessions.rebuilding import RebuildingBackend

_STATUS = {
    "Solved": Status.OPTIMAL,
    "AlmostSolved": Status.INACCURATE,
    "InsufficientProgress": Status.INACCURATE,
    "PrimalInfeasible": Status.INFEASIBLE,
    "AlmostPrimalInfeasible": Status.INFEASIBLE,
    "DualInfeasible": Status.UNBOUNDED,
    "AlmostDualInfeasible": Status.UNBOUNDED,
    "MaxIterations": Status.ITERATION_LIMIT,
    "MaxTime": Status.TIME_LIMIT,
}


def solve_with_clarabel(program: Program, request: Request) -> Answer:
    """Translate, call, translate back."""
    import clarabel

    form = _ConeForm(program)
    cones = []
    if form.n_equations:
        cones.append(clarabel.ZeroConeT(form.n_equations))
    if form.n_inequalities:
        cones.append(clarabel.NonnegativeConeT(form.n_inequalities))
    solver = clarabel.DefaultSolver(
        upper_triangle(program),
        program.cost,
        form.matrix,
        form.right,
        cones,
        _settings(clarabel.DefaultSettings(), request),
    )
    result = solver.solve()
    words = str(result.status)
    status = _STATUS.get(words, Status.FAILED)
    point = None
    if status not in POINTLESS:
        point = Point(np.array(result.x), form.row_duals(np.array(result.z)))
    return Answer(status, words, point, int(result.iterations))


CLARABEL = RebuildingBackend(
    "clarabel",
    frozenset({"lp", "qp", "time-limit", "certificates", "exact"}),
    "clarabel",
    solve_with_clarabel,
)


class _ConeForm:
    """The rows and bounds of a program as one system ``Ax + s = b``, equations first."""

    def __init__(self, program: Program) -> None:
        self._rows = Sides(program.row_lower, program.row_upper)
        bounds = Sides(program.lower, program.upper)
        matrix = sp.csr_array(program.matrix)
        identity = sp.eye_array(program.n_columns, format="csr")
        row_sides = self._rows.one_sided_rows(matrix)
        blocks = [
            matrix[self._rows.equal],
            identity[bounds.equal],
            row_sides,
            bounds.one_sided_rows(identity),
        ]
        self.matrix = sp.csc_matrix(sp.vstack(blocks, format="csc"))
        self.right = np.concatenate(
            [
                program.row_upper[self._rows.equal],
                program.upper[bounds.equal],
                self._rows.one_sided_right(program.row_lower, program.row_upper),
                bounds.one_sided_right(program.lower, program.upper),
            ]
        )
        self._row_equations = int(self._rows.equal.sum())
        self._row_sides = row_sides.shape[0]
        self.n_equations = self._row_equations + int(bounds.equal.sum())
        self.n_inequalities = self.right.size - self.n_equations

    def row_duals(self, z: Float64Array) -> Float64Array:
        """Return the duals of the program's rows from the multipliers of the cones."""
        sides = z[self.n_equations : self.n_equations + self._row_sides]
        return self._rows.duals(z[: self._row_equations], sides)


def _settings(settings: Any, request: Request) -> Any:
    settings.verbose = False
    settings.max_threads = 1
    if request.tol is not None:
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = request.tol
    if request.time_limit is not None:
        settings.time_limit = request.time_limit
    if request.max_iterations is not None:
        settings.max_iter = request.max_iterations
    apply_options(settings, request.options, "clarabel")
    return settings
