"""Pricers: where columns come from.

``KernelPricer`` scans a kernel library, ``FeaturePricer`` a matrix, ``StumpPricer`` all decision
stumps; each is a ``StrataPricer`` over a pool of columns. ``LearnerPricer`` fits a scikit-learn
estimator, greedily; ``TreePricer`` grows regression trees with leaves chosen for the loss,
``LinePricer`` fits lines in one feature. ``PartialPricing`` and ``PricerSequence`` make one pricer
of several. ``CorrelationPricer`` finds the feature most correlated with the residual,
``GramPricer`` and ``ScreenedPricer`` find the same faster. ``JointPricer`` makes columns for
several classes at once of one pricer a class.
"""

from cgboost.generation.function_pricer import Duals, FunctionPricer
from cgboost.pricing.binned_stumps import BinnedStumpPricer
from cgboost.pricing.centred import CentredFeatures
from cgboost.pricing.class_votes import VotePricer
from cgboost.pricing.correlation import CorrelationPricer
from cgboost.pricing.features import FeaturePricer
from cgboost.pricing.gram import GramPricer
from cgboost.pricing.joint import JointPricer, Pairs, VoteColumn
from cgboost.pricing.kernels import KernelPool, KernelPricer
from cgboost.pricing.learners import LearnerPricer
from cgboost.pricing.lines import LinePool, LinePricer
from cgboost.pricing.partial import PartialPricing
from cgboost.pricing.pools import ColumnPool
from cgboost.pricing.screening import ScreenedPricer
from cgboost.pricing.sequence import PricerSequence
from cgboost.pricing.strata import StrataPricer
from cgboost.pricing.stumps import StumpPool, StumpPricer
from cgboost.pricing.trees import TreePricer

__all__ = [
    "CentredFeatures",
    "BinnedStumpPricer",
    "ColumnPool",
    "CorrelationPricer",
    "Duals",
    "FeaturePricer",
    "GramPricer",
    "FunctionPricer",
    "JointPricer",
    "KernelPool",
    "KernelPricer",
    "LearnerPricer",
    "LinePool",
    "LinePricer",
    "Pairs",
    "PartialPricing",
    "PricerSequence",
    "ScreenedPricer",
    "StrataPricer",
    "StumpPool",
    "StumpPricer",
    "TreePricer",
    "VoteColumn",
    "VotePricer",
]
