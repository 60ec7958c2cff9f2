"""Two small problems over a box and a sum, both solved exactly by sorting.

They are what remains of a support-vector loss with a ν: the loss of a given output is a fractional
knapsack, and a pseudo-response is made feasible by a projection.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def fractional_knapsack(
    rate: Vector,
    cap: Vector,
    curvature: Vector,
    total: float | None = None,
    *,
    at_most: bool = False,
) -> tuple[Vector, float]:
    """Maximise Σ rate·u − ½ Σ curvature·u² over 0 ≤ u ≤ cap with Σu = total, or ≤ total.

    Parameters
    ----------
    rate, cap, curvature : ndarray of shape (n,)
        ``curvature`` is zero or positive throughout.
    total : float or None
        None: the sum is free.
    at_most : bool
        Whether the sum may also be less than ``total``.

    Returns
    -------
    u : ndarray of shape (n,)
    level : float
        The multiplier of the sum: u is at its cap where the rate is well above the level, and at 0
        where it is below. 0 where the sum does not matter.
    """
    free = _maximiser(0.0, rate, cap, curvature)
    if total is None or (at_most and free.sum() <= total):
        return free, 0.0
    if curvature.any():
        slope = 1.0 / curvature
        level = _multiplier(rate * slope, slope, np.zeros(len(cap)), cap, total)
        return _maximiser(level, rate, cap, curvature), level
    order = np.argsort(-rate, kind="stable")
    filled = np.cumsum(cap[order])
    last = min(int(np.searchsorted(filled, total)), len(order) - 1)
    u = np.zeros(len(cap))
    u[order[:last]] = cap[order[:last]]
    u[order[last]] = min(cap[order[last]], total - (filled[last - 1] if last else 0.0))
    return u, float(rate[order[last]])


def project_on_sum(values: Vector, lower: Vector, upper: Vector, total: float) -> Vector:
    """The point nearest to ``values`` with lower ≤ x ≤ upper and Σx = total: clip(values − λ)."""
    level = _multiplier(values, np.ones(len(values)), lower, upper, total)
    return np.clip(values - level, lower, upper)


def _maximiser(level: float, rate: Vector, cap: Vector, curvature: Vector) -> Vector:
    if curvature.any():
        return np.clip((rate - level) / curvature, 0.0, cap)
    return np.where(rate > level, cap, 0.0)


def _multiplier(values: Vector, slope: Vector, lower: Vector, upper: Vector, total: float) -> float:
    """Root λ of the decreasing, piecewise linear Σ clip(values − λ·slope, lower, upper) − total."""

    def residual(level: float) -> float:
        return float(np.clip(values - level * slope, lower, upper).sum()) - total

    breaks = np.concatenate([(values - upper) / slope, (values - lower) / slope])
    breaks = np.sort(breaks[np.isfinite(breaks)])
    ends = breaks[[0, -1]] if breaks.size else np.zeros(2)
    breaks = np.concatenate([[ends[0] - 1.0], breaks, [ends[1] + 1.0]])
    low, high = 0, len(breaks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if residual(breaks[middle]) > 0 else (low, middle)
    at_low, at_high = residual(breaks[low]), residual(breaks[high])
    if at_low == at_high:
        return float(breaks[low])
    return float(breaks[low] + (breaks[high] - breaks[low]) * at_low / (at_low - at_high))
