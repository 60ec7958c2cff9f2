"""Matrices that grow by columns, and the basis of latent factors on the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Columns:
    """A matrix that gets one column after another, and may lose its last ones.

    Parameters
    ----------
    height : int
    """

    def __init__(self, height: int) -> None:
        self._store = np.zeros((height, 0), order="F")
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Vector:
        """The columns side by side, shape (height, count)."""
        return self._store[:, : self._count]

    def put(self, number: int, column: Vector) -> None:
        """Set a column; those behind it go."""
        if number >= self._store.shape[1]:
            grown = np.zeros((len(column), max(8, 2 * number)), order="F")
            grown[:, :number] = self.values[:, :number]
            self._store = grown
        self._store[:, number] = column
        self._count = number + 1

    def __getstate__(self) -> dict[str, Any]:
        return {"_store": self.values.copy(order="F"), "_count": self._count}


class Basis:
    """Factors t with tᵀΓt = 1 and tᵀΓt' = 0, where Γ is diagonal.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        The diagonal of Γ: not negative.
    """

    def __init__(self, weights: Vector) -> None:
        self.weights = weights
        self._columns = Columns(len(weights))
        self._uniform = bool((weights == 1.0).all())

    @property
    def factors(self) -> Vector:
        """The factors, shape (n_rows, count)."""
        return self._columns.values

    @property
    def count(self) -> int:
        """Number of factors."""
        return len(self._columns)

    def weighted(self, values: Vector) -> Vector:
        """Γ·values."""
        return values if self._uniform else self.weights * values

    def length(self, values: Vector) -> float:
        """(vᵀΓv)^½."""
        return float(np.sqrt(values @ self.weighted(values)))

    def without(self, values: Vector) -> tuple[Vector, Vector]:
        """What of the values is orthogonal to every factor, (I − TTᵀΓ)v, and what is not, TᵀΓv.

        The second pass removes the rounding errors of the first.
        """
        along = np.zeros(self.count)
        for _ in range(2 if self.count else 0):
            parts = self.factors.T @ self.weighted(values)
            values, along = values - self.factors @ parts, along + parts
        return values, along

    def deflated(self, response: Vector) -> Vector:
        """The same for a pseudo-response, which has its weights already: (I − ΓTTᵀ)u."""
        if not self.count:
            return response
        return response - self.weighted(self.factors @ (self.factors.T @ response))

    def append(self, factor: Vector) -> None:
        """One more factor, which is orthonormal to the others."""
        self._columns.put(self.count, factor)
