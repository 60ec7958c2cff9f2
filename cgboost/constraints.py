"""Constraints for ``ConstrainedBoostClassifier`` and ``ConstrainedBoostRegressor``."""

from cgboost.estimators.constrained.constraints.budget import GroupBudget
from cgboost.estimators.constrained.constraints.calibration import MeanCalibration
from cgboost.estimators.constrained.constraints.constraint import Constraint
from cgboost.estimators.constrained.constraints.group_loss import GroupLoss, MinimaxLoss
from cgboost.estimators.constrained.constraints.objective import AlsoLoss
from cgboost.estimators.constrained.constraints.own import Own
from cgboost.estimators.constrained.constraints.parity import EqualOpportunity, ParityGap
from cgboost.estimators.constrained.constraints.shape import Concave, Convex, Monotone, Sign

__all__ = [
    "AlsoLoss",
    "Concave",
    "Constraint",
    "Convex",
    "EqualOpportunity",
    "GroupBudget",
    "GroupLoss",
    "MeanCalibration",
    "MinimaxLoss",
    "Monotone",
    "Own",
    "ParityGap",
    "Sign",
]
