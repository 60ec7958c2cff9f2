"""Pseudo-responses with the scores that free columns and large ones must have, up to rounding.

A bound counts on H'r = 0 for free columns, and on scores h·r = w of large ones, while solvers leave
their tolerance. The rows inside their boxes make up for it.
"""

from __future__ import annotations

import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.support_vector import Vector
from cgboost.optimizers.column_store import ColumnStore
from cgboost.optimizers.large_columns import levelled

MOVING_ROWS = 20
"""Training rows that move the scores of free columns to 0, for each of these. At an optimal vertex
one is inside its box for each; where there are more, all of them have room for much less."""


def balanced_beside_large(
    response: Vector, loss: SupportVectorLoss, columns: ColumnStore, w: Vector, balanced: bool
) -> Vector:
    """The pseudo-response moved to scores w of the pivots of large columns."""
    large = columns.large
    pivots = columns.whole(large.pivots).astype(np.longdouble)
    ones = np.full((len(response), 1), 1.0 / np.sqrt(len(response)))

    def missed(r: Vector) -> Vector:
        exact = r.astype(np.longdouble)
        off = large.missed((exact @ pivots).astype(np.float64), w)
        return np.append(float(exact @ ones[:, 0]), off) if balanced else off

    directions = np.hstack([ones, large.basis]) if balanced else large.basis
    return levelled(response, loss.lower, loss.upper, directions, missed)


def balanced_to_free(
    response: Vector, loss: SupportVectorLoss, columns: ColumnStore, balanced: bool
) -> Vector:
    """The pseudo-response moved to scores of 0 of free columns; those of large ones stay.

    The rows that are most inside their box move: those at an end would stay there anyway.
    """
    lower, upper = loss.lower, loss.upper
    large, unit = columns.large.basis, 1.0 / np.sqrt(len(response))
    ones = np.ones((len(response), int(balanced)))
    free_scores = columns.free.scores(response)[columns.directions]
    scores = unit * np.append(response @ ones, free_scores)
    missed = np.append(scores, np.zeros(large.shape[1]))
    inside = np.minimum(response - lower, upper - response)
    count = min(len(response), MOVING_ROWS * len(missed))
    if not count:
        return response
    rows = np.sort(np.argpartition(-inside, count - 1)[:count])
    free = columns.free.rows(rows, columns.directions)
    directions = np.hstack([unit * ones[rows], unit * free, large[rows]])
    before, response = response[rows], response.copy()
    response[rows] = levelled(
        before,
        lower[rows],
        upper[rows],
        directions,
        lambda r: missed + (r - before) @ directions,
    )
    return response
