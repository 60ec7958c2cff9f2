"""Checks that the losses share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def check_labels(labels: Vector) -> None:
    """Labels must be ±1."""
    wrong = np.setdiff1d(labels, [-1.0, 1.0])
    if wrong.size:
        raise ValueError(f"labels must be −1 or 1, got {wrong[0]!r}")


def check_price(target: Vector, price: Vector) -> None:
    """Prices must be finite, not negative, and one a row."""
    if np.shape(price) != np.shape(target):
        raise ValueError(
            f"price must have one entry a row: shape {np.shape(price)} for {np.shape(target)}"
        )
    if not np.all((price >= 0) & np.isfinite(price)):
        raise ValueError(f"price must be finite and not negative, got {np.min(price)!r}")


def check_epsilon(epsilon: float) -> None:
    """ε must be finite and not negative."""
    if not 0 <= epsilon < np.inf:
        raise ValueError(f"epsilon must be at least 0, got {epsilon!r}")


def check_nu(nu: float) -> None:
    """ν must be in (0, 1]."""
    if not 0 < nu <= 1:
        raise ValueError(f"nu must be in (0, 1], got {nu!r}")
