"""Pricers: where columns come from.

``KernelPricer`` scans a kernel library, ``FeaturePricer`` a matrix, ``StumpPricer`` all decision
stumps; each is a ``StrataPricer`` over a pool of columns. ``LearnerPricer`` fits a scikit-learn
estimator, greedily. ``PartialPricing`` and ``PricerSequence`` make one pricer of several.
``JointPricer`` makes columns for several classes at once of one pricer a class.
"""

from cgboost.callables import Duals, FunctionPricer
from cgboost.pricing.features import FeaturePricer
from cgboost.pricing.joint import JointPricer, Pairs, VoteColumn
from cgboost.pricing.kernels import KernelPool, KernelPricer
from cgboost.pricing.learners import LearnerPricer
from cgboost.pricing.partial import PartialPricing
from cgboost.pricing.sequence import PricerSequence
from cgboost.pricing.strata import ColumnPool, StrataPricer
from cgboost.pricing.stumps import StumpPool, StumpPricer

__all__ = [
    "ColumnPool",
    "Duals",
    "FeaturePricer",
    "FunctionPricer",
    "JointPricer",
    "KernelPool",
    "KernelPricer",
    "LearnerPricer",
    "Pairs",
    "PartialPricing",
    "PricerSequence",
    "StrataPricer",
    "StumpPool",
    "StumpPricer",
    "VoteColumn",
]
