"""Losses of the residuals y_i − f_i.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.checks import check_nu, check_price
from cgboost.losses.support_vector import Mass, SupportVectorLoss

Vector = NDArray[np.float64]


def epsilon_insensitive(response: Vector, price: Vector, epsilon: float) -> SupportVectorLoss:
    """ε-insensitive loss Σ price_i·max(0, |y_i − f_i| − ε) ([B] eq. 13)."""
    check_price(response, price)
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon!r}")
    return SupportVectorLoss(target=response, lower=-price, upper=price.copy(), epsilon=epsilon)


def nu_insensitive(response: Vector, price: Vector, nu: float) -> SupportVectorLoss:
    """ε-insensitive loss with an ε of the model's choice, which costs νP, P = Σ price_i.

    min over ε ≥ 0 of Σ price_i·max(0, |y_i − f_i| − ε) + νPε: at most a share ν of the rows (by
    price) lies outside the tube (Schölkopf et al., Neural Computation 12, 2000; with the 1-norm
    Smola, Schölkopf, Rätsch, ICANN 1999).
    """
    check_price(response, price)
    check_nu(nu)
    return SupportVectorLoss(
        target=response,
        lower=-price,
        upper=price.copy(),
        mass=Mass(nu * float(price.sum()), at_most=True),
    )
