"""Restricted masters: the problems over the columns generated so far.

``OneNormMaster`` (an LP) and ``TwoNormMaster`` (a QP) share their dual form over the training rows
in :mod:`cgboost.masters.support_vector`. ``ConvexMaster`` takes any convex loss, penalty and
constraints written in CVXPY.
"""

from cgboost.masters.convex import ConvexMaster
from cgboost.masters.general import LinearMaster
from cgboost.masters.integer import IntegerResult, solve_integer
from cgboost.masters.linear_program import OneNormMaster
from cgboost.masters.quadratic_program import TwoNormMaster

__all__ = [
    "ConvexMaster",
    "IntegerResult",
    "LinearMaster",
    "OneNormMaster",
    "solve_integer",
    "TwoNormMaster",
]
