"""Polishing on the optimal face, by saddle-point systems.

Interior point and first-order methods stop a little short of the optimal face, and their duals
with them. But they nearly always tell which bounds, of variables and of rows, hold there with
equality. If these are the right ones, the optimum is that of a quadratic program with equations
only, which is one linear system. So: guess the face, solve, and keep the result if it is better.
The system is

    P x + A'u = e
    A x       = f

and may be singular (a rank-deficient P, dependent or superfluous rows). A tiny regularisation, P +
δ above and -δ below, makes the factorisation exist, and iterative refinement takes its effect out
again. With small right-hand sides the solution then stays small where it is not unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg.lapack as lapack
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from ..program.arrays import Float64Array, IntArray, is_sparse
from ..program.program import Program
from ..program.solution import Point, worst_residual
from .presolve import Elimination, find_elimination, part_of, quadratic_part

Solver = Callable[[Float64Array], Float64Array]

LARGEST_SYSTEM = 1500
"""Unknowns up to which a system is factorised."""

DENSE_UNKNOWNS = 400
"""Unknowns up to which a dense factorisation is used for sparse data, too."""

REGULARISATION = 1e-10
"""δ, relative to the largest entry of each row. Rounding grows by 1/δ in a singular system, to
about 1e-6, and each refinement takes out most of the effect of δ: a larger one would need more of
them."""

LAPACK_BLOCK = 64
"""Columns of a block in `dsytrf`, LAPACK's own choice for it; another changes the time only."""

LOWER, FREE, UPPER = -1, 0, 1
"""Where a variable or a row is held."""

REFINEMENTS = 2
"""Refinements of the optimum of a face: they take out the effect of δ."""

FACE_STEPS = 3
"""The first guess of a face and two corrections; more hardly ever help."""

GOOD_ENOUGH = 1e-13
"""A residual at which no face is tried: rounding leaves little less."""

HOPELESS = 1e-3
"""A residual at which the optimum of a face says nothing about the face to try next."""


