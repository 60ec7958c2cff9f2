"""Pricers: where columns come from.

``KernelPricer`` scans a kernel library, ``FeaturePricer`` a matrix, ``StumpPricer`` all decision
stumps; each is a ``StrataPricer`` over a pool of columns. ``LearnerPricer`` fits a scikit-learn
estimator, greedily; ``TreePricer`` grows regression trees with leaves chosen for the loss,
``LinePricer`` fits lines in one feature. ``PartialPricing`` and ``PricerSequence`` make one pricer
of several. ``CorrelationPricer`` finds the feature most correlated with the residual,
``GramPricer`` and ``ScreenedPricer`` find the same faster. ``JointPricer`` makes columns for
several classes at once of one pricer a class, ``ClassByClassPricer`` one for each class from its
two-class problem, ``BlockwisePricer`` those of many independent blocks.
``RKHSPricer`` prices whole RKHSs of kernels.
``ElementaryPaths`` finds shortest paths with resource constraints, ``solve_knapsack`` the most
valuable items within a capacity, ``heaviest_independent_set`` nodes of which no two are joined,
``shortest_walks`` those of few arcs in an acyclic network.
"""

from cgboost.generation.function_pricer import Duals, FunctionPricer
from cgboost.pricing.blockwise import BlockwisePricer
from cgboost.pricing.features.correlation import (
    CentredFeatures,
    CorrelationPricer,
    GramPricer,
    ScreenedPricer,
)
from cgboost.pricing.features.features import FeaturePricer
from cgboost.pricing.features.lines import LinePool, LinePricer
from cgboost.pricing.features.stumps import BinnedStumpPricer, StumpPool, StumpPricer
from cgboost.pricing.independent_set import (
    contracted_graph,
    dominated_nodes,
    greedy_independent_set,
    heaviest_independent_set,
)
from cgboost.pricing.kernels.pricer import KernelPool, KernelPricer
from cgboost.pricing.knapsack import solve_knapsack
from cgboost.pricing.labelling import ElementaryPaths, FoundPaths
from cgboost.pricing.learners.class_by_class import ClassByClassPricer
from cgboost.pricing.learners.class_learners import VotePricer
from cgboost.pricing.learners.joint import JointPricer, Pairs, VoteColumn
from cgboost.pricing.learners.learners import LearnerPricer
from cgboost.pricing.learners.trees import TreePricer
from cgboost.pricing.rkhs.pricer import RKHSPricer
from cgboost.pricing.scans.candidates import ColumnPool
from cgboost.pricing.scans.scan import StrataPricer
from cgboost.pricing.scans.sequence import PartialPricing, PricerSequence
from cgboost.pricing.walks import FoundWalks, shortest_walks

__all__ = [
    "CentredFeatures",
    "BinnedStumpPricer",
    "BlockwisePricer",
    "ClassByClassPricer",
    "ColumnPool",
    "CorrelationPricer",
    "Duals",
    "ElementaryPaths",
    "FeaturePricer",
    "FoundPaths",
    "FoundWalks",
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
    "RKHSPricer",
    "ScreenedPricer",
    "StrataPricer",
    "StumpPool",
    "StumpPricer",
    "TreePricer",
    "VoteColumn",
    "VotePricer",
    "contracted_graph",
    "dominated_nodes",
    "greedy_independent_set",
    "heaviest_independent_set",
    "shortest_walks",
    "solve_knapsack",
]
