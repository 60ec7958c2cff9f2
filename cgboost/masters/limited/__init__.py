"""Masters of models with limits on their output: by their dual, or in CVXPY."""

from cgboost.masters.limited.convex import ConvexLimits, LimitedConvexMaster
from cgboost.masters.limited.master import LimitedMaster

__all__ = ["ConvexLimits", "LimitedConvexMaster", "LimitedMaster"]
