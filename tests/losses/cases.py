"""All losses with some of their parameters, and data for them."""

import numpy as np
from hypothesis import strategies as st

from cgboost.losses import (
    EpsilonInsensitive,
    Huber,
    Loss,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    WeightedLoss,
    registry,
)

SEEDS = st.integers(0, 10**6)

LOSSES: list[Loss] = [
    *(kind() for kind in registry.LOSSES.values()),
    Quantile(0.2),
    Huber(0.3),
    EpsilonInsensitive(0.0),
    SquaredEpsilonInsensitive(0.5),
]
"""Every loss of the registry, and some with other parameters."""

BOXED = [loss for loss in LOSSES if "dual_box" in loss.abilities]
CURVED = [loss for loss in LOSSES if "hessian_diag" in loss.abilities]


def target(loss: Loss, rng: np.random.Generator, size: int) -> np.ndarray:
    """Targets: labels, both of them; counts, some 0; or numbers with ties."""
    if loss.classification:
        return np.where(np.arange(size) % 2, 1.0, -1.0)
    if isinstance(loss, Poisson):
        return rng.poisson(1.5, size).astype(float)
    return rng.integers(-4, 5, size) * 0.5 if size % 2 else rng.normal(size=size)


def bound(loss: Loss, seed: int) -> tuple[WeightedLoss, np.ndarray, np.random.Generator]:
    """The loss on some rows, one of weight 0, and an output that is away from kinks."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 15))
    weights = rng.uniform(0.5, 2.0, size) * (np.arange(size) != 1)
    return loss.on(target(loss, rng, size), weights), 1.5 * rng.normal(size=size), rng
