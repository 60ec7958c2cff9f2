"""Restricted masters: the problems over the columns generated so far.

``SupportVectorMaster`` takes a loss and a penalty; ``OneNormMaster`` (an LP), ``TwoNormMaster``
(a QP), ``BudgetMaster`` (Σ|α| ≤ D) and ``EntropyMaster`` are names for some of the pairs.
``RKHSMaster`` penalises the norms of the kernels' functions, not coefficients.
``ConvexMaster`` takes any convex loss, penalty and constraints written in CVXPY. ``LinearMaster``
has rows of any sense; ``Subgradient`` finds duals for it to begin with.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
