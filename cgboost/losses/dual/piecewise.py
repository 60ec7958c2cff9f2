"""Piecewise linear losses on training rows.

    L(f) = max over r in a box of  Σ r_i (y_i − f_i) − ε|r_i|

Their pseudo-response jumps at kinks, their steps are weighted quantiles of the kinks, and fitting
them is a linear program:
:class:`~cgboost.masters.stagewise.fully_corrective.CorrectiveMaster` takes the box from here.
"""

from __future__ import annotations

import numpy as np

from cgboost.arrays import Vector
from cgboost.forks import cached_property
from cgboost.losses.dual.support_vector import SAME_SUM, weighted_quantile
from cgboost.losses.loss import UnboundedStepError, WeightedLoss

AT_KINK = 1e-11
"""An output this near to a kink, relative to the spread of y, is at the kink.

Where f is fitted it lies on kinks up to rounding; other rows rarely are within 1e-8."""

KINK_ROUNDING = 1e-14
"""So is one this near relative to the sizes of y and f: some ten units of rounding, as of f, a sum.
Larger, all rows of a y that is nearly constant would be at kinks."""


def spread_of(target: Vector) -> float:
    """The median distance of targets from their median, of those that are not 0."""
    distances = np.abs(target - np.median(target)) if len(target) else target
    return float(np.median(distances[distances > 0])) if distances.any() else 0.0


class PiecewiseLinearLoss(WeightedLoss):
    """A loss whose dual is a box alone.

    Parameters
    ----------
    loss : Loss
        Its ``dual_box`` has no quadratic term and no mass.
    target, weights : ndarray of shape (n_rows,)
    """

    def pseudo_response(self, output: Vector) -> Vector:
        """The ends of the box that f pays for; at a kink, up to rounding, its end nearest to 0."""
        variables = self.box.variables
        sizes = np.abs(variables.target) + np.abs(output[variables.row])
        near = KINK_ROUNDING * sizes + AT_KINK * (self.spread + self.box.epsilon)
        return variables.response(np.where(variables.rate(output) > near, variables.costs, 0.0))

    @cached_property
    def spread(self) -> float:
        """The spread of the targets; it may be set to that of all rows, where these are a part."""
        return spread_of(self.box.variables.target)

    def line_search(self, output: Vector, direction: Vector) -> float:
        """The middle of the best steps: they lie between two kinks, found by sorting."""
        box, moving = self.box, np.flatnonzero(direction)
        if not moving.size:
            return 0.0
        slope, lower, upper = direction[moving], box.lower[moving], box.upper[moving]
        kinks = (box.target[moving] - output[moving]) / slope
        pull = float(np.maximum(lower * slope, upper * slope).sum())
        weights = (upper - lower) * np.abs(slope)
        if box.epsilon:  # a row has two kinks, at both ends of the tube
            width, inner = box.epsilon / slope, np.clip(0.0, lower, upper)
            kinks = np.concatenate([kinks - width, kinks + width])
            weights = np.concatenate([upper - inner, inner - lower]) * np.abs(np.tile(slope, 2))
        total = float(weights.sum())
        if not -SAME_SUM * total <= pull <= (1.0 + SAME_SUM) * total:
            raise UnboundedStepError("the loss falls without end along this column")
        return weighted_quantile(kinks, weights, pull)
