"""Lower bound on the minimum of a CVXPY problem, from a dual point made feasible.

CVXPY writes a convex problem, with auxiliary variables among the x, as

    min ½x'Px + q'x + constant   s.t.   b − Ax ∈ K,   K a product of cones

For any p and any z in the dual cone K*, convexity gives ½x'Px ≥ p'Px − ½p'Pp, and z'(b − Ax) ≥ 0:

    ½x'Px + q'x ≥ −½p'Pp − b'z + d'x ≥ −½p'Pp − b'z − R·‖d‖₁   for |x_j| ≤ R,   d = Pp + q + A'z

A solver's answer (p, z) makes d small; one step of refinement makes it smaller, and z is moved into
K* before it is used. So the bound holds for every answer, and an inexact one makes it low. What
rounding may add is bounded by the size of the *terms* of each sum, since large ones may cancel.

The parts of z follow each other in CVXPY's order: equations (any z), inequalities (z ≥ 0),
second-order cones, semidefinite cones (upper triangle by columns, times √2 off the diagonal),
exponential cones and power cones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from cgboost._solvers import Program, SolverError, solve
from cgboost.arrays import Vector
from cgboost.exceptions import MasterError
from cgboost.masters.convex.solve import TIGHT_OPTIONS
from cgboost.tolerances import EPSILON

INTO_CONE = 1e-14
"""A dual is moved into its cone by this more than it must, relative to its size. Some fifty
roundings, more than the norm or product that it is compared with is off by."""

TINY = float(np.finfo(np.float64).tiny)
"""More than what an exponential that underflows to 0 can be."""


@dataclass(frozen=True)
class ConeSizes:
    """Sizes of the parts of z: of a second-order cone, orders of matrices, exponents of powers."""

    zero: int
    nonneg: int
    soc: list[int] = field(default_factory=list)
    psd: list[int] = field(default_factory=list)
    exp: int = 0
    p3d: list[float] = field(default_factory=list)

    @classmethod
    def of_cvxpy(cls, dims: Any) -> ConeSizes:
        """The cones of a problem for Clarabel."""
        if getattr(dims, "pnd", None):
            raise MasterError("there is no bound for power cones of more than three dimensions")
        return cls(dims.zero, dims.nonneg, dims.soc, dims.psd, dims.exp, dims.p3d)

    def parts(self) -> Iterator[slice]:
        """Where each cone's part of z is, those of equations and inequalities left out."""
        sizes = [*self.soc, *(k * (k + 1) // 2 for k in self.psd)]
        sizes += [3] * (self.exp + len(self.p3d))
        start = self.zero + self.nonneg
        for size in sizes:
            yield slice(start, start + size)
            start += size

    def raised(self, z: Vector) -> Vector:
        """Move z into the dual cone by raising one entry of each part, or a diagonal."""
        z = z.copy()
        inequalities = slice(self.zero, self.zero + self.nonneg)
        z[inequalities] = np.maximum(z[inequalities], 0.0)
        parts = self.parts()
        for _ in self.soc:
            _raise_second_order(z[next(parts)])
        for order in self.psd:
            _raise_semidefinite(z[next(parts)], order)
        for _ in range(self.exp):
            _raise_exponential(z[next(parts)])
        for exponent in self.p3d:
            _lower_power(z[next(parts)], exponent)
        return z

    def room(self, z: Vector) -> Vector:
        """How far each dual may go, roughly: as far as it or its cone's part is long."""
        room = np.abs(z)
        room[: self.zero] = room.max(initial=1.0)
        round_cones = len(self.soc) + len(self.psd)
        for part in list(self.parts())[:round_cones]:
            room[part] = np.linalg.norm(z[part])
        return room


def _raise_second_order(z: Vector) -> None:
    """Make ‖(z_1, …)‖ ≤ z_0."""
    z[0] = max(z[0], (1.0 + INTO_CONE * z.size) * float(np.linalg.norm(z[1:])))


def _raise_semidefinite(z: Vector, order: int) -> None:
    column, row = np.tril_indices(order)
    matrix = np.zeros((order, order))
    matrix[row, column] = matrix[column, row] = z / np.where(row == column, 1.0, np.sqrt(2.0))
    values = np.linalg.eigvalsh(matrix)
    missing = INTO_CONE * order * float(np.abs(values).max()) - float(values[0])
    z[row == column] += max(0.0, missing)


def _raise_exponential(z: Vector) -> None:
    """Make −u·exp(v/u − 1) ≤ w with u < 0, or u = 0 ≤ v, w."""
    u, v, w = z
    if u >= 0:
        z[:] = 0.0, max(v, 0.0), max(w, 0.0)
        return
    with np.errstate(over="ignore"):
        least = -u * np.exp(v / u - 1.0)
    z[2] = max(w, least * (1.0 + INTO_CONE * (1.0 + abs(v / u))) + TINY)


def _lower_power(z: Vector, exponent: float) -> None:
    """Make (u/α)^α·(v/(1 − α))^(1 − α) ≥ |w|, u ≥ 0, v ≥ 0."""
    z[:2] = np.maximum(z[:2], 0.0)
    largest = (z[0] / exponent) ** exponent * (z[1] / (1.0 - exponent)) ** (1.0 - exponent)
    z[2] = np.clip(z[2], -largest * (1.0 - INTO_CONE), largest * (1.0 - INTO_CONE))


DATA_ROUNDING = 4
"""Roundings of one coefficient in CVXPY's translation, in units of ``EPSILON``."""

REFINEMENT_RIDGE = 1e-12
"""Added to the diagonal of P in the refinement, relative to the largest entry of the column. P may
be 0, and needs it to be factorised; what it leaves of d is counted in the bound."""

IN_USE = 1e-9
"""Duals whose room (see `Cones.room`) is less than this, relative to the most, stay as they are.
Solvers answer to about 1e-8: these are 0 at the optimum but for their error."""


@dataclass(frozen=True)
class ConeProgram:
    """``min ½x'Px + q'x + constant`` subject to ``b − Ax`` in a product of cones."""

    P: sp.csc_array
    q: Vector
    A: sp.csc_array
    b: Vector
    cones: ConeSizes
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
        shift = sp.diags_array(REFINEMENT_RIDGE * np.where(largest > 0, largest, 1.0))
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
        ConeSizes(equations, program.n_rows - equations),
        program.constant,
    )
    return cone_program, solution.x, -solution.row_duals


def _by_clarabel(problem: Any) -> tuple[ConeProgram, Vector, Vector]:
    if not problem.is_dcp():
        raise MasterError("the problem of the bound is not convex by the rules of CVXPY (is_dcp)")
    options = dict(TIGHT_OPTIONS["CLARABEL"])
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
        ConeSizes.of_cvxpy(data["dims"]),
        float(inverse[-1]["offset"]),
    )
    return cone_program, np.array(answer.x), np.array(answer.z)


def _column_sizes(matrix: sp.csc_array) -> Vector:
    """The largest entry of each column."""
    if not matrix.shape[0]:
        return np.zeros(matrix.shape[1])
    return np.asarray(abs(matrix).max(axis=0).toarray()).ravel()
