"""Precomputed kernel matrices, and user-defined functions as kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Matrix
from cgboost.exceptions import KernelError, see
from cgboost.kernels.checked_values import checked_values
from cgboost.kernels.expansions import as_floats
from cgboost.kernels.kernel import Kernel, KernelFunction, Norms
from cgboost.kernels.sparse_rows import is_sparse


@dataclass(frozen=True, eq=False)
class Precomputed(Kernel):
    """Precomputed kernel values, from X or from a matrix indexed by row numbers.

    ``Precomputed()``, ``Precomputed(first=7)``
        X[i, first + j] is k(x_i, x_j) for training row j. New rows need kernel values with *all*
        training rows. Several matrices are placed side by side, each with its first column.
    ``Precomputed("name")``
        X is a mapping of matrices, ``{"name": K, …}``, each of shape (n_rows, n_train).
    ``Precomputed("name", matrix)``
        X contains row numbers, shape (n_rows, 1), and k(x, z) = matrix[x, z]. Training rows and new
        rows are rows of the matrix, and any of them may be held out: use this form to
        cross-validate several matrices. To combine it with kernels of features, name the column of
        row numbers: ``On(Precomputed("name", matrix), "row")``. Such a kernel can be summed and
        normalised.

    Parameters
    ----------
    first : int or str, default=0
        The first column of the matrix in X, or its name.
    matrix : array-like of shape (n, n) or None
        Kernel values of all rows. It is not copied with the kernel.
    """

    first: int | str = 0
    matrix: Any = None
    _numbers_of_rows: ClassVar[Indices | None] = None

    def __post_init__(self) -> None:
        where = see("precomputed-kernels")
        named = isinstance(self.first, str) and self.first != ""
        if not named and (isinstance(self.first, (bool, str)) or self.first < 0):
            raise ValueError(
                f"Precomputed takes a name or its first column, got {self.first!r}{where}"
            )
        if self.matrix is None:
            return
        values = np.asarray(self.matrix)
        if values.ndim != 2 or values.shape[0] != values.shape[1] or values.dtype.kind not in "fiu":
            raise ValueError(
                f"the matrix of Precomputed({self.first!r}, matrix) must have numbers and be "
                f"square, got {values.dtype} of shape {values.shape}{where}"
            )
        object.__setattr__(self, "matrix", values)

    def __repr__(self) -> str:
        shape = "" if self.matrix is None else f", matrix of {len(self.matrix)} rows"
        own = f"{self.first!r}" if isinstance(self.first, str) else f"first={self.first!r}"
        return f"Precomputed({own}{shape})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Precomputed):
            return NotImplemented
        return self.first == other.first and _same_matrix(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((type(self), self.first))

    def __deepcopy__(self, memo: Any) -> Precomputed:
        return self  # nothing of it changes

    @property
    def is_precomputed(self) -> bool:
        return self.matrix is None

    def of_rows(self, numbers: Indices) -> Precomputed:
        """The kernel for a part of the training rows, whose columns all remain."""
        own = Precomputed(self.first, self.matrix)
        object.__setattr__(own, "_numbers_of_rows", numbers)
        return own

    def centres(self, X: Matrix, rows: Any) -> Matrix:
        if self.matrix is not None:
            return X[rows]
        first, numbers = self.first_column, self._numbers_of_rows
        places = np.arange(X.shape[0]) if numbers is None else numbers
        needed = first + int(places.max(initial=-1)) + 1
        if X.shape[1] < needed:
            raise KernelError(
                f"Precomputed(first={first}) needs at least {needed} columns "
                f"for {needed - first} training rows, X has {X.shape[1]}"
                f"{see('precomputed-kernels')}"
            )
        return (first + places[rows])[..., None].astype(X.dtype)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if self.matrix is None:
            return X[:, Z[:, 0].astype(np.intp)]
        return as_floats(self.matrix[np.ix_(self._numbers(X), self._numbers(Z))])

    def diagonal(self, X: Matrix) -> Norms:
        if self.matrix is None:
            return super().diagonal(X)
        numbers = self._numbers(X)
        return as_floats(self.matrix[numbers, numbers])

    @property
    def first_column(self) -> int:
        """The first column of the matrix in X.

        Raises
        ------
        KernelError
            If only a name says where the matrix is.
        """
        if isinstance(self.first, int):
            return self.first
        raise KernelError(
            f"Precomputed({self.first!r}) needs a mapping of matrices for X, or its matrix: "
            f"Precomputed({self.first!r}, matrix){see('precomputed-kernels')}"
        )

    def _numbers(self, X: Matrix) -> Indices:
        """Row numbers, checked."""
        rows = np.asarray(cast(Any, X).toarray() if is_sparse(X) else X)
        given = rows[:, 0] if rows.shape[1:] == (1,) else np.full(1, np.nan)
        numbers = np.where(np.isfinite(given), given, -1).astype(np.intp)
        if (numbers != given).any() or (numbers < 0).any() or (numbers >= len(self.matrix)).any():
            raise KernelError(
                f"Precomputed({self.first!r}, matrix) takes one column of row numbers from 0 to "
                f"{len(self.matrix) - 1}, got an X of shape {X.shape} with "
                f"{given[(numbers != given) | (numbers >= len(self.matrix))][:3]}"
                f"{see('precomputed-kernels')}"
            )
        return numbers


def _same_matrix(own: Any, other: Any) -> bool:
    if own is other:
        return True
    return own is not None and other is not None and np.array_equal(own, other)


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """Any callable ``function(X, Z) -> (len(X), len(Z))``; values are checked and become floats.

    Rows that are objects are passed to the function as an array of shape (n_rows,), rows of a table
    of objects as an array of shape (n_rows, n_columns). The kernel can be pickled if the function
    can; lambdas and functions inside functions cannot.
    """

    function: KernelFunction
    name: str = "function"

    @property
    def takes_objects(self) -> bool:
        return True

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return checked_values(self.name, self.function(_given(X), _given(Z)), X, Z)

    def __str__(self) -> str:
        return f"kernel {self.name!r}"


def _given(X: NDArray[Any]) -> NDArray[Any]:
    """One column of objects as an array of objects."""
    return X[:, 0] if X.dtype == object and X.ndim == 2 and X.shape[1] == 1 else X
