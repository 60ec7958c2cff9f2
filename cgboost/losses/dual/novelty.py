"""The loss of novelty detection: all rows should lie above a level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cgboost.losses.dual.checks import check_nu, check_price
from cgboost.losses.dual.support_vector import Mass, SupportVectorLoss

Vector = NDArray[np.float64]


def one_class(price: Vector, nu: float) -> SupportVectorLoss:
    """Minimum over ρ of Σ price_i·max(0, ρ − f_i) − νPρ, P = Σ price_i; the model is f − ρ.

    At most a share ν of the rows (by price) comes to lie below 0 (Schölkopf et al., Neural
    Computation 13, 2001; with the 1-norm Rätsch et al., IEEE PAMI 24, 2002).
    """
    check_price(price, price)
    check_nu(nu)
    n_rows = len(price)
    return SupportVectorLoss(
        target=np.zeros(n_rows),
        lower=np.zeros(n_rows),
        upper=price.copy(),
        mass=Mass(nu * float(price.sum())),
        level_is_offset=True,
    )
