"""Sparse linear models with scikit-learn's parameters, and with cross-validation."""

from cgboost.estimators.linear.cross_validation import (
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from cgboost.estimators.linear.drop_ins import (
    L1LinearSVC,
    L1LinearSVR,
    LADRegressor,
    QuantileRegressor,
)

__all__ = [
    "L1LinearSVC",
    "L1LinearSVR",
    "LADRegressor",
    "QuantileRegressor",
    "SparseLinearClassifierCV",
    "SparseLinearRegressorCV",
]
