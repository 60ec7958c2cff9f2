"""Pricers: where columns come from.

``KernelPricer`` scans a kernel library, ``FeaturePricer`` a matrix; both are a ``StrataPricer``
over a pool of columns.
"""

from cgboost.pricing.features import FeaturePricer
from cgboost.pricing.kernels import KernelPool, KernelPricer
from cgboost.pricing.strata import ColumnPool, StrataPricer

__all__ = ["ColumnPool", "FeaturePricer", "KernelPool", "KernelPricer", "StrataPricer"]
