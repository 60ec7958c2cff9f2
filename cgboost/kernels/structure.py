"""What a kernel may tell about its structure: values from inner products, sums without values.

Two structures make a kernel cheap, and both are optional:

* values that follow from inner products (``of_products``), of all columns of X or of some
  (``restricted``): all such kernels of a library on the same columns share one matrix product;
* weighted sums Σ_j w_j k(x, z_j) that need no kernel values at all (``expansion``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.exceptions import KernelError
from cgboost.kernels.expansions import (
    Arithmetic,
    Expansion,
    Matrix,
    Rounding,
    Vector,
    as_floats,
)
from cgboost.kernels.rows import chunks, entries, is_sparse, products_of, squared_norms

Norms = NDArray[np.floating[Any]]


class KernelStructure(ABC):
    """A function k(X, Z), and what of it follows from less than all its values."""

    @abstractmethod
    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """Kernel values of every row of X with every centre in Z, shape (len(X), len(Z))."""

    # ------------------------------------------------------------------ inner products

    @property
    def of_products(self) -> bool:
        """Whether k(x, z) is a function of x·z, ‖x‖² and ‖z‖² alone."""
        return False

    def from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, out: Matrix | None = None
    ) -> Matrix:
        """Kernel values from inner products, for kernels that are ``of_products``.

        Parameters
        ----------
        products : ndarray of shape (n_rows, n_centres)
            X Zᵀ; it is not changed unless it is ``out``.
        x_norms, z_norms : ndarray of shape (n_rows,) and (n_centres,)
            Squared norms of the rows, as :func:`squared_norms` makes them.
        out : ndarray of shape (n_rows, n_centres), optional
            Where to put the values; it may be ``products``.

        Returns
        -------
        ndarray of shape (n_rows, n_centres)
            ``out``, or a new array of the dtype of ``products``.
        """
        values = np.empty_like(products) if out is None else out
        for rows in chunks(products):
            self.fill(values[rows], products[rows], x_norms[rows], z_norms)
        return values

    def sum_from_products(
        self, products: Matrix, x_norms: Norms, z_norms: Norms, weights: Vector
    ) -> Vector:
        """Σ_j w_j k(x, z_j) from inner products, for kernels that are ``of_products``.

        Parameters
        ----------
        products, x_norms, z_norms
            As in :meth:`from_products`.
        weights : ndarray of shape (n_centres,)

        Returns
        -------
        ndarray of shape (n_rows,)
            Added up in float64; no matrix of kernel values is made.
        """
        total = np.empty(len(products))
        for rows in chunks(products):
            values = np.empty_like(products[rows])
            self.fill(values, products[rows], x_norms[rows], z_norms)
            total[rows] = values.astype(np.float64, copy=False) @ weights
        return total

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        """k(x, x) from ‖x‖², shape (n_rows,), for kernels that are ``of_products``."""
        raise self._no_products()

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        """Put the values of a few rows into ``out``: the work of ``from_products``."""
        raise self._no_products()

    def _no_products(self) -> KernelError:
        return KernelError(f"{self} has no values from inner products: call it with X and Z")

    @property
    def of_distances(self) -> bool:
        """Whether k(x, z) is a function of ‖x − z‖² alone, and k(x, x) = 1."""
        return False

    def fill_from_distances(self, out: Matrix, squares: Matrix) -> None:
        """Put the values for some ‖x − z‖² into ``out``, of kernels that are ``of_distances``."""
        raise self._no_products()

    def refine(self, values: Matrix, X: Matrix, Z: Matrix) -> None:
        """Make values anew, in place, that inner products leave with too few digits.

        Parameters
        ----------
        values : ndarray of shape (len(X), len(Z))
            As :meth:`from_products` made them.
        X, Z : ndarray
            The rows, in the precision of the values.
        """
        return  # most kernels lose none

    def rounding(self, arithmetic: Arithmetic) -> Rounding | None:
        """How far values from inner products may be from exact ones; None: that is not known.

        A kernel without this bound is priced in float64, whatever the precision of the rows.

        Parameters
        ----------
        arithmetic : Arithmetic
            Norms of the rows, and the precision of the inner products.
        """
        return None

    # ------------------------------------------------------------------ weighted sums

    def expansion(
        self, centres: Matrix, weights: Vector, n_rows: int | None = None
    ) -> Expansion | None:
        """The function Σ_j w_j k(x, z_j) without its centres, where that pays.

        Kernels are symmetric: with coefficients as weights it is a prediction, with a
        pseudo-response over training rows it gives the scores of all columns.

        Parameters
        ----------
        centres : ndarray of shape (n_centres, n_features)
        weights : ndarray of shape (n_centres,)
        n_rows : int, optional
            Number of rows that it will be evaluated on; by default as many as there are centres.

        Returns
        -------
        Expansion or None
            None where the kernel has no such structure, or where it takes more operations than
            the kernel values would.
        """
        n_centres = centres.shape[0]
        rows = n_centres if n_rows is None else n_rows
        if cost_of_expansion(self, centres, n_centres, rows) > rows * n_centres * entries(centres):
            return None
        return self.expanded(centres, weights)

    def expansion_cost(self, n_centres: int, n_features: int, n_rows: int) -> float:
        """Multiplications to make an expansion and evaluate it on ``n_rows``; inf: there is none.

        Kernel values from a product of their own take n_rows·n_centres·n_features.
        """
        return math.inf

    @property
    def expands_sparse(self) -> bool:
        """Whether expansions take sparse rows, and are of vectors of n_features at most."""
        return False

    def expanded(self, centres: Matrix, weights: Vector) -> Expansion:
        """The expansion, whether it pays or not, of a kernel with a finite ``expansion_cost``."""
        raise KernelError(f"{self} has no expansion: sum its values")


def values_of_products(kernel: KernelStructure, X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)`` of a kernel that is ``of_products``."""
    values = products_of(as_floats(X), as_floats(Z))
    return kernel.from_products(values, squared_norms(X), squared_norms(Z), out=values)


def cost_of_expansion(kernel: KernelStructure, X: Matrix, n_centres: int, n_rows: int) -> float:
    """``kernel.expansion_cost`` over rows like X; inf where it would take a matrix of features."""
    if not is_sparse(X):
        return kernel.expansion_cost(n_centres, X.shape[1], n_rows)
    if not kernel.expands_sparse:
        return math.inf
    return kernel.expansion_cost(n_centres, round(entries(X)), n_rows)
