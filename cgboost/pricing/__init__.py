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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
