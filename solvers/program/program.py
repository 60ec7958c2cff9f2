"""Linear, convex quadratic and mixed-integer programs, and the forms of their data for solvers.

`solvers.program.modelling` says how to use those of CVXPY, which is imported when a function is
called. Its form of a quadratic program is asked for by the name of a solver that CVXPY always
brings along (OSQP); it is not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .arrays import (
    BoolArray,
    DenseOrSparse,
    Float64Array,
    MatrixLike,
    as_bounds,
    as_finite_vector,
    as_matrix,
    is_sparse,
)
from .status import MissingBackendError, ProgramError

FORM = "OSQP"


def variable(cvxpy: Any, n: int, integrality: BoolArray | None) -> Any:
    """Return a CVXPY variable for x, integer where the mask says so."""
    if integrality is None:
        return cvxpy.Variable(n, name="x")
    return cvxpy.Variable(n, name="x", integer=[np.flatnonzero(integrality)])


def objective(cvxpy: Any, x: Any, cost: Float64Array, quadratic: sp.csc_matrix | None) -> Any:
    """Return ``½ x'Px + c'x`` as a CVXPY expression."""
    linear = cost @ x
    if quadratic is None:
        return linear
    return 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(quadratic)) + linear


def load_cvxpy() -> Any:
    """Return the module cvxpy; raises `MissingBackendError`."""
    try:
        import cvxpy
    except ImportError as error:
        raise MissingBackendError("cvxpy is not installed: pip install cvxpy") from error
    return cvxpy


def standard_form(problem: Any) -> tuple[dict[str, Any], Any, Any]:
    """Return CVXPY's data of the quadratic program, the reductions, and the way back."""
    cvxpy = load_cvxpy()
    if not isinstance(problem, cvxpy.Problem):
        raise ProgramError(f"expected a cvxpy.Problem, got {type(problem).__name__}")
    unset = [p.name() for p in problem.parameters() if p.value is None]
    if unset:
        raise ProgramError(f"parameters without a value: {', '.join(unset)}")
    if not problem.variables():
        raise ProgramError("the CVXPY problem has no variables")
    if not problem.is_dcp():
        raise ProgramError("the CVXPY problem is not convex by the rules of CVXPY (is_dcp)")
    if problem.is_mixed_integer():
        raise ProgramError("the CVXPY problem has integer variables; only LPs and QPs are taken")
    if not problem.is_qp():
        raise ProgramError(
            "the CVXPY problem is neither an LP nor a QP: a linear or quadratic objective and "
            "polyhedral constraints are taken, no other cones"
        )
    try:
        return problem.get_problem_data(FORM)
    except cvxpy.error.SolverError as error:
        raise ProgramError(f"CVXPY cannot write this as a quadratic program: {error}") from error


