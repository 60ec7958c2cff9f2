"""Constraints for ``ConstrainedBoostClassifier`` and ``ConstrainedBoostRegressor``."""

from cgboost.estimators.constrained.constraints.constraint import AlsoLoss, Constraint, Own
from cgboost.estimators.constrained.constraints.groups import (
    EqualOpportunity,
    GroupLoss,
    MeanCalibration,
    MinimaxLoss,
    ParityGap,
)
from cgboost.estimators.constrained.constraints.shape import (
    Concave,
    Convex,
    GroupBudget,
    Monotone,
    Sign,
)

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
