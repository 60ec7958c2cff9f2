"""Differentiable losses of the residuals y_i − f_i."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.differentiable import DifferentiableLoss

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


class AbsoluteError(DifferentiableLoss):
    """Σ w_i |y_i − f_i|; the pseudo-response is the weighted sign of the residual."""

    def value(self, output: Vector) -> float:
        """Σ w_i |y_i − f_i|."""
        return float(self.weights @ np.abs(self.target - output))

    def pseudo_response(self, output: Vector) -> Vector:
        """w_i sign(y_i − f_i)."""
        return self.weights * np.sign(self.target - output)

    def curvature(self, output: Vector) -> Vector:
        """0: the loss is piecewise linear."""
        return np.zeros(self.n_rows)

    def constant(self) -> float:
        """The weighted median of y."""
        return weighted_median(self.target, self.weights)

    def line_search(self, output: Vector, direction: Vector) -> float:
        """The median of (y − f)/h with the weights w|h|, which is exact."""
        rows = np.flatnonzero(direction)
        if not rows.size:
            return 0.0
        ratios = (self.target - output)[rows] / direction[rows]
        return weighted_median(ratios, self.weights[rows] * np.abs(direction[rows]))


def weighted_median(values: Vector, weights: Vector) -> float:
    """The middle of the values between which Σ w|v − c| is least."""
    order = np.argsort(values, kind="stable")
    ordered, shares = values[order], np.cumsum(weights[order])
    half = 0.5 * shares[-1]
    first = int(np.searchsorted(shares, half))
    if shares[first] == half and first + 1 < len(ordered):
        later = first + 1 + int(np.argmax(weights[order][first + 1 :] > 0))
        return float(0.5 * (ordered[first] + ordered[later]))
    return float(ordered[first])
