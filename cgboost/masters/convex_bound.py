"""Lower bound on the minimum of a CVXPY problem, from a feasible point of its dual.

CVXPY writes a convex problem, with auxiliary variables among the x, as

    min ½x'Px + q'x + constant   s.t.   b − Ax ∈ K,   K a product of cones

For any p and any z in the dual cone K*, convexity gives ½x'Px ≥ p'Px − ½p'Pp, and z'(b − Ax) ≥ 0:

    ½x'Px + q'x ≥ −½p'Pp − b'z + d'x ≥ −½p'Pp − b'z − R·‖d‖₁   for |x_j| ≤ R,   d = Pp + q + A'z

A solver's answer (p, z) makes d small; one step of refinement makes it smaller, and z is moved into
K* before it is used. So the bound holds for every answer, and an inexact one makes it low. What
rounding may add is bounded by the size of the *terms* of each sum, since large ones may cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from cgboost.exceptions import MasterError
from cgboost.masters.convex_solve import TIGHT
from cgboost.masters.dual_cones import Cones
from solvers import Program, SolverError, solve

Vector = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)

DATA_ROUNDING = 4
"""Roundings of one coefficient in CVXPY's translation, in units of ``EPSILON``."""

REGULARISATION = 1e-12
"""Added to the diagonal of P in the refinement, relative to the largest entry of the column."""

IN_USE = 1e-9
"""Duals whose room (see `Cones.room`) is less than this, relative to the most, stay as they are."""


@dataclass(frozen=True)
class ConeProgram:
    """``min ½x'Px + q'x + constant`` subject to ``b − Ax`` in a product of cones."""

    P: sp.csc_array
    q: Vector
    A: sp.csc_array
    b: Vector
    cones: Cones
    constant: float

    def residual(self, p: Vector, z: Vector) -> Vector:
        """What is missing in stationarity, d = Pp + q + A'z."""
        return np.asarray(self.P @ p + self.q + self.A.T @ z)

    def dual_value(self, p: Vector, z: Vector, radius: float) -> float:
        """−½p'Pp − b'z − R·‖d‖₁ for z in the dual cone, less what rounding may have added."""
        terms = abs(self.P) @ np.abs(p) + np.abs(self.q) + abs(self.A).T @ np.abs(z)
        count = np.diff(self.A.indptr) + np.diff(self.P.indptr) + DATA_ROUNDING
        residual = np.abs(self.residual(p, z)) + EPSILON * count * terms
        summands = np.concatenate([-0.5 * p * (self.P @ p), -self.b * z, -radius * residual])
        sizes = np.concatenate([0.5 * np.abs(p) * (abs(self.P) @ np.abs(p)), np.abs(summands)])
        rounding = EPSILON * (DATA_ROUNDING + np.diff(self.P.indptr).max(initial=0))
        return math.fsum(summands) - float(rounding) * math.fsum(sizes)

    def refined(self, p: Vector, z: Vector) -> tuple[Vector, Vector]:
        """A step to d = 0 that moves each dual little, for its distance to the boundary.

        (y, Wv) with P y + A'Wv = −d and v = W A y, where W says how far each dual may go.
        """
        room = self.cones.room(z)
        used = np.flatnonzero(room > IN_USE * room.max(initial=0.0))
        W = sp.diags_array(room[used])
        weighted = sp.csc_array(W @ self.A[used])
        largest = np.maximum(_column_sizes(self.P), _column_sizes(weighted))
        shift = sp.diags_array(REGULARISATION * np.where(largest > 0, largest, 1.0))
        system = sp.block_array(
            [[self.P + shift, weighted.T], [weighted, -sp.eye_array(used.size)]], format="csc"
        )
        right = np.concatenate([-self.residual(p, z), np.zeros(used.size)])
        try:
            factors = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        except RuntimeError:  # a pivot that is exactly 0
            return p, z
        step = factors.solve(right)
        if not np.isfinite(step).all():
            return p, z
        longer = z.copy()
        longer[used] += room[used] * step[p.size :]
        return p + step[: p.size], self.cones.raised(longer)


def lower_bound(problem: Any, factor: float, size: float) -> float:
    """Lower bound on a minimisation.

    Parameters
    ----------
    problem : cvxpy.Problem
        A minimisation, convex by the rules of CVXPY.
    factor, size : float
        The bound holds over all x, CVXPY's auxiliary variables included, that are at most
        ``factor`` times as large as ``size`` or the largest right-hand side b.

    Raises
    ------
    MasterError
        If the solver gives no answer, or one of no use, or for a cone that is not handled.
    """
    program, p, z = _by_solvers(problem) if problem.is_qp() else _by_clarabel(problem)
    if not (np.isfinite(p).all() and np.isfinite(z).all()):
        raise MasterError("the solver gave no finite answer to the problem of the bound")
    radius = factor * max(size, float(np.abs(program.b).max(initial=0.0)))
    z = program.cones.raised(z)
    candidates = [(p, z), program.refined(p, z)]
    value = max(program.dual_value(*candidate, radius) for candidate in candidates)
    if not math.isfinite(value):
        raise MasterError("the solver's answer gives no finite bound")
    return value + program.constant


def _by_solvers(problem: Any) -> tuple[ConeProgram, Vector, Vector]:
    program = Program.from_cvxpy(problem)
    try:
        solution = solve(program)
    except SolverError as error:
        raise MasterError(str(error)) from error
    equations = int(np.count_nonzero(np.isfinite(program.row_lower)))
    size = program.n_columns
    cone_program = ConeProgram(
        sp.csc_array(program.quadratic if program.is_qp else (size, size)),
        program.cost,
        sp.csc_array(program.matrix),
        program.row_upper,
        Cones(equations, program.n_rows - equations),
        program.constant,
    )
    return cone_program, solution.x, -solution.row_duals


def _by_clarabel(problem: Any) -> tuple[ConeProgram, Vector, Vector]:
    if not problem.is_dcp():
        raise MasterError("the problem of the bound is not convex by the rules of CVXPY (is_dcp)")
    options = dict(TIGHT["CLARABEL"])
    data, chain, inverse = problem.get_problem_data("CLARABEL", solver_opts=options)
    answer = chain.solve_via_data(
        problem, data, warm_start=False, verbose=False, solver_opts=options
    )
    q = np.asarray(data["c"], dtype=np.float64)
    quadratic = data.get("P")
    cone_program = ConeProgram(
        sp.csc_array((q.size, q.size) if quadratic is None else quadratic),
        q,
        sp.csc_array(data["A"]),
        np.asarray(data["b"], dtype=np.float64),
        Cones.of_cvxpy(data["dims"]),
        float(inverse[-1]["offset"]),
    )
    return cone_program, np.array(answer.x), np.array(answer.z)


def _column_sizes(matrix: sp.csc_array) -> Vector:
    """The largest entry of each column."""
    if not matrix.shape[0]:
        return np.zeros(matrix.shape[1])
    return np.asarray(abs(matrix).max(axis=0).toarray()).ravel()
