"""The orthogonal master: least squares over all columns so far, by a QR decomposition that grows.

    W^½ [1 H] = QR      α_m = q_m·u_{m−1}      u_m = u_{m−1} − α_m q_m      Rβ = α

A new column costs one orthogonalisation against the others, done twice so that Q stays orthogonal
to rounding. The decompositions of the columns in the order they came are nested, so that every
earlier model, and each of them without one of its columns, can still be told from R and α.

Ing, Lai, *A stepwise regression method and consistent model selection for high-dimensional sparse
linear models*, Statistica Sinica 21, 2011, where this is the orthogonal greedy algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from cgboost.arrays import Vector
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.masters.stagewise.stagewise import DescentMaster

DEPENDENT = 1e-13
"""A column of which no more than this share is new is a combination of the others. Two passes of
Gram–Schmidt leave some units of rounding of a combination; hundreds are allowed for."""


class OrthogonalMaster(DescentMaster):
    """Master of the orthogonal greedy algorithm: squared error, all coefficients refitted.

    Parameters
    ----------
    loss : WeightedSquaredError
        ``SquaredError().on(y, weights)``.
        With positive weights.
    offset : {"free", "none"}
        Whether there is an intercept, refitted with the coefficients.
    """

    def __init__(
        self, loss: WeightedSquaredError, *, offset: Literal["free", "none"] = "none"
    ) -> None:
        if offset not in ("free", "none"):
            raise ValueError(f"offset must be 'free' or 'none', got {offset!r}")
        if not (loss.weights > 0).all():
            raise ValueError("weights must be positive: leave out the rows that cost nothing")
        self.loss = loss
        self.columns: list[Column] = []
        self._roots = np.sqrt(loss.weights)
        self._residual = self._roots * loss.target
        self._Q = np.empty((loss.n_rows, 16), order="F")
        self._R = np.zeros((16, 16))
        self._alpha = np.zeros(16)
        self._count = 0
        self._squares: list[float] = []
        self._offset = int(offset == "free")
        if self._offset:
            self._append(np.ones(loss.n_rows), "of the offset")
        self._squares.append(float(self._residual @ self._residual))
        self._empty = 0.5 * self._squares[0]

    def add(self, columns: Sequence[Column]) -> None:
        """Orthogonalise new columns and take them out of the residual."""
        for column in columns:
            column.check(self.loss.n_rows)
            self._append(column.values, repr(column.key))
            self.columns.append(column)
            self._squares.append(float(self._residual @ self._residual))

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """The least-squares coefficients, and what they leave over."""
        size = len(self.columns)
        beta = self._coefficients(size)
        residual = self._residual / self._roots
        return self._state(
            beta[self._offset :],
            float(beta[0]) if self._offset else 0.0,
            self.loss.target - residual,
            self._residual * self._roots,
            0.5 * self._squares[size],
            curvature=self.loss.weights,
        )

    def bound(self, state: MasterState, priced: Priced) -> None:
        """None: nothing limits the coefficients of columns that are not there yet."""
        return None

    def squares_without(self, size: int) -> Vector:
        """‖u‖² of the first ``size`` columns without each one of them, shape (size,).

        Leaving out column j costs β_j² / ((RᵀR)⁻¹)_jj.
        """
        k = size + self._offset
        inverse = solve_triangular(self._R[:k, :k], np.eye(k), check_finite=False)
        costs = self._coefficients(size) ** 2 / np.sum(inverse**2, axis=1)
        return self._squares[size] + costs[self._offset :]

    def refitted(self, places: Sequence[int]) -> tuple[Vector, float, float]:
        """Coefficients, intercept and objective of least squares on some of the columns."""
        chosen = [*range(self._offset), *(place + self._offset for place in places)]
        size = max(places, default=-1) + 1
        k = size + self._offset
        R, alpha = self._R[:k, chosen], self._alpha[:k]
        beta = np.asarray(np.linalg.lstsq(R, alpha, rcond=None)[0], dtype=np.float64)
        missed = alpha - R @ beta
        objective = 0.5 * (self._squares[size] + float(missed @ missed))
        intercept = float(beta[0]) if self._offset else 0.0
        return beta[self._offset :], intercept, objective

    def _coefficients(self, size: int) -> Vector:
        """β of the first ``size`` columns, after the intercept where there is one."""
        k = size + self._offset
        if not k:
            return np.zeros(0)
        return solve_triangular(self._R[:k, :k], self._alpha[:k], check_finite=False)

    def _append(self, values: NDArray[np.floating], name: str) -> None:
        """One more column of Q and R, and its part of the residual."""
        k = self._count
        if k == len(self._alpha):
            self._grow()
        Q, column = self._Q[:, :k], self._roots * values
        size = float(np.linalg.norm(column))
        for _ in range(2):  # the second pass removes the rounding errors of the first
            parts = Q.T @ column
            column = column - Q @ parts
            self._R[:k, k] += parts
        length = float(np.linalg.norm(column))
        if length <= DEPENDENT * size:
            raise MasterError(f"column {name} is a combination of those before it")
        self._R[k, k] = length
        self._Q[:, k] = column / length
        self._alpha[k] = self._Q[:, k] @ self._residual
        self._residual = self._residual - self._alpha[k] * self._Q[:, k]
        self._count += 1

    def _grow(self) -> None:
        n = len(self._alpha)
        grown = np.empty((self.loss.n_rows, 2 * n), order="F")
        grown[:, :n] = self._Q
        self._Q = grown
        self._R = np.pad(self._R, (0, n))
        self._alpha = np.pad(self._alpha, (0, n))
