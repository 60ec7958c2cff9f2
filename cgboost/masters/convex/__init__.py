"""Masters of convex models written in CVXPY."""

from cgboost.masters.convex.master import ConvexMaster

__all__ = ["ConvexMaster"]
