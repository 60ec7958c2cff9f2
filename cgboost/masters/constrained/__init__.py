"""Masters of models with limits on their output: by their dual, or in CVXPY."""

from cgboost.masters.constrained.convex import ConstrainedConvexMaster, ConvexConstraints
from cgboost.masters.constrained.master import ConstrainedMaster

__all__ = ["ConvexConstraints", "ConstrainedConvexMaster", "ConstrainedMaster"]
