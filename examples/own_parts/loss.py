"""Your own loss: quantile regression over columns, as a linear program.

python examples/own_parts/loss.py
"""

from __future__ import annotations

import numpy as np

from cgboost import ColumnGeneration
from cgboost.losses import SupportVectorLoss
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer


def quantile(response, price, level):
    """Pinball loss Σ price_i·max(level·(y_i − f_i), (level − 1)·(y_i − f_i)).

    The pseudo-response r = −∂loss/∂f of a row lies between −(1 − level) and level times its price:
    an output that is too low costs ``level`` a unit, one that is too high 1 − ``level``.
    """
    return SupportVectorLoss(target=response, lower=-(1 - level) * price, upper=level * price)


def quantile_regression(H, y, level, price=1.0):
    """Minimise Σ|α_j| + pinball loss of Hα + b over the columns of H, with a free offset b."""
    loss = quantile(y, np.full(len(y), price), level)
    master = OneNormMaster(loss, offset="free")
    return ColumnGeneration(master, FeaturePricer(H), tol=1e-8, columns_per_round=10).run()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    H = rng.normal(size=(300, 100))
    y = 3.0 * H[:, 0] + 2.0 * H[:, 1] + rng.normal(size=300)
    for level in (0.1, 0.5, 0.9):
        result = quantile_regression(H, y, level, price=0.3)
        below = np.mean(y <= result.ensemble.decision_function(H))
        print(
            f"level {level:.1f}: {np.count_nonzero(result.coef)} columns, gap {result.gap:.0e}, "
            f"share of rows below the output {below:.2f}"
        )
