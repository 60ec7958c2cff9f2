"""Saddle-point systems, the optimality conditions of a quadratic program with equations only.

    P x + A'u = e
    A x       = f

They may be singular (a rank-deficient P, dependent or superfluous rows): a tiny regularisation,
P + δ above and -δ below, makes the factorisation exist, and the caller's iterative refinement takes
its effect out again. With small right-hand sides the solution then stays small where it is not
unique.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg.lapack as lapack
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from solvers.program.arrays import FloatArray, is_sparse
from solvers.program.program import Program
from solvers.refinement.presolve import Elimination, find_elimination

LARGEST_SYSTEM = 1500
"""Unknowns up to which a system is factorised."""

DENSE_UNKNOWNS = 400
"""Unknowns up to which a dense factorisation is used for sparse data, too."""

REGULARISATION = 1e-10
"""δ, relative to the largest entry of each row."""

LAPACK_BLOCK = 64

Solver = Callable[[FloatArray], FloatArray]


class SaddleSystem:
    """A factorised system; see `saddle_system`."""

    def __init__(self, quadratic: Any, matrix: Any, pairs: Elimination | None) -> None:
        self._n = matrix.shape[1]
        self._pairs = pairs
        if pairs is not None:
            quadratic, matrix = pairs.reduced.quadratic, pairs.reduced.matrix
        self._n_core = matrix.shape[1]
        self._solve_core = _factorised(quadratic, matrix)

    def solve(self, e: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _regularisation(largest: FloatArray, n: int) -> FloatArray:
    """Return δ for the n upper and -δ for the lower unknowns."""
    shift = REGULARISATION * np.where(largest > 0.0, largest, 1.0)
    shift[n:] *= -1.0
    return shift
