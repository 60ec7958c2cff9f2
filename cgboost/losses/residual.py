"""Differentiable losses of the residuals y_i − f_i."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.differentiable import DifferentiableLoss
from cgboost.losses.quantiles import weighted_median

Vector = NDArray[np.float64]


class SquaredError(DifferentiableLoss):
    """½ Σ w_i (y_i − f_i)²; the pseudo-response is the weighted residual."""

    def value(self, output: Vector) -> float:
        """½ Σ w_i (y_i − f_i)²."""
        residual = self.target - output
        return 0.5 * float(self.weights @ residual**2)

    def pseudo_response(self, output: Vector) -> Vector:
        """w_i (y_i − f_i)."""
        return self.weights * (self.target - output)

    def curvature(self, output: Vector) -> Vector:
        """w_i."""
        return self.weights

    def constant(self) -> float:
        """The weighted mean of y."""
        return float(np.average(self.target, weights=self.weights))

    def line_search(self, output: Vector, direction: Vector) -> float:
        """r·h / Σ w h², in closed form."""
        return self.newton_step(output, direction)


class HuberLoss(DifferentiableLoss):
    """Σ w_i ρ(y_i − f_i) with ρ(e) = ½e² for |e| ≤ δ, and δ|e| − ½δ² beyond."""

    def __init__(self, target: Vector, weights: Vector, delta: float) -> None:
        if not delta > 0:
            raise ValueError(f"delta must be positive, got {delta!r}")
        super().__init__(target, weights)
        self.delta = delta

    def value(self, output: Vector) -> float:
        """Σ w_i ρ(y_i − f_i)."""
        size = np.abs(self.target - output)
        inner = np.minimum(size, self.delta)
        return float(self.weights @ (inner * (size - 0.5 * inner)))

    def pseudo_response(self, output: Vector) -> Vector:
        """w_i (y_i − f_i), with residuals cut at ±δ."""
        return self.weights * np.clip(self.target - output, -self.delta, self.delta)

    def curvature(self, output: Vector) -> Vector:
        """w_i inside, 0 beyond."""
        return np.where(np.abs(self.target - output) < self.delta, self.weights, 0.0)

    def constant(self) -> float:
        """By a line search from the weighted median."""
        middle = weighted_median(self.target, self.weights)
        start = np.full(self.n_rows, middle)
        return middle + self.line_search(start, np.ones(self.n_rows))