class SaddleSystem:
    """A factorised system; see `saddle_system`."""

    def __init__(self, quadratic: Any, matrix: Any, pairs: Elimination | None) -> None:
        self._n = matrix.shape[1]
        self._pairs = pairs
        if pairs is not None:
            quadratic, matrix = pairs.reduced.quadratic, pairs.reduced.matrix
        self._n_core = matrix.shape[1]
        self._solve_core = _factorised(quadratic, matrix)

    def solve(self, e: Float64Array, f: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return x and u."""
        pairs = self._pairs
        if pairs is None:
            found = self._solve_core(np.concatenate([e, f]))
            return found[: self._n], found[self._n :]
        z_right, rows, pivot = e[pairs.columns], pairs.rows, pairs.pivot
        weight = (pairs.curvature * f[rows] / pivot - z_right) / pivot
        core = np.concatenate(
            [e[pairs.kept_columns] + np.asarray(pairs.block.T @ weight), f[pairs.kept_rows]]
        )
        found = self._solve_core(core)
        x, u = np.empty_like(e), np.empty_like(f)
        x[pairs.kept_columns], u[pairs.kept_rows] = found[: self._n_core], found[self._n_core :]
        z = (f[rows] - np.asarray(pairs.block @ found[: self._n_core])) / pivot
        x[pairs.columns], u[rows] = z, (z_right - pairs.curvature * z) / pivot
        return x, u


def saddle_system(quadratic: Any, matrix: Any) -> SaddleSystem | None:
    """Factorise a system, or return None if it has too many unknowns or no factorisation.

    Parameters
    ----------
    quadratic : None, diagonal, dense or sparse
        P.
    matrix : dense or sparse, shape (m, n)
        A.

    Notes
    -----
    A column of a dense A that occurs in one row only is first put in terms of the others, as in
    `solvers.refinement.presolve`: in a 2-norm master that leaves the support vectors.
    """
    pairs = None
    if quadratic is None or quadratic.ndim == 1:
        pairs = find_elimination(_all_free(quadratic, matrix))
        if pairs is not None and not pairs.is_dense:
            pairs = None
    n_gone = 0 if pairs is None else 2 * pairs.columns.size
    if sum(matrix.shape) - n_gone > LARGEST_SYSTEM:
        return None
    try:
        return SaddleSystem(quadratic, matrix, pairs)
    except RuntimeError:  # a pivot that cancelled to exactly 0 in SuperLU
        return None


def _all_free(quadratic: Any, matrix: Any) -> Program:
    m, n = matrix.shape
    return Program.from_valid(
        cost=np.zeros(n),
        matrix=matrix,
        row_lower=np.zeros(m),
        row_upper=np.zeros(m),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        quadratic=quadratic,
        integrality=None,
        constant=0.0,
    )


def _factorised(quadratic: Any, matrix: Any) -> Solver:
    size = sum(matrix.shape)
    if size == 0:
        return lambda right: right
    is_diagonal = quadratic is None or quadratic.ndim == 1 or is_sparse(quadratic)
    if is_sparse(matrix) and is_diagonal and size > DENSE_UNKNOWNS:
        return _sparse_factors(quadratic, matrix)
    return _dense_factors(quadratic, matrix)


def _dense_factors(quadratic: Any, matrix: Any) -> Solver:
    """Factorise as LDL' with pivoting (LAPACK reads the lower triangle)."""
    m, n = matrix.shape
    whole = np.zeros((n + m, n + m), order="F")
    if quadratic is not None and quadratic.ndim == 1:
        np.fill_diagonal(whole[:n, :n], quadratic)
    elif quadratic is not None:
        whole[:n, :n] = quadratic.toarray() if is_sparse(quadratic) else quadratic
    whole[n:, :n] = matrix.toarray() if is_sparse(matrix) else matrix
    sizes = np.abs(whole)
    whole[np.diag_indices(n + m)] += _regularisation(np.maximum(sizes.max(0), sizes.max(1)), n)
    factors, pivots, _ = lapack.dsytrf(
        whole, lower=1, lwork=LAPACK_BLOCK * (n + m), overwrite_a=True
    )
    return lambda right: np.asarray(lapack.dsytrs(factors, pivots, right, lower=1)[0])


def _sparse_factors(quadratic: Any, matrix: Any) -> Solver:
    n = matrix.shape[1]
    if quadratic is None:
        quadratic = np.zeros(n)
    if quadratic.ndim == 1:
        quadratic = sp.diags_array(quadratic)
    whole = sp.block_array([[quadratic, matrix.T], [matrix, None]], format="csc")
    largest = abs(whole).max(axis=0).toarray().ravel()
    whole = whole + sp.diags_array(_regularisation(largest, n), format="csc")
    factors = spla.splu(
        whole,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.01,
        options={"SymmetricMode": True},
    )
    return lambda right: np.asarray(factors.solve(right))


def _regularisation(largest: Float64Array, n: int) -> Float64Array:
    """Return δ for the n upper and -δ for the lower unknowns."""
    shift = REGULARISATION * np.where(largest > 0.0, largest, 1.0)
    shift[n:] *= -1.0
    return shift


@dataclass(frozen=True, eq=False)
class ActiveBounds:
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
    def near(cls, program: Program, point: Point) -> ActiveBounds:
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

    def is_same(self, other: ActiveBounds | None) -> bool:
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
        system = saddle_system(quadratic_part(program, free), part_of(program.matrix, held, free))
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


def _sides(
    values: Float64Array, lower: Float64Array, upper: Float64Array, duals: Float64Array
) -> IntArray:
    is_low = (duals > values - lower) | (lower == upper)
    return np.where(is_low, LOWER, np.where(-duals > upper - values, UPPER, FREE))


def _held(
    sides: IntArray, lower: Float64Array, upper: Float64Array, otherwise: Float64Array
) -> Float64Array:
    return np.where(sides == LOWER, lower, np.where(sides == UPPER, upper, otherwise))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a wrong face is refused, quietly
def polished(program: Program, point: Point) -> Point:
    """Return the optimum of a face near `point` if its `worst_residual` is smaller, else `point`.

    Notes
    -----
    The cost is one factorisation in the variables between their bounds and the rows at theirs, a
    few per cent of an interior point solve where that one is dense. Systems of more than
    `LARGEST_SYSTEM` unknowns are not tried.
    """
    best, least = point, worst_residual(program, point.x, point.row_duals)
    near, last = point, None
    for _ in range(FACE_STEPS):
        if least <= GOOD_ENOUGH or not _is_finite(near):
            break
        face = ActiveBounds.near(program, near)
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
    start: Float64Array, end: Float64Array, lower: Float64Array, upper: Float64Array
) -> float:
    """Return how much of the way no entry that starts inside its bounds leaves them."""
    crossed = np.where(end < lower, lower, upper)
    leaves = (start > lower) & (start < upper) & ((end < lower) | (end > upper))
    return float(((crossed - start)[leaves] / (end - start)[leaves]).min(initial=1.0))
