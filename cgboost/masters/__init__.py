"""Restricted masters: the problems over the columns generated so far.

``OneNormMaster`` (an LP), ``TwoNormMaster`` (a QP) and ``BudgetMaster`` (Σ|α| ≤ D) share their dual
form over the training rows in :mod:`cgboost.masters.support_vector`. ``ConvexMaster`` takes
any convex loss, penalty and constraints written in CVXPY. ``LinearMaster`` has rows of any sense.
"""

from cgboost.masters.budget import BudgetMaster, one_norm_master
from cgboost.masters.convex import ConvexMaster
from cgboost.masters.entropy import EntropyMaster
from cgboost.masters.general import LinearMaster
from cgboost.masters.integer import IntegerResult, solve_integer
from cgboost.masters.linear_program import OneNormMaster
from cgboost.masters.orthogonal import OrthogonalMaster
from cgboost.masters.quadratic_program import TwoNormMaster

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
