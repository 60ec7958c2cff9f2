"""Transformations that never fall, or never rise.

The least squares of piecewise linear functions over a cone. With leaves [a_k, b_k] from left to
right the function is

    h(x) = β + Σ_{i≤k} γ_i + Σ_{i<k} δ_i + δ_k (x − a_k)/(b_k − a_k)     in leaf k,     γ, δ ≥ 0

with jumps γ and rises δ. The error of the training rows follows from the statistics of the leaves,

    Σ_k n_k (ȳ_k − h(x̄_k))² + Σ_k S_k (s_k − δ_k/(b_k − a_k))²     with S_k = Σ (x − x̄_k)²

and s_k the slope of the regression within the leaf: a bounded least-squares problem of a few rows
(Stark, Parker, *Bounded-variable least squares*, Comput. Stat. 10, 1995).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from cgboost.additive.statistics.moments import Moments
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector
from cgboost.tables.binning import Intervals
from cgboost.tolerances import SMALLEST


def monotone(term: Transformation, training: Moments, sign: int) -> Transformation:
    """The function with the leaves of a transformation that is nearest to the response.

    Leaves without a slope get none. Missing values keep their leaf, which is compared with none.

    Parameters
    ----------
    term : Transformation
        Of a numeric feature, without regressors.
    training : Moments
        Of (x, response) in its groups.
    sign : int
        1: it never falls; −1: it never rises.
    """
    groups = term.groups
    assert isinstance(groups, Intervals)
    known = term.leaf[:-1]
    starts = np.flatnonzero(np.append(True, np.diff(known) != 0))
    leaf = np.cumsum(np.append(True, np.diff(known) != 0)) - 1
    inside = training[:-1].joined(leaf, len(starts))
    bounds = np.concatenate([[groups.low], groups.edges, [groups.high]]) - groups.origin
    left, right = bounds[starts], bounds[np.append(starts[1:], len(known))]
    sloped = (term.slope[known[starts]] != 0.0) & (right > left)
    level, slope = _nearest(inside, left, right, sloped, sign)
    missing = term.leaf[-1]
    return replace(
        term,
        leaf=np.append(leaf, len(starts)),
        intercept=np.append(level, term.intercept[missing]),
        slope=np.append(slope, 0.0),
        coef=np.zeros((len(starts) + 1, term.coef.shape[1])),
    )


def _nearest(
    inside: Moments, left: Vector, right: Vector, sloped: NDArray[np.bool_], sign: int
) -> tuple[Vector, Vector]:
    """Levels at x = 0 and slopes of the leaves."""
    n_leaves = len(left)
    width = np.where(sloped, right - left, 1.0)
    total = np.sqrt(max(float(inside.count.sum()), SMALLEST))
    roots = np.sqrt(inside.count) / total
    spread = np.sqrt(np.maximum(inside.scatter[:, 0, 0], 0.0))
    tilt = np.divide(inside.scatter[:, 0, 1], spread, out=np.zeros(n_leaves), where=spread > 0)
    reached = np.tril(np.ones((n_leaves, n_leaves)))
    away = np.clip((inside.mean[:, 0] - left) / width, 0.0, 1.0)
    rises = np.tril(reached, -1) + np.diag(away)
    matrix = np.block(
        [
            [roots[:, None] * reached, roots[:, None] * rises[:, sloped]],
            [np.zeros((n_leaves, n_leaves)), np.diag(spread / (total * width))[:, sloped]],
        ]
    )
    target = sign * np.concatenate([roots * inside.mean[:, 1], tilt / total])
    size = float(np.abs(target).max()) or 1.0
    low = np.zeros(matrix.shape[1])
    low[0] = -np.inf  # the jump into the first leaf is the level where it begins
    found = size * lsq_linear(matrix, target / size, (low, np.inf), method="bvls").x
    found[1:] = np.maximum(found[1:], 0.0)
    rise = np.zeros(n_leaves)
    rise[sloped] = found[n_leaves:]
    start = np.cumsum(found[:n_leaves]) + np.append(0.0, np.cumsum(rise)[:-1])
    slope = sign * rise / width
    return sign * start - slope * left, slope
