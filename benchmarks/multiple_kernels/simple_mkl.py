"""SimpleMKL: a short independent transcription of Rakotomamonjy, Bach, Canu, Grandvalet (2008).

min over d ≥ 0, Σ d_p = 1 of J(d), the optimum of the support vector machine with K = Σ_p d_p K_p:

    J(d) = max Σ α − ½ rᵀ K r,  r = y∘α,  0 ≤ α ≤ C,  Σ r = 0        ∂J/∂d_p = −½ rᵀ K_p r

by reduced gradients: move along the projected gradient, drop the kernels whose weights reach 0
while J falls, then search the line. It ends at the paper's relative duality gap of 1 %. The same
model as min ½ (Σ_p ‖f_p‖)² + C Σ ξ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

Vector = NDArray[np.float64]

GAP = 0.01
"""Relative duality gap at which the paper's experiments end."""

SMALLEST_WEIGHT = 1e-8
"""Weights below are 0, as in the authors' scripts."""

MOST_STEPS = 500
"""Gradient steps, as in the authors' scripts."""

SHARPEST_SEARCH = 0.1
"""Share of the interval at which the search of the line ends; the authors' first precision."""

SHORTEST_STEP = 1e-6
"""Share of the interval at which the search of the line gives up."""


@dataclass(frozen=True)
class Machine:
    """The support vector machine of given weights.

    Attributes
    ----------
    objective : float
        J(d).
    residual : ndarray of shape (n_rows,)
        r = y∘α.
    offset : float
    """

    objective: float
    residual: Vector
    offset: float


@dataclass(frozen=True)
class Solution:
    """What SimpleMKL ends with.

    Attributes
    ----------
    weights : ndarray of shape (n_kernels,)
        d, of sum 1.
    machine : Machine
    gap : float
        Relative duality gap.
    n_machines : int
        Support vector machines that were fitted.
    """

    weights: Vector
    machine: Machine
    gap: float
    n_machines: int

    def outputs(self, cross: NDArray[np.float64]) -> Vector:
        """Decision values of the rows of K_p(X_test, X)."""
        kept = np.flatnonzero(self.weights)
        return (
            np.tensordot(self.weights[kept], cross[kept] @ self.machine.residual, 1)
            + self.machine.offset
        )


class SimpleMKL:
    """Reduced gradients over the weights of kernels.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_rows, n_rows)
    y : ndarray of ±1
    C : float
    """

    def __init__(self, grams: NDArray[np.float64], y: Vector, C: float) -> None:
        self._grams, self._y, self._C = grams, y, C
        self._n_machines = 0

    def solve(self, gap: float = GAP, weights: Vector | None = None) -> Solution:
        """Steps until the relative duality gap is small, from equal weights or given ones."""
        if weights is None:
            weights = np.full(len(self._grams), 1.0 / len(self._grams))
        machine = self._machine(weights)
        for _ in range(MOST_STEPS):
            squares = self._squares(machine.residual)
            reached = (squares.max() - weights @ squares) / (2.0 * machine.objective)
            if reached <= gap:
                break
            before = machine.objective
            weights, machine = self._step(weights, machine, squares)
            if machine.objective >= before * (1.0 - 1e-12):
                break
        return Solution(weights, machine, float(reached), self._n_machines)

    def _squares(self, residual: Vector) -> Vector:
        """rᵀ K_p r for every kernel."""
        rows = np.flatnonzero(residual)
        some = residual[rows]
        return np.array([some @ (gram[np.ix_(rows, rows)] @ some) for gram in self._grams])

    def _step(self, weights: Vector, machine: Machine, squares: Vector) -> tuple[Vector, Machine]:
        """As far along the reduced gradient as J falls, and the best place behind that."""
        direction = _direction(weights, squares)
        best = machine
        while True:
            falling = direction < 0
            if not falling.any():
                return weights, best
            steps = np.full(len(weights), np.inf)
            steps[falling] = -weights[falling] / direction[falling]
            leaving, longest = int(np.argmin(steps)), float(steps.min())
            moved = np.clip(weights + longest * direction, 0.0, None)
            moved[leaving] = 0.0
            nowhere = longest * np.abs(direction).max() <= SMALLEST_WEIGHT
            trial = best if nowhere else self._machine(moved)
            if not nowhere and trial.objective >= best.objective:
                return self._search(weights, direction, longest, best)
            weights, best = moved, trial
            direction = direction.copy()
            direction[leaving] = 0.0
            direction[int(np.argmax(weights))] -= direction.sum()  # the weights' sum stays 1

    def _search(
        self, weights: Vector, direction: Vector, longest: float, near: Machine
    ) -> tuple[Vector, Machine]:
        """The best step up to one that does not pay; shorter ones where none pays."""
        tried: dict[float, Machine] = {}

        def objective(step: float) -> float:
            tried[step] = self._machine(_moved(weights, direction, step))
            return tried[step].objective

        high = longest
        while high > SHORTEST_STEP * longest:
            search = {"xatol": SHARPEST_SEARCH * high}
            minimize_scalar(objective, bounds=(0.0, high), method="bounded", options=search)
            step = min(tried, key=lambda place: tried[place].objective)
            if tried[step].objective < near.objective:
                return _moved(weights, direction, step), tried[step]
            high = min(tried)
        return weights, near

    def _machine(self, weights: Vector) -> Machine:
        """Fit a support vector machine to Σ_p d_p K_p."""
        self._n_machines += 1
        kept = np.flatnonzero(weights)
        gram = np.tensordot(weights[kept], self._grams[kept], 1)
        machine = SVC(C=self._C, kernel="precomputed", cache_size=1000).fit(gram, self._y)
        residual = np.zeros(len(self._y))
        residual[machine.support_] = machine.dual_coef_[0]
        objective = np.abs(residual).sum() - 0.5 * residual @ gram @ residual
        return Machine(float(objective), residual, float(machine.intercept_[0]))


def _direction(weights: Vector, squares: Vector) -> Vector:
    """Descent direction of J within Σ d = 1, d ≥ 0: gradients against the largest weight's."""
    gradient, largest = -0.5 * squares, int(np.argmax(weights))
    reduced = gradient - gradient[largest]
    direction = np.where((weights <= 0) & (reduced > 0), 0.0, -reduced)
    direction[largest] = 0.0
    direction[largest] = -direction.sum()
    return direction


def _moved(weights: Vector, direction: Vector, step: float) -> Vector:
    """Weights after a step, those almost nothing at 0, of sum 1."""
    moved = np.clip(weights + step * direction, 0.0, None)
    moved[moved < SMALLEST_WEIGHT] = 0.0
    return np.asarray(moved / moved.sum())
