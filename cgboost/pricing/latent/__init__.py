"""Latent factors: orthogonal combinations of features, or of the centres of a kernel.

``LinearSpace`` and ``KernelSpace`` hold training rows; a ``LinearSearch`` or ``KernelSearch`` finds
factors in them, one after another; ``LinearFactors`` and ``KernelFactors`` are what a fitted model
keeps of factors, and evaluate them on new rows.
"""

from cgboost.pricing.latent.factors import (
    Basis,
    Columns,
    FactorHypothesis,
    KernelFactors,
    LinearFactors,
)
from cgboost.pricing.latent.pricer import (
    Direction,
    KernelSearch,
    KernelSpace,
    LinearSearch,
    LinearSpace,
    Search,
    Space,
)

__all__ = [
    "Basis",
    "Columns",
    "Direction",
    "FactorHypothesis",
    "KernelFactors",
    "KernelSearch",
    "KernelSpace",
    "LinearFactors",
    "LinearSearch",
    "LinearSpace",
    "Search",
    "Space",
]
