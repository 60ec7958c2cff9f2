"""The loss of the model without columns, against which small objectives are measured."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.smooth_loss import RowwiseLoss, SmoothLoss, balancing_shift

NEAR_ENOUGH = 1e-6
"""The constant is found to this share of the range of the targets: what it is for is a size."""


def empty_loss(loss: SupportVectorLoss | SmoothLoss, *, offset: bool) -> float:
    """The loss of f = 0, or of a constant f that is nearly the best one.

    Parameters
    ----------
    loss : SupportVectorLoss or SmoothLoss
    offset : bool
        Whether f may be any constant.
    """
    nothing = np.zeros(loss.n_rows)
    least = loss.value(nothing)
    if not offset:
        return least
    if isinstance(loss, RowwiseLoss):
        return min(least, loss.value(nothing + balancing_shift(loss, nothing)))
    if not isinstance(loss, SupportVectorLoss) or not loss.n_rows:
        return least
    low, high = float(loss.target.min()), float(loss.target.max())
    ends = min(loss.value(nothing + low), loss.value(nothing + high))
    inside = minimize_scalar(
        lambda constant: loss.value(nothing + constant),
        bounds=(low, high),
        method="bounded",
        options={"xatol": NEAR_ENOUGH * (high - low)},
    )
    return min(least, ends, float(inside.fun))
