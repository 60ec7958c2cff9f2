"""Restricted masters: the problems over the columns generated so far.

``OneNormMaster`` (an LP) and ``TwoNormMaster`` (a QP) share their dual form over the training rows
in :mod:`cgboost.masters.support_vector`.
"""

from cgboost.masters.linear_program import OneNormMaster
from cgboost.masters.quadratic_program import TwoNormMaster

__all__ = ["OneNormMaster", "TwoNormMaster"]
