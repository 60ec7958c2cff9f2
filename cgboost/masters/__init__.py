"""Restricted masters: the problems over the columns generated so far.

``OneNormMaster`` (an LP), ``TwoNormMaster`` (a QP) and ``BudgetMaster`` (Σ|α| ≤ D) share their dual
form over the training rows in :mod:`cgboost.masters.support_vector.master`. ``ConvexMaster`` takes
any convex loss, penalty and constraints written in CVXPY. ``LinearMaster`` has rows of any sense.
"""

from cgboost.masters.convex.master import ConvexMaster
from cgboost.masters.linear.integer import IntegerResult, solve_integer
from cgboost.masters.linear.master import LinearMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.support_vector.entropy import EntropyMaster
from cgboost.masters.support_vector.one_norm import OneNormMaster
from cgboost.masters.support_vector.one_norm_ball import BudgetMaster, one_norm_master
from cgboost.masters.support_vector.two_norm import TwoNormMaster

__all__ = [
    "BudgetMaster",
    "ConvexMaster",
    "EntropyMaster",
    "IntegerResult",
    "LinearMaster",
    "OneNormMaster",
    "OrthogonalMaster",
    "TwoNormMaster",
    "one_norm_master",
    "solve_integer",
]
