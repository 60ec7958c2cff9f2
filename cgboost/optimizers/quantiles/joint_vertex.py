"""From inside the optimal face of several outputs to one of its vertices."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from cgboost.arrays import Indices, Vector
from cgboost.losses.dual.noncrossing import NoncrossingLoss
from cgboost.optimizers.quantiles.joint_columns import JointColumns
from cgboost.optimizers.simplex.crossover import (
    A_FEW,
    REPEATED,
    ROWS_TO_STOP_AT,
)
from cgboost.optimizers.simplex.purification import Face, purified
from cgboost.tolerances import COEFFICIENT_ROUNDING


def joint_vertex(
    loss: NoncrossingLoss, columns: JointColumns, coef: Vector, offsets: Vector
) -> tuple[Vector, Vector] | None:
    """Coefficients and offsets of a vertex, from a point of the optimal face.

    Purification (:mod:`cgboost.optimizers.simplex.purification`) finds which coefficients are 0
    and which residuals and crossings are tight; the others follow from as many equations.

    Parameters
    ----------
    loss : NoncrossingLoss
    columns : JointColumns
    coef : ndarray of shape (n_columns,)
    offsets : ndarray of shape (n_outputs,)
        Of the columns as they are stored: centred.

    Returns
    -------
    tuple of ndarray, or None
        None where the equations depend on each other.
    """
    variables, n_rows = loss.variables, columns.n_rows
    size = np.abs(coef) * columns.scales
    used = np.flatnonzero(size > COEFFICIENT_ROUNDING * size.max(initial=0.0))
    point = np.append(coef[used] * columns.scales[used], offsets)

    def rates(point: Vector) -> Vector:
        whole = np.zeros(columns.count)
        whole[used] = point[: len(used)] / columns.scales[used]
        return variables.rate(columns.combine(whole) + np.repeat(point[len(used) :], n_rows))

    rate = rates(point)
    near = np.argsort(np.abs(rate), kind="stable")[: ROWS_TO_STOP_AT * len(point) + A_FEW]
    slopes = _slopes(loss, columns, used, near)
    priced = np.arange(len(point)) < len(used)
    point, tight = purified(Face(point, rate[near], slopes, priced))
    left = np.flatnonzero((point != 0) | ~priced)
    if len(tight) != len(left):
        return None
    matrix = slopes[np.ix_(tight, left)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linalg.LinAlgWarning)
        factors = linalg.lu_factor(matrix, check_finite=False)
    pivots = np.abs(factors[0].diagonal())
    if not pivots.min() > REPEATED * pivots.max():
        return None
    point[left] -= linalg.lu_solve(factors, rates(point)[near[tight]])
    vertex = np.zeros(columns.count)
    vertex[used] = point[: len(used)] / columns.scales[used]
    return vertex, point[len(used) :]


def _slopes(loss: NoncrossingLoss, columns: JointColumns, used: Indices, near: Indices) -> Vector:
    """What a unit of each scaled column, and of each offset, adds to the rates of variables."""
    variables, outputs = loss.variables, np.arange(columns.n_outputs)

    def on(pairs: Indices) -> Vector:
        return np.hstack([columns.scaled_on(used, pairs), columns.ones_on(outputs, pairs)])

    row = variables.row[near]
    slopes = -variables.sign[near, None] * on(row)
    crossing = near >= variables.n_boxes
    slopes[crossing] -= on(row[crossing] + columns.n_rows)
    return slopes
