"""Limits that are linear in the output, as further rows of a support-vector loss.

A limit a·f ≤ d is a row whose output is a·f. Its loss is what the output exceeds d by, at a price:

    M·max(0, a·f − d)  =  max over −M ≤ r ≤ 0 of  r·(d − a·f),

a target d and a box [−M, 0] for the pseudo-response. The penalty is exact: with M above the
multiplier of the limit at the optimum, the optimum obeys (Bertsekas, *Nonlinear Programming*,
section 5.4). For any M it is a relaxation, so that its lower bounds hold for the problem with
limits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cgboost.arrays import Vector
from cgboost.losses.dual.support_vector import SupportVectorLoss


def with_constraint_rows(
    loss: SupportVectorLoss, limits: Vector, price: float
) -> SupportVectorLoss:
    """The loss with a row for each limit behind its own rows.

    Parameters
    ----------
    loss : SupportVectorLoss
        Without curvature and without a mass.
    limits : ndarray of shape (n_limits,)
        The d of every limit.
    price : float
        M, of one unit beyond a limit.

    Raises
    ------
    ValueError
        If the loss has a curvature or a mass, or the price is not positive.
    """
    if loss.mass is not None or loss.curvature is not None:
        raise ValueError("rows of limits go with a loss that is a box alone")
    if not 0 < price < np.inf:
        raise ValueError(f"price must be positive and finite, got {price!r}")
    # a tube around the target is part of the limit
    return replace(
        loss,
        target=np.append(loss.target, limits - loss.epsilon),
        lower=np.append(loss.lower, np.full(len(limits), -price)),
        upper=np.append(loss.upper, np.zeros(len(limits))),
    )
