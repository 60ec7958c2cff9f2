"""Constraints for ``ConstrainedBoostClassifier`` and ``ConstrainedBoostRegressor``."""

from cgboost.estimators.constrained.rules import (
    AlsoLoss,
    Concave,
    Constraint,
    Convex,
    EqualOpportunity,
    GroupBudget,
    GroupLoss,
    MeanCalibration,
    MinimaxLoss,
    Monotone,
    Own,
    ParityGap,
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
