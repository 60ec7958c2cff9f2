"""Piecewise linear losses of the output, as losses of boosting.

    loss(f) = max over r in a box of  Σ r_i (y_i − f_i) − ε|r_i|

Their pseudo-response jumps at kinks, their steps are weighted medians, and fitting them is a linear
program: :class:`~cgboost.masters.CorrectiveMaster` takes the box from here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.differentiable import DifferentiableLoss, UnboundedStepError
from cgboost.losses.quantiles import SAME_SUM, weighted_quantile
from cgboost.losses.regression import epsilon_insensitive
from cgboost.losses.support_vector import SupportVectorLoss

Vector = NDArray[np.float64]

AT_KINK = 1e-11
"""An output this near to a kink, relative to the sizes of y and f, is at the kink.

Where f is fitted it lies on kinks up to rounding, about 1e-15; other rows rarely are within 1e-8.
"""


class PiecewiseLinearLoss(DifferentiableLoss):
    """The loss of a box.

    Parameters
    ----------
    box : SupportVectorLoss
        Without curvature and without a mass.
    weights : ndarray of shape (n_rows,)

    Attributes
    ----------
    box : SupportVectorLoss
    """

    def __init__(self, box: SupportVectorLoss, weights: Vector) -> None:
        super().__init__(box.target, weights)
        self.box = box
        self._spread = _typical_size(box.sides.target) + box.epsilon

    def value(self, output: Vector) -> float:
        """Σ w_i loss_i(f_i)."""
        return self.box.value(output)

    def pseudo_response(self, output: Vector) -> Vector:
        """The ends of the box that f pays for; at a kink, up to rounding, its end nearest to 0."""
        sides = self.box.sides
        sizes = np.abs(sides.target) + np.abs(output[sides.row]) + self._spread
        return sides.response(np.where(sides.rate(output) > AT_KINK * sizes, sides.cap, 0.0))

    def curvature(self, output: Vector) -> Vector:
        """0: the loss is piecewise linear."""
        return np.zeros(self.n_rows)

    def constant(self) -> float:
        """A weighted quantile of the kinks."""
        return self.line_search(np.zeros(self.n_rows), np.ones(self.n_rows))

    def line_search(self, output: Vector, direction: Vector) -> float:
        """The middle of the best steps: they lie between two kinks, found by sorting."""
        sides = self.box.sides
        fall = sides.sign * direction[sides.row]
        taking_part = np.flatnonzero(fall)
        fall, cap = fall[taking_part], sides.cap[taking_part]
        if not taking_part.size:
            return 0.0
        kinks = sides.rate(output)[taking_part] / fall
        pull = float(cap @ np.maximum(fall, 0.0) + sides.base @ direction)
        weights = cap * np.abs(fall)
        total = float(weights.sum())
        if not -SAME_SUM * total <= pull <= (1.0 + SAME_SUM) * total:
            raise UnboundedStepError("the loss falls without end along this column")
        return weighted_quantile(kinks, weights, pull)


class AbsoluteError(PiecewiseLinearLoss):
    """Σ w_i |y_i − f_i|; the pseudo-response is the weighted sign of the residual."""

    def __init__(self, target: Vector, weights: Vector) -> None:
        super().__init__(epsilon_insensitive(target, weights, 0.0), weights)


class EpsilonInsensitive(PiecewiseLinearLoss):
    """Σ w_i max(0, |y_i − f_i| − ε)."""

    def __init__(self, target: Vector, weights: Vector, epsilon: float) -> None:
        super().__init__(epsilon_insensitive(target, weights, epsilon), weights)


class QuantileLoss(PiecewiseLinearLoss):
    """Σ w_i max(α(y_i − f_i), (α − 1)(y_i − f_i)), least at the α-quantile; 0 < α < 1."""

    def __init__(self, target: Vector, weights: Vector, alpha: float) -> None:
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
        box = SupportVectorLoss(target, lower=(alpha - 1.0) * weights, upper=alpha * weights)
        super().__init__(box, weights)


def _typical_size(target: Vector) -> float:
    """The median distance from the median, of those that are not 0."""
    distances = np.abs(target - np.median(target)) if len(target) else target
    return float(np.median(distances[distances > 0])) if distances.any() else 0.0
