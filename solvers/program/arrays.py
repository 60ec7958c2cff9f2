"""The array types of the package, and the checks that turn user input into them.

Every check names the argument, the position and the value it rejects, because a solver would
not: HiGHS returns "optimal" for a model with a NaN coefficient.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .status import ProgramError

Float64Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
DenseOrSparse: TypeAlias = "Float64Array | sp.csr_array"
MatrixLike: TypeAlias = "npt.ArrayLike | sp.sparray | sp.spmatrix"

INFINITE_BOUND = 1e19
"""A bound of at least this size means "no bound" (files write 1e20, give or take rounding)."""


def is_sparse(matrix: object) -> TypeGuard[sp.csr_array]:
    """Whether a matrix is a SciPy sparse one (inside the package: CSR, or CSC for P)."""
    return bool(sp.issparse(matrix))


def as_vector(value: npt.ArrayLike, size: int, name: str) -> Float64Array:
    """Return `value` as a float vector of length `size`; a scalar is repeated."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProgramError(f"{name} is not numeric: {error}") from error
    if array.ndim == 0:
        return np.full(size, array)
    if array.shape != (size,):
        raise ProgramError(f"{name} has shape {array.shape}, expected ({size},)")
    return array


def as_finite_vector(value: npt.ArrayLike, size: int, name: str) -> Float64Array:
    """Return `value` as a float vector of length `size` without NaN or infinities."""
    array = as_vector(value, size, name)
    _require_finite(array, name)
    return array


def as_bounds(
    lower: npt.ArrayLike, upper: npt.ArrayLike, size: int, prefix: str = ""
) -> tuple[Float64Array, Float64Array]:
    """Return a pair of bound vectors with `lower <= upper` and true infinities."""
    low = _without_huge(as_vector(lower, size, f"{prefix}lower"))
    high = _without_huge(as_vector(upper, size, f"{prefix}upper"))
    for array, name in ((low, "lower"), (high, "upper")):
        if np.isnan(array).any():
            index = int(np.flatnonzero(np.isnan(array))[0])
            raise ProgramError(f"{prefix}{name}[{index}] is nan")
    crossed = (low > high) | (low == np.inf) | (high == -np.inf)
    if crossed.any():
        index = int(np.flatnonzero(crossed)[0])
        raise ProgramError(
            f"{prefix}lower[{index}] = {low[index]} and {prefix}upper[{index}] = {high[index]} "
            "leave no value in between"
        )
    return low, high


def as_matrix(value: MatrixLike, shape: tuple[int, int], name: str) -> DenseOrSparse:
    """Return `value` as a finite float matrix of the given shape, dense or CSR as it came.

    Entries that are stored more than once are added up, as SciPy means them; solvers do not agree.
    """
    matrix: Any
    if sp.issparse(value):
        matrix = sp.csr_array(value, dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        entries = matrix.data
    else:
        try:
            matrix = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ProgramError(f"{name} is not numeric: {error}") from error
        entries = matrix
    if matrix.shape != shape:
        raise ProgramError(f"{name} has shape {matrix.shape}, expected {shape}")
    if not np.isfinite(entries).all():
        row, column = _first_not_finite(matrix)
        raise ProgramError(f"{name}[{row}, {column}] = {matrix[row, column]} is not finite")
    return matrix


def as_indices(value: npt.ArrayLike, size: int, name: str) -> IntArray:
    """Return `value` as distinct positions in ``range(size)``."""
    array = np.atleast_1d(np.asarray(value))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ProgramError(f"{name} must be a list of integers, not {value!r}")
    outside = (array < 0) | (array >= size)
    if outside.any():
        raise ProgramError(f"{name} contains {array[outside][0]}, outside 0..{size - 1}")
    if np.unique(array).size != array.size:
        raise ProgramError(f"{name} contains the same position twice")
    return array.astype(np.int64)


def _without_huge(bounds: Float64Array) -> Float64Array:
    huge = np.abs(bounds) >= INFINITE_BOUND
    return np.where(huge, np.copysign(np.inf, bounds), bounds) if huge.any() else bounds


def _require_finite(array: Float64Array, name: str) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        index = int(np.flatnonzero(~finite)[0])
        raise ProgramError(f"{name}[{index}] = {array[index]} is not finite")


def _first_not_finite(matrix: Any) -> tuple[int, int]:
    if sp.issparse(matrix):
        entries = matrix.tocoo()
        at = np.flatnonzero(~np.isfinite(entries.data))[0]
        return int(entries.coords[0][at]), int(entries.coords[1][at])
    row, column = np.argwhere(~np.isfinite(matrix))[0]
    return int(row), int(column)
