"""LogitBoost as the course notes write it, loop by loop: what ours is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def to_the_letter(X: Vector, y: Vector, rounds: int) -> tuple[Vector, Vector]:
    """Coefficients (the intercept first), and the loss after every round.

    A line is fitted on every feature and its loss is evaluated, every round; the lowest is taken.
    """
    coef, losses, H = np.zeros(1 + X.shape[1]), [], np.zeros(len(y))
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-2 * H))
        w = p * (1 - p)
        z = np.divide((y + 1) / 2 - p, w, out=np.zeros_like(w), where=w != 0)
        tried = [line(column, w, z) for column in X.T]
        steps = [0.5 * (b0 + b1 * column) for (b0, b1), column in zip(tried, X.T, strict=True)]
        found = [float(np.log1p(np.exp(-2 * y * (H + step))).sum()) for step in steps]
        j = int(np.argmin(found))
        coef[0] += 0.5 * tried[j][0]
        coef[1 + j] += 0.5 * tried[j][1]
        H = H + steps[j]
        losses.append(found[j])
    return coef, np.array(losses)


def line(x: Vector, w: Vector, z: Vector) -> tuple[float, float]:
    """Weighted least squares by the five sums of the notes."""
    sums: list[Any] = [w.sum(), w @ x, w @ x**2, w @ z, w @ (x * z)]
    a, b, c, d, e = map(float, sums)
    divisor = a * c - b**2
    if abs(divisor) <= 1e-12 * a * c:
        return d / a, 0.0
    return (c * d - b * e) / divisor, (a * e - b * d) / divisor