SYMMETRY_TOLERANCE = 1e-10
"""Rounding of a product such as H'H leaves about 1e-13; a matrix that is meant otherwise differs by
far more."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Program:
    """``min ½ x'Px + c'x + constant, row_lower <= Ax <= row_upper, lower <= x <= upper``.

    Parameters
    ----------
    cost : array_like, shape (n,)
        Linear cost c.
    matrix : array or scipy sparse, shape (m, n), optional
        Row coefficients A, kept dense or sparse as given. No rows by default.
    row_lower, row_upper : array_like, shape (m,) or scalar
        Row bounds; equal bounds make an equation. Free by default.
    lower, upper : array_like, shape (n,) or scalar
        Variable bounds, ``x >= 0`` by default.
    quadratic : None, shape (n,), or shape (n, n) array or scipy sparse
        P: absent, its diagonal, or the whole symmetric positive semidefinite matrix.
    integrality : array_like of bool, shape (n,), optional
        Which variables must be integer.
    constant : float
        Added to the objective.

    Raises
    ------
    ProgramError
        On a wrong shape, a NaN, an infinity in the costs or the matrix, crossed bounds, an
        asymmetric P or a negative diagonal of P. The message names the argument, the position
        and the value.

    Notes
    -----
    A bound of size 1e19 or more is infinite. Arrays are not copied if they have the right type
    already: do not modify them afterwards. P is not checked for negative eigenvalues.
    """

    cost: Float64Array
    matrix: DenseOrSparse
    row_lower: Float64Array
    row_upper: Float64Array
    lower: Float64Array
    upper: Float64Array
    quadratic: Float64Array | sp.csc_array | None
    integrality: BoolArray | None
    constant: float

    def __init__(
        self,
        cost: npt.ArrayLike,
        matrix: MatrixLike | None = None,
        row_lower: npt.ArrayLike = -np.inf,
        row_upper: npt.ArrayLike = np.inf,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = np.inf,
        quadratic: MatrixLike | None = None,
        integrality: npt.ArrayLike | None = None,
        constant: float = 0.0,
    ) -> None:
        n = np.size(cost)
        rows = matrix if matrix is not None else sp.csr_array((0, n))
        m = _row_count(rows)
        row_low, row_high = as_bounds(row_lower, row_upper, m, "row_")
        low, high = as_bounds(lower, upper, n)
        if not np.isfinite(constant):
            raise ProgramError(f"constant = {constant} is not finite")
        self._set(
            cost=as_finite_vector(cost, n, "cost"),
            matrix=as_matrix(rows, (m, n), "matrix"),
            row_lower=row_low,
            row_upper=row_high,
            lower=low,
            upper=high,
            quadratic=as_quadratic(quadratic, n),
            integrality=_as_mask(integrality, n),
            constant=float(constant),
        )

    @classmethod
    def from_valid(cls, **fields: Any) -> Program:
        """Build from all fields, already checked (sessions check each update once)."""
        program = object.__new__(cls)
        program._set(**fields)
        return program

    @classmethod
    def from_cvxpy(cls, problem: Any) -> Program:
        """Return the program that a CVXPY problem amounts to.

        Parameters
        ----------
        problem : cvxpy.Problem
            With a linear or convex quadratic objective and polyhedral constraints. A maximisation
            becomes the minimisation of the negative, constants included.

        Returns
        -------
        Program
            Its first rows are the equations, the others ``<=``; its columns are CVXPY's, auxiliary
            ones included. `solvers.program.modelling.put_back` reads them.

        Raises
        ------
        ProgramError
            For anything else: cones, integer variables, not convex, parameters without a value.
        MissingBackendError
            Without CVXPY.
        """
        data, _, inverse = standard_form(problem)
        equations, inequalities = sp.csr_array(data["A"]), sp.csr_array(data["F"])
        right, limits = (np.asarray(data[name], dtype=np.float64) for name in ("b", "G"))
        lower, upper = data.get("lower_bounds"), data.get("upper_bounds")
        return cls(
            cost=np.asarray(data["q"], dtype=np.float64),
            matrix=sp.vstack([equations, inequalities], format="csr"),
            row_lower=np.concatenate([right, np.full(limits.size, -np.inf)]),
            row_upper=np.concatenate([right, limits]),
            lower=-np.inf if lower is None else lower,
            upper=np.inf if upper is None else upper,
            quadratic=data["P"],
            constant=float(inverse[-1]["offset"]),
        )

    def to_cvxpy(self) -> Any:
        """Return this as a `cvxpy.Problem` in one variable called ``x``.

        Its constraints, in this order, where there are any: the equations, the rows with a lower
        and those with an upper bound, the lower and the upper bounds of x.

        Raises
        ------
        MissingBackendError
            Without CVXPY.
        """
        cvxpy = load_cvxpy()
        x, rows = variable(cvxpy, self.n_columns, self.integrality), sp.csr_array(self.matrix)
        sides = Sides(self.row_lower, self.row_upper)
        is_low, is_high = np.isfinite(self.lower), np.isfinite(self.upper)
        constraints = [
            rows[sides.equal] @ x == self.row_upper[sides.equal],
            rows[sides.below] @ x >= self.row_lower[sides.below],
            rows[sides.above] @ x <= self.row_upper[sides.above],
            x[is_low] >= self.lower[is_low],
            x[is_high] <= self.upper[is_high],
        ]
        used = [constraint for constraint in constraints if constraint.size]
        quadratic = None if self.quadratic is None else full_sparse(self)
        cost = objective(cvxpy, x, self.cost, quadratic) + self.constant
        return cvxpy.Problem(cvxpy.Minimize(cost), used)

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return self.row_lower.size

    @property
    def n_columns(self) -> int:
        """Number of variables n."""
        return self.cost.size

    @property
    def is_mip(self) -> bool:
        """Whether some variable must be integer."""
        return self.integrality is not None

    @property
    def is_qp(self) -> bool:
        """Whether the objective is quadratic."""
        return self.quadratic is not None

    @property
    def is_lp(self) -> bool:
        """Whether the program is neither quadratic nor mixed-integer."""
        return not self.is_qp and not self.is_mip

    def objective_value(self, x: npt.ArrayLike) -> float:
        """Return ``½ x'Px + c'x + constant``."""
        point = np.asarray(x, dtype=np.float64)
        return float(self.cost @ point + 0.5 * (point @ self.curvature(point)) + self.constant)

    def curvature(self, x: Float64Array) -> Float64Array:
        """Return ``Px``, shape (n,)."""
        if self.quadratic is None:
            return np.zeros(self.n_columns)
        if self.quadratic.ndim == 1:
            return self.quadratic * x
        return np.asarray(self.quadratic @ x)

    def __repr__(self) -> str:
        kind = ("MI" if self.is_mip else "") + ("QP" if self.is_qp else "LP")
        return f"Program({kind}, {self.n_rows} rows, {self.n_columns} columns)"


def as_quadratic(value: MatrixLike | None, n: int) -> Float64Array | sp.csc_array | None:
    """Return P as None, a diagonal, a dense or a CSC matrix, checked for what is cheap to check."""
    if value is None:
        return None
    if not is_sparse(value) and np.ndim(value) <= 1:
        return as_diagonal(value, n)
    matrix = as_matrix(value, (n, n), "quadratic")
    _require_nonnegative(matrix.diagonal())
    _require_symmetric(matrix)
    if is_sparse(matrix):
        return matrix.tocsc() if matrix.count_nonzero() else None
    return matrix if matrix.any() else None


def as_diagonal(value: npt.ArrayLike | None, n: int) -> Float64Array | None:
    """Return a diagonal P as a checked vector, or None if it is zero."""
    if value is None:
        return None
    diagonal = as_finite_vector(value, n, "quadratic")
    _require_nonnegative(diagonal)
    return diagonal if diagonal.any() else None


def _require_nonnegative(diagonal: Float64Array) -> None:
    if (diagonal < 0).any():
        index = int(np.flatnonzero(diagonal < 0)[0])
        raise ProgramError(f"quadratic[{index}] = {diagonal[index]} < 0: the cost is not convex")


def _require_symmetric(matrix: Any) -> None:
    difference = abs(matrix - matrix.T)
    if difference.size and difference.max() > SYMMETRY_TOLERANCE * (1.0 + abs(matrix).max()):
        row, column = np.unravel_index(difference.argmax(), matrix.shape)
        raise ProgramError(
            f"quadratic is not symmetric: [{row}, {column}] = {matrix[row, column]} but "
            f"[{column}, {row}] = {matrix[column, row]}; solvers read halves differently, give both"
        )


def _as_mask(value: npt.ArrayLike | None, n: int) -> BoolArray | None:
    if value is None:
        return None
    mask = np.asarray(value, dtype=bool)
    if mask.ndim == 0:
        mask = np.full(n, mask)
    if mask.shape != (n,):
        raise ProgramError(f"integrality has shape {mask.shape}, expected ({n},)")
    return mask if mask.any() else None


def _row_count(matrix: Any) -> int:
    shape = np.shape(matrix) if not is_sparse(matrix) else matrix.shape
    if len(shape) != 2:
        raise ProgramError(f"matrix has shape {shape}, expected two dimensions")
    return int(shape[0])


def upper_triangle(program: Program) -> sp.csc_matrix:
    """Return the upper triangle of P in CSC form (what Clarabel and OSQP read)."""
    return sp.csc_matrix(sp.triu(full_sparse(program), format="csc"))


def full_sparse(program: Program) -> sp.csc_matrix:
    """Return the whole of P in CSC form."""
    n, quadratic = program.n_columns, program.quadratic
    if quadratic is None:
        return sp.csc_matrix((n, n))
    if quadratic.ndim == 1:
        return sp.csc_matrix(sp.diags_array(quadratic, format="csc"))
    return sp.csc_matrix(quadratic)


def full_dense(program: Program) -> Float64Array:
    """Return the whole of P as a dense array."""
    n, quadratic = program.n_columns, program.quadratic
    if quadratic is None:
        return np.zeros((n, n))
    if quadratic.ndim == 1:
        return np.diag(quadratic)
    return quadratic.toarray() if is_sparse(quadratic) else np.asarray(quadratic)


def fill(program: Program) -> float:
    """Return which part of P and A together is nonzero (stored, for sparse ones)."""
    n, m = program.n_columns, program.n_rows
    return (_nonzeros(program.quadratic) + _nonzeros(program.matrix)) / max(1, n * (n + m))


def _nonzeros(matrix: object) -> int:
    if matrix is None:
        return 0
    return int(matrix.nnz if is_sparse(matrix) else np.count_nonzero(matrix))  # type: ignore


class Sides:
    """Two-sided constraints taken apart: equations, then ``a x <= u``, then ``-a x <= -l``.

    Parameters
    ----------
    lower, upper : ndarray, shape (m,)
        The two sides; those that are infinite are left out.
    """

    def __init__(self, lower: Float64Array, upper: Float64Array) -> None:
        self.equal: BoolArray = lower == upper
        self.above: BoolArray = np.isfinite(upper) & ~self.equal
        self.below: BoolArray = np.isfinite(lower) & ~self.equal

    def one_sided_rows(self, matrix: DenseOrSparse) -> DenseOrSparse:
        """Return the rows of the inequalities."""
        stack = sp.vstack if is_sparse(matrix) else np.vstack
        return stack([matrix[self.above], -matrix[self.below]])

    def one_sided_right(self, lower: Float64Array, upper: Float64Array) -> Float64Array:
        """Return the right-hand sides of the inequalities."""
        return np.concatenate([upper[self.above], -lower[self.below]])

    def duals(self, equations: Float64Array, inequalities: Float64Array) -> Float64Array:
        """Return the duals of the constraints from multipliers with ``Px + c + A'z = 0``."""
        duals = np.zeros(self.equal.size)
        duals[self.equal] = -equations
        n_above = int(self.above.sum())
        duals[self.above] -= inequalities[:n_above]
        duals[self.below] += inequalities[n_above:]
        return duals
