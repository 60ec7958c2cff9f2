"""Restricted masters: the problems over the columns generated so far.

``SupportVectorMaster`` takes a loss and a penalty; ``OneNormMaster`` (an LP), ``TwoNormMaster``
(a QP), ``BudgetMaster`` (Σ|α| ≤ D) and ``EntropyMaster`` are names for some of the pairs.
``RKHSMaster`` penalises the norms of the kernels' functions, not coefficients.
``ConvexMaster`` takes any convex loss, penalty and constraints written in CVXPY. ``LinearMaster``
has rows of any sense; ``Subgradient`` finds duals for it to begin with.
"""

from cgboost.masters.convex.master import ConvexMaster
from cgboost.masters.free_columns import FreeColumns, MatrixColumns
from cgboost.masters.linear.integer import IntegerResult, solve_integer
from cgboost.masters.linear.master import LinearMaster
from cgboost.masters.linear.subgradient import DualStart, Subgradient
from cgboost.masters.rkhs.master import RKHSMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.support_vector.formulations import (
    BudgetMaster,
    EntropyMaster,
    OneNormMaster,
    TwoNormMaster,
    one_norm_master,
)
from cgboost.masters.support_vector.master import SupportVectorMaster

__all__ = [
    "BudgetMaster",
    "ConvexMaster",
    "DualStart",
    "EntropyMaster",
    "MatrixColumns",
    "FreeColumns",
    "IntegerResult",
    "LinearMaster",
    "OneNormMaster",
    "OrthogonalMaster",
    "RKHSMaster",
    "Subgradient",
    "SupportVectorMaster",
    "TwoNormMaster",
    "one_norm_master",
    "solve_integer",
]
