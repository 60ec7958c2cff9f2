"""Kernel expansions g(x) = Σ_j w_j k(x, z_j), and bounds of their rounding errors.

A kernel value computed in floating point with unit roundoff u is off by at most

    relative · size(x) · size(z),      and      |k(x, z)| ≤ size(x) · size(z),

with one number for the kernel and one for each row. Sums of kernel values inherit such a bound at
the price of one dot product: Σ |w_i| size(x_i) · size(z). It begins with the error of an inner
product, γ_n ‖x‖‖z‖ with γ_n = n·u/(1 − n·u) where no term goes through more than n additions
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1), and each kernel
follows it through its formula (:meth:`Kernel.rounding`).

For an expansion a linear kernel needs one vector, a quadratic one a matrix of n_features²:

    Σ w (γ x·z + c)  = γ x·(Σ w z) + c Σ w
    Σ w (γ x·z + c)² = γ² x'(Σ w z z')x + 2γc x·(Σ w z) + c² Σ w

Large products are made in the dtype of the rows; what they give for one block of rows adds up in
float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix as Matrix  # a public name of cgboost.kernels
from cgboost.arrays import Vector, blocks_of

Weights = Vector | None
"""Positive weights of rows; None: all count the same."""


@dataclass(frozen=True)
class Arithmetic:
    """The quantities, besides the kernel, on which rounding errors depend.

    Attributes
    ----------
    norms : ndarray of shape (n_rows,)
        Squared norms ‖x‖² of the rows, in float64.
    n_terms : int
        Number of roundings of a term of an inner product: the number of features, or less if the
        product is summed in parts.
    unit : float
        Unit roundoff: half the eps of the dtype in which values are computed.
    refined : bool
        Whether the rows are available and :meth:`Kernel.refine` is called.
    """

    norms: Vector
    n_terms: int
    unit: float
    refined: bool = False

    def gamma(self, extra: int = 0) -> float:
        """γ_n for n = n_terms + extra roundings in a row."""
        steps = (self.n_terms + extra) * self.unit
        return steps / (1.0 - steps) if steps < 1.0 else np.inf


@dataclass(frozen=True)
class Rounding:
    """The bound in the docstring of the module.

    Attributes
    ----------
    relative : float
    size : ndarray of shape (n_rows,)
    diagonal : float
        Like ``relative``, for k(x, x) as computed by the kernel's ``diagonal``.
    """

    relative: float
    size: Vector
    diagonal: float


ROWS_AT_ONCE = 1024
"""Rows that are summed up or evaluated at a time."""


def float_dtype(X: Matrix) -> np.dtype[Any]:
    """The precision to work in: that of X, one that holds whole numbers, float64 for objects."""
    if X.dtype.kind not in "fiub":
        return np.dtype(np.float64)
    return np.result_type(X.dtype, np.float32)


def items(X: NDArray[Any]) -> Sequence[Any]:
    """What the rows of X stand for: the values of one column, or the rows of several."""
    return list(X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else X)


def as_floats(X: Matrix) -> Matrix:
    """X itself where it is of floats already."""
    return X.astype(float_dtype(X), copy=False)


class Expansion(ABC):
    """A weighted sum of kernel values as a function of only x."""

    def __call__(self, X: Matrix) -> Vector:
        """Its values on the rows of X, shape (len(X),)."""
        values = np.empty(X.shape[0])
        for rows in blocks_of(len(values), ROWS_AT_ONCE):
            values[rows] = self._of_rows(X[rows])
        return values

    @abstractmethod
    def _of_rows(self, X: Matrix) -> Matrix:
        """Its values on a block of rows."""


@dataclass(frozen=True, eq=False)
class PolynomialExpansion(Expansion):
    """constant + vector·x + x' matrix x; what is None is zero."""

    constant: float
    vector: Matrix | None = None
    matrix: Matrix | None = None

    def _of_rows(self, X: Matrix) -> Vector:
        dtype = float_dtype(X)
        values = np.full(X.shape[0], self.constant)
        if self.vector is not None:
            values += X @ self.vector.astype(dtype, copy=False)
        if self.matrix is not None:
            half = X @ self.matrix.astype(dtype, copy=False)
            values += np.einsum("ij,ij->i", half, X, dtype=np.float64)
        return values


@dataclass(frozen=True, eq=False)
class ScaledExpansion(Expansion):
    """scale(x)·inner(x), with one factor for every row."""

    inner: Expansion
    scale: Callable[[Matrix], Matrix]

    def _of_rows(self, X: Matrix) -> Vector:
        return self.inner(X) * self.scale(X)


@dataclass(frozen=True, eq=False)
class SummedExpansion(Expansion):
    """The sum of expansions."""

    parts: Sequence[Expansion]

    def _of_rows(self, X: Matrix) -> Vector:
        return np.sum([part(X) for part in self.parts], axis=0)


def weighted_sum(centres: Matrix, weights: Vector) -> Matrix:
    """Σ_j w_j z_j, shape (n_features,), in the dtype of the centres."""
    centres = as_floats(centres)
    total = np.zeros(centres.shape[1])
    for rows in blocks_of(centres.shape[0], ROWS_AT_ONCE):
        total += weights[rows].astype(centres.dtype) @ centres[rows]
    return total.astype(centres.dtype, copy=False)


def weighted_moment(centres: Matrix, weights: Vector) -> Matrix:
    """Σ_j w_j z_j z_j', shape (n_features, n_features), in the dtype of the centres.

    The product of a matrix with itself takes half the operations of a product of two, so positive
    and negative weights are summed apart, each with √|w_j| z_j.
    """
    centres = as_floats(centres)
    total = np.zeros((centres.shape[1], centres.shape[1]))
    roots = np.sqrt(np.abs(weights)).astype(centres.dtype)
    for add, chosen in ((np.add, weights > 0), (np.subtract, weights < 0)):
        places = np.flatnonzero(chosen)
        for rows in blocks_of(len(places), ROWS_AT_ONCE):
            block = places[rows]
            scaled = centres[block] * roots[block, None]
            add(total, scaled.T @ scaled, out=total)
    return total.astype(centres.dtype, copy=False)
