"""The best step along a column together with the best change of the constant.

    min over c, b   loss(f + c·h + b),        |c·h_i + b| ≤ most for every row

A line search along h alone leaves Σr ≠ 0 where h has no constant in it that is right for f + c·h.
c·h + b is linear in its values u, v where h is least and where it is largest, so that the bounds
are a box in (u, v). Newton's method: each step minimises the quadratic model in the box.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.differentiable import DifferentiableLoss

Vector = NDArray[np.float64]

NEWTON_STEPS = 50
"""Steps at most; Newton's method needs far fewer."""

CONVERGED = 1e-16
"""A step that promises less than this, relative to the loss at the start, is the last."""


def offset_step(
    loss: DifferentiableLoss, output: Vector, values: Vector, most: float
) -> tuple[float, float]:
    """The step c along a column and the change b of the constant.

    Parameters
    ----------
    loss : DifferentiableLoss
        Smooth, with one output.
    output, values : ndarray of shape (n_rows,)
        f, and the column h.
    most : float
        May be inf. Where the loss then falls without end, f is followed until r is next to 0.

    Returns
    -------
    step, shift : float
    """
    lowest = float(values.min())
    width = float(values.max()) - lowest or 1.0
    share = (values - lowest) / width
    basis = np.column_stack([1.0 - share, share])
    ends, here = np.zeros(2), output
    gradient = basis.T @ loss.pseudo_response(here)
    enough = CONVERGED * loss.value(output)
    for _ in range(NEWTON_STEPS):
        move = least_in_box(_hessian(loss, here, basis), gradient, -most - ends, most - ends)
        slope = float(gradient @ move)
        if slope <= 0.0:
            break
        trial = output + basis @ (ends + move)
        gradient = basis.T @ loss.pseudo_response(trial)
        if float(gradient @ move) < 0.0:  # too far: the loss is convex, its least lies between
            length = float(np.clip(loss.line_search(here, basis @ move), 0.0, 1.0))
            move *= length
            trial = output + basis @ (ends + move)
            gradient = basis.T @ loss.pseudo_response(trial)
        ends, here = ends + move, trial
        if slope <= enough:
            break
    step = float(ends[1] - ends[0]) / width
    return step, float(ends[0]) - step * lowest


def least_in_box(hessian: Vector, gradient: Vector, low: Vector, high: Vector) -> Vector:
    """The least ½dᵀHd − gᵀd with low ≤ d ≤ high, for two variables and a convex function."""
    inside = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
    if np.all((low <= inside) & (inside <= high)):
        return np.asarray(inside, dtype=np.float64)
    found = []
    for fixed in (0, 1):  # otherwise it is on an edge
        other = 1 - fixed
        bend = float(hessian[other, other])
        for value in (low[fixed], high[fixed]):
            if np.isfinite(value):
                move = np.full(2, value)
                pull = float(gradient[other] - hessian[other, fixed] * value)
                best = pull / bend if bend > 0.0 else 0.0
                move[other] = np.clip(best, low[other], high[other])
                found.append(move)
    return min(found, key=lambda d: float(0.5 * d @ hessian @ d - gradient @ d))


def _hessian(loss: DifferentiableLoss, output: Vector, basis: Vector) -> Vector:
    curvature = loss.curvature(output)
    if not curvature.any():  # as for residuals that are all beyond Huber's δ
        curvature = loss.weights
    return np.asarray((basis * curvature[:, None]).T @ basis, dtype=np.float64)
