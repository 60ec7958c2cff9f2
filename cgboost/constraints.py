"""Constraints for ``ConstrainedBoostClassifier`` and ``ConstrainedBoostRegressor``."""

from cgboost.estimators.constrained.rules.base import Constraint
from cgboost.estimators.constrained.rules.budget import GroupBudget
from cgboost.estimators.constrained.rules.calibration import MeanCalibration
from cgboost.estimators.constrained.rules.group_loss import GroupLoss, MinimaxLoss
from cgboost.estimators.constrained.rules.objective import AlsoLoss
from cgboost.estimators.constrained.rules.own import Own
from cgboost.estimators.constrained.rules.parity import EqualOpportunity, ParityGap
from cgboost.estimators.constrained.rules.shape import Concave, Convex, Monotone, Sign

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
