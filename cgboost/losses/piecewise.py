"""Piecewise linear losses of the output, as losses of boosting.

    loss(f) = max over r in a box of  Σ r_i (y_i − f_i) − ε|r_i|

Their pseudo-response jumps at kinks, their steps are weighted medians, and fitting them is a linear
program: :class:`~cgboost.masters.CorrectiveMaster` takes the box from here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.differentiable import DifferentiableLoss, UnboundedStepError
from cgboost.losses.regression import epsilon_insensitive
from cgboost.losses.support_vector import SupportVectorLoss

Vector = NDArray[np.float64]


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

    def value(self, output: Vector) -> float:
        """Σ w_i loss_i(f_i)."""
        return self.box.value(output)

    def pseudo_response(self, output: Vector) -> Vector:
        """The ends of the box that f pays for; at a kink its end nearest to 0."""
        sides = self.box.sides
        return sides.response(np.where(sides.rate(output) > 0, sides.cap, 0.0))

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
        return _quantile(kinks, cap * np.abs(fall), pull)


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


def _quantile(kinks: Vector, weights: Vector, level: float) -> float:
    """Where the weights of the kinks, in their order, add up to ``level``; the middle of a gap."""
    order = np.argsort(kinks, kind="stable")
    ordered, sums = kinks[order], np.cumsum(weights[order])
    rounding = 4.0 * float(np.finfo(np.float64).eps) * sums[-1]
    if level > sums[-1] + rounding or level < -rounding:
        raise UnboundedStepError("the loss falls without end along this column")
    first = min(int(np.searchsorted(sums, level - rounding)), len(ordered) - 1)
    later = min(int(np.searchsorted(sums, level + rounding)), len(ordered) - 1)
    return float(0.5 * (ordered[first] + ordered[later]))
