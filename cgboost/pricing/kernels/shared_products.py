"""Values of several kernels on the same rows and centres, from one product.

Kernels of the distance, as Gaussian ones of several widths, share the squared distances too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgboost.arrays import Indices, Matrix
from cgboost.forks import cached_property
from cgboost.kernels import Kernel, squared_norms
from cgboost.kernels.numeric.distances import fill_squared_distances
from cgboost.kernels.sparse_rows import chunks, products_of

EVERYTHING = slice(None)


class SharedKernelProducts:
    """Inner products of rows with centres, and what kernels make of them.

    Parameters
    ----------
    X, Z : ndarray or sparse matrix, of shape (n_rows, n_features) and (n_centres, n_features)
        Rows and centres, floats.
    """

    def __init__(self, X: Matrix, Z: Matrix) -> None:
        self.X, self.Z = X, Z
        self._x_norms = squared_norms(X)
        self._z_norms = self._x_norms if Z is X else squared_norms(Z)
        self._products = products_of(X, Z)

    @cached_property
    def _squares(self) -> Matrix:
        """Squared distances ‖x − z‖²."""
        squares = np.empty_like(self._products)
        for rows in chunks(squares):
            fill_squared_distances(
                squares[rows], self._products[rows], self._x_norms[rows], self._z_norms
            )
        return squares

    @cached_property
    def _buffer(self) -> Matrix:
        return np.empty_like(self._products)

    def values(self, kernel: Kernel, places: Indices | None = None) -> Matrix:
        """Values of a kernel of products, overwritten by the next ones.

        Parameters
        ----------
        kernel : Kernel
        places : ndarray of int, optional
            Of the centres that are wanted; by default all.

        Returns
        -------
        ndarray of shape (n_rows, n_centres)
        """
        chosen: Any = EVERYTHING if places is None else places
        given = (self._squares if kernel.of_distances else self._products)[:, chosen]
        out = self._buffer if places is None else given  # which is a copy
        with np.errstate(over="ignore", invalid="ignore"):
            if kernel.of_distances:
                for rows in chunks(given):
                    kernel.fill_from_distances(out[rows], given[rows])
            else:
                kernel.from_products(given, self._x_norms, self._z_norms[chosen], out=out)
            kernel.refine(out, self.X, self.Z[chosen])
        return out
