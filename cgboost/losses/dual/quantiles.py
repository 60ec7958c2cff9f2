"""Quantiles of weighted values: where piecewise linear functions of one number are least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SAME_SUM = 1e-12
"""Sums of weights that differ by this, relative to the sum of all, are equal.

Rounding leaves about 1e-15; which of two best values is found must not depend on it.
"""


def weighted_quantile(values: Vector, weights: Vector, level: float) -> float:
    """Where the weights of the values, in their order, add up to ``level``; the middle of a gap.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        At least one; weights are not negative.
    level : float
        From 0 to the sum of all weights.
    """
    order = np.argsort(values, kind="stable")
    ordered, sums = values[order], np.cumsum(weights[order])
    rounding = SAME_SUM * sums[-1]
    first = min(int(np.searchsorted(sums, level - rounding)), len(ordered) - 1)
    later = min(int(np.searchsorted(sums, level + rounding)), len(ordered) - 1)
    return float(0.5 * (ordered[first] + ordered[later]))


def weighted_median(values: Vector, weights: Vector) -> float:
    """The middle of the values between which Σ w|v − c| is least."""
    return weighted_quantile(values, weights, 0.5 * float(weights.sum()))
