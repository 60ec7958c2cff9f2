"""Losses: what the model pays for its output, and the pseudo-response that follows.

The losses of support-vector machines are piecewise linear and are best described by their dual:

    loss_i(f) = max over lower_i ≤ r ≤ upper_i of  r·(target_i − f) − ε|r|

so a loss is a target, a tube width ε, and a box for the pseudo-response r = −∂loss/∂f. Hinge and
ε-insensitive loss are two choices of the box; absolute and quantile loss are two more.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class SupportVectorLoss:
    """A piecewise linear loss given by its dual box.

    Attributes
    ----------
    target : ndarray of shape (n_rows,)
        ±1 for the hinge, the response for regression.
    lower, upper : ndarray of shape (n_rows,)
        The box of the pseudo-response, lower ≤ 0 ≤ upper; its ends are the prices of one unit of
        error (C times the sample weight).
    epsilon : float
        Half width of the tube inside which errors are free.
    """

    target: Vector
    lower: Vector
    upper: Vector
    epsilon: float = 0.0

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.target)

    def value(self, output: Vector) -> float:
        """Total loss Σ_i loss_i(f_i) of the model output f."""
        residual = self.target - output
        above = self.upper * np.maximum(residual - self.epsilon, 0.0)
        below = self.lower * np.minimum(residual + self.epsilon, 0.0)
        return float(above.sum() + below.sum())

    def slack(self, output: Vector) -> Vector:
        """Slack ξ of every row: how far f is on the side that costs, 0 where it is free."""
        residual = self.target - output
        above = np.where(self.upper > 0, np.maximum(residual - self.epsilon, 0.0), 0.0)
        below = np.where(self.lower < 0, np.maximum(-residual - self.epsilon, 0.0), 0.0)
        return above + below

    def gain(self, response: Vector) -> float:
        """Dual objective Σ_i target_i r_i − ε|r_i|, without the penalty's conjugate."""
        return float(self.target @ response - self.epsilon * np.abs(response).sum())

    def feasible(self, response: Vector, *, balanced: bool) -> Vector:
        """The nearest pseudo-response inside the box (and with Σr = 0 if ``balanced``).

        A bound may only be computed at a feasible dual, and solvers deliver theirs up to a
        tolerance. The projection on box and hyperplane is ``clip(r − λ)`` for one number λ.
        """
        inside = np.clip(response, self.lower, self.upper)
        if not balanced or abs(inside.sum()) <= 1e-15 * np.abs(inside).sum():
            return inside
        return np.clip(response - self._balancing_shift(response), self.lower, self.upper)

    def _balancing_shift(self, response: Vector) -> float:
        """Root of the decreasing, piecewise linear Σ clip(r − λ, lower, upper)."""
        breaks = np.sort(np.concatenate([response - self.upper, response - self.lower]))
        low, high = 0, len(breaks) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if np.clip(response - breaks[middle], self.lower, self.upper).sum() > 0:
                low = middle
            else:
                high = middle
        at_low = np.clip(response - breaks[low], self.lower, self.upper).sum()
        at_high = np.clip(response - breaks[high], self.lower, self.upper).sum()
        if at_low == at_high:
            return float(breaks[low])
        return float(breaks[low] + (breaks[high] - breaks[low]) * at_low / (at_low - at_high))


def hinge(labels: Vector, price: Vector) -> SupportVectorLoss:
    """Hinge loss Σ price_i·max(0, 1 − y_i f_i), for labels y of ±1 ([B] eq. 4)."""
    wrong = np.setdiff1d(labels, [-1.0, 1.0])
    if wrong.size:
        raise ValueError(f"labels must be −1 or 1, got {wrong[0]!r}")
    _check_price(labels, price)
    return SupportVectorLoss(
        target=labels,
        lower=np.where(labels < 0, -price, 0.0),
        upper=np.where(labels > 0, price, 0.0),
    )


def epsilon_insensitive(response: Vector, price: Vector, epsilon: float) -> SupportVectorLoss:
    """ε-insensitive loss Σ price_i·max(0, |y_i − f_i| − ε) ([B] eq. 13)."""
    _check_price(response, price)
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon!r}")
    return SupportVectorLoss(target=response, lower=-price, upper=price.copy(), epsilon=epsilon)


def _check_price(target: Vector, price: Vector) -> None:
    if np.shape(price) != np.shape(target):
        raise ValueError(
            f"price must have one entry a row: shape {np.shape(price)} for {np.shape(target)}"
        )
    if not np.all((price >= 0) & np.isfinite(price)):
        raise ValueError(f"price must be finite and not negative, got {np.min(price)!r}")
