"""Optimal coefficients and offset of given columns: Newton's method with majorised steps.

    min over α, b of  ½ αᵀ G α + L(K α + b)

with the Gram matrix G of the centres. The Newton matrix G + KᵀWK has W ≠ 0 only in rows whose loss
is curved; where a Newton step goes up, a step of iteratively reweighted least squares goes down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cgboost.arrays import Matrix, Vector
from cgboost.pricing.centres.smoothing import CurvedLoss
from cgboost.tolerances import SMALLEST

MOST_STEPS = 50
"""Newton steps at most. Started from the coefficients of centres nearby, two or three do."""

DECREASE = 1e-6
"""Relative decrease that a step may still promise at the end: the gradient by the centres is then
off by about its root, which L-BFGS bears."""

ARMIJO = 1e-4
"""Share of the promised decrease that a step must make, as usual for Newton's method."""

SHORTEST_NEWTON_STEP = 1.0 / 8.0
"""A Newton step that must be shortened below this is replaced by a majorised one."""

NO_STEP = 1e-7
"""A shorter step of a product in float32 is rounding."""

GRAM_RIDGE = 1e-7
"""What the diagonal of the Newton matrix gains, relative to its mean: rounding of float32 products
leaves as much."""


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients and offset, with what they give.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    output : ndarray of shape (n_rows,)
    """

    coef: Vector
    intercept: float
    output: Vector
    objective: float


def optimal_coefficients(
    columns: Matrix,
    gram: Matrix,
    loss: CurvedLoss,
    *,
    offset: str = "free",
    start: tuple[Vector, float] | None = None,
    decrease: float = DECREASE,
) -> Coefficients:
    """The minimum over coefficients and offset.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        K(X, Z), in float32 or float64.
    gram : ndarray of shape (n_columns, n_columns)
        K(Z, Z) in float64.
    offset : {"none", "penalized", "free"}
    decrease : float
        Relative decrease that the last step may still promise.
    """
    problem = _CoefficientObjective(columns, gram, loss, offset)
    coef, intercept = start or (np.zeros(columns.shape[1]), 0.0)
    point = problem.at(np.append(coef, intercept))
    for _ in range(MOST_STEPS):
        new = problem.step(point, decrease)
        if new is None:
            break
        point = new
    return Coefficients(point.x[:-1], float(point.x[-1]), point.output, point.objective)


@dataclass(frozen=True, eq=False)
class _Point:
    x: Vector
    output: Vector
    objective: float


class _CoefficientObjective:
    """The objective in x = (α, b)."""

    def __init__(self, columns: Matrix, gram: Matrix, loss: CurvedLoss, offset: str) -> None:
        self.columns, self.loss = columns, loss
        m = columns.shape[1]
        self.penalty = np.zeros((m + 1, m + 1))
        self.penalty[:m, :m] = gram
        self.penalty[m, m] = float(offset == "penalized")
        self.has_offset = offset != "none"

    def product(self, x: Vector) -> Vector:
        """K α + b, in float64."""
        alpha = x[:-1].astype(self.columns.dtype, copy=False)
        return (self.columns @ alpha).astype(np.float64, copy=False) + x[-1]

    def at(self, x: Vector) -> _Point:
        """The point x."""
        output = self.product(x)
        return _Point(x, output, self.value(x, output))

    def value(self, x: Vector, output: Vector) -> float:
        """The objective."""
        return 0.5 * float(x @ self.penalty @ x) + self.loss.value(output)

    def step(self, point: _Point, decrease: float) -> _Point | None:
        """The next point; None at the optimum."""
        r = self.loss.pseudo_response(point.output)
        gradient = self.penalty @ point.x
        gradient[:-1] -= (self.columns.T @ r.astype(self.columns.dtype)).astype(np.float64)
        gradient[-1] -= float(r.sum())
        if not self.has_offset:
            gradient[-1] = 0.0
        for majorised in (False, True):
            weights = self.loss.curvature(point.output, majorised=majorised)
            direction = self._direction(gradient, weights)
            promise = -float(gradient @ direction)
            if promise <= decrease * max(abs(point.objective), SMALLEST) and not majorised:
                return None
            new = self._search(
                point, direction, promise, 0.0 if majorised else SHORTEST_NEWTON_STEP
            )
            if new is not None:
                return new
        return None

    def _direction(self, gradient: Vector, weights: Vector) -> Vector:
        matrix = self.penalty.copy()
        rows = np.flatnonzero(weights > 0)
        part, own = self.columns[rows], weights[rows]
        scaled = part * np.sqrt(own).astype(part.dtype)[:, None]
        matrix[:-1, :-1] += scaled.T @ scaled
        cross = (part.T @ own.astype(part.dtype)).astype(np.float64)
        matrix[-1, :-1] += cross
        matrix[:-1, -1] += cross
        matrix[-1, -1] += float(own.sum())
        if not self.has_offset:
            matrix[-1, :-1] = matrix[:-1, -1] = 0.0
        return -solved(matrix, gradient)

    def _search(
        self, point: _Point, direction: Vector, promise: float, shortest: float
    ) -> _Point | None:
        """Backtracking; None where no step that is long enough goes down."""
        change, step = self.product(direction), 1.0
        while step > max(shortest, NO_STEP):
            x, output = point.x + step * direction, point.output + step * change
            objective = self.value(x, output)
            if objective <= point.objective - ARMIJO * step * promise:
                return _Point(x, output, objective)
            step *= 0.5
        return None


def solved(matrix: Matrix, right: Vector) -> Vector:
    """The solution of a system that may be singular: a ridge is added, larger if it must be."""
    diagonal = np.diagonal(matrix).copy()
    ridge = GRAM_RIDGE * max(float(diagonal[:-1].mean()) if len(diagonal) > 1 else 1.0, SMALLEST)
    while True:
        matrix[np.diag_indices_from(matrix)] = diagonal + ridge
        try:
            factor: Any = cho_factor(matrix)
        except LinAlgError:
            ridge *= 10.0
            continue
        return np.asarray(cho_solve(factor, right), dtype=np.float64)
